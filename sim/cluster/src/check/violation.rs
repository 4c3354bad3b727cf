// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is wrong with a run, in terms of its record.

use std::fmt;

use cluster::engine::{Key, TransactionId};
use timing::Time;

/// A transaction at its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its name.
    pub transaction: TransactionId,
    /// Its point.
    pub at: Time,
}

/// Why a run does not fit the points of its transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// It ended, but never told its point.
    NoPoint {
        /// Its name.
        transaction: TransactionId,
    },
    /// Its point is not between its begin and its end.
    OutsideOfItself {
        /// The transaction.
        of: Event,
        /// When it began.
        begin: Time,
        /// When it ended.
        end: Time,
    },
    /// It wrote, and does not know its point exactly.
    InexactWriter {
        /// The transaction.
        of: Event,
    },
    /// It read another version than the newest.
    Read {
        /// The transaction.
        of: Event,
        /// The key.
        key: Key,
        /// The version of its header as it was read.
        found: u64,
        /// The newest version at the point.
        newest: u64,
        /// Who made the newest version; nobody, if it is the initial one.
        by: Option<Event>,
    },
    /// It read another value than the newest, under the version at its point.
    Value {
        /// The transaction.
        of: Event,
        /// The key.
        key: Key,
        /// The version of its header.
        version: u64,
        /// The digest of what was read.
        found: u64,
        /// The digest of what should have been.
        newest: u64,
        /// Who wrote that; nobody, if it is the initial value.
        by: Option<Event>,
    },
    /// There is no moment between its begin and its point at which all that it read was the newest.
    Overwritten {
        /// The transaction.
        of: Event,
        /// When it began.
        begin: Time,
        /// A key that it read.
        key: Key,
        /// The version that it read, which was overwritten too early for the rest.
        version: u64,
        /// Who overwrote it.
        by: Event,
    },
    /// It did not raise a header by one.
    Write {
        /// The transaction.
        of: Event,
        /// The key that it wrote.
        key: Key,
        /// Its header, in words.
        header: String,
        /// The version that it made.
        made: u64,
        /// The version that it had to make.
        expected: u64,
        /// Who made the one before; nobody, if that is the initial one.
        by: Option<Event>,
    },
    /// It wrote one key twice.
    WrittenTwice {
        /// The transaction.
        of: Event,
        /// The key.
        key: Key,
    },
    /// A row is not what the last writer of it has left.
    End {
        /// Its key.
        key: Key,
        /// The version of its header, and its digest.
        found: (u64, u64),
        /// What they should be.
        expected: (u64, u64),
        /// Who wrote it last; nobody, if it was never written.
        by: Option<Event>,
    },
}

/// Names of keys and transactions as the messages have them.
struct Named<N>(N);

impl fmt::Display for Named<Key> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "row {:#x} of table {}", self.0.row, self.0.table.0)
    }
}

impl fmt::Display for Named<TransactionId> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.0;
        let (node, thread, worker) = (id.node().0, id.thread(), id.worker());
        write!(out, "transaction {node}/{thread}/{worker}/{}", id.count())
    }
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at {}", Named(self.transaction), self.at)
    }
}

impl fmt::Display for Named<Option<Event>> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(event) => write!(out, "made by {event}"),
            None => out.write_str("from the start"),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPoint { transaction } => {
                write!(out, "{} ended without a point", Named(*transaction))
            }
            Self::OutsideOfItself { of, begin, end } => {
                write!(out, "the point of {of} is not between its begin {begin} and its end {end}")
            }
            Self::InexactWriter { of } => write!(out, "{of} wrote, but has no exact point"),
            Self::Read { of, key, found, newest, by } => write!(
                out,
                "{of} read version {found} of {}, but the newest is {newest}, {}",
                Named(*key),
                Named(*by)
            ),
            Self::Value { of, key, version, found, newest, by } => write!(
                out,
                "{of} read {} under version {version} with digest {found:#x}, but it has \
                 {newest:#x}, {}",
                Named(*key),
                Named(*by)
            ),
            Self::Overwritten { of, begin, key, version, by } => write!(
                out,
                "{of}, begun at {begin}, read version {version} of {}, which was overwritten by \
                 {by}: at no moment was all current that it read",
                Named(*key)
            ),
            Self::Write { of, key, header, made, expected, by } => write!(
                out,
                "{of} made version {made} of {} ({header}) instead of {expected}, after the one {}",
                Named(*key),
                Named(*by)
            ),
            Self::WrittenTwice { of, key } => write!(out, "{of} wrote {} twice", Named(*key)),
            Self::End { key, found: (version, digest), expected, by } => write!(
                out,
                "in the end {} has version {version} and digest {digest:#x} instead of {} and \
                 {:#x}, {}",
                Named(*key),
                expected.0,
                expected.1,
                Named(*by)
            ),
        }
    }
}

impl std::error::Error for Violation {}
