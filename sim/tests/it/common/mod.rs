// SPDX-License-Identifier: MIT OR Apache-2.0
//! A coherent memory with a kernel, for tests.

use lockstep_sim::coherence::{
    AgentId, CoherenceEvent, CoherentMemory, Completion, Notification, Operation, Region,
};
use std::collections::VecDeque;
use timing::platform::{Platform, Side};
use timing::{Kernel, Priority, Time};

/// The next event.
enum Event {
    Memory(CoherenceEvent),
    /// The next operation of this agent is due.
    Issue(AgentId),
}

/// Agents that work through lists of operations, a number of them at a time.
pub struct Bench {
    pub memory: CoherentMemory,
    kernel: Kernel<Event>,
    programs: Vec<VecDeque<Operation>>,
    submitted: u64,
    /// All notifications in the order in which they came, with their instant.
    pub notices: Vec<(Time, Notification)>,
}

impl Bench {
    pub fn new(home: Side, bytes: u64) -> Self {
        Self::with(&Platform::named("n1sdp-u280-ccix").expect("valid"), home, bytes)
    }

    pub fn with(platform: &Platform, home: Side, bytes: u64) -> Self {
        let region = Region { base: 0x1000, bytes, home };
        let memory = CoherentMemory::new(platform, &[region]).expect("valid");
        let programs = vec![VecDeque::new(); memory.agents()];
        Bench { memory, kernel: Kernel::new(), programs, submitted: 0, notices: Vec::new() }
    }

    /// Byte address of a word of a line.
    pub fn address(line: u64, word: u64) -> u64 {
        0x1000 + 64 * line + 8 * word
    }

    /// Appends to what `agent` will do, from `start` on, `overlap` operations at a time.
    pub fn program(
        &mut self,
        agent: AgentId,
        start: Time,
        overlap: usize,
        operations: impl IntoIterator<Item = Operation>,
    ) {
        self.programs[agent.0 as usize].extend(operations);
        for _ in 0..overlap {
            let start = self.kernel.now() + start;
            self.kernel.schedule_at(start, Priority::Issue, Event::Issue(agent));
        }
    }

    /// Runs to the end; each completion makes its agent issue its next operation.
    pub fn run(&mut self) -> Vec<Completion> {
        let first = self.notices.len();
        while let Some((now, event)) = self.kernel.pop() {
            let Bench { memory, kernel, programs, submitted, notices } = self;
            let mut later = Vec::new();
            let mut schedule =
                |time, event| kernel.schedule_at(time, Priority::Deliver, Event::Memory(event));
            match event {
                Event::Memory(event) => memory.handle(now, event, &mut schedule, &mut |notice| {
                    if let Notification::Completed(completion) = notice {
                        later.push(completion.agent);
                    }
                    notices.push((now, notice));
                }),
                Event::Issue(agent) => {
                    if let Some(operation) = programs[agent.0 as usize].pop_front() {
                        *submitted += 1;
                        memory
                            .submit(now, agent, *submitted, operation, &mut schedule)
                            .expect("valid");
                    }
                }
            }
            for agent in later {
                kernel.schedule_at(now, Priority::Issue, Event::Issue(agent));
            }
        }
        assert_eq!(self.memory.in_flight(), 0, "the run ended with operations open");
        self.memory.check_all();
        self.notices[first..]
            .iter()
            .filter_map(|(_, notice)| match notice {
                Notification::Completed(completion) => Some(*completion),
                Notification::Invalidated { .. } => None,
            })
            .collect()
    }

    /// One operation, alone.
    pub fn one(&mut self, agent: AgentId, operation: Operation) -> Completion {
        self.program(agent, Time::ZERO, 1, [operation]);
        let completions = self.run();
        assert_eq!(completions.len(), 1);
        completions[0]
    }
}
