// SPDX-License-Identifier: MIT OR Apache-2.0
//! Retwis, a Twitter-like application, as Xenic runs it (SOSP 2021, section 5.4): one million keys for
//! each node, values of 64 bytes, keys by Zipf with exponent 0.5.
//!
//! The kinds are those of TAPIR's public client (SOSP 2015, table 2), which Xenic follows: a transaction
//! draws its keys, gets some of them and puts some. Who puts gets keys that it puts as well, so that
//! AddUser is of three keys, Follow of two, PostTweet of five and LoadTimeline of one to ten. A key that
//! was drawn twice is one key.
//!
//! A key that is put is fetched to be written, got or not: a put counts up the row's updates and names
//! its transaction, so that none can be lost or made twice unnoticed.

use std::ops::RangeInclusive;
use std::sync::Arc;

use rand::RngExt;
use workloads::random::draw_share;
use workloads::zipf::{MAX_EXPONENT, MAX_ROWS, RowSampler};

use super::{Stream, Totals, counted};
use crate::engine::{Access, Key, TableNumber};
use crate::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError, Writer};

/// The most keys of one transaction.
pub const MOST_KEYS: usize = 10;

/// The bytes of a value.
const VALUE_BYTES: u16 = 64;

/// The kinds: the share of each in per cent, how many keys it draws, and whether it puts them.
const KINDS: [(&str, u32, RangeInclusive<u8>, bool); 4] = [
    ("add-user", 5, 3..=3, true),
    ("follow", 15, 2..=2, true),
    ("post-tweet", 30, 5..=5, true),
    ("load-timeline", 50, 1..=10, false),
];
const NAMES: [&str; 4] = [KINDS[0].0, KINDS[1].0, KINDS[2].0, KINDS[3].0];

/// The numbers of a Retwis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RetwisSettings {
    /// How many keys all nodes have together.
    pub keys: u64,
    /// The exponent of the keys' distribution, 0 (all alike) to 10. Key 0 is the hottest.
    pub exponent: f64,
    /// The seed of all draws.
    pub seed: u64,
}

impl RetwisSettings {
    /// As in the paper, for so many nodes.
    pub fn xenic(nodes: u16) -> Self {
        Self { keys: 1_000_000 * u64::from(nodes), exponent: 0.5, seed: 0 }
    }
}

/// Why there is no such Retwis.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{field} is {found}, expected {expected}")]
pub struct RetwisError {
    /// The setting.
    pub field: &'static str,
    /// Its value.
    pub found: f64,
    /// What it has to be.
    pub expected: String,
}

/// Retwis.
#[derive(Clone, Debug)]
pub struct Retwis {
    settings: RetwisSettings,
    sampler: Arc<RowSampler>,
    tables: [TableShape; 1],
}

/// The input of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RetwisTransaction {
    kind: u8,
    /// How many keys there are.
    number: u8,
    /// The keys, each once; those beyond `number` are 0.
    keys: [u64; MOST_KEYS],
    /// The number of this input among all of the run, which names its puts.
    writer: u64,
}

impl RetwisTransaction {
    /// The keys, each once.
    pub fn keys(&self) -> &[u64] {
        &self.keys[..usize::from(self.number)]
    }

    /// What it wants its keys for.
    pub fn intent(&self) -> Intent {
        if KINDS[usize::from(self.kind)].3 { Intent::Write } else { Intent::Read }
    }
}

const TABLE: TableNumber = TableNumber(0);

fn key(row: u64) -> Key {
    Key { table: TABLE, row }
}

impl Retwis {
    /// The Retwis of these settings.
    ///
    /// # Errors
    /// When a number is out of its range.
    pub fn new(settings: RetwisSettings) -> Result<Self, RetwisError> {
        let RetwisSettings { keys, exponent, .. } = settings;
        let refuse = |field, found, expected: String| Err(RetwisError { field, found, expected });
        if !(1..=MAX_ROWS).contains(&keys) {
            return refuse("keys", keys as f64, format!("1 to {MAX_ROWS}"));
        }
        if !(0.0..=MAX_EXPONENT).contains(&exponent) {
            return refuse("exponent", exponent, format!("0 to {MAX_EXPONENT}"));
        }
        let tables = [TableShape::hashed("retwis", VALUE_BYTES, keys)];
        Ok(Self { settings, sampler: Arc::new(RowSampler::zipf(keys, exponent)), tables })
    }
}

