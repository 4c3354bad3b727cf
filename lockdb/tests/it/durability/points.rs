// SPDX-License-Identifier: MIT OR Apache-2.0
//! A crash point: the power goes after some step of a recorded workload, and what then stands is
//! opened, compared, and used.

use std::panic::{AssertUnwindSafe, catch_unwind};

use lockdb::files::Simulated;
use lockdb::mutant::Mutant;
use lockdb::{Database, Error};

use super::model::{History, Verdict, check};
use super::random::Random;
use super::workload::{Recorded, Workload, open, options};

/// Where the power goes, and the seed of what is torn then.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub steps: u64,
    pub tear: u64,
}

/// A crash of a recorded workload, of which acknowledged commits must survive.
pub fn crash(recorded: &Recorded, point: Point, mutant: Option<Mutant>) -> Verdict {
    let image = recorded.files.crash_at(point.steps, point.tear);
    let least = recorded.history.acknowledged_by(point.steps);
    survive(image, &recorded.history, least, point.tear, mutant)
}

/// Opens a folder as a crash has left it, in which all commits up to `least` must be. Recovery may
/// be cut off as well, repeatedly. Then the store must continue working.
pub fn survive(
    image: Simulated,
    history: &History,
    least: u64,
    tear: u64,
    mutant: Option<Mutant>,
) -> Verdict {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let mut random = Random::new(tear);
        let mut image = image;
        while random.one_in(3) {
            image = interrupt(image, &mut random, mutant);
        }
        let store = reopen(&image, mutant).map_err(|error| format!("opening: {error}"))?;
        check(&store, history, least)?;
        go_on(&store, &image, history, &mut random)
    }));
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("without words")))
    })
}

fn reopen(image: &Simulated, mutant: Option<Mutant>) -> Result<Database, Error> {
    match mutant {
        None => open(image),
        Some(mutant) => {
            let files = std::sync::Arc::new(image.clone());
            Database::open_with_fault(files, options(), mutant)
        }
    }
}

/// The power goes again, during recovery or just after it.
fn interrupt(image: Simulated, random: &mut Random, mutant: Option<Mutant>) -> Simulated {
    image.lose_power_at(random.below(12));
    let store = reopen(&image, mutant);
    let after = image.crash(random.below(u64::MAX));
    drop(store);
    after
}

/// Some commits, a checkpoint among them, and another crash.
fn go_on(store: &Database, image: &Simulated, history: &History, random: &mut Random) -> Verdict {
    let failed = |what: &str, error: Error| format!("{what} after recovery: {error}");
    let seed = random.below(u64::MAX);
    let mut next = Workload::resume(seed, image.clone(), history.clone(), store);
    next.run_on(store, 8).map_err(|error| failed("transactions", error))?;
    if random.one_in(2) {
        store.checkpoint().map_err(|error| failed("a checkpoint", error))?;
    }
    let history = next.history();
    check(store, history, store.published()).map_err(|wrong| format!("going on: {wrong}"))?;
    let least = history.acknowledged_by(image.steps());
    let after = image.crash(random.below(u64::MAX));
    let store = open(&after).map_err(|error| failed("opening again", error))?;
    check(&store, history, least).map_err(|wrong| format!("opened again: {wrong}"))
}
