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

fn check(test: &str, kind: Kind, count: u64) {
    let first = seed(test);
    let mut all = runs::Outcome::default();
    for seed in first..first + count * cases() {
        let outcome = run(kind, seed, Planted::default());
        let outcome = outcome.unwrap_or_else(|what| panic!("LOCKSTEP_SEED={seed}: {what}"));
        all.add(&outcome);
    }
    println!("{all:?}");
    assert!(all.near_committed > 0 && all.near_failed > 0 && all.host_committed > 0, "{all:?}");
    assert!(all.left > 0, "no row was left to the host: {all:?}");
}

/// All on one thread, the device stepped between the host's operations.
#[test]
fn interleaved_histories() {
    check("interleaved_histories", Kind::Interleaved, 60);
}

/// The seed draws what each thread does; how they meet is the machine's.
#[test]
fn threaded_histories() {
    check("threaded_histories", Kind::Threads, 20);
}

#[test]
fn the_same_seed_is_the_same_history() {
    for seed in 1..6 {
        let [first, second] =
            [0, 1].map(|_| run(Kind::Interleaved, seed, Planted::default()).unwrap().bytes);
        assert!(first.len() > 1000 && first == second, "seed {seed}");
    }
}

/// The histories find what single scenarios find, without being told where to look.
#[test]
fn broken_engines_and_stores_are_found() {
    use lockdb::store::fault::Fault as StoreFault;
    let broken = [
        Planted { engine: Some(EngineFault::LockSkipped), store: None },
        Planted { engine: Some(EngineFault::CheckSkipped), store: None },
        Planted { engine: Some(EngineFault::ConflictLeftToHost), store: None },
        Planted { engine: Some(EngineFault::PredecessorLost), store: None },
        Planted { engine: None, store: Some(StoreFault::NearDataHeadsNotPublished) },
        Planted { engine: None, store: Some(StoreFault::NearDataLocksLeft) },
    ];
    for planted in broken {
        let found = (1..40)
            .find_map(|seed| run(Kind::Interleaved, seed, planted).err().map(|what| (seed, what)));
        let (seed, what) = found.unwrap_or_else(|| panic!("{planted:?} was not noticed"));
        println!("{planted:?}: seed {seed}: {:.200}", what.replace('\n', " "));
    }
}