impl Transactions for Retwis {
    type Input = RetwisTransaction;
    type Source = Stream;

    fn tables(&self) -> &[TableShape] {
        &self.tables
    }

    fn kinds(&self) -> &[&'static str] {
        &NAMES
    }

    fn kind(&self, input: &RetwisTransaction) -> u8 {
        input.kind
    }

    fn source(&self, worker: u32) -> Stream {
        Stream::new(self.settings.seed, worker)
    }

    fn draw(&self, source: &mut Stream) -> Option<RetwisTransaction> {
        let writer = source.next_writer();
        let random = &mut source.random;
        let kind = draw_share(KINDS.iter().map(|kind| kind.1), random);
        let mut input =
            RetwisTransaction { kind: kind as u8, number: 0, keys: [0; MOST_KEYS], writer };
        for _ in 0..random.random_range(KINDS[kind].2.clone()) {
            let drawn = self.sampler.sample(random);
            if !input.keys().contains(&drawn) {
                input.keys[usize::from(input.number)] = drawn;
                input.number += 1;
            }
        }
        Some(input)
    }

    /// The kind and the number of keys (1 byte each), the writer (8), and the keys (8 each).
    fn put_input(&self, input: &RetwisTransaction, out: &mut Vec<u8>) {
        out.put_u8(input.kind);
        out.put_u8(input.number);
        out.put_u64(input.writer);
        input.keys().iter().for_each(|row| out.put_u64(*row));
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<RetwisTransaction, WireError> {
        let kind = reader.u8_in(0..=3, "a kind of transaction (0 to 3)")?;
        let number = reader.u8_in(1..=MOST_KEYS as u8, "a number of keys (1 to 10)")?;
        let writer = reader.u64("a writer")?;
        let mut input = RetwisTransaction { kind, number: 0, keys: [0; MOST_KEYS], writer };
        for _ in 0..number {
            let at = reader.position();
            let row = reader.u64_in(0..=self.settings.keys - 1, "a key")?;
            if input.keys().contains(&row) {
                return Err(WireError::Unknown { expected: "another key", found: row, at });
            }
            input.keys[usize::from(input.number)] = row;
            input.number += 1;
        }
        Ok(input)
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        let is_there = key.table == TABLE && key.row < self.settings.keys;
        if is_there {
            counted::initial(key.row, VALUE_BYTES, value);
        }
        is_there
    }

    fn declare(&self, input: &RetwisTransaction, _: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        wanted.extend(input.keys().iter().map(|row| (key(*row), input.intent())));
    }

    fn run(&self, input: &RetwisTransaction, rows: &mut Rows) -> Result<Decision, Missing> {
        rows.reset();
        for &row in input.keys() {
            let is_there = match input.intent() {
                Intent::Read => rows.get(key(row))?.is_some(),
                Intent::Write => rows
                    .get_mut(key(row))?
                    .is_some_and(|value| counted::update(row, input.writer, value)),
            };
            if !is_there {
                return Ok(Decision::RollBack);
            }
        }
        Ok(Decision::Commit)
    }
}

impl Totals for Retwis {
    fn total_name(&self) -> &'static str {
        "the number of puts"
    }

    fn count(&self, _: Key, value: Option<&[u8]>) -> i64 {
        counted::updates(value)
    }

    fn change(&self, kind: u8, accesses: &[Access]) -> Result<i64, String> {
        let (_, _, keys, puts) = &KINDS[usize::from(kind)];
        let most = if *puts { usize::from(*keys.end()) } else { 0 };
        let found = accesses.iter().filter(|access| access.writes).count();
        // Keys that were drawn twice make it fewer.
        if found > most || (*puts && found == 0) {
            return Err(format!("it put {found} keys, expected {most} at most"));
        }
        Ok(found as i64)
    }

    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String> {
        if key.table != TABLE || key.row >= self.settings.keys {
            return Err(format!("there are {} keys in table 0", self.settings.keys));
        }
        counted::check(key.row, VALUE_BYTES, value)
    }
}

#[cfg(test)]
mod tests;
