// SPDX-License-Identifier: MIT OR Apache-2.0
//! YCSB: which rows of its one table are touched, and the lock traces of update transactions.

use rand::Rng;

use crate::scenario::{Distribution, YcsbSettings};
use crate::zipf::RowSampler;
use locks::TupleKey;

/// Draws the rows of YCSB-style update transactions.
#[derive(Clone, Debug)]
pub(crate) struct Ycsb {
    sampler: RowSampler,
}

impl Ycsb {
    /// `seed` scatters the ranks; it must be the same for all agents, which otherwise would
    /// not agree on which rows are hot.
    pub(crate) fn new(settings: &YcsbSettings, seed: u64) -> Self {
        Self { sampler: sampler(settings, seed) }
    }

    /// `count` different rows; row r of the table has VID r + 1.
    pub(crate) fn locks(&self, count: usize, random: &mut impl Rng) -> Vec<TupleKey> {
        let rows = self.sampler.sample_distinct(count, random);
        rows.into_iter().map(|row| TupleKey::initial(row + 1)).collect()
    }
}

/// Draws rows as the settings say. `seed` scatters the ranks, where they are scattered.
pub(crate) fn sampler(settings: &YcsbSettings, seed: u64) -> RowSampler {
    let rows = settings.rows;
    match settings.distribution {
        Distribution::Uniform => RowSampler::uniform(rows),
        Distribution::Zipf { exponent, scrambled: false } => RowSampler::zipf(rows, exponent),
        Distribution::Zipf { exponent, scrambled: true } => {
            RowSampler::scrambled_zipf(rows, exponent, seed)
        }
    }
}
