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
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::class;
use super::{Class, Measure};

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
    /// Another publication about the same part.
    Publication,
    /// Chosen so that something comes out as it was published: what reads it cannot confirm that.
    Fitted,
    /// Nobody: the source says why the number was chosen.
    Assumption,
}

impl Kind {
    /// All there are, those that others stand behind first.
    pub const ALL: [Kind; 7] = [
        Kind::Paper,
        Kind::Datasheet,
        Kind::OwnRtl,
        Kind::Measured,
        Kind::Publication,
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
            Kind::Publication => "publication",
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
    class: Option<Class>,
    interval: Option<(T, T)>,
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

    /// The least and the greatest number that it may be, if it is of class E.
    pub fn interval(&self) -> Option<(T, T)> {
        self.interval
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

    /// What it may be used for, if the file says.
    pub fn class(&self) -> Option<Class> {
        self.class
    }

    /// The sentence it comes from, or why it was chosen.
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Whether it was read is no part of what it is.
impl<T: PartialEq> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        let facts = |entry: &Self| (entry.kind, entry.class);
        (&self.value, &self.interval, &self.source)
            == (&other.value, &other.interval, &other.source)
            && facts(self) == facts(other)
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
            class: Option<Class>,
            interval: Option<[f64; 2]>,
            source: String,
        }
        let Written { value, unit, kind, class, interval, source } =
            Written::deserialize(deserializer)?;
        if source.trim().is_empty() {
            return Err(D::Error::custom("source is empty, expected where the number comes from"));
        }
        let convert = |what: &str, number: f64| {
            T::convert(number, &unit).ok_or_else(|| {
                D::Error::custom(format!("{what} {number} {unit} found, expected {}", T::EXPECTED))
            })
        };
        if let Some(fault) = class::first_fault(kind, class, value, interval) {
            return Err(D::Error::custom(fault));
        }
        let interval = match interval {
            None => None,
            Some([least, greatest]) => Some((
                convert("the interval's least value", least)?,
                convert("the interval's greatest value", greatest)?,
            )),
        };
        let value = convert("value", value)?;
        Ok(Entry { value, kind, class, interval, source, read: Arc::default() })
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

/// An entry as it is written.
pub(super) struct WrittenEntry<'t, 'i> {
    /// Its dotted name.
    pub name: String,
    /// Where its name begins in the file.
    pub start: usize,
    /// Value, unit and so on.
    pub parts: &'t DeTable<'i>,
}

impl<'t, 'i> WrittenEntry<'t, 'i> {
    /// All below `table`, whose name with a dot behind it is `prefix`, in the order of the file.
    pub fn all(table: &'t DeTable<'i>, prefix: &str) -> Vec<Self> {
        let mut found = Vec::new();
        for (key, value) in table {
            let DeValue::Table(parts) = value.get_ref() else { continue };
            let name = format!("{prefix}{}", key.get_ref());
            match parts.contains_key("kind") {
                true => found.push(WrittenEntry { name, start: key.span().start, parts }),
                false => found.extend(Self::all(parts, &format!("{name}."))),
            }
        }
        found.sort_by_key(|entry| entry.start);
        found
    }

    pub fn is_of(&self, kind: Kind) -> bool {
        self.parts.get("kind").and_then(|found| found.get_ref().as_str()) == Some(kind.name())
    }

    /// Least and greatest value, as far as they are written.
    pub fn interval(&self) -> &[Spanned<DeValue<'i>>] {
        match self.parts.get("interval").map(Spanned::get_ref) {
            Some(DeValue::Array(ends)) => ends,
            _ => &[],
        }
    }

    /// Where its value and the ends of its interval stand in the file, and `factor` times each: to a
    /// thousandth of its unit, a count to a whole number of at least 1. What is no number is left out;
    /// it is refused when the entry is read.
    pub fn multiplied(&self, factor: f64) -> Vec<(Range<usize>, String)> {
        let is_count = self.parts.get("unit").and_then(|unit| unit.get_ref().as_str()) == Some("1");
        let times = |written: &Spanned<DeValue<'_>>| {
            let times = number(written)? * factor;
            let new = match is_count {
                true => times.round().max(1.0),
                false => (times * 1e3).round() / 1e3,
            };
            Some((written.span(), new.to_string()))
        };
        self.parts.get("value").into_iter().chain(self.interval()).filter_map(times).collect()
    }
}

fn number(written: &Spanned<DeValue<'_>>) -> Option<f64> {
    match written.get_ref() {
        DeValue::Integer(number) => number.as_str().parse().ok(),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}
