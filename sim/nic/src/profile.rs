// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which keys are looked up, in which order.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::robin_hood::RobinHood;
use workloads::zipf::{MAX_EXPONENT, RowSampler};

use crate::RunError;
use crate::contents::Contents;

/// How keys are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Profile {
    /// Every key of the table alike.
    Uniform,
    /// Zipf over the keys in a seeded order.
    Zipf {
        /// The exponent, from 0 to 10.
        exponent: f64,
    },
    /// So many per cent of the look-ups are of *hot* keys, one a segment, which the index has all cached. Each
    /// other one is of a cold key in a segment without a hot one, and no cold key comes twice: no cache has it.
    Hits {
        /// 0 to 100.
        percent: f64,
    },
}

/// Hot keys of [`Profile::Hits`] at most: as many as a quarter of the shipped block's entries on chip.
const MOST_HOT: usize = 4096;

/// Why a text is no profile.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("expected uniform, zipf:EXPONENT with 0 to {MAX_EXPONENT}, or hits:PERCENT with 0 to 100")]
pub struct ProfileError;

impl FromStr for Profile {
    type Err = ProfileError;

    fn from_str(text: &str) -> Result<Self, ProfileError> {
        let number = |text: &str, most: f64| {
            let number: f64 = text.parse().map_err(|_| ProfileError)?;
            if (0.0..=most).contains(&number) { Ok(number) } else { Err(ProfileError) }
        };
        match text.split_once(':') {
            None if text == "uniform" => Ok(Self::Uniform),
            Some(("zipf", text)) => Ok(Self::Zipf { exponent: number(text, MAX_EXPONENT)? }),
            Some(("hits", text)) => Ok(Self::Hits { percent: number(text, 100.0)? }),
            _ => Err(ProfileError),
        }
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf { exponent } => write!(f, "zipf:{exponent}"),
            Self::Hits { percent } => write!(f, "hits:{percent}"),
        }
    }
}

/// The keys of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookUps {
    /// Looked up before anything is measured.
    pub warm_up: Vec<u64>,
    /// Measured.
    pub measured: Vec<u64>,
}

impl Profile {
    /// Draws the keys of `count` look-ups, `absent` (0 to 1) of which are not in the table, and before these of
    /// `warm_up` ones. [`Profile::Hits`] warms up with each hot key once besides.
    ///
    /// # Errors
    /// When the table has too few keys for it.
    pub fn draw(
        &self,
        contents: &Contents,
        geometry: &RobinHood,
        (warm_up, count): (usize, usize),
        absent: f64,
        seed: u64,
    ) -> Result<LookUps, RunError> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        if let Self::Hits { percent } = self {
            return hits(contents, geometry, (warm_up, count), percent / 100.0, &mut random);
        }
        let rows = contents.objects.len() as u64;
        let sampler = match *self {
            Self::Zipf { exponent } => RowSampler::scrambled_zipf(rows, exponent, seed),
            _ => RowSampler::uniform(rows),
        };
        let known: HashSet<u64> = match absent > 0.0 {
            true => contents.objects.iter().map(|object| object.0).collect(),
            false => HashSet::new(),
        };
        let mut draw = || {
            if absent > 0.0 && random.random_bool(absent) {
                let index = random.random_range(0..rows);
                return contents.absent_key(seed, index, |key| known.contains(&key));
            }
            contents.objects[sampler.sample(&mut random) as usize].0
        };
        let mut keys = |count: usize| (0..count).map(|_| draw()).collect();
        Ok(LookUps { warm_up: keys(warm_up), measured: keys(count) })
    }
}

