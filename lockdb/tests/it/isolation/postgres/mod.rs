// SPDX-License-Identifier: MIT OR Apache-2.0
//! PostgreSQL's own row-lock scenarios (its `src/test/isolation`), retold: same winner and loser,
//! or a stricter outcome with its reason. The tests bear the names of the specifications there.
//!
//! FOR SHARE, FOR KEY SHARE and FOR NO KEY UPDATE become `lock`: rows have exclusive locks only.
//! REPEATABLE READ there is SNAPSHOT here; `write conflict` and `read conflict` stand for its
//! "could not serialize access", `busy` for "could not obtain lock", `duplicate` for "duplicate key
//! value". Who is ahead of a waiter is not told there, but follows from its queues.

pub mod bare_table;
pub mod deadlocks;
pub mod row_locks;
pub mod serializable;
pub mod without_waiting;

use crate::isolation::script::Scenario;

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    let files =
        [row_locks::ALL, without_waiting::ALL, deadlocks::ALL, serializable::ALL, bare_table::ALL];
    files.into_iter().flatten()
}
