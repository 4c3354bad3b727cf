// SPDX-License-Identifier: MIT OR Apache-2.0
//! Look-ups that were answered.

use nic::lookup::{Answer, Status};

use crate::error::RunError;
use crate::job::{VALUE_BYTES, WORDS};
use crate::judge::Answered;

/// A look-up with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The answer, unless the look-up gave up.
    pub answered: Option<Answered>,
    /// The clock in which it was accepted.
    pub asked: u64,
    /// The clock in which the answer was there.
    pub ended: u64,
    /// Whether the value came from the index.
    pub is_hit: bool,
    /// Round trips to host memory.
    pub trips: u8,
}

impl Served {
    /// The look-up of a key that was accepted and answered in these clocks.
    ///
    /// # Errors
    /// When no look-up of a table without locks ends so.
    pub fn of(key: u64, asked: u64, ended: u64, answer: &Answer<WORDS>) -> Result<Self, RunError> {
        let expected = match (answer.status, answer.content) {
            (Status::Absent, _) => Ok(Some(None)),
            (Status::GaveUp, _) => Ok(None),
            (Status::DONE, Some(content)) if content.is_out_of_line => Err("a value in its slot"),
            (Status::DONE, Some(content)) if content.length != VALUE_BYTES => {
                Err("a value of 8 bytes")
            }
            (Status::DONE, Some(content)) => Ok(Some(Some(content.value[0]))),
            (Status::DONE, None) => Err("done with a value"),
            _ => Err("done, absent or gave up"),
        };
        let content = expected.map_err(|expected| {
            let status = answer.status;
            RunError::Status { clock: ended, what: "the look-up", key, status, expected }
        })?;
        let answered = content.map(|content| Answered { key, asked, answered: ended, content });
        let is_hit = answer.content.is_some_and(|content| content.is_cached);
        Ok(Served { answered, asked, ended, is_hit, trips: answer.trips })
    }

    /// The value that was found.
    pub fn value(&self) -> Option<u64> {
        self.answered.and_then(|answered| answered.content)
    }
}