fn hits(
    contents: &Contents,
    geometry: &RobinHood,
    (warm_up, count): (usize, usize),
    share: f64,
    random: &mut ChaCha8Rng,
) -> Result<LookUps, RunError> {
    let segment = |key| geometry.segment(geometry.home(key));
    let mut keys: Vec<u64> = contents.objects.iter().map(|object| object.0).collect();
    keys.shuffle(random);
    let (mut hot, mut hot_segments) = (Vec::new(), HashSet::new());
    let most_hot = if share > 0.0 { MOST_HOT.min(keys.len() / 4).max(1) } else { 0 };
    for &key in &keys {
        if hot.len() < most_hot && hot_segments.insert(segment(key)) {
            hot.push(key);
        }
    }
    let mut cold = keys.into_iter().filter(|&key| !hot_segments.contains(&segment(key)));
    let too_few = || {
        let look_ups = warm_up + count;
        RunError::TooFewKeys { keys: contents.objects.len(), look_ups }
    };
    let mut before: Vec<u64> = cold.by_ref().take(warm_up).collect();
    if before.len() < warm_up {
        return Err(too_few());
    }
    before.extend(&hot);
    let mut measured = Vec::with_capacity(count);
    for _ in 0..count {
        let key = match random.random_bool(share) {
            true => Some(hot[random.random_range(0..hot.len())]),
            false => cold.next(),
        };
        measured.push(key.ok_or_else(too_few)?);
    }
    Ok(LookUps { warm_up: before, measured })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use tables::Values;
    use tables::robin_hood::Shape;

    fn geometry() -> RobinHood {
        let values = Values::inline(8);
        RobinHood::new(Shape {
            slots: 2000,
            limit: Some(15),
            segment: 2,
            overflow_slots: 9,
            values,
        })
        .expect("a shape")
    }

    #[test]
    fn profiles_are_read_as_they_are_shown() {
        for text in ["uniform", "zipf:0.99", "hits:75"] {
            assert_eq!(text.parse::<Profile>().expect(text).to_string(), text);
        }
        for text in ["", "zipf", "zipf:", "zipf:11", "zipf:-1", "zipf:NaN", "hits:101", "uniform:1"]
        {
            assert_eq!(text.parse::<Profile>(), Err(ProfileError), "{text}");
        }
    }

    #[test]
    fn hot_keys_are_hit_as_often_as_asked_and_cold_ones_once() {
        let contents = Contents::generated(1800, 1);
        let profile = Profile::Hits { percent: 75.0 };
        let drawn = profile.draw(&contents, &geometry(), (5, 2000), 0.0, 3).expect("enough keys");
        let hot: HashSet<u64> = drawn.warm_up[5..].iter().copied().collect();
        assert_eq!(hot.len() + 5, drawn.warm_up.len());
        let hits = drawn.measured.iter().filter(|key| hot.contains(key)).count();
        assert!((1400..1600).contains(&hits), "{hits}");
        let segment = |key: &u64| geometry().segment(geometry().home(*key));
        let hot_segments: HashSet<u32> = hot.iter().map(segment).collect();
        assert_eq!(hot_segments.len(), hot.len());
        let mut cold = HashMap::new();
        for key in drawn.measured.iter().filter(|key| !hot.contains(key)) {
            *cold.entry(key).or_insert(0) += 1;
            assert!(!hot_segments.contains(&segment(key)));
        }
        assert!(cold.values().all(|&count| count == 1));
        let none = Profile::Hits { percent: 0.0 };
        let error = none.draw(&contents, &geometry(), (0, 1801), 0.0, 3).expect_err("too few");
        assert!(error.to_string().contains("1800 keys"), "{error}");
    }

    #[test]
    fn absent_keys_are_drawn_as_often_as_asked() {
        let contents = Contents::generated(1800, 1);
        let known: HashSet<u64> = contents.objects.iter().map(|object| object.0).collect();
        let draw = |seed| {
            let profile = Profile::Zipf { exponent: 0.99 };
            profile.draw(&contents, &geometry(), (10, 2000), 0.25, seed).expect("drawn")
        };
        let absent = draw(1).measured.iter().filter(|key| !known.contains(key)).count();
        assert!((400..600).contains(&absent), "{absent}");
        assert_eq!(
            (draw(1).warm_up.len(), draw(1) == draw(1), draw(1) == draw(2)),
            (10, true, false)
        );
    }
}
