// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which row is touched: uniform, Zipf, and Zipf scattered over the table.
//!
//! The Zipf sampler is `rand_distr`'s, which rejects under a continuous envelope and so is
//! exact: row rank k (from 1) comes with probability k^-s / sum over all ranks of i^-s. Many
//! YCSB ports use the approximation of Gray et al. (SIGMOD 1994) instead, which is off for
//! the first ranks, the very rows that meet in the lock table.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Zipf};

/// The largest table that a sampler draws from: ranks stay exact in an `f64`.
pub const MAX_ROWS: u64 = 1 << 40;

/// The steepest Zipf exponent that is accepted.
pub const MAX_EXPONENT: f64 = 10.0;

/// Draws row numbers 0 to `rows` - 1.
#[derive(Clone, Debug)]
pub struct RowSampler {
    rows: u64,
    zipf: Option<Zipf<f64>>,
    scatter: Option<Permutation>,
}

impl RowSampler {
    /// Every row alike.
    ///
    /// # Panics
    /// When `rows` is 0 or above [`MAX_ROWS`].
    pub fn uniform(rows: u64) -> Self {
        assert!((1..=MAX_ROWS).contains(&rows), "{rows} rows cannot be sampled");
        Self { rows, zipf: None, scatter: None }
    }

    /// Row k - 1 is the one of rank k: row 0 is the hottest.
    ///
    /// # Panics
    /// As [`RowSampler::uniform`], and when `exponent` is not within 0 to [`MAX_EXPONENT`].
    pub fn zipf(rows: u64, exponent: f64) -> Self {
        assert!((0.0..=MAX_EXPONENT).contains(&exponent), "Zipf exponent {exponent}");
        let zipf = Zipf::new(rows as f64, exponent).expect("rows and exponent were checked");
        Self { zipf: Some(zipf), ..Self::uniform(rows) }
    }

    /// Zipf, with the ranks scattered over the table by a permutation drawn from `seed`.
    ///
    /// YCSB scatters by a hash modulo the number of rows, under which ranks collide and the
    /// distribution is no longer Zipf; a permutation keeps it exact.
    ///
    /// # Panics
    /// As [`RowSampler::zipf`].
    pub fn scrambled_zipf(rows: u64, exponent: f64, seed: u64) -> Self {
        Self { scatter: Some(Permutation::new(rows, seed)), ..Self::zipf(rows, exponent) }
    }

    /// Number of rows that it draws from.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// One row number, below [`RowSampler::rows`].
    pub fn sample(&self, random: &mut impl Rng) -> u64 {
        let rank = match &self.zipf {
            None => random.random_range(0..self.rows),
            // Rounding may carry the last rank one too far, once in 2^53 draws.
            Some(zipf) => (zipf.sample(random) as u64 - 1).min(self.rows - 1),
        };
        self.scatter.as_ref().map_or(rank, |scatter| scatter.apply(rank))
    }

    /// `count` different rows, in the order in which they were drawn: draws of a row that is
    /// there already are repeated. After 64 of them in a row the next free row number is
    /// taken, so that a steep distribution over few rows ends too.
    ///
    /// # Panics
    /// When there are fewer than `count` rows.
    pub fn sample_distinct(&self, count: usize, random: &mut impl Rng) -> Vec<u64> {
        assert!(count as u64 <= self.rows, "{count} different rows out of {}", self.rows);
        let mut chosen: Vec<u64> = Vec::with_capacity(count);
        while chosen.len() < count {
            let mut row = self.sample(random);
            let mut repeats = 0;
            while chosen.contains(&row) {
                repeats += 1;
                row = if repeats <= 64 { self.sample(random) } else { (row + 1) % self.rows };
            }
            chosen.push(row);
        }
        chosen
    }
}

/// A permutation of 0 to `rows` - 1 that takes no memory.
///
/// Three rounds of add, multiply by an odd number and fold, each a bijection of the numbers
/// below the next power of two; results outside the table are sent round again (cycle
/// walking: Black and Rogaway, CT-RSA 2002, section 4), which happens less than once a draw
/// on average.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    rows: u64,
    mask: u64,
    fold: u32,
    rounds: [(u64, u64); 3],
}

impl Permutation {
    /// One of them, drawn from `seed`.
    pub(crate) fn new(rows: u64, seed: u64) -> Self {
        let bits = u64::BITS - (rows - 1).leading_zeros();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let rounds = std::array::from_fn(|_| (random.next_u64(), random.next_u64() | 1));
        Self { rows, mask: (1 << bits) - 1, fold: bits / 2 + 1, rounds }
    }

