// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of near-data jobs.

use std::time::Duration;

use lockdb::Error;
use locks::Timestamp;

use super::port::PortError;
use crate::job::{JobError, Status};
use crate::program::{CompileError, EvaluationError};

/// The errors of near-data jobs. But for [`NearDataJobError::Compile`], and
/// [`NearDataJobError::Store`] before the device was given anything, the transaction has ended
/// without a change, and nothing of it is left in the lock table.
#[derive(Debug, thiserror::Error)]
pub enum NearDataJobError {
    /// The predicate, the assignments or an output cannot be compiled. Nothing has been begun.
    #[error(transparent)]
    Compile(Box<CompileError>),
    /// The store refused something, or another transaction was in the way.
    #[error(transparent)]
    Store(#[from] Error),
    /// SNAPSHOT, SERIALIZABLE: another transaction changed a row after the snapshot was taken,
    /// before the device had its lock (the first updater wins).
    #[error("row {vid} of table {table:?} was changed after snapshot {snapshot}")]
    Changed {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
        /// The transaction's snapshot.
        snapshot: u64,
    },
    /// The device waited too long for a row's lock.
    #[error("the device waited {waited:?} for the lock of row {vid} of table {table:?}")]
    LockTimeout {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
        /// The bound of the wait.
        waited: Duration,
    },
    /// The transaction was in a cycle of waiting and was chosen to break it.
    #[error("deadlock: {cycle:?} wait for each other")]
    Deadlock {
        /// Each waits for the next, the last for the first.
        cycle: Vec<Timestamp>,
    },
    /// Wait-die: the device waited behind an older transaction.
    #[error("transaction {transaction} waited behind {older}, which is older (wait-die)")]
    Died {
        /// The transaction.
        transaction: Timestamp,
        /// The holder of a lock that it waited for.
        older: Timestamp,
    },
    /// It was requested.
    #[error("the job was cancelled")]
    Cancelled,
    /// The job did not end in its time.
    #[error("waited for {waited_for}: nothing within {bound:?}")]
    TimedOut {
        /// The expected behaviour.
        waited_for: &'static str,
        /// The bound.
        bound: Duration,
    },
    /// All places for jobs were taken for as long as an update waits for a row's lock: a transaction
    /// keeps those of its updates until its end, and others may wait for its locks.
    #[error(
        "the device had no place for the job within {waited:?}: transactions with updates have all"
    )]
    NoPlace {
        /// How long it waited.
        waited: Duration,
    },
    /// Rows that the device cannot read, or not change: an update changes nothing then.
    #[error(
        "{total} rows of table {table:?} have faults; the first is row {}: {}",
        .first.first().map_or(0, |fault| fault.0),
        .first.first().map_or("unknown".into(), |fault| fault_text(fault.1))
    )]
    RowFaults {
        /// The table.
        table: String,
        /// How many.
        total: u64,
        /// Some of them: the row and the code of what is wrong with it.
        first: Vec<(u32, u8)>,
    },
    /// A row that was left to the host cannot be changed as the program says.
    #[error("row {vid} of table {table:?}: {fault}")]
    Evaluation {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
        /// Why not.
        fault: EvaluationError,
    },
    /// An aggregation has no result: a sum of integers beyond 64 bits, or more groups than were asked
    /// for.
    #[error("there is no result of the aggregation: {reason}")]
    NoAggregate {
        /// The part of it that the device wrote.
        reason: String,
    },
    /// The device refused the job, or gave it up.
    #[error("the device ended the job with status {status:?}, detail {detail:#x}{}{reason}",
        if reason.is_empty() { "" } else { ": " })]
    Refused {
        /// Its status.
        status: Status,
        /// Its detail, as the status says.
        detail: u64,
        /// The part of it that the device wrote.
        reason: String,
    },
    /// The device wrote an invalid result set.
    #[error(transparent)]
    ResultSet(#[from] JobError),
    /// The device or the link to it is lost, or it was reset in the middle of the job. It is cut
    /// off: none of its accesses is under way.
    #[error("the device is lost: {0}")]
    DeviceLost(Box<PortError>),
    /// The device is lost, and could not even be cut off. The transaction has ended; the pages that
    /// were reserved for the device stay out of use, as it may still write them, and locks that it still takes
    /// stay in the table: close the store when that hurts, and open it again when the device is off.
    #[error("the device is lost ({lost}) and cannot be cut off: {fence}")]
    NotFenced {
        /// Why it is lost.
        lost: Box<PortError>,
        /// Why it could not be cut off.
        fence: Box<PortError>,
    },
}

impl From<CompileError> for NearDataJobError {
    fn from(error: CompileError) -> Self {
        Self::Compile(Box::new(error))
    }
}

impl NearDataJobError {
    pub(super) fn lost(error: PortError) -> Self {
        Self::DeviceLost(Box::new(error))
    }

    /// Whether the same transaction may succeed when it is run again: a conflict occurred.
    pub fn is_conflict(&self) -> bool {
        match self {
            Self::Store(error) => error.is_conflict(),
            Self::Changed { .. }
            | Self::LockTimeout { .. }
            | Self::NoPlace { .. }
            | Self::Deadlock { .. }
            | Self::Died { .. } => true,
            _ => false,
        }
    }

    /// Whether a lock was not granted within its time limit. Another try is likely to take as long,
    /// so that it is left to the caller.
    pub fn is_time_out(&self) -> bool {
        match self {
            Self::Store(error) => error.is_time_out(),
            Self::LockTimeout { .. } => true,
            _ => false,
        }
    }

    /// Whether an immediate retry of the same transaction is worthwhile.
    pub fn is_to_be_retried(&self) -> bool {
        self.is_conflict() && !self.is_time_out()
    }
}

/// What a code of a row's fault says: below 20 of the walk, others of the program.
pub fn fault_text(code: u8) -> String {
    let walk = lockdb::device_reader::WalkError::from_code(code).map(|fault| fault.to_string());
    let program = || EvaluationError::from_code(code).map(|fault| fault.to_string());
    walk.or_else(program).unwrap_or_else(|| format!("fault {code}"))
}
