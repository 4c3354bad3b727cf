// SPDX-License-Identifier: MIT OR Apache-2.0
use lockdb::{Durability, Isolation, TransactionOptions};
use timing::platform::Platform;
use workloads::Scenario;

use super::Run;
use crate::{Interrupt, Options, RunError};

/// Adds a cent to a row without asking for its lock: that stands in the simulated memory.
fn sneak(run: &Run, id: i64) {
    let options =
        TransactionOptions { isolation: Isolation::ReadCommitted, durability: Durability::None };
    let database = run.rows.database();
    let table = database.table("row").unwrap();
    let sneaked = database.transaction_with(options, |transaction| {
        transaction.update(&table, &id, |row| {
            let balance = row.as_row().int(1);
            row.set_int(1, balance + 1);
            Ok::<_, lockdb::Error>(())
        })
    });
    assert!(sneaked.unwrap().is_some());
}

/// A run into which an update without lock is planted after so many events.
fn run_with_a_sneak_after(events: usize) -> RunError {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut scenario = Scenario::load(folder.join("hot-row-storm.toml")).unwrap();
    scenario.stop.duration_ns = Some(20_000);
    let platform = Platform::named(&scenario.platform).unwrap();
    let mut run = Run::new(&scenario, platform, &Options::default()).unwrap();
    run.start().unwrap();
    for _ in 0..events {
        let event = run.system.advance().unwrap().unwrap();
        run.handle(event).unwrap();
    }
    (1..=4).for_each(|id| sneak(&run, id));
    match run.run_out(&Interrupt::default(), &mut |_| {}) {
        Err(error) => error,
        Ok(()) => run.finish(&scenario).unwrap_err(),
    }
}

#[test]
fn an_update_without_a_lock_is_noticed() {
    // Before anybody has read a row, only the sums tell.
    let error = run_with_a_sneak_after(0);
    assert!(matches!(error, RunError::WrongRow { row: 1, .. }), "{error:?}");
    // Once all rows are locked, those who have locked them find out, unless they write no more.
    let errors = [200, 300, 400, 500].map(run_with_a_sneak_after);
    let by_holders = errors.iter().filter(|error| matches!(error, RunError::Update { .. })).count();
    let by_the_end =
        errors.iter().filter(|error| matches!(error, RunError::WrongRow { .. })).count();
    assert!(by_holders >= 2 && by_holders + by_the_end == errors.len(), "{errors:?}");
}
