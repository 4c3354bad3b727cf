// SPDX-License-Identifier: MIT OR Apache-2.0
//! Two coordinators that abort each other must not do so for ever.

use cluster::fasst::{Fasst, Mutant, Settings};
use cluster::placement::partition_of;
use cluster::transact::Intent::{Read, Write};
use cluster::workload::{ObjectStore, ObjectStoreSettings, ObjectTransaction, Scripted};
use timing::Time;

use super::Case;
use crate::protocols::Campaigns;
use crate::world::{Options, World};

/// Transactions of each of the two.
const DUELS: usize = 12;

/// Each of two coordinators writes a row of its own node and one of the other's, again and again. Both
/// lock their own row at once, and find the other's locked. The first has begun `ahead` attempts more.
fn commits(ahead: usize) -> usize {
    let rows = |node| (0..64).filter(move |row| partition_of(*row, 2).0 == node);
    let row = |node, number| rows(node).nth(number).expect("enough rows of each node");
    let duel =
        |own, other| ObjectTransaction::new(1, &[(row(own, 0), Write), (row(other, 0), Write)]);
    let mut first = vec![ObjectTransaction::new(1, &[(row(0, 1), Read)]); ahead];
    first.extend(vec![duel(0, 1); DUELS]);
    let second = vec![duel(1, 0); DUELS];
    let store = ObjectStoreSettings { objects: 64, ..ObjectStoreSettings::o(2, 2, 2, 1) };
    let store = ObjectStore::new(store).expect("sound settings");
    let settings = Settings { nodes: 2, threads: 1, workers: 1, backups: 1, ..Settings::default() };
    let cluster = Fasst::new(settings, Scripted::new(store, [first, second]));
    let options = Options { host_threads: 1, workers: 1, ..Options::default() };
    let hardware = Mutant::hardware(&Case::draw(0));
    let cluster = cluster.expect("sound settings");
    let mut world = World::new(cluster, hardware, None, options).expect("a world");
    world.begin();
    // Alone, a transaction takes about 10 us: so this is some five times as long as they take in turns.
    world.run_until(Time::from_us(1_200));
    let attempts = world.recorder().attempts().iter();
    attempts.filter(|attempt| attempt.is_committed()).count() - ahead
}

#[test]
fn two_that_want_each_others_rows_both_commit() {
    for ahead in 0..48 {
        assert_eq!(commits(ahead), 2 * DUELS, "{ahead} attempts ahead");
    }
}
