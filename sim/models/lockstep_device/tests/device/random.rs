// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random work on all queues at once, compared with the oracle at every step.

use driver::map::device::SHELL;
use driver::map::{queue, shell};
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::Delay;
use sim::bus::stall::{StallPattern, channel_generator};
use sim::bus::test_memory::ErrorInjection;

use crate::bench::Config;
use crate::locks::Locks;
use crate::lookups::Keys;
use crate::mover::Moves;
use crate::user::User;
use crate::worker::Jobs;

/// What is done in one run. Fields are small numbers, so that a failure shrinks well.
#[derive(Clone, Debug)]
pub struct Scenario {
    pub seed: u64,
    pub copies: usize,
    pub transactions: u64,
    pub jobs: usize,
    pub look_ups: usize,
    /// Of each queue's rings.
    pub log2_entries: [u32; 3],
    /// Of 256 submissions, those that are refused.
    pub refusals: u8,
    /// Of 256 steps of software, those in which it lets the device rest for a while.
    pub pauses: u8,
    /// Times that the copy queue or the job queue is switched off in the middle of work.
    pub restarts: u32,
    /// Of all stalls but those of interrupts: of 16 cycles, those that are stalled.
    pub stalls: u8,
    pub interrupt_stalls: u8,
    pub latency: u32,
    pub move_latency: u32,
    pub job_latency: u32,
    /// Of 1024 accesses to the rings, those that fail.
    pub errors: u32,
    pub stop_clock: bool,
}

impl Scenario {
    /// A few copies, locks and jobs on small rings.
    pub fn small(seed: u64) -> Self {
        Scenario {
            seed,
            copies: 100,
            transactions: 40,
            jobs: 60,
            look_ups: 60,
            log2_entries: [2, 3, 2],
            refusals: 40,
            pauses: 20,
            restarts: 0,
            stalls: 4,
            interrupt_stalls: 12,
            latency: 20,
            move_latency: 100,
            job_latency: 300,
            errors: 0,
            stop_clock: false,
        }
    }

    /// Everything drawn.
    pub fn drawn(seed: u64) -> Self {
        let mut draw = channel_generator(seed, "scenario");
        let mut up_to = |most: u32| draw.random_range(0..=most);
        Scenario {
            seed,
            copies: up_to(150) as usize,
            transactions: up_to(60).into(),
            jobs: up_to(100) as usize,
            look_ups: up_to(100) as usize,
            log2_entries: [1 + up_to(5), 1 + up_to(5), 1 + up_to(5)],
            refusals: up_to(128) as u8,
            pauses: up_to(64) as u8,
            restarts: up_to(3),
            stalls: up_to(12) as u8,
            interrupt_stalls: up_to(14) as u8,
            latency: up_to(80),
            move_latency: up_to(400),
            job_latency: up_to(2000),
            errors: 0,
            stop_clock: up_to(1) == 1,
        }
    }

    /// Copies with rings that fail now and then. No jobs and no look-ups: word 0 of a completion may be in memory
    /// though the store of word 1 has failed, of which only that of a copy is always the same.
    pub fn failing(seed: u64) -> Self {
        Scenario {
            errors: 8,
            transactions: 0,
            jobs: 0,
            look_ups: 0,
            restarts: 1,
            ..Scenario::small(seed)
        }
    }

    fn config(&self) -> Config {
        let stall = |of_16: u8| StallPattern::Random { probability: f64::from(of_16) / 16.0 };
        let delay = |maximum| Delay { minimum: 0, maximum };
        let errors = match self.errors {
            0 => ErrorInjection::None,
            rate => ErrorInjection::Rate(f64::from(rate) / 1024.0),
        };
        Config {
            seed: self.seed,
            stalls: stall(self.stalls),
            interrupt_stalls: stall(self.interrupt_stalls),
            memory_latency: delay(self.latency),
            errors,
            moves: Moves { latency: delay(self.move_latency), failures: 30, held: false },
            jobs: Jobs { latency: delay(self.job_latency), held: false },
            stop_clock: self.stop_clock,
        }
    }
}

/// More steps than any of these runs takes.
const STEPS: u32 = 30_000;

/// How often an idle queue must be seen before it is asked whether it has halted.
const TIMEOUT: u32 = 50;

struct Run {
    scenario: Scenario,
    user: User,
    draw: ChaCha8Rng,
    locks: Locks,
    keys: Keys,
    /// Copies still to be submitted.
    copies: usize,
    /// Jobs still to be submitted.
    jobs: usize,
    /// Look-ups still to be submitted.
    look_ups: usize,
    restarts: u32,
    /// Steps since a completion was consumed.
    idle: [u32; 4],
    identifier: u16,
    scratch: u32,
}

