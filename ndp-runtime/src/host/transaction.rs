// SPDX-License-Identifier: MIT OR Apache-2.0
//! A transaction of the host that uses the device.

use std::time::Instant;

use lockdb::near_data::{FinalizeError, NearDataError};
use lockdb::{Error, Transaction};

use super::error::NearDataJobError;
use super::report::{LinkBytes, Phases};
use super::runtime::Runtime;
use super::work::{Work, lap};

/// A transaction of the host that has work done by the device. It commits and rolls back the
/// transaction; dropped without either it rolls it back.
///
/// An update that fails ends the transaction: the device's job is brought to rest, or the device cut
/// off, and what is left of the transaction in the lock table is taken out. A read that fails leaves
/// it as it is.
#[derive(Debug)]
pub struct NearTransaction<'r, 't, 's> {
    pub(super) runtime: &'r Runtime,
    pub(super) transaction: &'t mut Transaction<'s>,
    /// Updates that are done, whose pages wait for the commit.
    pub(super) updates: Vec<Work<'r>>,
    ended: bool,
}

/// What a commit cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommitReport {
    /// The commit timestamp.
    pub commit: u64,
    /// `finalize` and `commit` alone are other than zero.
    pub phases: Phases,
    /// The bytes over the link for it.
    pub link: LinkBytes,
}

impl<'r, 't, 's> NearTransaction<'r, 't, 's> {
    pub(super) fn new(runtime: &'r Runtime, transaction: &'t mut Transaction<'s>) -> Self {
        Self { runtime, transaction, updates: Vec::new(), ended: false }
    }

    /// The transaction, for what the host does itself.
    pub fn transaction(&mut self) -> &mut Transaction<'s> {
        self.transaction
    }

    /// Commits: the device stamps and writes its pages, then the host logs and publishes all.
    ///
    /// # Errors
    /// A conflict (SERIALIZABLE); when the device cannot finalize its pages, or is lost before it
    /// has. The transaction is rolled back then.
    pub fn commit(mut self) -> Result<CommitReport, NearDataJobError> {
        let mut since = Instant::now();
        let mut report = CommitReport::default();
        let (mut failed, updates) = (None, &mut self.updates);
        let handed_before: u64 = updates.iter().map(|work| work.link.total()).sum();
        let committed = self.transaction.commit_finalizing(&mut |finalize| {
            report.phases.commit += lap(&mut since);
            for work in updates.iter_mut() {
                work.finalize(finalize.commit, finalize.epoch, finalize.store).map_err(
                    |failure| {
                        let told = failure.to_string();
                        failed = Some(failure);
                        FinalizeError::new(told)
                    },
                )?;
            }
            report.phases.finalize += lap(&mut since);
            Ok(())
        });
        report.phases.commit += lap(&mut since);
        match committed {
            Ok(commit) => {
                report.commit = commit;
                self.ended = true;
                let handed: u64 = self.updates.iter().map(|work| work.link.total()).sum();
                report.link.descriptors += handed - handed_before;
                // It is committed, whether the device forgets or has died meanwhile.
                self.updates.clear();
                Ok(report)
            }
            Err(Error::NearData(NearDataError::Finalize { commit, source })) => {
                let finalize = NearDataError::Finalize { commit, source };
                let failure = failed.take().unwrap_or(NearDataJobError::Store(finalize.into()));
                Err(self.fail(failure))
            }
            Err(error) => Err(self.fail(error.into())),
        }
    }

    /// Returns the transaction to the caller, who ends it.
    ///
    /// # Panics
    /// When the device has changed something for it: then it is to be ended here.
    pub fn release(mut self) {
        assert!(self.updates.is_empty(), "a near-data update is ended by its NearTransaction");
        self.ended = true;
    }

    /// Rolls the transaction back.
    ///
    /// # Errors
    /// [`NearDataJobError::NotFenced`] when the device is lost and cannot be cut off.
    pub fn rollback(mut self) -> Result<(), NearDataJobError> {
        self.end()
    }

    /// Ends the transaction without a change, as soon as the device is idle or cut off.
    pub(super) fn end(&mut self) -> Result<(), NearDataJobError> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        let mut not_fenced = None;
        for mut work in self.updates.drain(..) {
            let rest = work.stop().and_then(|()| work.forget());
            if let Err(failure @ NearDataJobError::NotFenced { .. }) = rest {
                not_fenced = Some(failure);
            }
        }
        let ended = match not_fenced {
            None => self.transaction.abandon_fenced().map(drop),
            Some(_) => self.transaction.abandon(),
        };
        match ended {
            // The owner of the transaction may have ended it.
            Ok(()) | Err(Error::Ended { .. }) => not_fenced.map_or(Ok(()), Err),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the transaction because of a failure.
    pub(super) fn fail(&mut self, failure: NearDataJobError) -> NearDataJobError {
        if let NearDataJobError::NotFenced { .. } = failure {
            // It cannot have been committed: a commit is the end of a NearTransaction.
            let _ = self.transaction.abandon();
            self.ended = true;
            return failure;
        }
        self.end().err().unwrap_or(failure)
    }
}

impl Drop for NearTransaction<'_, '_, '_> {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
