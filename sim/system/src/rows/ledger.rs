// SPDX-License-Identifier: MIT OR Apache-2.0
//! The agents' records of their writes, and their comparison with the rows.

use std::collections::BTreeMap;

use super::client::Written;
use super::{BALANCE, INITIAL_BALANCE, OPTIONS, Rows, WRITES};
use crate::RunError;
use crate::report::RowsReport;

/// What all agents have written, by row.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    by_row: BTreeMap<u64, Entry>,
    overtaken: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    versions: u32,
    added: i64,
}

impl Ledger {
    /// A transaction has committed.
    pub fn enter(&mut self, written: &[Written]) {
        for written in written {
            let entry = self.by_row.entry(written.row).or_default();
            entry.versions += 1;
            entry.added += written.added;
            self.overtaken += u64::from(written.overtaken);
        }
    }
}

impl Rows {
    /// Compares every row with what the agents have written, before vacuum and after.
    ///
    /// # Errors
    /// [`RunError::WrongRow`] for the first row that is not as it should be; or when the store cannot
    /// be read.
    pub fn check(&self, ledger: &Ledger) -> Result<RowsReport, RunError> {
        let (rows, sum) = self.compare(ledger)?;
        let pages = self.database.pages_in_use();
        let vacuumed = self.database.vacuum()?;
        self.compare(ledger)?;
        let entries = ledger.by_row.values();
        Ok(RowsReport {
            rows,
            versions_written: entries.map(|entry| u64::from(entry.versions)).sum(),
            overtaken: ledger.overtaken,
            sum,
            pages,
            pages_after_vacuum: self.database.pages_in_use(),
            versions_removed: vacuumed.versions_removed,
            versions_moved: vacuumed.versions_moved,
        })
    }

    /// The number of rows, and the sum of their balances.
    fn compare(&self, ledger: &Ledger) -> Result<(u64, i64), RunError> {
        let mut session = self.database.session()?;
        let mut transaction = session.begin(OPTIONS);
        let (mut rows, mut sum, mut in_ledger) = (0, 0, 0);
        for vid in 0..self.table.vids() {
            let Some((number, found)) = transaction.newest_version(&self.table, vid)? else {
                continue;
            };
            let (row, balance) = (found.int(0) as u64, found.int(BALANCE));
            let entry = ledger.by_row.get(&row);
            in_ledger += usize::from(entry.is_some());
            let Entry { versions, added } = entry.copied().unwrap_or_default();
            let mismatch = |what, found: i64, expected: i64| match found == expected {
                true => Ok(()),
                false => Err(RunError::WrongRow { row, what, found, expected }),
            };
            mismatch("version number", number.into(), i64::from(versions) + 1)?;
            mismatch("count of writes", found.int(WRITES), versions.into())?;
            mismatch("balance", balance, INITIAL_BALANCE + added)?;
            rows += 1;
            sum += balance;
        }
        assert_eq!(in_ledger, ledger.by_row.len(), "a row that was written is not there");
        Ok((rows, sum))
    }
}
