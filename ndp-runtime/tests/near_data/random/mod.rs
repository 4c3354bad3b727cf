//! Random mixes of host transactions, near-data updates and near-data reads, at each isolation level;
//! each history held to the levels that its transactions were promised.
//!
//! `LOCKSTEP_CASES` says how many times the usual number of them, `LOCKSTEP_SEED` which is the first.

mod host;
mod near;
mod runs;
mod world;

use ndp_runtime::engine::Fault as EngineFault;
use runs::{Kind, Planted, run};

use crate::scene::{cases, seed};

/// Runs `count` histories, or as many times more as the caller asks for. Together they must meet every
/// outcome. How threads meet is the machine's, so that those get twenty times as many tries to do so.
fn check(test: &str, kind: Kind, count: u64, planted: Planted) {
    let first = seed(test);
    let least = count * cases();
    let most = if kind == Kind::Threads { 20 * least } else { least };
    let mut all = runs::Outcome::default();
    for seed in first..first + most {
        let outcome = run(kind, seed, planted);
        let outcome = outcome.unwrap_or_else(|what| panic!("LOCKSTEP_SEED={seed}: {what}"));
        all.add(&outcome);
        if seed + 1 - first >= least && all.has_everything(planted.losses) {
            break;
        }
    }
    println!("{all:?}");
    assert!(all.has_everything(planted.losses), "an outcome is missing: {all:?}");
    assert_eq!(all.lost > 0, planted.losses, "{all:?}");
}

/// All on one thread, the device stepped between the host's operations.
#[test]
fn interleaved_histories() {
    check("interleaved_histories", Kind::Interleaved, 60, Planted::default());
}

/// The device is reset or loses its link in the middle of near-data transactions, and is cut off: of
/// each there is all or nothing, no lock is left, and the others keep their levels.
#[test]
fn interleaved_histories_with_lost_devices() {
    let losses = Planted { losses: true, ..Planted::default() };
    check("interleaved_histories_with_lost_devices", Kind::Interleaved, 40, losses);
}

#[test]
fn threaded_histories_with_lost_devices() {
    let losses = Planted { losses: true, ..Planted::default() };
    check("threaded_histories_with_lost_devices", Kind::Threads, 12, losses);
}

/// The seed draws what each thread does; how they meet is the machine's.
#[test]
fn threaded_histories() {
    check("threaded_histories", Kind::Threads, 20, Planted::default());
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
    use lockdb::fault::Fault as StoreFault;
    let engine = |fault| Planted { engine: Some(fault), ..Planted::default() };
    let store = |fault| Planted { store: Some(fault), ..Planted::default() };
    let broken = [
        engine(EngineFault::LockSkipped),
        engine(EngineFault::CheckSkipped),
        engine(EngineFault::ConflictLeftToHost),
        engine(EngineFault::PredecessorLost),
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
