// SPDX-License-Identifier: MIT OR Apache-2.0
//! Violations and their text.

use std::fmt;

use super::index::Index;
use crate::Key;

/// The kinds of violation. Names are Adya's where there is one (A. Adya: Weak Consistency, PhD
/// thesis, MIT 1999).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Anomaly {
    /// A cycle of writes alone.
    G0,
    /// A read of what was never committed.
    G1a,
    /// A read of a version that its writer overwrote itself.
    G1b,
    /// A cycle of writes and reads, without overwritten reads.
    G1c,
    /// A version was read that no transaction wrote.
    UnknownVersion,
    /// A transaction did not see its own write.
    LostOwnWrite,
    /// A version was read before it was committed.
    FutureRead,
    /// A read of a version that had been overwritten when it should have been current.
    StaleRead,
    /// A read of a version that was committed after the snapshot.
    ReadAfterSnapshot,
    /// Two reads of one key that differ where they must agree.
    NonRepeatableRead,
    /// At READ COMMITTED: a read of something older than what an earlier read saw.
    NonMonotonicRead,
    /// At READ COMMITTED: a transaction saw a write of another, and then missed one of the same.
    ObservedTransactionVanishes,
    /// Two transactions that overlap wrote the same key, where the first should have won.
    WriteOverlap,
    /// P4: an overwritten version was read and then overwritten again.
    LostUpdate,
    /// G-single: a cycle with one overwritten read.
    ReadSkew,
    /// Two readers saw two writers in opposite orders; in general a cycle with several
    /// overwritten reads, none right after another, which snapshots forbid.
    LongFork,
    /// Two transactions each overwrote what the other had read.
    WriteSkew,
    /// G2-item: any other cycle with overwritten reads.
    G2Item,
    /// G2: a scan missed what should have been there, or found what should not.
    Phantom,
    /// A scan returned a row that does not satisfy it.
    ScanMismatch,
    /// The commit points and another order contradict each other.
    CommitOrder,
    /// A transaction missed what its own session had done.
    SessionOrder,
    /// A transaction missed what had ended before it began.
    RealTime,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Anomaly::G0 => "G0 (write cycle)",
            Anomaly::G1a => "G1a (aborted read)",
            Anomaly::G1b => "G1b (intermediate read)",
            Anomaly::G1c => "G1c (circular information flow)",
            Anomaly::UnknownVersion => "read of a version that nobody wrote",
            Anomaly::LostOwnWrite => "own write not seen",
            Anomaly::FutureRead => "read before the commit",
            Anomaly::StaleRead => "stale read",
            Anomaly::ReadAfterSnapshot => "read of what came after the snapshot",
            Anomaly::NonRepeatableRead => "non-repeatable read (P2)",
            Anomaly::NonMonotonicRead => "non-monotonic read",
            Anomaly::ObservedTransactionVanishes => "OTV (observed transaction vanishes)",
            Anomaly::WriteOverlap => "overlapping writers",
            Anomaly::LostUpdate => "P4 (lost update)",
            Anomaly::ReadSkew => "G-single (read skew)",
            Anomaly::LongFork => "long fork (G-nonadjacent)",
            Anomaly::WriteSkew => "write skew (G2-item)",
            Anomaly::G2Item => "G2-item (anti-dependency cycle)",
            Anomaly::Phantom => "G2 (phantom)",
            Anomaly::ScanMismatch => "scan result outside its bounds",
            Anomaly::CommitOrder => "contradiction in the commit order",
            Anomaly::SessionOrder => "session order broken",
            Anomaly::RealTime => "real-time order broken",
        })
    }
}

/// Why one transaction must come before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyKind {
    /// ww: the second overwrote the first's version.
    WriteWrite,
    /// wr: the second read the first's version.
    WriteRead,
    /// rw: the second overwrote a version that the first read.
    ReadWrite,
    /// wr of a predicate: the second did not find a key because of the first.
    PredicateWriteRead,
    /// rw of a predicate: the second brought in a key that the first did not find.
    PredicateReadWrite,
    /// The first came before in their session.
    Session,
    /// The first had ended before the second began.
    RealTime,
}

