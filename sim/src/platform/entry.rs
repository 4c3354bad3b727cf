// SPDX-License-Identifier: MIT OR Apache-2.0
//! One number of a platform file, with its kind and its source, and whether it was read.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Measure;

/// Where the number of an entry comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A sentence of the paper.
    Paper,
    /// A vendor's document or a specification.
    Datasheet,
    /// A parameter of the RTL of this project, which the source names.
    #[serde(rename = "own RTL")]
    OwnRtl,
    /// A bench of this program; the source says which, and how its figure was carried over.
    Measured,
    /// Chosen so that something comes out as it was published: what reads it cannot confirm that.
    Fitted,
    /// Nobody: the source says why the number was chosen.
    Assumption,
}

impl Kind {
    /// All there are, those that others stand behind first.
    pub const ALL: [Kind; 6] = [
        Kind::Paper,
        Kind::Datasheet,
        Kind::OwnRtl,
        Kind::Measured,
        Kind::Fitted,
        Kind::Assumption,
    ];

    /// As platform files write it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Paper => "paper",
            Kind::Datasheet => "datasheet",
            Kind::OwnRtl => "own RTL",
            Kind::Measured => "measured",
            Kind::Fitted => "fitted",
            Kind::Assumption => "assumption",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One number of a platform, converted, with its source. Clones know of each other's reads.
#[derive(Clone, Debug)]
pub struct Entry<T> {
    pub(super) value: T,
    kind: Kind,
    source: String,
    read: Arc<AtomicBool>,
}

impl<T: Copy> Entry<T> {
    /// The number in the unit of the model. From now on the entry counts as read.
    pub fn get(&self) -> T {
        // Looked at first, as clones of an entry are read again and again.
        if !self.read.load(Ordering::Relaxed) {
            self.read.store(true, Ordering::Relaxed);
        }
        self.value
    }

    /// Another number in its place, for a machine that is to differ in it.
    pub fn set(&mut self, value: T) {
        self.value = value;
    }
}

impl<T> Entry<T> {
    /// What sort of source stands behind it.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The sentence it comes from, or why it was chosen.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Whether it was read is no part of what it is.
impl<T: PartialEq> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        (&self.value, self.kind, &self.source) == (&other.value, other.kind, &other.source)
    }
}

impl<T: Eq> Eq for Entry<T> {}

impl<'de, T: Measure> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written {
            value: f64,
            unit: String,
            kind: Kind,
            source: String,
        }
        let Written { value, unit, kind, source } = Written::deserialize(deserializer)?;
        if source.trim().is_empty() {
            return Err(D::Error::custom("source is empty, expected where the number comes from"));
        }
        let value = T::convert(value, &unit).ok_or_else(|| {
            D::Error::custom(format!("value {value} {unit} found, expected {}", T::EXPECTED))
        })?;
        Ok(Entry { value, kind, source, read: Arc::default() })
    }
}

/// As its kind and whether it was read: the number stands in the file.
impl<T> Serialize for Entry<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut facts = serializer.serialize_struct("Entry", 2)?;
        facts.serialize_field("kind", &self.kind)?;
        facts.serialize_field("read", &self.read.load(Ordering::Relaxed))?;
        facts.end()
    }
}

/// Calls `found` with the dotted name of each entry of a kind below `table`.
fn each<'t>(
    table: &'t toml::Table,
    kind: Kind,
    prefix: &str,
    found: &mut impl FnMut(String, &'t toml::Table),
) {
    for (key, value) in table {
        let name = format!("{prefix}{key}");
        let Some(table) = value.as_table() else {
            continue;
        };
        match table.get("kind") {
            None => each(table, kind, &format!("{name}."), found),
            Some(its_kind) if its_kind.as_str() == Some(kind.name()) => found(name, table),
            Some(_) => {}
        }
    }
}

/// Of a platform as it is serialized: the names of entries of a kind that were read.
pub(super) fn names_of_read(platform: &toml::Table, kind: Kind) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    each(platform, kind, "", &mut |name, entry| {
        if entry["read"].as_bool() == Some(true) {
            names.insert(name);
        }
    });
    names
}

/// Of a platform as its file has it: each entry of a kind with its source and value.
#[cfg(test)]
pub(super) fn sources(platform: &toml::Table, kind: Kind) -> Vec<(String, &str, f64)> {
    let mut sources = Vec::new();
    each(platform, kind, "", &mut |name, entry| {
        let value = &entry["value"];
        let value = value.as_float().or(value.as_integer().map(|value| value as f64));
        let source = entry["source"].as_str().expect("a source is text");
        sources.push((name, source, value.expect("a value is a number")));
    });
    sources
}

/// Multiplies the values of all entries of a kind, to a thousandth of their unit, and of counts to a
/// whole number of at least 1.
pub(super) fn multiply(platform: &mut toml::Table, kind: Kind, factor: f64) {
    for (_, value) in platform.iter_mut() {
        let toml::Value::Table(entry) = value else { continue };
        match entry.get("kind").map(|found| found.as_str() == Some(kind.name())) {
            None => multiply(entry, kind, factor),
            Some(false) => {}
            Some(true) => {
                let value = &entry["value"];
                let value = value.as_float().or(value.as_integer().map(|value| value as f64));
                // A value that is no number is refused when the entry is read.
                let Some(value) = value else { continue };
                let times = value * factor;
                let new = match entry["unit"].as_str() {
                    Some("1") => times.round().max(1.0),
                    _ => (times * 1e3).round() / 1e3,
                };
                entry.insert("value".into(), new.into());
            }
        }
    }
}
