// SPDX-License-Identifier: MIT OR Apache-2.0
//! A storm on a few rows: every transaction of every agent updates some of them.

use rand::Rng;

use crate::scenario::HotRowSettings;
use crate::zipf::RowSampler;
use locks::TupleKey;

/// Draws from the few rows of a hot-row storm, each alike.
#[derive(Clone, Debug)]
pub(crate) struct HotRows {
    sampler: RowSampler,
}

impl HotRows {
    pub(crate) fn new(settings: &HotRowSettings) -> Self {
        Self { sampler: RowSampler::uniform(settings.rows) }
    }

    /// `count` different rows; the VIDs are 1 to the number of rows.
    pub(crate) fn locks(&self, count: usize, random: &mut impl Rng) -> Vec<TupleKey> {
        let rows = self.sampler.sample_distinct(count, random);
        rows.into_iter().map(|row| TupleKey::initial(row + 1)).collect()
    }
}
