// SPDX-License-Identifier: MIT OR Apache-2.0
//! The objects of a history, as `docs/histories.md` lists them.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

/// The first line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Version of the format: [`Header::FORMAT`].
    pub format: u32,
    /// The origin of the history.
    pub seed: u64,
    /// What ran.
    pub scenario: String,
    /// What goes beyond plain reads and writes. A reader that does not know one of them must not
    /// judge the history by it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<Extension>,
}

impl Header {
    /// The version of the format that this crate writes and reads.
    pub const FORMAT: u32 = 1;

    /// A header without extensions.
    pub fn new(seed: u64, scenario: impl Into<String>) -> Self {
        Self { format: Self::FORMAT, seed, scenario: scenario.into(), extensions: Vec::new() }
    }
}

/// What a history may hold beyond plain reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extension {
    /// Versions marked [`Write::dead`], and reads that found nothing.
    Dead,
    /// [`TransactionRecord::scans`] and [`Write::indexed`].
    Scans,
    /// [`Write::order`].
    Order,
    /// [`Read::instead_of`].
    LostWrites,
}

/// A key that is read and written. Numbers come before texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum Key {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
}

impl From<u64> for Key {
    fn from(number: u64) -> Self {
        Key::Number(number)
    }
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Key::Text(text.to_owned())
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Key::Text(text)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Number(number) => write!(f, "{number}"),
            Key::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key: a number from 0 to 2^64 - 1, or a text")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Key, E> {
                Ok(Key::Number(number))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Key, E> {
                Ok(Key::from(text))
            }
        }
        deserializer.deserialize_any(KeyVisitor)
    }
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Its writes took effect.
    Committed,
    /// Its writes must never be seen.
    Aborted,
    /// Unknown, as after a crash. It has committed if a committed transaction saw one of
    /// its versions.
    Unknown,
}

/// The isolation level of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// It sees only what has committed.
    ReadCommitted,
    /// It sees one snapshot, and nobody else wrote what it wrote since.
    Snapshot,
    /// Strict: as if alone, at one moment between its begin and its end.
    Serializable,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::ReadCommitted => "read-committed",
            Level::Snapshot => "snapshot",
            Level::Serializable => "serializable",
        })
    }
}

/// One transaction: one line of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionRecord {
    /// Its number, never used again.
    pub txn: u64,
    /// The session that ran it; one transaction at a time, in the order of the lines.
    pub session: u64,
    /// The point of the database's own order at which its snapshot was taken (READ COMMITTED:
    /// the first one).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<u64>,
    /// The point at which its writes were published; for one that wrote nothing, the point of
    /// its last read, which at SERIALIZABLE is its serialization point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
    /// How it ended.
    pub status: Status,
    /// Its isolation level.
    pub level: Level,
    /// What it saw of other transactions, in order. A key comes again only when what was seen
    /// has changed.
    pub reads: Vec<Read>,
    /// What it wrote, in order. Of several versions of one key the last one counts, the others
    /// are intermediate.
    pub writes: Vec<Write>,
    /// Its range scans.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<Scan>,
    /// When it was asked for and when its end was known, in nanoseconds of one wall clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall: Option<Times>,
    /// The same in picoseconds of virtual time.
    #[serde(default, rename = "virtual", skip_serializing_if = "Option::is_none")]
    pub virtual_time: Option<Times>,
}

impl TransactionRecord {
    /// The first transaction of a history, which makes the initial version of every key.
    pub fn initial(writes: Vec<Write>) -> Self {
        Self {
            txn: 0,
            session: 0,
            begin: Some(0),
            commit: Some(0),
            status: Status::Committed,
            level: Level::Serializable,
            reads: Vec::new(),
            writes,
            scans: Vec::new(),
            wall: None,
            virtual_time: None,
        }
    }

