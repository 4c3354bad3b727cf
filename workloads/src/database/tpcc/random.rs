// SPDX-License-Identifier: MIT OR Apache-2.0
//! TPC-C's random values: non-uniform numbers (clause 2.1.6), last names and texts (4.3.2).

use rand::{Rng, RngExt};

use crate::random::common_stream;

/// NURand(A, x, y) with its constant C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NonUniform {
    /// A: a power of two less one.
    pub mask: i64,
    /// C: 0 to A.
    pub constant: i64,
}

impl NonUniform {
    /// A number from `least` to `most`.
    pub fn draw(self, least: i64, most: i64, random: &mut impl Rng) -> i64 {
        let spread = random.random_range(0..=self.mask) | random.random_range(least..=most);
        (spread + self.constant) % (most - least + 1) + least
    }
}

/// The three non-uniform distributions of a database, with the constants of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// Last names during the population: C-Load.
    pub name_load: NonUniform,
    /// Last names in a run: C-Run, as far from C-Load as clause 2.1.6.1 wants it.
    pub name_run: NonUniform,
    /// Customer numbers.
    pub customer: NonUniform,
    /// Item numbers.
    pub item: NonUniform,
}

impl Constants {
    /// Drawn once for a seed, the same for all agents.
    pub fn new(seed: u64) -> Self {
        let mut random = common_stream(seed, 0);
        let load = random.random_range(0..=255i64);
        let distance = loop {
            let distance = random.random_range(65..=119);
            if distance != 96 && distance != 112 {
                break distance;
            }
        };
        let run = if load + distance <= 255 { load + distance } else { load - distance };
        let mut any = |mask| NonUniform { mask, constant: random.random_range(0..=mask) };
        Self {
            customer: any(1_023),
            item: any(8_191),
            name_load: NonUniform { mask: 255, constant: load },
            name_run: NonUniform { mask: 255, constant: run },
        }
    }
}

/// Names are numbered from 0 to this, less one.
pub const NAMES: i64 = 1_000;

const SYLLABLES: [&str; 10] =
    ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

/// The last name of a number below 1,000: a syllable for each digit (clause 4.3.2.3).
pub fn last_name(number: i64) -> String {
    [number / 100, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit as usize]).concat()
}

const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-";

/// Letters, digits and two signs, all alike.
pub fn fill_text(bytes: &mut [u8], random: &mut impl Rng) {
    random.fill_bytes(bytes);
    bytes.iter_mut().for_each(|byte| *byte = LETTERS[usize::from(*byte % 64)]);
}

/// A text of `least` to `most` letters.
pub fn text(least: usize, most: usize, random: &mut impl Rng) -> String {
    let mut bytes = vec![0; random.random_range(least..=most)];
    fill_text(&mut bytes, random);
    String::from_utf8(bytes).expect("letters are ASCII")
}

/// The text that marks brand goods.
pub const ORIGINAL: &str = "ORIGINAL";

/// A text of 26 to 50 letters, one in ten of them with [`ORIGINAL`] somewhere within.
pub fn goods_data(random: &mut impl Rng) -> String {
    let mut data = text(26, 50, random);
    if random.random_range(0..10) == 0 {
        let place = random.random_range(0..=data.len() - ORIGINAL.len());
        data.replace_range(place..place + ORIGINAL.len(), ORIGINAL);
    }
    data
}

/// Digits.
pub fn digits<const N: usize>(random: &mut impl Rng) -> [u8; N] {
    std::array::from_fn(|_| random.random_range(b'0'..=b'9'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::chi_square_deviation;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    /// The exact distribution, by counting.
    fn shares(draws: NonUniform, least: i64, most: i64) -> Vec<f64> {
        let range = most - least + 1;
        let mut shares = vec![0.0; range as usize];
        for masked in 0..=draws.mask {
            for uniform in least..=most {
                let place = ((masked | uniform) + draws.constant) % range;
                shares[place as usize] += 1.0 / ((draws.mask + 1) * range) as f64;
            }
        }
        shares
    }

    #[test]
    fn numbers_are_drawn_as_the_standard_says() {
        let constants = Constants::new(4);
        for (draws, least, most) in [
            (constants.name_run, 0, 999),
            (constants.name_load, 0, 299),
            (constants.customer, 1, 3_000),
            (constants.item, 1, 1_000),
        ] {
            let shares = shares(draws, least, most);
            let draw = |random: &mut ChaCha8Rng| (draws.draw(least, most, random) - least) as usize;
            let deviation = chi_square_deviation(draw, &shares, 2);
            assert!(deviation.abs() < 5.0, "{draws:?} of {least} to {most}: {deviation}");
            // Another constant turns the whole distribution, and the check sees it.
            let other = NonUniform { constant: (draws.constant + 37) % (draws.mask + 1), ..draws };
            let draw = |random: &mut ChaCha8Rng| (other.draw(least, most, random) - least) as usize;
            assert!(chi_square_deviation(draw, &shares, 2) > 5.0, "{other:?} passes");
        }
    }

    #[test]
    fn the_constant_of_a_run_keeps_its_distance_from_that_of_the_population() {
        for seed in 0..2_000 {
            let Constants { name_load, name_run, .. } = Constants::new(seed);
            assert!((0..=255).contains(&name_run.constant), "seed {seed}");
            let distance = (name_load.constant - name_run.constant).abs();
            let allowed = (65..=119).contains(&distance) && distance != 96 && distance != 112;
            assert!(allowed, "seed {seed}: {distance}");
        }
    }

    #[test]
    fn last_names_are_three_syllables() {
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(40), "BARPRESBAR");
        assert!((0..NAMES).all(|number| last_name(number).len() <= 16));
    }

    #[test]
    fn one_of_ten_goods_is_original() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let goods: Vec<_> = (0..20_000).map(|_| goods_data(&mut random)).collect();
        assert!(goods.iter().all(|data| (26..=50).contains(&data.len())));
        let original = goods.iter().filter(|data| data.contains(ORIGINAL)).count();
        assert!((1_800..2_200).contains(&original), "{original} of 20000");
    }
}
