// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors that name the file, the line, the field, the value and what was expected.

use std::{fmt, io};

/// The result of everything in this crate that reads input.
pub type Result<T> = std::result::Result<T, Error>;

/// Why input could not be read, or output not be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input says something impossible.
    #[error(transparent)]
    Input(Box<InputError>),
    /// The operating system refused to read.
    #[error("{file}: cannot read: {source}")]
    Read {
        /// What was being read.
        file: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The operating system refused to write.
    #[error("cannot write {what}: {source}")]
    Write {
        /// What was being written.
        what: String,
        /// The system's reason.
        source: io::Error,
    },
}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

/// One impossible place of an input file.
///
/// It reads `file:line: field `table.buckets` = 1000: expected a power of two …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    /// The file as the user named it.
    pub file: String,
    /// Line, counted from 1.
    pub line: u64,
    /// The field, with the tables around it: `host.wait`. Empty when a whole line is meant.
    pub field: String,
    /// The value found there.
    pub found: Found,
    /// The expected value there.
    pub expected: String,
}

/// What was found where something else was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// This text.
    Value(String),
    /// Nothing.
    Missing,
    /// A field of a name that means nothing here.
    Unknown,
}

impl fmt::Display for InputError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: ", self.file, self.line)?;
        match (&self.found, self.field.as_str()) {
            (Found::Value(value), "") => write!(out, "`{}`", shorten(value))?,
            (Found::Value(value), field) => write!(out, "field `{field}` = {}", shorten(value))?,
            (Found::Missing, "") => write!(out, "nothing")?,
            (Found::Missing, field) => write!(out, "field `{field}` is missing")?,
            (Found::Unknown, field) => write!(out, "field `{field}` is unknown")?,
        }
        write!(out, ": expected {}", self.expected)
    }
}

impl std::error::Error for InputError {}

/// The first line of a value, at most 80 characters of it: errors fit on a screen.
fn shorten(value: &str) -> String {
    const MOST: usize = 80;
    let first = value.lines().next().unwrap_or("");
    let mut short: String = first.chars().take(MOST).collect();
    if short.len() < value.trim_end().len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_place_value_and_expectation() {
        let mut error = InputError {
            file: "run.toml".into(),
            line: 7,
            field: "table.buckets".into(),
            found: Found::Value("1000".into()),
            expected: "a power of two".into(),
        };
        let text = "run.toml:7: field `table.buckets` = 1000: expected a power of two";
        assert_eq!(error.to_string(), text);
        error.found = Found::Missing;
        let text = "run.toml:7: field `table.buckets` is missing: expected a power of two";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(shorten(&"x".repeat(100)), format!("{}…", "x".repeat(80)));
        assert_eq!(shorten("[1,\n2]"), "[1,…");
        assert_eq!(shorten("4"), "4");
    }
}
