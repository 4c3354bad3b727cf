// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random mixes of host transactions, near-data updates and near-data reads, at each isolation level;
//! each history held to the levels that its transactions were promised.

mod host;
mod near;
mod runs;
mod world;

use ndp_runtime::engine::Mutant as EngineMutant;
use runs::{Kind, Planted, run};
use seeds::Seeds;

/// Runs a history for each seed. Together all that are run by default must meet every outcome. How
/// threads meet is the machine's, so that those get up to twenty rounds to do so.
fn check(kind: Kind, seeds: &Seeds, planted: Planted) {
    let rounds = if kind == Kind::Threads { 20 } else { 1 };
    let mut all = runs::Outcome::default();
    for _ in 0..rounds {
        seeds.each(|seed| run(kind, seed, planted).map(|outcome| all.add(&outcome)));
        if !seeds.is_whole() || all.has_everything(planted.losses) {
            break;
        }
    }
    println!("{all:?}");
    let met = all.has_everything(planted.losses);
    assert!(met || !seeds.is_whole(), "an outcome is missing: {all:?}");
    assert!(all.lost == 0 || planted.losses, "{all:?}");
}

/// All on one thread, the device stepped between the host's operations.
#[test]
fn interleaved_histories() {
    check(Kind::Interleaved, &seeds::of!(60), Planted::default());
}

/// The device is reset or loses its link in the middle of near-data transactions, and is cut off: of
/// each there is all or nothing, no lock is left, and the others keep their levels.
#[test]
fn interleaved_histories_with_lost_devices() {
    let losses = Planted { losses: true, ..Planted::default() };
    check(Kind::Interleaved, &seeds::of!(40), losses);
}

#[test]
fn threaded_histories_with_lost_devices() {
    let losses = Planted { losses: true, ..Planted::default() };
    check(Kind::Threads, &seeds::of!(12), losses);
}

/// The seed draws what each thread does; how they meet is the machine's.
#[test]
fn threaded_histories() {
    check(Kind::Threads, &seeds::of!(20), Planted::default());
}

#[test]
fn the_same_seed_is_the_same_history() {
    for seed in 1..6 {
        for losses in [false, true] {
            let planted = Planted { losses, ..Planted::default() };
            let [first, second] =
                [0, 1].map(|_| run(Kind::Interleaved, seed, planted).unwrap().bytes);
            assert!(first.len() > 1000 && first == second, "seed {seed}, losses: {losses}");
        }
    }
}

/// The histories find what single scenarios find, without being told where to look.
#[test]
fn broken_engines_and_stores_are_found() {
    use lockdb::mutant::Mutant as StoreFault;
    let engine = |mutant| Planted { engine: Some(mutant), ..Planted::default() };
    let store = |mutant| Planted { store: Some(mutant), ..Planted::default() };
    let broken = [
        engine(EngineMutant::LockSkipped),
        engine(EngineMutant::CheckSkipped),
        engine(EngineMutant::ConflictLeftToHost),
        engine(EngineMutant::PredecessorLost),
        store(StoreFault::NearDataHeadsNotPublished),
        store(StoreFault::NearDataLocksLeft),
    ];
    for planted in broken {
        let found = (1..40)
            .find_map(|seed| run(Kind::Interleaved, seed, planted).err().map(|what| (seed, what)));
        let (seed, what) = found.unwrap_or_else(|| panic!("{planted:?} was not noticed"));
        println!("{planted:?}: seed {seed}: {:.200}", what.replace('\n', " "));
    }
}
