// SPDX-License-Identifier: MIT OR Apache-2.0
//! Planted bugs that need neither crash nor loss are noticed in some order.

use cluster::workload::{ObjectStore, ObjectStoreSettings, Scripted};
use cluster::xenic::{Mutant, Planted, Settings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::driver::{Cluster, Network};

/// Those that are looked for here. The others need a failure.
const HERE: [Mutant; 12] = [
    Mutant::NoValidation,
    Mutant::LocalReadsOnHost,
    Mutant::LocalWritesUnvalidated,
    Mutant::ShippedReadsUnlocked,
    Mutant::RemoteAbortKeepsLocks,
    Mutant::CellReusedEarly,
    Mutant::UnlockedBeforePinned,
    Mutant::ReadOnlySkipsValidation,
    Mutant::OwnLockConflicts,
    Mutant::NoDuplicateSuppression,
    Mutant::UnpinnedEarly,
    Mutant::LossNotDetected,
];

/// A small cluster that is likely to show a bug.
fn settings(mutant: Mutant, random: &mut ChaCha8Rng) -> Settings {
    let nodes = random.random_range(2..4);
    let settings = Settings {
        nodes,
        workers: 3,
        cores: 1,
        slots: random.random_range(1..4),
        backups: random.random_range(0..nodes.min(3)) as u8,
        index_entries: 8,
        planted: Planted::new(mutant),
        ..Settings::default()
    };
    match mutant {
        Mutant::LocalReadsOnHost | Mutant::LocalWritesUnvalidated => {
            Settings { ships: false, multi_hop: false, ..settings }
        }
        Mutant::OwnLockConflicts => {
            Settings { combined: false, ships: false, multi_hop: false, ..settings }
        }
        Mutant::CellReusedEarly => Settings { slots: 1, backups: 1, ..settings },
        _ => settings,
    }
}

/// Runs a case with a bug, and says what was noticed.
fn noticed(mutant: Mutant, seed: u64) -> Option<String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let settings = settings(mutant, random);
    let objects = ObjectStoreSettings {
        objects: if mutant == Mutant::UnpinnedEarly { 120 } else { 6 },
        value_bytes: 16,
        apart: false,
        seed,
        ..ObjectStoreSettings::o(3, 1, settings.nodes, 1)
    };
    let objects = ObjectStore::new(objects).expect("sound settings");
    let workers = u32::from(settings.nodes) * u32::from(settings.workers);
    let lazy = [1, 40, 400][random.random_range(0..3)];
    let duplicates = Some(3).filter(|_| mutant == Mutant::NoDuplicateSuppression);
    let losses = Some(40).filter(|_| mutant == Mutant::LossNotDetected);
    let network = Network { shuffles: true, duplicates, losses, lazy };
    let workload = Scripted::drawn(objects, workers, 12);
    let mut cluster = Cluster::new(settings, workload, network, seed);
    cluster.most_steps = 60_000;
    cluster.begin_all();
    let run = cluster.run();
    // A loss ends a process, in place of waiting for ever.
    if mutant == Mutant::LossNotDetected {
        let waits = !cluster.killed.contains(&true) && cluster.check().is_err();
        return waits.then(|| "it waits for ever".into());
    }
    run.and_then(|()| cluster.check()).err()
}

#[test]
fn planted_bugs_are_noticed() {
    for mutant in HERE {
        let found = (0..40).find_map(|seed| Some((seed, noticed(mutant, seed)?)));
        let (seed, what) = found.unwrap_or_else(|| panic!("{mutant:?} is not noticed"));
        println!("{mutant:?}, seed {seed}: {:.150}", what.lines().next().unwrap_or_default());
    }
}

#[test]
fn a_loss_ends_a_process() {
    let settings = Settings { nodes: 3, ..Settings::default() };
    let objects =
        ObjectStoreSettings { objects: 60, value_bytes: 16, ..ObjectStoreSettings::o(2, 1, 3, 1) };
    let objects = ObjectStore::new(objects).expect("sound settings");
    let network = Network { losses: Some(20), ..Network::default() };
    let mut cluster = Cluster::new(settings, Scripted::drawn(objects, 24, 4), network, 1);
    cluster.begin_all();
    let _ = cluster.run();
    assert!(cluster.killed.contains(&true));
}