    /// Where `row` goes.
    pub(crate) fn apply(&self, row: u64) -> u64 {
        debug_assert!(row < self.rows);
        let mut row = row;
        loop {
            for (add, multiply) in self.rounds {
                row = row.wrapping_add(add).wrapping_mul(multiply) & self.mask;
                row ^= row >> self.fold;
            }
            if row < self.rows {
                return row;
            }
        }
    }

    /// Which row goes to `row`.
    pub(crate) fn invert(&self, row: u64) -> u64 {
        debug_assert!(row < self.rows);
        let mut row = row;
        loop {
            for (add, multiply) in self.rounds.iter().rev() {
                // A fold by more than half of the bits undoes itself.
                row ^= row >> self.fold;
                row = row.wrapping_mul(inverse(*multiply)).wrapping_sub(*add) & self.mask;
            }
            if row < self.rows {
                return row;
            }
        }
    }
}

/// The number by which an odd one is multiplied to 1, modulo 2^64: each step of Newton's method doubles the bits that
/// are right, of which an odd number has three as its own inverse.
fn inverse(odd: u64) -> u64 {
    (0..5)
        .fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::testing;

    fn chi_square_deviation(sampler: &RowSampler, shares: &[f64], seed: u64) -> f64 {
        testing::chi_square_deviation(|random| sampler.sample(random) as usize, shares, seed)
    }

    fn zipf_shares(rows: u64, exponent: f64) -> Vec<f64> {
        let weights: Vec<f64> = (1..=rows).map(|rank| (rank as f64).powf(-exponent)).collect();
        let total: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / total).collect()
    }

    #[test]
    fn zipf_follows_its_distribution() {
        for (rows, exponent) in [(10, 0.5), (1000, 0.99), (1000, 1.0), (20_000, 0.8), (50, 2.5)] {
            let sampler = RowSampler::zipf(rows, exponent);
            let deviation = chi_square_deviation(&sampler, &zipf_shares(rows, exponent), 1);
            assert!(deviation.abs() < 5.0, "{rows} rows, exponent {exponent}: {deviation}");
        }
    }

    #[test]
    fn the_check_tells_neighbouring_exponents_apart() {
        let sampler = RowSampler::zipf(1000, 0.99);
        assert!(chi_square_deviation(&sampler, &zipf_shares(1000, 0.96), 1) > 5.0);
        assert!(chi_square_deviation(&sampler, &zipf_shares(1001, 0.99)[1..], 1) > 5.0);
    }

    #[test]
    fn uniform_is_uniform() {
        let deviation = chi_square_deviation(&RowSampler::uniform(1000), &[0.001; 1000], 2);
        assert!(deviation.abs() < 5.0, "{deviation}");
    }

    #[test]
    fn scrambling_moves_the_ranks_and_keeps_their_shares() {
        let (rows, seed) = (1000, 7);
        let sampler = RowSampler::scrambled_zipf(rows, 0.99, seed);
        let ranks = zipf_shares(rows, 0.99);
        let mut shares = vec![0.0; rows as usize];
        for (rank, share) in ranks.iter().enumerate() {
            shares[Permutation::new(rows, seed).apply(rank as u64) as usize] = *share;
        }
        assert!(chi_square_deviation(&sampler, &shares, 3).abs() < 5.0);
        assert!(chi_square_deviation(&sampler, &ranks, 3) > 5.0);
    }

    #[test]
    fn a_permutation_hits_every_row_once() {
        for rows in [1, 2, 3, 7, 8, 9, 1000, 1024, 1025] {
            for seed in 0..8 {
                let permutation = Permutation::new(rows, seed);
                let mut hit: Vec<u64> = (0..rows).map(|row| permutation.apply(row)).collect();
                let back = hit.iter().map(|row| permutation.invert(*row));
                assert!(back.eq(0..rows), "{rows} rows, seed {seed}");
                hit.sort_unstable();
                assert!(hit.iter().copied().eq(0..rows), "{rows} rows, seed {seed}");
            }
        }
    }

    #[test]
    fn distinct_rows_end_even_when_steep() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let mut rows = RowSampler::zipf(16, MAX_EXPONENT).sample_distinct(16, &mut random);
        rows.sort_unstable();
        assert!(rows.into_iter().eq(0..16));
    }
}
