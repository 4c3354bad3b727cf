// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a thread of the host does: deletes keys of its own, and inserts them again.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::contents::{Contents, value_of};

/// One operation of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The key.
    pub key: u64,
    /// The value that is inserted; none when the key is deleted.
    pub content: Option<u64>,
}

/// The endless stream of a thread's operations, a pure function of contents, seed and thread.
#[derive(Clone, Debug)]
pub struct Churn {
    random: ChaCha8Rng,
    /// Keys that are there, and those that are not, with how often each was inserted.
    there: Vec<(u64, u64)>,
    gone: Vec<(u64, u64)>,
}

impl Churn {
    /// Those of thread `thread` of `threads`, which together change the part `share` (0 to 1) of the keys, and at
    /// least one each. Empty when there are fewer keys than threads.
    pub fn new(contents: &Contents, share: f64, (thread, threads): (u32, u32), seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Stream 0 is that of the look-ups.
        random.set_stream(u64::from(thread) + 1);
        let all = contents.objects.len();
        let count = ((all as f64 * share) as usize).clamp((threads as usize).min(all), all);
        // Evenly over the table, which is in no order of its own.
        let places = (0..count).skip(thread as usize).step_by(threads as usize);
        let key = |n: usize| contents.objects[n * all / count].0;
        Churn { random, there: places.map(|n| (key(n), 0)).collect(), gone: Vec::new() }
    }
}

impl Iterator for Churn {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let Churn { random, there, gone } = self;
        if there.is_empty() && gone.is_empty() {
            return None;
        }
        let inserts = there.is_empty() || !gone.is_empty() && random.random_bool(0.5);
        let (from, to) = if inserts { (gone, there) } else { (there, gone) };
        let (key, mut insertions) = from.swap_remove(random.random_range(0..from.len()));
        insertions += u64::from(inserts);
        to.push((key, insertions));
        Some(Step { key, content: inserts.then(|| value_of(key, insertions)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn threads_have_keys_of_their_own_and_change_them_in_turns() {
        let contents = Contents::generated(1000, 2);
        let mut all = BTreeSet::new();
        for thread in 0..4 {
            let mut there = BTreeMap::new();
            for step in Churn::new(&contents, 0.1, (thread, 4), 9).take(500) {
                let was = there.insert(step.key, step.content).unwrap_or(Some(0));
                assert_ne!(was.is_some(), step.content.is_some(), "{step:?}");
                assert_ne!(was, step.content, "a new insertion has a new value");
            }
            assert_eq!(there.len(), 25);
            all.extend(there.into_keys());
        }
        assert_eq!(all.len(), 100);
        let few = Contents::generated(2, 2);
        assert_eq!(Churn::new(&few, 0.0, (2, 3), 9).next(), None);
        assert!(Churn::new(&few, 0.0, (1, 3), 9).next().is_some());
    }
}
