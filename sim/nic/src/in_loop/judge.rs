// SPDX-License-Identifier: MIT OR Apache-2.0
//! Whether the RTL answers what the machines' index has answered, when it was asked for the same in the same order.
//!
//! Locks, pins and what is cached as changed come and go with what is asked, in one order, so all that follows from
//! them is equal. What else is cached need not be: the RTL reads a row that the machines have still cached, or has one
//! that they read. The row is the same all the same, at some instant from question to answer.

use std::fmt;

use cluster::xenic::asked::{Answered, Asked, Operation, Row};
use nic::index::Status as IndexStatus;
use nic::lookup::{Answer, Status};
use timing::Time;

use crate::job::WORDS;

/// What the RTL was asked.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// How many were asked before it.
    pub number: u64,
    /// It, with the index's answer.
    pub asked: Asked,
    /// When.
    pub at: Time,
    /// The row in host memory then, of a look-up.
    pub row: Option<Row>,
}

/// What the RTL has answered, in the machines' words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    Row { row: Row, is_cached: bool },
    Locked,
    Full,
    Done,
    Other(Status),
}

impl Seen {
    fn of(asked: &Asked, answer: &Answer<WORDS>) -> Self {
        let looks = matches!(asked.operation, Operation::LookUp | Operation::LockAndRead);
        match (answer.status, answer.content) {
            (Status::DONE, Some(content)) if looks => {
                let row = Row { version: content.version, word: Some(content.value[0]) };
                Self::Row { row, is_cached: content.is_cached }
            }
            (Status::DONE, _) if !looks => Self::Done,
            (Status::Index(IndexStatus::Locked), _) if looks => Self::Locked,
            (Status::Index(IndexStatus::Full), _) if looks => Self::Full,
            (status, _) => Self::Other(status),
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row { row, is_cached: true } => write!(f, "{}, from its index", Words(*row)),
            Self::Row { row, is_cached: false } => write!(f, "{}, from host memory", Words(*row)),
            other => write!(f, "{other:?}"),
        }
    }
}

/// A row in words.
struct Words(Row);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.word {
            Some(word) => write!(f, "version {} with value {word:#x}", self.0.version),
            None => write!(f, "version {} without a row", self.0.version),
        }
    }
}

/// Whether an answer that comes at `now`, when host memory has `row`, is right.
///
/// # Errors
/// A sentence with question, both answers and times.
pub fn judge(
    question: &Question,
    answer: &Answer<WORDS>,
    row: Option<Row>,
    now: Time,
) -> Result<(), String> {
    let seen = Seen::of(&question.asked, answer);
    let in_host = |found: Row| Some(found) == question.row || Some(found) == row;
    let has_lock = question.asked.operation == Operation::LockAndRead;
    let is_right = match (question.asked.answer, seen) {
        (Answered::Row(wanted), Seen::Row { row, is_cached }) => {
            (row == wanted || !is_cached && in_host(row)) && answer.has_lock == has_lock
        }
        (Answered::Miss, Seen::Row { row, .. }) => in_host(row) && answer.has_lock == has_lock,
        (Answered::Locked, Seen::Locked) | (Answered::Full, Seen::Full) => !answer.has_lock,
        (Answered::Done, Seen::Done) => true,
        (Answered::Refused, Seen::Other(Status::Index(_))) => true,
        _ => false,
    };
    match is_right {
        true => Ok(()),
        false => Err(sentence(question, seen, answer.has_lock, now)),
    }
}

fn sentence(question: &Question, seen: Seen, has_lock: bool, now: Time) -> String {
    let Question { number, asked, at, row } = question;
    let Asked { operation, key, owner, .. } = asked;
    let lock = if has_lock { ", with the lock" } else { "" };
    let expected = match (asked.answer, row) {
        (Answered::Row(row), _) => format!("{}, which the machine has cached", Words(row)),
        (Answered::Miss, Some(row)) => {
            format!("{}, which host memory had, as the machine has missed it", Words(*row))
        }
        (other, _) => format!("{other:?} by the machine"),
    };
    format!(
        "operation {number} ({operation:?} of row {} of table {} by slot {owner}), asked for at {at}: at {now} the \
         RTL has answered {seen}{lock}, expected {expected}",
        key.row, key.table.0
    )
}