/// Runs the scenario to its end, and looks whether all counts are right.
pub fn run(scenario: &Scenario) -> Result<(), String> {
    let mut user = User::new(&scenario.config(), scenario.log2_entries)?;
    let mut run = Run {
        keys: Keys::new(&mut user)?,
        user,
        draw: channel_generator(scenario.seed, "software"),
        locks: Locks::default(),
        copies: scenario.copies,
        jobs: scenario.jobs,
        look_ups: scenario.look_ups,
        restarts: scenario.restarts,
        idle: [0; 4],
        identifier: 0,
        scratch: 0,
        scenario: scenario.clone(),
    };
    (0..4).try_for_each(|queue| run.user.enable(queue))?;
    for _ in 0..STEPS {
        if run.finished() {
            return run.settle();
        }
        run.step()?;
    }
    let Run { copies, jobs, .. } = run;
    Err(format!("not finished after {STEPS} steps: {copies} copies and {jobs} jobs to go"))
}

impl Run {
    fn finished(&self) -> bool {
        let consumed =
            |n: usize| self.user.queues[n].consumed == self.user.queues[n].oracle.written();
        let locked = self.scenario.errors > 0 || self.locks.finished == self.scenario.transactions;
        self.copies == 0
            && consumed(0)
            && self.jobs == 0
            && consumed(2)
            && self.look_ups == 0
            && consumed(3)
            && self.restarts == 0
            && locked
            && (self.scenario.errors > 0 || self.locks.open_requests() == 0)
    }

    fn step(&mut self) -> Result<(), String> {
        match self.draw.random_range(0..24) {
            0..4 => self.submit_copies(),
            4..7 if self.scenario.errors == 0 => self.submit_locks(),
            4..7 => Ok(()),
            7..10 => self.consume(0),
            10..13 => self.consume(1),
            13 => self.user.force(self.draw.random_range(0..64)),
            14 => self.scratch(),
            15..17 => self.submit_jobs(),
            17..19 => self.consume(2),
            19..21 => self.submit_look_ups(),
            21..23 => self.consume(3),
            _ if self.chance(self.scenario.pauses) => {
                let cycles = self.draw.random_range(0..300);
                self.user.clocks(cycles)
            }
            _ if self.restarts > 0 && self.chance(20) => {
                let queue = 2 * self.draw.random_range(0..2);
                self.restart(queue)
            }
            _ => self.user.clocks(3),
        }
    }

    fn chance(&mut self, of_256: u8) -> bool {
        self.draw.random_range(0..=255) < of_256
    }

    fn submit_copies(&mut self) -> Result<(), String> {
        let burst = self.draw.random_range(1..8).min(self.copies);
        let mut written = 0;
        for _ in 0..burst {
            let words = self.copy();
            written += u32::from(self.user.submit(0, words)?);
        }
        self.copies -= written as usize;
        if written > 0 { self.user.ring(0) } else { Ok(()) }
    }

    /// A copy, or something that looks like one. Its addresses tell it from all others.
    fn copy(&mut self) -> [u64; 8] {
        let mut words: [u64; 8] = std::array::from_fn(|_| self.draw.next_u64());
        let refused = self.chance(self.scenario.refusals);
        let (opcode, length) = match (refused, self.draw.random_range(0..4)) {
            (false, n) => (self.draw.random_range(1..=3), [1, 1 << 30, 64, 4096][n as usize]),
            (true, 0) => ([0, 4, 255][self.draw.random_range(0..3)], 64),
            (true, 1) => (1, 0),
            (true, 2) => (2, (1 << 30) + 1),
            (true, _) => (3, u64::from(u32::MAX)),
        };
        self.identifier = self.identifier.wrapping_add(0x1357);
        // Bits 31:25 mean nothing.
        words[0] =
            words[0] & 0xFF00_0000 | length << 32 | opcode << 16 | u64::from(self.identifier);
        words
    }

    fn submit_jobs(&mut self) -> Result<(), String> {
        let burst = self.draw.random_range(1..5).min(self.jobs);
        let mut written = 0;
        for _ in 0..burst {
            let mut words: [u64; 8] = std::array::from_fn(|_| self.draw.next_u64());
            let refused = self.chance(self.scenario.refusals);
            let bad = [0, 6, 255][self.draw.random_range(0..3)];
            let opcode = if refused { bad } else { self.draw.random_range(1..=5) };
            self.identifier = self.identifier.wrapping_add(0x1357);
            words[0] = words[0] & !0xFF_FFFF | opcode << 16 | u64::from(self.identifier);
            written += u32::from(self.user.submit(2, words)?);
        }
        self.jobs -= written as usize;
        if written > 0 { self.user.ring(2) } else { Ok(()) }
    }

    fn submit_locks(&mut self) -> Result<(), String> {
        let mut written = false;
        if self.chance(self.scenario.refusals) {
            let mut words: [u64; 8] = std::array::from_fn(|_| self.draw.next_u64());
            words[0] = words[0] & !0xFF_0000 | 7 << 16;
            written = self.user.submit(1, words)?;
        }
        // A place is found before the transaction continues: none may be lost.
        for _ in 0..4 {
            if !self.user.has_room(1)? {
                break;
            }
            let transactions = self.scenario.transactions;
            let Some(request) = self.locks.next(transactions, &mut self.draw) else { break };
            let beat = request.encode();
            let mut words: [u64; 8] = std::array::from_fn(|_| self.draw.next_u64());
            words[0] = words[0] & !0xFF_0000 | 1 << 16;
            words[4..7].copy_from_slice(&beat);
            if !self.user.submit(1, words)? {
                return Err("a free slot was not free".into());
            }
            written = true;
        }
        if written { self.user.ring(1) } else { Ok(()) }
    }

