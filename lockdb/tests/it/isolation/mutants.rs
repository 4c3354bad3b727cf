// SPDX-License-Identifier: MIT OR Apache-2.0
//! Mutants planted in the store, and how each is found: by a scenario, or by a random history within
//! a bounded number of cases.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lockdb::mutant::Mutant;

use crate::isolation::random::runs::{Kind, run};
use crate::isolation::script::{Scenario, Script};
use crate::isolation::stage::try_to_play;
use crate::isolation::{anomalies, postgres};

/// By what a mutant is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Scenario,
    Interleaved,
    Threads,
}

use By::{Interleaved, Scenario as Scenarios, Threads};

/// A history must find a mutant within so many cases.
const MOST: u64 = 500;

#[track_caller]
fn is_found(mutant: Mutant, by: &[By]) {
    for &by in by {
        let found = match by {
            By::Scenario => by_scenario(mutant),
            By::Interleaved => by_history(Kind::Interleaved, mutant),
            By::Threads => by_history(Kind::Threads, mutant),
        };
        match found {
            Some(found) => println!("{mutant:?}: {found}"),
            None => panic!("{mutant:?} is found by {by:?}"),
        }
    }
}

fn by_scenario(mutant: Mutant) -> Option<String> {
    let fails = |scenario: &&Scenario| {
        let play = || try_to_play(scenario, &Script::new(scenario), Some(mutant));
        !matches!(catch_unwind(AssertUnwindSafe(play)), Ok(Ok(())))
    };
    let mut all = anomalies::ALL.iter().chain(postgres::all());
    all.find(fails).map(|scenario| format!("scenario {}", scenario.name))
}

fn by_history(kind: Kind, mutant: Mutant) -> Option<String> {
    let (seed, what) =
        (0..MOST).find_map(|seed| Some((seed, run(kind, seed, Some(mutant)).err()?)))?;
    let said = |line: &&str| !line.is_empty() && !line.contains(" violations in ");
    let first = what.lines().find(said).unwrap_or_default();
    Some(format!("{kind:?} history, after {} cases: {first}", seed + 1))
}

macro_rules! found {
    ($($name:ident: $mutant:ident by [$($by:ident),+];)+) => {$(
        #[test]
        fn $name() {
            is_found(Mutant::$mutant, &[$($by),+]);
        }
    )+};
}

found! {
    lock_skipped: LockSkipped by [Scenarios, Interleaved, Threads];
    // Between two operations nobody is in the middle of a commit.
    lock_released_before_install: LockReleasedBeforeInstall by [Threads];
    published_before_install: PublishedBeforeInstall by [Threads];
    snapshot_taken_late: SnapshotTakenLate by [Scenarios, Interleaved, Threads];
    write_conflict_ignored: WriteConflictIgnored by [Scenarios, Interleaved, Threads];
    reads_not_validated: ReadsNotValidated by [Scenarios, Interleaved, Threads];
    ranges_not_validated: RangesNotValidated by [Scenarios, Interleaved, Threads];
    // Where nobody waits nothing is read after it; with threads it takes luck.
    no_read_after_wait: NoReadAfterWait by [Scenarios];
    newer_version_visible: NewerVersionVisible by [Scenarios, Interleaved, Threads];
    rolled_back_writes_kept: RolledBackWritesKept by [Scenarios, Interleaved, Threads];
    tombstone_ignored: TombstoneIgnored by [Scenarios, Interleaved, Threads];
    vacuum_ignores_snapshots: VacuumIgnoresSnapshots by [Interleaved, Threads];
    vacuum_without_lock: VacuumWithoutLock by [Interleaved, Threads];
    old_index_entry_kept: OldIndexEntryKept by [Scenarios, Interleaved, Threads];
}
