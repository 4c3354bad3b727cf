// SPDX-License-Identifier: MIT OR Apache-2.0
//! Histories of transactions: what each one read and wrote, in a format that other programs can
//! check too, and a checker that holds each transaction to its isolation level.
//!
//! - [`Recorder`]: how a test writes down what it saw, from many threads.
//! - [`History`]: a history that keeps the rules of the format; [`History::read`] and
//!   [`History::write`] are its JSON lines.
//! - [`History::check`]: the anomalies in it, each with the transactions that make it up.
//!
//! `docs/histories.md` has the format, and says what the checker promises.
//!
//! ```
//! use history::{Anomaly, Level, Options, Recorder, Write};
//!
//! let recorder = Recorder::new(7, "two withdrawals", [Write::new(1, 0), Write::new(2, 0)]);
//! let mut sessions = [recorder.session(1), recorder.session(2)];
//! for (session, (withdraws_from, commit)) in sessions.iter_mut().zip([(1, 1), (2, 2)]) {
//!     let mut transaction = session.begin(Level::Serializable);
//!     transaction.snapshot(0); // as the database says
//!     transaction.read(1, 0);
//!     transaction.read(2, 0);
//!     let version = transaction.version(); // goes into the row
//!     transaction.write(withdraws_from, version);
//!     transaction.commit(commit);
//! }
//! let report = recorder.finish(sessions)?.check(&Options::default());
//! assert_eq!(report.violations()[0].anomaly, Anomaly::WriteSkew);
//! # Ok::<(), history::Error>(())
//! ```

mod check;
mod jsonl;
mod recorder;
mod transaction;
mod validate;

pub use check::{Anomaly, Dependency, DependencyKind, Options, Report, Violation};
pub use jsonl::ReadError;
pub use recorder::{Recorder, SessionRecorder, TransactionRecorder};
pub use transaction::{
    Extension, Header, Key, Level, Read, Scan, Status, Times, TransactionRecord, Write,
};
pub use validate::{Error, History};
