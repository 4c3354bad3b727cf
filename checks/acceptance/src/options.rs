// SPDX-License-Identifier: MIT OR Apache-2.0
//! The selected checks of the suite, and their length.

use std::time::Duration;

use crate::checks;

/// How thorough a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Every check, each kind of case once or a few times.
    Quick,
    /// More of each, and counters of 16 bits run round.
    Full,
}

/// The selected checks of the suite, and their length.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seed of all that is drawn: sizes, offsets, data, orders.
    pub seed: u64,
    /// Random cases of a check that draws its cases.
    pub cases: u32,
    /// Interrupts raised one by one, none of which may be lost.
    pub interrupts: u32,
    /// How thorough it is.
    pub extent: Extent,
    /// Longest wait for a single event: a completion, an interrupt, a grant. It decides when a
    /// check gives up, never whether a device is fast enough.
    pub timeout: Duration,
    /// How long nothing may happen where nothing is allowed to happen.
    pub silence: Duration,
    /// Samples of each measurement; 0: nothing is measured.
    pub samples: u32,
    /// Names of the checks that are run; `None`: all of them.
    pub checks: Option<Vec<String>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            cases: 200,
            interrupts: 1000,
            extent: Extent::Quick,
            timeout: Duration::from_secs(10),
            silence: Duration::from_millis(20),
            samples: 1000,
            checks: None,
        }
    }
}

/// A check that the suite does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("check is {found:?}, expected one of {}", names().join(", "))]
pub struct UnknownCheckError {
    found: String,
}

/// The names of all checks, in the order in which they are run.
pub fn names() -> Vec<&'static str> {
    checks::ALL.iter().map(|check| check.name).chain([crate::MEASUREMENTS]).collect()
}

impl Options {
    /// Restricts the run to checks by their names.
    ///
    /// # Errors
    /// The first name that no check has.
    pub fn only(self, checks: &[&str]) -> Result<Self, UnknownCheckError> {
        match checks.iter().find(|name| !names().contains(name)) {
            Some(name) => Err(UnknownCheckError { found: (*name).to_owned() }),
            None => {
                let checks = Some(checks.iter().map(|&name| name.to_owned()).collect());
                Ok(Self { checks, ..self })
            }
        }
    }

    pub(crate) fn includes(&self, name: &str) -> bool {
        self.checks.as_ref().is_none_or(|names| names.iter().any(|other| other == name))
    }
}
