// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of a run of the suite.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::measure::Measurements;

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// The device does what it must.
    Pass,
    /// It does not, or it is unknown because something else failed.
    Fail,
    /// Nothing was tried, for the reason in the detail.
    Skipped,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Pass => "PASS",
            Verdict::Fail => "FAIL",
            Verdict::Skipped => "SKIPPED",
        })
    }
}

/// One check and how it ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckReport {
    /// Its name.
    pub name: &'static str,
    /// How it ended.
    pub verdict: Verdict,
    /// Seconds that it took.
    pub seconds: f64,
    /// What was tried; for a failure, the expected and the found value; for a skipped check, the reason.
    pub detail: String,
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, verdict, seconds, detail } = self;
        write!(f, "{verdict:<7} {name:<20} {seconds:7.2} s  {detail}")
    }
}

/// The progress reports of the suite.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A check begins.
    Begins {
        /// Its name.
        name: &'static str,
    },
    /// A check has ended.
    Ended(&'a CheckReport),
}

/// The report of a run of the suite.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The device, as it was named.
    pub device: String,
    /// The seed; with it the run can be repeated.
    pub seed: u64,
    /// The checks, in the order in which they were run.
    pub checks: Vec<CheckReport>,
    /// The measurements taken in the meantime.
    pub measurements: Measurements,
}

impl Report {
    /// Whether no check has failed.
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| check.verdict != Verdict::Fail)
    }

    /// How many checks ended so.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.checks.iter().filter(|check| check.verdict == verdict).count()
    }

    /// The check of this name, if it was run.
    pub fn check(&self, name: &str) -> Option<&CheckReport> {
        self.checks.iter().find(|check| check.name == name)
    }

    pub(crate) fn add(&mut self, name: &'static str, verdict: Verdict, took: Duration, d: String) {
        self.checks.push(CheckReport { name, verdict, seconds: took.as_secs_f64(), detail: d });
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "device {}, seed {}", self.device, self.seed)?;
        self.checks.iter().try_for_each(|check| writeln!(f, "{check}"))?;
        write!(f, "{}", self.measurements)?;
        let verdict = if self.passed() { Verdict::Pass } else { Verdict::Fail };
        let count = |verdict| self.count(verdict);
        writeln!(
            f,
            "{verdict}: {} passed, {} failed, {} skipped",
            count(Verdict::Pass),
            count(Verdict::Fail),
            count(Verdict::Skipped)
        )
    }
}
