// SPDX-License-Identifier: MIT OR Apache-2.0
//! The logic of transactions as protocols run it: on the rows that have been fetched.
//!
//! There are no coroutines. A protocol asks a workload which keys it wants ([`Transactions::declare`]),
//! fetches them, and asks again, until nothing is added; then it runs the logic. Logic that meets a key
//! that was not fetched ends with [`Missing`], the key is fetched, and the logic is run once more from
//! its beginning. A run that ends otherwise has left its changes in the rows.

pub mod database;
mod rows;

use std::fmt::Debug;
use std::hash::{BuildHasher, Hash, Hasher};

pub use rows::{Change, Row, Rows};

use crate::engine::{Effects, Key, Work};
use crate::mix::{mix, unmix};
use crate::placement::Placement;
use crate::wire::{Reader, WireError};

/// A table as a protocol needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableShape {
    /// Its name.
    pub name: &'static str,
    /// The bytes of a value, as stored and as sent, without key and header. All rows have as many.
    pub value_bytes: u16,
    /// About how many rows all nodes together have at the start, by which its buckets are sized.
    pub rows: u64,
    /// What decides where they are.
    pub placement: Placement,
}

impl TableShape {
    /// A table whose rows are placed by a hash of their key.
    pub const fn hashed(name: &'static str, value_bytes: u16, rows: u64) -> Self {
        Self { name, value_bytes, rows, placement: Placement::Hashed }
    }
}

/// Whether a row is only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Intent {
    /// It is read.
    Read,
    /// It may be changed, made or deleted, and is read first.
    Write,
}

/// What the logic of a transaction wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Its changes shall stand.
    Commit,
    /// Nothing shall be changed: no funds, no such row. A result, and not tried again.
    RollBack,
}

/// The logic met a key that was not fetched, or that was fetched to be read and is to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Missing {
    /// The key.
    pub key: Key,
    /// What it is wanted for.
    pub intent: Intent,
}

/// A workload as protocols see it. Clones share their tables.
pub trait Transactions: Clone + Send + Sync {
    /// What a transaction is given.
    type Input: Clone + Debug + PartialEq + Eq + Hash + Send + Sync;

    /// What draws the inputs of one worker: all of its state, so that machines can be cloned and
    /// compared.
    type Source: Clone + Debug + PartialEq + Eq + Hash + Send;

    /// The tables; a [`TableNumber`](crate::engine::TableNumber) is a place in this list.
    fn tables(&self) -> &[TableShape];

