// SPDX-License-Identifier: MIT OR Apache-2.0
//! The same update by the host alone: it pulls the pages and changes the rows itself.

use std::sync::Arc;
use std::time::Instant;

use lockdb::device_reader::PhysicalPages;
use lockdb::files::{File, StoredPages};
use lockdb::layout::PageBuffer;
use lockdb::{Session, TransactionOptions};
use ndp_runtime::host::{
    Cancel, HostPath, HostPathReport, LinkBytes, NearDataJobError, PreparedUpdate,
};

use super::report::{Report, link};
use super::update::gave_up;
use crate::error::CommandError;

/// An update for the host to do.
pub struct HostUpdate<'u> {
    pub update: &'u PreparedUpdate<'u>,
    /// The store's pages.
    pub pages: Arc<dyn File>,
    pub options: TransactionOptions,
    pub attempts: u32,
    pub cancel: &'u Cancel,
}

impl HostUpdate<'_> {
    /// Runs it as one transaction, and retries it after conflicts.
    ///
    /// # Errors
    /// When a row cannot be changed, the store fails, Ctrl-C was pressed, or others were in the way
    /// each time.
    pub fn run(&self, session: &mut Session) -> Result<Report, CommandError> {
        let mut aborts = 0;
        loop {
            match self.attempt(session) {
                Ok(report) => return Ok(Report { aborts, ..report }),
                Err(_) if self.cancel.is_cancelled() => return Err(CommandError::Interrupted),
                Err(failure) if failure.is_to_be_retried() && aborts + 1 < self.attempts.into() => {
                    aborts += 1;
                }
                Err(failure) => return Err(gave_up(failure, self.attempts)),
            }
        }
    }

    fn attempt(&self, session: &mut Session) -> Result<Report, NearDataJobError> {
        let pages = Pages { stored: StoredPages(self.pages.clone()), cancel: self.cancel };
        // Dropped without a commit it is rolled back.
        let mut transaction = session.begin(self.options);
        let path = HostPath::new(&pages);
        let done = path.update(&mut transaction, self.update)?;
        if self.cancel.is_cancelled() {
            return Err(NearDataJobError::Cancelled);
        }
        let committing = Instant::now();
        transaction.commit()?;
        let HostPathReport { rows, phases, link: moved, .. } = done;
        let time = vec![
            ("find the rows", phases.device),
            ("lock and change", phases.left),
            ("commit", committing.elapsed()),
        ];
        let host_path_bytes = moved.total();
        // What the store really writes of its pages is counted there.
        let moved = LinkBytes { pages_written: 0, ..moved };
        Ok(Report { rows, time, link: link(&moved), host_path_bytes, ..Report::default() })
    }
}

/// Native storage, until Ctrl-C is pressed.
struct Pages<'p> {
    stored: StoredPages,
    cancel: &'p Cancel,
}

impl PhysicalPages for Pages<'_> {
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool {
        !self.cancel.is_cancelled() && self.stored.read(physical, into)
    }
}
