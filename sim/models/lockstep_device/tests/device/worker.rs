// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stand-in for the job engine: submissions go in, and answers come out in an order and with
//! outcomes drawn from a seed.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi4::Delay;
use sim::bus::stall::channel_generator;

/// Submissions that the device may have open.
pub const JOBS: usize = 16;

/// How jobs go.
#[derive(Clone, Copy, Debug)]
pub struct Jobs {
    /// Cycles from submission to answer.
    pub latency: Delay,
    /// No job ends.
    pub held: bool,
}

impl Jobs {
    /// Jobs that are done at once.
    pub fn smooth() -> Self {
        Jobs { latency: Delay { minimum: 0, maximum: 0 }, held: false }
    }
}

pub struct Worker {
    pub jobs: Jobs,
    generator: ChaCha8Rng,
    /// Number, word 0, and the cycle before which the job does not end.
    open: Vec<(usize, u64, u64)>,
    taken: usize,
}

impl Worker {
    pub fn new(jobs: Jobs, seed: u64) -> Self {
        Worker { jobs, generator: channel_generator(seed, "worker"), open: Vec::new(), taken: 0 }
    }

    /// Takes the beat of a submission, the next by number.
    pub fn submission(&mut self, cycle: u64, beat: [u64; 8]) -> Result<(), String> {
        if self.open.len() == JOBS {
            return Err(format!("cycle {cycle}: a job comes while {JOBS} are open"));
        }
        let Delay { minimum, maximum } = self.jobs.latency;
        let due = cycle + u64::from(self.generator.random_range(minimum..=maximum));
        self.open.push((self.taken, beat[0], due));
        self.taken += 1;
        Ok(())
    }

    /// Submissions without an answer.
    pub fn open(&self) -> usize {
        self.open.len()
    }

    /// The number of a submission whose answer is due, and the beat of that.
    pub fn next_answer(&mut self, cycle: u64) -> Option<(usize, [u64; 2])> {
        if self.jobs.held {
            return None;
        }
        let due = self.open.iter().position(|(.., due)| *due <= cycle)?;
        let (number, word0, _) = self.open.swap_remove(due);
        // Identifier and wish as they came, anything else as status, bytes and detail.
        let kept = 0x100_FFFF;
        let drawn = [self.generator.next_u64(), self.generator.next_u64()];
        Some((number, [word0 & kept | drawn[0] & !kept, drawn[1]]))
    }
}