    /// The names of the kinds of transactions.
    fn kinds(&self) -> &[&'static str];

    /// The kind of an input, a place in [`Transactions::kinds`].
    fn kind(&self, input: &Self::Input) -> u8;

    /// The inputs of worker `worker` of the whole cluster, counted from 0.
    fn source(&self, worker: u32) -> Self::Source;

    /// The next input, or `None` when there are no more.
    fn draw(&self, source: &mut Self::Source) -> Option<Self::Input>;

    /// Appends an input, as it is sent to another part that runs the logic: at most 255 bytes.
    fn put_input(&self, input: &Self::Input, out: &mut Vec<u8>);

    /// Reads an input that [`Transactions::put_input`] has written. Inputs have one form in bytes each, and
    /// none that is read makes the logic panic.
    ///
    /// # Errors
    /// When the bytes are no input of this workload.
    fn take_input(&self, reader: &mut Reader<'_>) -> Result<Self::Input, WireError>;

    /// The row of this key at the start: appends its value to `value`, or returns `false` if there is
    /// none. A function of the key alone.
    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool;

    /// Whether one round of requests may do: a transaction of which this says that rows will tell further keys is not
    /// shipped to another node (Xenic, section 4.2.3, has multi-hop for "a single round of remote accesses").
    fn is_one_round(&self, input: &Self::Input) -> bool {
        let _ = input;
        true
    }

    /// Appends to `wanted` the keys that are known to be needed, given the rows so far. Keys that
    /// `rows` has already, with the same intent or with [`Intent::Write`], need not be left out.
    fn declare(&self, input: &Self::Input, rows: &Rows, wanted: &mut Vec<(Key, Intent)>);

    /// Runs the logic, which begins from the rows as they were fetched, whatever an earlier run has done
    /// to them. Its changes go into `rows`.
    ///
    /// The rows may have been read at different times and contradict each other, as nothing has been
    /// validated yet. Logic that finds what no sound database holds answers [`Decision::RollBack`]: before
    /// that counts, its reads are validated, and a contradiction becomes an abort.
    ///
    /// # Errors
    /// [`Missing`] for the first key that was not fetched.
    fn run(&self, input: &Self::Input, rows: &mut Rows) -> Result<Decision, Missing>;
}

/// A digest of a row for [`Access::digest`](crate::engine::Access): 0 for a row that is not there, else
/// a number other than 0 that depends on its value alone. Values of eight bytes have different digests,
/// of which [`word_of`] makes them again, and so have values of four bytes.
pub fn digest(value: Option<&[u8]>) -> u64 {
    let Some(value) = value else { return 0 };
    if let Ok(word) = <[u8; 8]>::try_from(value) {
        return mix(u64::from_le_bytes(word)).max(1);
    }
    if let Ok(half) = <[u8; 4]>::try_from(value) {
        return mix(HALF | u64::from(u32::from_le_bytes(half))).max(1);
    }
    let mut hasher = foldhash::fast::FixedState::default().build_hasher();
    hasher.write(value);
    hasher.finish() | 1
}

/// The value of eight bytes that has this digest, as a little-endian number, so that checks can count
/// with what is recorded. Of the digest 1 it may be another. If the value has four bytes, these are the
/// lower ones.
pub fn word_of(digest: u64) -> u64 {
    unmix(digest)
}

/// What the digests of four bytes are told by from those of eight bytes of the same number.
const HALF: u64 = 1 << 32;

/// Asks the logic for the keys that it wants, which `wanted` gets, until it wants no more; then it is run, and
/// may still miss one. Gives its decision if it has come to one.
pub(crate) fn think<T: Transactions>(
    workload: &T,
    input: &T::Input,
    rows: &mut Rows,
    wanted: &mut Vec<(Key, Intent)>,
    out: &mut Effects,
) -> Option<Decision> {
    wanted.clear();
    workload.declare(input, rows, wanted);
    wanted.retain(|(key, intent)| !rows.has(*key, *intent));
    if !wanted.is_empty() {
        return None;
    }
    out.work(Work::Logic, rows.all().len() as u32);
    match workload.run(input, rows) {
        Ok(decision) => Some(decision),
        // Logic that is given what it wants and still misses it would ask for ever.
        Err(missing) if rows.has(missing.key, missing.intent) => Some(Decision::RollBack),
        Err(missing) => {
            wanted.push((missing.key, missing.intent));
            None
        }
    }
}

/// Makes one of several wishes for the same key, for the larger intent.
pub(crate) fn merge(wanted: &mut Vec<(Key, Intent)>) {
    let mut kept = 0;
    for at in 0..wanted.len() {
        let (key, intent) = wanted[at];
        match wanted[..kept].iter_mut().find(|(other, _)| *other == key) {
            Some((_, other)) => *other = intent.max(*other),
            None => {
                wanted[kept] = (key, intent);
                kept += 1;
            }
        }
    }
    wanted.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_eight_bytes_is_told_by_its_digest() {
        seeds::each!(1_000, |seed| {
            let word = mix(seed) >> (seed % 64);
            let found = digest(Some(&word.to_le_bytes()));
            assert_eq!((word_of(found), found == 0), (word, false));
            assert_eq!(unmix(mix(word)), word);
            let half = word as u32;
            assert_eq!(word_of(digest(Some(&half.to_le_bytes()))) as u32, half);
        });
    }

    #[test]
    fn values_differ_from_each_other_and_from_none() {
        let values: [Option<&[u8]>; 8] = [
            None,
            Some(&[]),
            Some(&[0]),
            Some(&[0; 4]),
            Some(&[0; 7]),
            Some(&[0; 8]),
            Some(&[0; 9]),
            Some(&[1, 0, 0, 0, 0, 0, 0, 0, 0]),
        ];
        for (place, value) in values.iter().enumerate() {
            let same = values.iter().position(|other| digest(*other) == digest(*value));
            assert_eq!(same, Some(place), "{value:?}");
        }
    }
}
