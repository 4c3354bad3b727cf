// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bulk load from CSV.

use std::io::Read;

use super::database::Database;
use super::error::Error;
use super::options::{Isolation, TransactionOptions};
use super::schema::{CsvError, CsvRows, RowBuffer};
use super::table::Table;

/// How far a load has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadProgress {
    /// Rows inserted, not committed yet.
    pub rows: u64,
    /// Bytes of the text read.
    pub bytes: u64,
}

/// Why a load changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The text is not rows of the table.
    #[error(transparent)]
    Csv(#[from] CsvError),
    /// A row could not be inserted.
    #[error("line {line}: {source}")]
    Insert {
        /// The line on which the row begins, from 1.
        line: u64,
        /// Why not.
        source: Box<Error>,
    },
    /// The rows could not be committed, or not even begun.
    #[error(transparent)]
    Store(#[from] Error),
}

/// Rows between two reports of progress.
const STEP: u64 = 1 << 14;

impl Database {
    /// Inserts all rows of a CSV text in one transaction, at READ COMMITTED: all of them or, when
    /// one cannot be, none. Its header line names the columns ([`CsvRows`] has the format). Calls
    /// `progress` every some thousand rows, and at the end. Gives the number of rows.
    ///
    /// Until it commits, the rows stand in memory twice (in the text's form they are not kept). As one
    /// transaction they have to fit into one log record, of 1 GiB; longer texts are loaded in parts.
    ///
    /// # Errors
    /// The first line that is wrong, names a key that exists, or cannot be stored.
    pub fn load_csv(
        &self,
        table: &Table,
        text: impl Read,
        mut progress: impl FnMut(LoadProgress),
    ) -> Result<u64, LoadError> {
        let mut rows = CsvRows::new(table.schema(), text)?;
        let mut session = self.session()?;
        let options = TransactionOptions::from(Isolation::ReadCommitted);
        let mut transaction = session.begin(options);
        let mut row = RowBuffer::new(table.schema());
        let mut done = LoadProgress::default();
        while rows.read_into(&mut row)? {
            let inserted = transaction.insert_row(table, &row);
            inserted
                .map_err(|source| LoadError::Insert { line: rows.line(), source: source.into() })?;
            done = LoadProgress { rows: done.rows + 1, bytes: rows.position() };
            if done.rows.is_multiple_of(STEP) {
                progress(done);
            }
        }
        transaction.commit()?;
        progress(LoadProgress { bytes: rows.position(), ..done });
        Ok(done.rows)
    }
}
