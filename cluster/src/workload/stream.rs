// SPDX-License-Identifier: MIT OR Apache-2.0
//! The random numbers of one worker.

use std::hash::{Hash, Hasher};

use rand_chacha::ChaCha8Rng;
use workloads::random::agent_stream;

/// The stream of random numbers of one worker, and how many inputs it has drawn. Machines hold it, so it
/// can be cloned, compared and hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The worker in the whole cluster.
    pub(super) worker: u32,
    /// How many inputs have been drawn.
    pub(super) drawn: u64,
    pub(super) random: ChaCha8Rng,
}

impl Stream {
    /// The stream of `worker`: the one that the agent of this number has in [`workloads`].
    pub fn new(seed: u64, worker: u32) -> Self {
        Self { worker, drawn: 0, random: agent_stream(seed, worker) }
    }

    /// Counts one more input, and names it among all of the run. No name is 0.
    pub(super) fn next_writer(&mut self) -> u64 {
        self.drawn += 1;
        u64::from(self.worker) << 40 | self.drawn
    }
}

impl Hash for Stream {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let random = &self.random;
        (self.worker, self.drawn).hash(state);
        (random.get_seed(), random.get_stream(), random.get_word_pos()).hash(state);
    }
}
