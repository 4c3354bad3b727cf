// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checker.
//!
//! Three steps: [`index`] names keys and versions by small numbers, decides which transactions
//! count, and orders the versions of each key; [`rules`] judges each transaction by itself;
//! [`cycles`] looks for cycles of dependencies.

mod cycles;
mod graph;
mod index;
mod rules;
mod violation;

use std::collections::{BTreeSet, HashSet};
use std::fmt;

pub use violation::{Anomaly, Dependency, DependencyKind, Violation};

use crate::{History, Level};

/// The checks of a history. The default runs all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Hold every transaction to this level instead of its own.
    pub level: Option<Level>,
    /// A transaction must see what its session did before.
    pub sessions: bool,
    /// A transaction must see what ended before it began, by the points of the history and by
    /// its clocks.
    pub real_time: bool,
    /// The reads of a READ COMMITTED transaction must not go back in time.
    pub monotonic_reads: bool,
    /// The most violations to report.
    pub limit: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { level: None, sessions: true, real_time: true, monotonic_reads: true, limit: 20 }
    }
}

impl Options {
    /// All, with every transaction held to `level`.
    pub fn at(level: Level) -> Self {
        Self { level: Some(level), ..Self::default() }
    }

    /// Only what its dependencies forbid: neither the order of sessions nor time count.
    pub fn untimed(self) -> Self {
        Self { sessions: false, real_time: false, ..self }
    }
}

impl History {
    /// Holds each transaction to its level.
    pub fn check(&self, options: &Options) -> Report {
        let index = index::Index::new(self.transactions(), options);
        let mut violations = rules::check(&index, options);
        let culprits: HashSet<u64> = violations.iter().map(|v| v.transactions[0]).collect();
        // Cycles first, so that they win over rules that say the same with less.
        let (mut found, broken_off) = cycles::check(&index, options, &culprits);
        found.append(&mut violations);
        found.sort_by_key(|violation| violation.transactions.len());
        let mut seen = HashSet::new();
        found.retain(|violation| {
            let transactions: BTreeSet<u64> = violation.transactions.iter().copied().collect();
            seen.insert((violation.anomaly, transactions))
        });
        let more = found.len().saturating_sub(options.limit);
        found.truncate(options.limit);
        let (counted, ordered) = (index.counted(), index.ordered());
        Report { violations: found, more, counted, ordered, broken_off }
    }
}

/// What a check has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    violations: Vec<Violation>,
    more: usize,
    counted: usize,
    ordered: bool,
    broken_off: bool,
}

impl Report {
    /// No violation was found.
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// The violations, those of the fewest transactions first.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// The kinds of violation.
    pub fn anomalies(&self) -> BTreeSet<Anomaly> {
        self.violations.iter().map(|violation| violation.anomaly).collect()
    }

    /// The transactions that committed, without the initial one.
    pub fn committed(&self) -> usize {
        self.counted
    }

    /// Whether the order of all versions was known. If not, an anomaly may stay unseen.
    pub fn is_complete(&self) -> bool {
        self.ordered
    }

    /// Whether the search for cycles was broken off, having found some violation after long work: there
    /// may be others.
    pub fn is_broken_off(&self) -> bool {
        self.broken_off
    }

    /// # Panics
    /// With the whole report, unless it is clean.
    #[track_caller]
    pub fn expect_clean(&self) {
        assert!(self.is_clean(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = self.violations.len() + self.more;
        writeln!(f, "{found} violations in {} committed transactions", self.counted)?;
        for violation in &self.violations {
            writeln!(f, "\n{violation}")?;
        }
        if self.more > 0 {
            writeln!(f, "\nand {} more", self.more)?;
        }
        if self.broken_off {
            writeln!(f, "\nthe search for cycles was broken off: there may be others")?;
        }
        Ok(())
    }
}
