// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether a run was strictly serializable.
//!
//! Every committed transaction claims a point in the serial order, and says which versions it read and
//! made. [`Judge::check`] replays the transactions in the order of their points: each must have read the
//! newest versions, must have raised each header that it wrote under by exactly one, and its point must
//! lie between its begin and its end. That takes time in proportion to the accesses, and what passes is
//! strictly serializable: the order of the points is the serial order, and it agrees with real time.
//!
//! What fails may still be serializable in another order, by which the protocol's claim is wrong all the
//! same. [`Judge::history`] makes a [`History`] of the run without any claim, and its checker names the
//! anomaly. [`Judge::judge`] does both.
//!
//! Digests are compared beside versions, so that a wrong value under a right version is found, too. What
//! the nodes hold in the end is compared with the replay by [`Replayed::check_end`].

mod export;
mod replay;
mod violation;

#[cfg(test)]
mod tests;

use std::fmt;

use cluster::engine::Key;
use cluster::placement::{HeaderId, Partitioning};
use cluster::transact::{Transactions, digest};
use history::{History, Options, Report};

pub use export::ExportError;
pub use replay::{Replayed, Row};
pub use violation::{Event, Violation};

use crate::world::recorder::Recorder;

/// Judges runs of one workload.
#[derive(Debug)]
pub struct Judge<'a, T> {
    workload: &'a T,
    layout: &'a Partitioning,
}

impl<T> Clone for Judge<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Judge<'_, T> {}

/// What is wrong with a run.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The points do not give a serial order.
    Order {
        /// The first transaction that does not fit.
        violation: Box<Violation>,
        /// What the transactions did, whatever their points; or why no history could be made.
        history: Box<Result<Report, ExportError>>,
    },
    /// The points give a serial order, and yet the checker of histories found an anomaly: one of the two
    /// is wrong.
    History(Box<Report>),
    /// The points give a serial order, and no history could be made.
    Export(ExportError),
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { violation, history } => {
                writeln!(out, "{violation}")?;
                match history.as_ref() {
                    Ok(report) if report.is_clean() => out.write_str(
                        "another order of the same transactions would be strictly serializable",
                    ),
                    Ok(report) => write!(out, "{report}"),
                    Err(error) => write!(out, "{error}"),
                }
            }
            Self::History(report) => {
                write!(out, "the points fit, but the history has anomalies: {report}")
            }
            Self::Export(error) => write!(out, "the points fit, but {error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl<'a, T: Transactions> Judge<'a, T> {
    /// A judge of runs of `workload` under this layout.
    pub fn new(workload: &'a T, layout: &'a Partitioning) -> Self {
        Self { workload, layout }
    }

    /// Replays the transactions in the order of their points.
    ///
    /// # Errors
    /// The first transaction that does not fit its point.
    pub fn check(&self, recorder: &Recorder) -> Result<Replayed<'a, T>, Box<Violation>> {
        replay::replay(*self, recorder)
    }

    /// The history of the run: touched keys only. The transaction number `n` of it, from 1, is the
    /// recorder's attempt number `n - 1`, and a session is a worker.
    ///
    /// # Errors
    /// When the record breaks a rule of the format.
    pub fn history(
        &self,
        recorder: &Recorder,
        seed: u64,
        scenario: &str,
    ) -> Result<History, ExportError> {
        export::history(*self, recorder, seed, scenario)
    }

    /// Replays the transactions by their points, and has the history checked, too.
    ///
    /// # Errors
    /// When either finds something.
    pub fn judge(
        &self,
        recorder: &Recorder,
        seed: u64,
        scenario: &str,
    ) -> Result<Replayed<'a, T>, Failure> {
        let replayed = self.check(recorder);
        let history = self.history(recorder, seed, scenario);
        let report = history.map(|history| history.check(&Options::default()));
        match (replayed, report) {
            (Ok(replayed), Ok(report)) if report.is_clean() => Ok(replayed),
            (Ok(_), Ok(report)) => Err(Failure::History(Box::new(report))),
            (Ok(_), Err(error)) => Err(Failure::Export(error)),
            (Err(violation), report) => {
                Err(Failure::Order { violation, history: Box::new(report) })
            }
        }
    }

    /// The digest of a row at the start. `value` is memory to be used again.
    fn initial_digest(&self, key: Key, value: &mut Vec<u8>) -> u64 {
        value.clear();
        let is_present = self.workload.initial(key, value);
        digest(is_present.then_some(value))
    }

    fn header_of(&self, key: Key) -> HeaderId {
        self.layout.header_of(key)
    }
}
