//! Each planted fault of the engine is found by a test that passes without it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lockdb::Isolation;
use ndp_runtime::engine::Fault;

use crate::demands::Verdict;
use crate::reads::select;
use crate::scene::{PLENTY, Room};
use crate::updates::{Host, cancelled, contended, mixed, overtaken, undisturbed};

/// What finds a fault, for a seed.
fn check(fault: Fault, planted: Option<Fault>, seed: u64) -> Verdict {
    let little = Room { result: 300, reservations: 1 };
    match fault {
        // The first anomaly of the paper's Figure 1 A: without the lock, or without the look under
        // it, two branches of versions arise.
        Fault::LockSkipped => mixed(planted, seed, Isolation::ReadCommitted),
        Fault::CheckSkipped => overtaken(planted, seed, Isolation::Snapshot),
        Fault::ConflictLeftToHost => overtaken(planted, seed, Isolation::Snapshot),
        Fault::TimeoutIgnored => {
            contended(planted, seed, Isolation::Snapshot, Host::Stays).map(drop)
        }
        Fault::CancelledBeforeIdle => {
            (0..30).try_for_each(|steps| cancelled(planted, seed, steps, true))
        }
        Fault::TagFreedWithPollOpen => (0..60).try_for_each(|more| {
            contended(planted, seed + more, Isolation::ReadCommitted, Host::RollsBack).map(drop)
        }),
        Fault::PredecessorLost
        | Fault::NumberKept
        | Fault::CreatedNotStamped
        | Fault::NewestNotStamped
        | Fault::SyncSkipped => undisturbed(planted, seed, Isolation::Snapshot, PLENTY),
        Fault::EntryLostAtChunkEnd => select(planted, seed, false, little),
        Fault::EntryRepeatedInNextChunk => undisturbed(planted, seed, Isolation::Snapshot, little),
    }
}

#[test]
fn every_planted_fault_is_found() {
    for fault in Fault::ALL {
        let run = |planted| {
            catch_unwind(AssertUnwindSafe(|| check(fault, planted, 1)))
                .unwrap_or_else(|_| Err("it panicked".into()))
        };
        run(None).unwrap_or_else(|what| panic!("{fault:?} was not planted, and yet: {what}"));
        let found = run(Some(fault));
        println!("{fault:?}: {found:?}");
        assert!(found.is_err(), "{fault:?} was not found");
    }
}
