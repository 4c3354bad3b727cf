// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each planted mutant of the engine is found by a test that passes without it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lockdb::Isolation;
use ndp_runtime::engine::Mutant;

use crate::engine::demands::Verdict;
use crate::engine::reads::select;
use crate::engine::scene::{PLENTY, Room};
use crate::engine::updates::{Host, cancelled, contended, mixed, overtaken, undisturbed};

/// What finds a mutant, for a seed.
fn check(mutant: Mutant, planted: Option<Mutant>, seed: u64) -> Verdict {
    let little = Room { result: 300, reservations: 1 };
    match mutant {
        // The first anomaly of the paper's Figure 1 A: without the lock, or without the look under
        // it, two branches of versions arise.
        Mutant::LockSkipped => mixed(planted, seed, Isolation::ReadCommitted),
        Mutant::CheckSkipped => overtaken(planted, seed, Isolation::Snapshot),
        Mutant::ConflictLeftToHost => overtaken(planted, seed, Isolation::Snapshot),
        Mutant::TimeoutIgnored => {
            contended(planted, seed, Isolation::Snapshot, Host::Stays).map(drop)
        }
        Mutant::CancelledBeforeIdle => {
            (0..30).try_for_each(|steps| cancelled(planted, seed, steps, true))
        }
        Mutant::TagFreedWithPollOpen => (0..60).try_for_each(|more| {
            contended(planted, seed + more, Isolation::ReadCommitted, Host::RollsBack).map(drop)
        }),
        Mutant::PredecessorLost
        | Mutant::NumberKept
        | Mutant::CreatedNotStamped
        | Mutant::NewestNotStamped
        | Mutant::SyncSkipped => undisturbed(planted, seed, Isolation::Snapshot, PLENTY),
        Mutant::EntryLostAtChunkEnd => select(planted, seed, false, little),
        Mutant::EntryRepeatedInNextChunk => undisturbed(planted, seed, Isolation::Snapshot, little),
    }
}

#[test]
fn every_planted_fault_is_found() {
    for mutant in Mutant::ALL {
        let run = |planted| {
            catch_unwind(AssertUnwindSafe(|| check(mutant, planted, 1)))
                .unwrap_or_else(|_| Err("it panicked".into()))
        };
        run(None).unwrap_or_else(|what| panic!("{mutant:?} was not planted, and yet: {what}"));
        let found = run(Some(mutant));
        println!("{mutant:?}: {found:?}");
        assert!(found.is_err(), "{mutant:?} was not found");
    }
}