    fn submit_look_ups(&mut self) -> Result<(), String> {
        let mut written = false;
        if self.chance(self.scenario.refusals) && self.look_ups > 0 {
            let mut words: [u64; 8] = std::array::from_fn(|_| self.draw.next_u64());
            words[0] = words[0] & !0xFF_0000 | 9 << 16;
            written = self.user.submit(3, words)?;
        }
        for _ in 0..self.draw.random_range(1..8).min(self.look_ups) {
            if !self.user.has_room(3)? {
                break;
            }
            let Some(words) = self.keys.next(&mut self.draw) else { break };
            if !self.user.submit(3, words)? {
                return Err("a free slot was not free".into());
            }
            self.look_ups -= 1;
            written = true;
        }
        if written { self.user.ring(3) } else { Ok(()) }
    }

    fn consume(&mut self, queue: usize) -> Result<(), String> {
        self.user.clocks(1)?;
        for _ in 0..self.draw.random_range(1..10) {
            let Some(completion) = self.user.consume(queue)? else {
                return self.nothing_came(queue);
            };
            self.idle[queue] = 0;
            let refused = completion.word0 >> 16 & 0xFF != 0;
            if queue == 1 && !refused {
                self.locks.answer(completion.word1)?;
            }
            if queue == 3 && completion.word0 >> 16 & 0xFF != 1 {
                self.keys.answer(&completion)?;
            }
        }
        Ok(())
    }

    /// Where accesses may fail, looks whether the queue has halted, and starts it again.
    fn nothing_came(&mut self, queue: usize) -> Result<(), String> {
        self.idle[queue] += 1;
        if self.scenario.errors == 0 || self.idle[queue] < TIMEOUT || queue % 2 == 1 {
            return Ok(());
        }
        self.idle[queue] = 0;
        let block = self.user.queues[queue].block;
        let error = self.user.read(block + queue::ERROR.offset())?;
        let enabled = self.user.read(block + queue::CONTROL.offset())?;
        match (error, enabled) {
            (0, 1) => Ok(()),
            (1 | 2, 0) => {
                self.user.expect_interrupt(queue);
                self.restart(queue)
            }
            found => Err(format!("ERROR and CONTROL are {found:?}")),
        }
    }

    /// Off and on again, with or without waiting for rest. What is open is forgotten.
    fn restart(&mut self, queue: usize) -> Result<(), String> {
        self.restarts = self.restarts.saturating_sub(1);
        self.user.disable(queue)?;
        if self.chance(128) {
            self.user.await_idle(queue)?;
            let cycles = self.draw.random_range(0..100);
            self.user.clocks(cycles)?;
        }
        self.user.enable(queue)
    }

    fn scratch(&mut self) -> Result<(), String> {
        let address = SHELL + shell::SCRATCH_32.offset();
        let found = self.user.read(address)?;
        if found != self.scratch {
            return Err(format!("SCRATCH_32 is {found:#x}, expected {:#x}", self.scratch));
        }
        self.scratch = self.draw.next_u32();
        self.user.write(address, self.scratch)
    }

    /// All is done: lets the device become still, and compares every count.
    fn settle(mut self) -> Result<(), String> {
        self.user.settle()?;
        let refused_open: usize = [0, 2, 3]
            .map(|queue: usize| self.user.queues[queue].oracle.refusals_open())
            .iter()
            .sum();
        if refused_open > 0 {
            return Err(format!("{refused_open} refusals have no completion"));
        }
        if self.scenario.errors > 0 {
            return Ok(()); // Which of the last accesses failed is not looked at.
        }
        for queue in 0..4 {
            let (found, expected) = (self.user.counted(queue)?, self.user.expected(queue));
            if found != expected {
                return Err(format!("queue {queue} counts {found:?}, expected {expected:?}"));
            }
        }
        let expected = [
            self.user.forced[0],
            self.user.forced[1] + self.user.expected(0).interrupts,
            self.user.forced[2] + self.user.expected(1).interrupts,
            self.user.forced[3],
            self.user.forced[4] + self.user.expected(2).interrupts,
            self.user.forced[5] + self.user.expected(3).interrupts,
        ];
        if self.user.interrupts != expected {
            let found = self.user.interrupts;
            return Err(format!("interrupts by vector are {found:?}, expected {expected:?}"));
        }
        self.user.check_interrupt_counts()?;
        let exact = self.scenario.restarts == 0;
        self.user.check_work_counters(0, exact)?;
        self.user.check_work_counters(2, exact)
    }
}