    /// The extensions that it uses, with the field that does.
    pub(crate) fn extensions(&self) -> impl Iterator<Item = (Extension, String)> + '_ {
        let reads = self.reads.iter().enumerate().flat_map(|(at, read)| {
            let lost = read.instead_of.map(|_| (Extension::LostWrites, format!("reads[{at}]")));
            let absent = read.version.is_none() && read.instead_of.is_none();
            lost.into_iter()
                .chain(absent.then(|| (Extension::Dead, format!("reads[{at}].version"))))
        });
        let writes = self.writes.iter().enumerate().flat_map(|(at, write)| {
            let uses = [
                write.dead.then(|| (Extension::Dead, format!("writes[{at}].dead"))),
                write.order.map(|_| (Extension::Order, format!("writes[{at}].order"))),
                (!write.indexed.is_empty())
                    .then(|| (Extension::Scans, format!("writes[{at}].indexed"))),
            ];
            uses.into_iter().flatten()
        });
        let scans = (!self.scans.is_empty()).then(|| (Extension::Scans, "scans".into()));
        reads.chain(writes).chain(scans)
    }
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// Before the transaction's first step.
    pub begin: u64,
    /// After its last.
    pub end: u64,
}

/// A read of what another transaction wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// The name that was looked up.
    pub key: Key,
    /// The version found; `None` if there was none: some dead version.
    #[serde(deserialize_with = "Option::deserialize")] // null, but never missing
    pub version: Option<u64>,
    /// The transaction's own version, written before, that it should have found. Only histories
    /// of faulty databases have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<u64>,
}

impl Read {
    /// A read that found `version`.
    pub fn new(key: impl Into<Key>, version: u64) -> Self {
        Self { key: key.into(), version: Some(version), instead_of: None }
    }

    /// A read that found nothing.
    pub fn absent(key: impl Into<Key>) -> Self {
        Self { key: key.into(), version: None, instead_of: None }
    }
}

/// A version that a transaction wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The written data.
    pub key: Key,
    /// Its new version: unique for the key in the whole history.
    pub version: u64,
    /// From here on there is nothing under the key: a deletion, or, in the first transaction, a
    /// key that will be inserted later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead: bool,
    /// The version's place in the database's own order of the key's versions, if it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u64>,
    /// Under what the version stands in secondary indexes, by the name of the index.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub indexed: BTreeMap<String, Key>,
}

impl Write {
    /// A version that is alive.
    pub fn new(key: impl Into<Key>, version: u64) -> Self {
        Self { key: key.into(), version, dead: false, order: None, indexed: BTreeMap::new() }
    }

    /// A deletion.
    pub fn dead(key: impl Into<Key>, version: u64) -> Self {
        Self { dead: true, ..Self::new(key, version) }
    }

    /// The same, which stands in `index` under `value`.
    pub fn indexed(mut self, index: impl Into<String>, value: impl Into<Key>) -> Self {
        self.indexed.insert(index.into(), value.into());
        self
    }

    /// The same, at `order` among the key's versions.
    pub fn at(mut self, order: u64) -> Self {
        self.order = Some(order);
        self
    }
}

/// A range scan: all that lies between two bounds, so what it does not name was not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scan {
    /// The secondary index; none for a range of keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The lower bound, included.
    pub low: Key,
    /// The upper bound, included.
    pub high: Key,
    /// What was found, without the transaction's own versions; each has a version.
    pub keys: Vec<Read>,
    /// The keys that the transaction itself had written before (even if it undid that later): the
    /// scan says nothing of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<Key>,
}

impl Scan {
    /// A scan of the keys from `low` to `high`, both included.
    pub fn of_keys(low: impl Into<Key>, high: impl Into<Key>) -> Self {
        let (low, high) = (low.into(), high.into());
        Self { index: None, low, high, keys: Vec::new(), own: Vec::new() }
    }

    /// A scan of `index` from `low` to `high`, both included.
    pub fn of_index(index: impl Into<String>, low: impl Into<Key>, high: impl Into<Key>) -> Self {
        Self { index: Some(index.into()), ..Self::of_keys(low, high) }
    }

    /// The same, having found `version` of `key`.
    pub fn found(mut self, key: impl Into<Key>, version: u64) -> Self {
        self.keys.push(Read::new(key, version));
        self
    }

    /// Whether `write` satisfies it, that is, must be found while it is current.
    pub fn admits(&self, write: &Write) -> bool {
        let value = match &self.index {
            None => Some(&write.key),
            Some(index) => write.indexed.get(index),
        };
        !write.dead && value.is_some_and(|value| (&self.low..=&self.high).contains(&value))
    }
}
