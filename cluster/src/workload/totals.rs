// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the rows hold, in the end, what the transactions have put there.

use crate::engine::{Access, Key};
use crate::transact::Transactions;

/// A workload whose rows have a total that its transactions change by known amounts, so that lost and
/// repeated work is noticed.
pub trait Totals: Transactions {
    /// What the total is of, for messages.
    fn total_name(&self) -> &'static str;

    /// What a row counts, or a key without a row.
    fn count(&self, key: Key, value: Option<&[u8]>) -> i64;

    /// By how much a committed transaction of this kind has changed the total, by its accesses: each row
    /// as it was read, then each change.
    ///
    /// # Errors
    /// When no transaction of this kind does what this one did.
    fn change(&self, kind: u8, accesses: &[Access]) -> Result<i64, String>;

    /// Checks a row that is there at the end.
    ///
    /// # Errors
    /// What is wrong with it.
    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String>;

    /// Checks whether the rows of the end fit each other: all that differ from the start, each once, in
    /// any order, and perhaps more. [`Totals::check_row`] has passed each that is there.
    ///
    /// # Errors
    /// What does not fit.
    fn check_together(&self, rows: &[ChangedRow<'_>]) -> Result<(), String> {
        let _ = rows;
        Ok(())
    }
}

/// A row as it was at the start, and as it is at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedRow<'a> {
    /// Its key.
    pub key: Key,
    /// Its value at the end, `None` if there is no row.
    pub now: Option<&'a [u8]>,
}

/// Why the rows are not what the transactions have made of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TotalError {
    /// A row cannot be so.
    #[error("row {row:#x} of table {table}: {wrong}", row = .key.row, table = .key.table.0)]
    Row {
        /// Its key.
        key: Key,
        /// What is wrong with it.
        wrong: String,
    },
    /// Rows do not fit each other.
    #[error("{0}")]
    Together(String),
    /// A transaction cannot have done so.
    #[error("committed transaction {place}, of kind `{kind}`: {wrong}")]
    Transaction {
        /// Its place in the list, from 0.
        place: u64,
        /// Its kind.
        kind: &'static str,
        /// What is wrong with it.
        wrong: String,
    },
    /// The total has not changed by what the transactions have changed it by.
    #[error(
        "{name} changed by {found} in the rows, but by {expected} in {transactions} transactions"
    )]
    Total {
        /// What the total is of.
        name: &'static str,
        /// The change in the rows.
        found: i64,
        /// The change by the transactions.
        expected: i64,
        /// How many there were.
        transactions: u64,
    },
}

/// Compares the rows of the end with the transactions that have committed: each its kind and its
/// accesses. `rows` are all that differ from the start, each once, and may be more; the order is of no
/// interest. How the total of the rows changed is returned.
///
/// # Errors
/// When a row is unsound, or the total is another.
pub fn check_totals<'a, T: Totals, A: IntoIterator<Item: Into<Access>>>(
    workload: &T,
    rows: impl IntoIterator<Item = ChangedRow<'a>>,
    committed: impl IntoIterator<Item = (u8, A)>,
) -> Result<i64, TotalError> {
    let (mut found, mut value) = (0, Vec::new());
    let rows: Vec<_> = rows.into_iter().collect();
    for &ChangedRow { key, now } in &rows {
        if let Some(now) = now {
            let checked = workload.check_row(key, now);
            checked.map_err(|wrong| TotalError::Row { key, wrong })?;
        }
        value.clear();
        let was = workload.initial(key, &mut value).then_some(value.as_slice());
        found += workload.count(key, now) - workload.count(key, was);
    }
    workload.check_together(&rows).map_err(TotalError::Together)?;
    let (mut expected, mut transactions, mut list) = (0, 0, Vec::new());
    for (kind, accesses) in committed {
        list.clear();
        list.extend(accesses.into_iter().map(Into::into));
        expected += workload.change(kind, &list).map_err(|wrong| {
            let kind = workload.kinds().get(usize::from(kind)).copied().unwrap_or("unknown");
            TotalError::Transaction { place: transactions, kind, wrong }
        })?;
        transactions += 1;
    }
    if found == expected {
        return Ok(found);
    }
    Err(TotalError::Total { name: workload.total_name(), found, expected, transactions })
}
