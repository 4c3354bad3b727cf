// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two-row transfer: reads and changes two different rows, drawn uniformly.

use anyhow::Result;
use rand::{Rng, RngExt};

use crate::Writes;

/// Moves `amount` from one row to another one. Balances may fall below zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    from: u64,
    to: u64,
    amount: i64,
}

impl Transfer {
    /// One among `rows` rows, of which there are at least two.
    pub fn draw(rows: u64, random: &mut impl Rng) -> Self {
        let from = random.random_range(0..rows);
        let to = (from + random.random_range(1..rows)) % rows;
        Self { from, to, amount: random.random_range(1..=100) }
    }

    /// Does it inside a transaction.
    ///
    /// # Errors
    /// Those of the rows.
    pub fn apply(self, rows: &mut dyn Writes) -> Result<()> {
        let from = rows.get(self.from)?;
        rows.put(self.from, from - self.amount)?;
        let to = rows.get(self.to)?;
        rows.put(self.to, to + self.amount)
    }
}