/// A reason why `from` must come before `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The number of the one before.
    pub from: u64,
    /// The number of the one after.
    pub to: u64,
    /// Why.
    pub kind: DependencyKind,
    /// The key and its versions: ww old and new, wr the one read, rw the one read and the one
    /// that overwrote it.
    pub versions: Option<(Key, Vec<u64>)>,
}

impl fmt::Display for Dependency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = (self.from, self.to);
        let (key, versions) = match &self.versions {
            Some((key, versions)) => (key.to_string(), versions.as_slice()),
            None => (String::new(), [].as_slice()),
        };
        match (self.kind, versions) {
            (DependencyKind::WriteWrite, [old, new]) => write!(
                f,
                "txn {from} -ww-> txn {to}: key {key}, version {old}, overwritten with {new}"
            ),
            (DependencyKind::WriteRead, [read]) => {
                write!(f, "txn {from} -wr-> txn {to}: key {key}, version {read}, was read")
            }
            (DependencyKind::ReadWrite, [read, new]) => write!(
                f,
                "txn {from} -rw-> txn {to}: key {key}, version {read} was read, then overwritten \
                 with {new}"
            ),
            (DependencyKind::PredicateWriteRead, [read]) => write!(
                f,
                "txn {from} -wr-> txn {to}: key {key}, not found because of version {read} or a \
                 later one"
            ),
            (DependencyKind::PredicateReadWrite, [_, new]) => write!(
                f,
                "txn {from} -rw-> txn {to}: key {key}, not found, then brought in with version \
                 {new}"
            ),
            (DependencyKind::Session, _) => {
                write!(f, "txn {from} --> txn {to}: one after the other in their session")
            }
            _ => write!(f, "txn {from} --> txn {to}: the first had ended when the second began"),
        }
    }
}

/// Something that a level forbids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What.
    pub anomaly: Anomaly,
    /// The numbers of those involved: of a cycle in its order, else the one that was wronged
    /// first.
    pub transactions: Vec<u64>,
    /// The keys involved, each once.
    pub keys: Vec<Key>,
    /// The cycle, from `transactions[0]` back to it; empty when it is none.
    pub dependencies: Vec<Dependency>,
    /// What happened, a sentence or a dependency a line, then the transactions.
    pub explanation: String,
}

impl Violation {
    /// A violation by `index`'s transactions `of`, in one sentence.
    pub(super) fn told(
        index: &Index<'_>,
        anomaly: Anomaly,
        of: &[u32],
        key: Option<u32>,
        sentence: String,
    ) -> Self {
        let mut of = of.to_vec();
        let mut seen = std::collections::HashSet::new();
        of.retain(|transaction| seen.insert(*transaction));
        Self {
            anomaly,
            transactions: of.iter().map(|t| index.txn(*t)).collect(),
            keys: key.iter().map(|key| index.keys[*key as usize].clone()).collect(),
            dependencies: Vec::new(),
            explanation: format!("  {sentence}{}", index.describe(&of)),
        }
    }

    /// A cycle through `index`'s transactions `of`.
    pub(super) fn cycle(
        index: &Index<'_>,
        anomaly: Anomaly,
        of: &[u32],
        dependencies: Vec<Dependency>,
    ) -> Self {
        let mut keys: Vec<Key> =
            dependencies.iter().filter_map(|d| Some(d.versions.as_ref()?.0.clone())).collect();
        keys.sort();
        keys.dedup();
        let lines: Vec<String> = dependencies.iter().map(|d| format!("  {d}")).collect();
        Self {
            anomaly,
            transactions: of.iter().map(|t| index.txn(*t)).collect(),
            keys,
            dependencies,
            explanation: format!("{}{}", lines.join("\n"), index.describe(of)),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.anomaly, self.explanation)
    }
}
