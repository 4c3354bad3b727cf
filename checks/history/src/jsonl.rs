// SPDX-License-Identifier: MIT OR Apache-2.0
//! Histories as JSON lines.

use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Error, Header, History, TransactionRecord};

/// Why a history could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The source failed.
    #[error("line {line}: {source}")]
    Io {
        /// Counted from 1.
        line: usize,
        /// Why.
        source: io::Error,
    },
    /// A line that is no header, or no transaction.
    #[error("line {line}: field `{field}` is {value}: {problem}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// The path to it.
        field: String,
        /// The value found there.
        value: String,
        /// The error in it, and the expected value.
        problem: String,
    },
    /// A rule of the format is broken.
    #[error(transparent)]
    Rule(#[from] Error),
}

impl History {
    /// Reads a history of JSON lines.
    ///
    /// # Errors
    /// When a line is not as the format says, or breaks one of its rules.
    pub fn read(source: impl BufRead) -> Result<History, ReadError> {
        let mut header = None;
        let mut transactions: Vec<TransactionRecord> = Vec::new();
        for (index, text) in source.lines().enumerate() {
            let line = index + 1;
            let text = text.map_err(|source| ReadError::Io { line, source })?;
            if line == 1 {
                header = Some(parse::<Header>(&text, line)?);
            } else {
                transactions.push(parse(&text, line)?);
            }
        }
        let header = header.ok_or_else(|| ReadError::Line {
            line: 1,
            field: ".".into(),
            value: "missing".into(),
            problem: "expected a header".into(),
        })?;
        Ok(History::new(header, transactions)?)
    }

    /// Writes the history as JSON lines: the header, then a transaction a line.
    ///
    /// # Errors
    /// When the target fails.
    pub fn write(&self, mut target: impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut target, self.header())?;
        writeln!(target)?;
        for transaction in self.transactions() {
            serde_json::to_writer(&mut target, transaction)?;
            writeln!(target)?;
        }
        target.flush()
    }
}

fn parse<T: DeserializeOwned>(text: &str, line: usize) -> Result<T, ReadError> {
    serde_json::from_str(text).or_else(|_| {
        // A second time, slower, to name the field.
        let mut source = serde_json::Deserializer::from_str(text);
        match serde_path_to_error::deserialize(&mut source) {
            Ok(value) => source.end().map(|()| value).map_err(|problem| ReadError::Line {
                line,
                field: ".".into(),
                value: shortened(text),
                problem: format!("{}; expected the end of the line", in_line(&problem)),
            }),
            Err(problem) => {
                let field = problem.path().to_string();
                let value =
                    value_at(text, &field).map_or_else(|| shortened(text), |v| v.to_string());
                Err(ReadError::Line { line, field, value, problem: in_line(problem.inner()) })
            }
        }
    })
}

/// The message, without the line: the parser sees one line only.
fn in_line(problem: &serde_json::Error) -> String {
    let message = problem.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    format!("{} at column {}", &message[..end], problem.column())
}

/// The value at a path such as `reads[1].version`.
fn value_at(text: &str, path: &str) -> Option<Value> {
    let line: Value = serde_json::from_str(text).ok()?;
    let mut value = &line;
    for step in path.split(['.', '[', ']']).filter(|step| !step.is_empty()) {
        value = match step.parse::<usize>() {
            Ok(index) if value.is_array() => value.get(index)?,
            _ => value.get(step)?,
        };
    }
    Some(value.clone())
}

/// The beginning of a line that is too broken to name a field of.
fn shortened(text: &str) -> String {
    let mut start: String = text.chars().take(60).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    format!("{start:?}")
}
