// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of a scenario, and where in it which key stands. Scenarios of other crates use it, too.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use crate::error::{Error, Found, InputError};

/// The text of a scenario file and what errors call it.
#[derive(Clone, Debug)]
pub struct Source {
    file: String,
    text: String,
}

impl Source {
    /// `text` as what stands in `file`, which is named in errors only.
    pub fn new(file: &str, text: &str) -> Self {
        Self { file: file.into(), text: text.into() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The error for the value of `field`, with dots between tables. A field that is not there
    /// is reported as missing, on the line of the innermost table around it that is.
    pub fn reject(&self, field: &str, expected: impl Into<String>) -> Error {
        let document = DeTable::parse(&self.text).ok();
        let mut table = document.as_ref().map(|document| document.get_ref());
        let mut place = 0..0;
        let mut found = Found::Missing;
        for name in field.split('.') {
            let entry = table.and_then(|table| table.iter().find(|(key, _)| key.get_ref() == name));
            found = match &entry {
                None => Found::Missing,
                Some((key, value)) => {
                    place = match value.get_ref() {
                        DeValue::Table(_) => key.span(),
                        _ => value.span(),
                    };
                    Found::Value(self.text[value.span()].into())
                }
            };
            table = entry.and_then(|(_, value)| value.get_ref().as_table());
        }
        self.error(place, field, found, expected)
    }

    /// The error for what the TOML reader did not take.
    pub fn explain(&self, error: &toml::de::Error) -> Error {
        let place = error.span().unwrap_or(0..0);
        let path = DeTable::parse(&self.text).ok().and_then(|document| {
            let whole = document.span() == place;
            if whole { Some(String::new()) } else { path_at(document.get_ref(), &place) }
        });
        let Some(path) = path else {
            // Not TOML at all, or a place inside a value: the line speaks for itself.
            let line = self.text[..place.start.min(self.text.len())].lines().count().max(1);
            let text = self.text.lines().nth(line - 1).unwrap_or("");
            return self.error(place, "", Found::Value(text.into()), error.message());
        };
        let message = error.message();
        if let Some(name) = quoted_after(message, "missing field ") {
            let dot = if path.is_empty() { "" } else { "." };
            return self.error(place, &format!("{path}{dot}{name}"), Found::Missing, "a value");
        }
        let expected = match message.split_once("expected ") {
            Some((_, expected)) => plain(expected),
            None => message.into(),
        };
        let unknown = message.starts_with("unknown field")
            || (message.starts_with("unknown variant") && path.starts_with("workload."));
        let found = match unknown {
            true => Found::Unknown,
            false => Found::Value(self.text[place.clone()].into()),
        };
        self.error(place, &path, found, expected)
    }

    fn error(
        &self,
        place: Range<usize>,
        field: &str,
        found: Found,
        expected: impl Into<String>,
    ) -> Error {
        let before = &self.text[..place.start.min(self.text.len())];
        let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let (file, field) = (self.file.clone(), field.into());
        InputError { file, line, field, found, expected: expected.into() }.into()
    }
}

/// The dotted name of the key or value that stands at `place`.
fn path_at(table: &DeTable<'_>, place: &Range<usize>) -> Option<String> {
    for (key, value) in table {
        if key.span() == *place || value.span() == *place {
            return Some(key.get_ref().to_string());
        }
        match value.get_ref() {
            DeValue::Table(inner) => {
                if let Some(path) = path_at(inner, place) {
                    return Some(format!("{}.{path}", key.get_ref()));
                }
            }
            DeValue::Array(_) => {
                let span = value.span();
                if span.start <= place.start && place.end <= span.end {
                    return Some(key.get_ref().to_string());
                }
            }
            _ => {}
        }
    }
    None
}

/// The text between backticks that follows `lead`.
fn quoted_after<'m>(message: &'m str, lead: &str) -> Option<&'m str> {
    message.strip_prefix(lead)?.strip_prefix('`')?.split('`').next()
}

/// The reader's names of types, in words.
fn plain(expected: &str) -> String {
    match expected {
        "u32" => "an integer from 0 to 4294967295".into(),
        "u64" => "an integer of at least 0".into(),
        "f64" => "a number".into(),
        "string" | "a string" => "a text in quotes".into(),
        "bool" | "a boolean" => "true or false".into(),
        other if other.starts_with("struct ") => "a table".into(),
        other => other.into(),
    }
}
