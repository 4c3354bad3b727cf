// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sound histories, at random: each transaction does all at one moment, which is its point or, for reads
//! under one header, somewhere before it.

use std::collections::BTreeMap;

use cluster::placement::{HeaderId, Headers};
use history::Options;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// The rows while a history is made up.
pub(super) struct Rows<'s> {
    scene: &'s Scene,
    versions: BTreeMap<HeaderId, u64>,
    digests: BTreeMap<u64, u64>,
}

impl<'s> Rows<'s> {
    pub(super) fn new(scene: &'s Scene) -> Self {
        Self { scene, versions: BTreeMap::new(), digests: BTreeMap::new() }
    }

    fn read(&self, row: u64) -> Access {
        let header = self.scene.layout.header_of(key(row));
        let version = self.versions.get(&header).copied().unwrap_or(0);
        let digest = self.digests.get(&row).copied();
        read(row, version, digest.unwrap_or_else(|| self.scene.initial(row)))
    }

    /// Writes rows that were read.
    fn write(&mut self, reads: &[Access], random: &mut ChaCha8Rng) -> Vec<Access> {
        let mut writes = Vec::new();
        for access in reads {
            if random.random_bool(0.6) {
                // Some rows are deleted, and some values come again.
                let digest = random.random_range(0..20);
                writes.push(write(access.key.row, access.version + 1, digest));
            }
        }
        for access in &writes {
            self.versions.insert(self.scene.layout.header_of(access.key), access.version);
            self.digests.insert(access.key.row, access.digest);
        }
        writes
    }
}

/// A sound history of so many transactions.
pub(super) fn history(scene: &Scene, count: usize, random: &mut ChaCha8Rng) -> Vec<Told> {
    let mut rows = Rows::new(scene);
    let mut told: Vec<Told> = Vec::new();
    // When each worker has ended its last transaction, and how many it has begun.
    let mut workers: Vec<(u64, u32)> = Vec::new();
    let mut now = 100;
    for order in 0..count as u64 {
        now += random.random_range(0..20);
        let begin = now - random.random_range(0..60);
        let worker = match workers.iter().position(|(end, _)| *end < begin) {
            Some(worker) => worker,
            None => {
                workers.push((0, 0));
                workers.len() - 1
            }
        };
        let mut chosen: Vec<u64> = Vec::new();
        for _ in 0..random.random_range(1..4) {
            let row = random.random_range(0..OBJECTS);
            if !chosen.contains(&row) {
                chosen.push(row);
            }
        }
        let header = |row: u64| scene.layout.header_of(key(row));
        let within = random.random_bool(0.3);
        if within {
            let first = header(chosen[0]);
            chosen.retain(|row| header(*row) == first);
        }
        let mut accesses: Vec<Access> = chosen.iter().map(|row| rows.read(*row)).collect();
        let fate = match random.random_range(0..20) {
            0 => Fate::Decided(true),
            1 => Fate::Decided(false),
            2 => Fate::Open,
            3 => Fate::Ends(Ending::RolledBack),
            4 => Fate::Ends(Ending::AbortedByValidation),
            _ => COMMITTED,
        };
        let (kind, point) = if within {
            (Point::Within, now + random.random_range(0..60))
        } else {
            (Point::Now, now)
        };
        if !within && matches!(fate, COMMITTED | Fate::Decided(true)) {
            accesses.extend(rows.write(&accesses.clone(), random));
        } else if !within && matches!(fate, Fate::Decided(false) | Fate::Open) {
            // It would have written, and did not.
            let access = accesses[0];
            accesses.push(write(access.key.row, access.version + 1, 99));
        }
        let end = point + random.random_range(0..30);
        let (last_end, begun) = &mut workers[worker];
        (*last_end, *begun) = (end, *begun + 1);
        let transaction = transaction(worker as u8, *begun);
        told.push(Told { transaction, begin, kind, point: (point, order), end, fate, accesses });
    }
    told
}

#[test]
fn sound_histories_pass() {
    let scenes = [Headers::Buckets, Headers::Rows].map(Scene::with_headers);
    seeds::each!(300, |seed| {
        let scene = &scenes[(seed % 2) as usize];
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let told = history(scene, 60, random);
        let recorder = record(&told);
        let judged = scene.judge().judge(&recorder, seed, "sound");
        let mut replayed = judged.unwrap_or_else(|failure| panic!("{failure}"));
        let rows: Vec<_> = replayed.written().collect();
        replayed.check_end(rows).expect("the rows that it has itself");
        let history = scene.judge().history(&recorder, seed, "sound").expect("a history");
        assert!(history.check(&Options::default()).is_complete());
    });
}
