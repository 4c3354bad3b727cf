// SPDX-License-Identifier: MIT OR Apache-2.0
//! The invariants of a line, checked after every event on it, in every build.

use super::CoherentMemory;
use super::transaction::{NOBODY, State};

impl CoherentMemory {
    /// Checks a line.
    ///
    /// # Panics
    /// When one of these does not hold:
    /// 1. an owner is the only one with a copy (one writer or many readers);
    /// 2. each copy is known to the directory, an owner's as such;
    /// 3. each copy that the directory knows of exists, unless messages are under way;
    /// 4. an unmodified copy equals home memory, or the newer data that are on their way there.
    pub(super) fn check_line(&self, line: u32) {
        let entry = &self.directory[line as usize];
        let home = match entry.carrier {
            NOBODY => &self.memory[line as usize],
            carrier => &self.transactions[carrier].data,
        };
        let mut copies = 0_u16;
        let mut alone = 0_u16;
        for (number, agent) in self.agents.iter().enumerate() {
            let Some(copy) = agent.cache.peek(line) else {
                continue;
            };
            copies |= 1 << number;
            if copy.state.is_alone() {
                alone |= 1 << number;
                let is_owner = entry.owner() == Some(number);
                self.require(line, is_owner, "an owner is not the directory's");
            }
            if copy.state != State::Modified {
                self.require(line, copy.data == *home, "an unmodified copy differs from home");
            }
        }
        self.require(line, alone == 0 || copies == alone, "an owner has others beside it");
        self.require(line, alone.count_ones() <= 1, "a line has two owners");
        let known = entry.holders();
        self.require(line, copies & !known == 0, "a copy is unknown to the directory");
        let settled = !entry.busy && entry.in_flight == 0;
        self.require(line, !settled || copies == known, "the directory knows a copy that is not");
    }

    fn require(&self, line: u32, holds: bool, what: &str) {
        if !holds {
            self.report(line, what);
        }
    }

    #[cold]
    fn report(&self, line: u32, what: &str) -> ! {
        let entry = &self.directory[line as usize];
        let copies: Vec<_> = (self.agents.iter().enumerate())
            .filter_map(|(number, agent)| Some((number, agent.cache.peek(line)?)))
            .map(|(number, copy)| format!("agent {number} {:?} {:x?}", copy.state, copy.data))
            .collect();
        panic!(
            "coherence broken at {:#x}: {what}\n  directory: owner {:?}, holders {:#b}, busy {}, \
             {} messages in flight\n  home: {:x?}\n  copies: {copies:#?}",
            self.address_of(line),
            entry.owner(),
            entry.holders(),
            entry.busy,
            entry.in_flight,
            self.memory[line as usize],
        );
    }

    /// Checks every line, and that with nothing in flight nothing is left over.
    ///
    /// # Panics
    /// When an invariant does not hold.
    pub fn check_all(&self) {
        for line in 0..self.memory.len() as u32 {
            self.check_line(line);
            let entry = &self.directory[line as usize];
            let idle = !entry.busy && entry.in_flight == 0 && entry.carrier == NOBODY;
            let is_quiet = self.transactions.open() == 0;
            self.require(line, idle || !is_quiet, "nothing is in flight, yet it is not idle");
        }
    }
}

#[cfg(test)]
mod tests {
    use timing::platform::Platform;
    use timing::{Kernel, Priority};

    use super::super::{CoherenceEvent, CoherentMemory, Operation};

    /// Core 0 reads a line, `damage` is done, core 1 adds to it.
    fn run_with(damage: impl FnOnce(&mut CoherentMemory)) {
        let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
        let mut memory = CoherentMemory::placed_by_platform(&platform, 0, 4096).expect("valid");
        let mut kernel = Kernel::<CoherenceEvent>::new();
        let swap = Operation::CompareSwap { address: 0, expected: 0, new: 1 };
        let mut damage = Some(damage);
        for (core, operation) in [(0, Operation::Load { address: 0 }), (1, swap)] {
            let agent = memory.host_agent(core);
            let mut events = Vec::new();
            let mut schedule = |time, event| events.push((time, event));
            memory.submit(kernel.now(), agent, 0, operation, &mut schedule).expect("valid");
            for (time, event) in events {
                kernel.schedule_at(time, Priority::Deliver, event);
            }
            while let Some((now, event)) = kernel.pop() {
                let mut schedule = |time, event| kernel.schedule_at(time, Priority::Deliver, event);
                memory.handle(now, event, &mut schedule, &mut |_| ());
            }
            if let Some(damage) = damage.take() {
                damage(&mut memory);
            }
        }
        memory.check_all();
    }

    #[test]
    fn an_intact_directory_passes() {
        run_with(|_| ());
    }

    #[test]
    #[should_panic(expected = "an owner is not the directory's")]
    fn a_directory_that_forgets_an_owner_is_found() {
        run_with(|memory| memory.directory[0].remove(0));
    }

    #[test]
    #[should_panic(expected = "the directory knows a copy that is not")]
    fn a_directory_that_invents_a_sharer_is_found() {
        run_with(|memory| {
            memory.directory[0].add_sharer(0);
            memory.agents[0].cache.touch(0).expect("read").state = super::State::Shared;
            memory.directory[0].add_sharer(3);
            memory.check_all();
        });
    }

    #[test]
    #[should_panic(expected = "an unmodified copy differs from home")]
    fn a_lost_write_is_found() {
        run_with(|memory| {
            memory.memory[0][5] = 7;
            memory.check_all();
        });
    }
}
