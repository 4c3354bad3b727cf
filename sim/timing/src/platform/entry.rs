// SPDX-License-Identifier: MIT OR Apache-2.0
//! One number of a platform file, with its kind and its source, and whether it was read.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toml::de::{DeTable, DeValue};

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
        // Looked at first, as clones of an entry are read repeatedly.
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
    /// The kind of its source.
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

/// The names, such as `link.bandwidth`, of the entries of a kind below `shape` that were read since
/// the file was. `shape` is what a reader made of a file: its fields are named as the file's parts.
pub fn entries_read(shape: &impl Serialize, kind: Kind) -> BTreeSet<String> {
    let table = toml::Table::try_from(shape).expect("a platform is plain data");
    let mut names = BTreeSet::new();
    add_read(&table, kind, "", &mut names);
    names
}

fn add_read(table: &toml::Table, kind: Kind, prefix: &str, names: &mut BTreeSet<String>) {
    for (key, value) in table {
        let name = format!("{prefix}{key}");
        let Some(table) = value.as_table() else { continue };
        match table.get("kind").and_then(toml::Value::as_str) {
            None => add_read(table, kind, &format!("{name}."), names),
            Some(found) if found == kind.name() && table["read"].as_bool() == Some(true) => {
                names.insert(name);
            }
            Some(_) => {}
        }
    }
}

/// Calls `found` with each entry of a kind below `table`, a part of a file.
pub(super) fn each_of_kind<'t, 'i>(
    table: &'t DeTable<'i>,
    kind: Kind,
    found: &mut impl FnMut(&'t DeTable<'i>),
) {
    for value in table.values() {
        let DeValue::Table(table) = value.get_ref() else { continue };
        match table.get("kind").map(|kind| kind.get_ref().as_str()) {
            None => each_of_kind(table, kind, found),
            Some(its_kind) if its_kind == Some(kind.name()) => found(table),
            Some(_) => {}
        }
    }
}

/// Where the value of an entry stands in its file, and `factor` times that value: to a thousandth of
/// its unit, a count to a whole number of at least 1. `None` when the value is no number, which is
/// refused when the entry is read.
pub(super) fn multiplied(entry: &DeTable<'_>, factor: f64) -> Option<(Range<usize>, String)> {
    let written = entry.get("value")?;
    let value = match written.get_ref() {
        DeValue::Integer(number) => number.as_str().parse::<f64>(),
        DeValue::Float(number) => number.as_str().parse::<f64>(),
        _ => return None,
    };
    let times = value.ok()? * factor;
    let new = match entry.get("unit").and_then(|unit| unit.get_ref().as_str()) {
        Some("1") => times.round().max(1.0),
        _ => (times * 1e3).round() / 1e3,
    };
    Some((written.span(), new.to_string()))
}
