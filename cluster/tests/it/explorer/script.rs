// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions by hand: each worker has a list, and what each one writes tells who wrote it and
//! what it had read.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use cluster::engine::{Key, TableNumber};
use cluster::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions, digest};
use cluster::wire::{Reader, WireError, Writer};

/// What is done with a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    Read,
    Update,
    Insert,
    Delete,
}

/// One transaction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transaction {
    /// Goes into what it writes; no two have the same.
    pub tag: u8,
    /// The rows, in order.
    pub deeds: Vec<(u64, Deed)>,
    /// How many of them are known before any row was fetched. The others are found by the logic.
    pub declared: usize,
    /// It gives up in the end.
    pub rolls_back: bool,
}

impl Transaction {
    /// One that knows all its rows.
    pub fn new(tag: u8, deeds: &[(u64, Deed)]) -> Self {
        Self { tag, deeds: deeds.to_vec(), declared: deeds.len(), rolls_back: false }
    }
}

/// The transactions of all workers: rows below `rows` are there at the start.
#[derive(Clone, Debug)]
pub struct Script {
    tables: Arc<[TableShape]>,
    rows: u64,
    workers: Arc<[Vec<Transaction>]>,
}

impl Script {
    pub fn new(rows: u64, workers: Vec<Vec<Transaction>>) -> Self {
        let table = TableShape::hashed("row", 8, rows);
        Self { tables: Arc::new([table]), rows, workers: workers.into() }
    }

    /// The workers that have something to do.
    pub fn busy_workers(&self) -> impl Iterator<Item = u32> {
        let workers = (0..).zip(self.workers.iter());
        workers.filter(|(_, list)| !list.is_empty()).map(|(worker, _)| worker)
    }

    /// The digests at the start of all rows that it mentions.
    pub fn initial_digests(&self) -> BTreeMap<Key, u64> {
        let all = self.workers.iter().flatten().flat_map(|transaction| &transaction.deeds);
        let digest_of = |key: Key| {
            let mut value = Vec::new();
            let is_there = self.initial(key, &mut value);
            digest(is_there.then_some(&value[..]))
        };
        all.map(|(row, _)| (key(*row), digest_of(key(*row)))).collect()
    }
}

pub fn key(row: u64) -> Key {
    Key { table: TableNumber(0), row }
}

/// What one has left of the list of a worker.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Source {
    worker: u32,
    next: u32,
}

impl Transactions for Script {
    type Input = Transaction;
    type Source = Source;

    fn tables(&self) -> &[TableShape] {
        &self.tables
    }

    fn kinds(&self) -> &[&'static str] {
        &["scripted"]
    }

    fn kind(&self, _: &Transaction) -> u8 {
        0
    }

    fn source(&self, worker: u32) -> Source {
        Source { worker, next: 0 }
    }

    fn draw(&self, source: &mut Source) -> Option<Transaction> {
        let list = self.workers.get(source.worker as usize)?;
        let transaction = list.get(source.next as usize)?.clone();
        source.next += 1;
        Some(transaction)
    }

    /// The tag, how many deeds there are and how many are declared, whether it rolls back, and the deeds.
    fn put_input(&self, input: &Transaction, out: &mut Vec<u8>) {
        let Transaction { tag, ref deeds, declared, rolls_back } = *input;
        out.extend([tag, deeds.len() as u8, declared as u8, rolls_back.into()]);
        for (row, deed) in deeds {
            out.put_u64(*row);
            out.put_u8(*deed as u8);
        }
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<Transaction, WireError> {
        let tag = reader.u8("a tag")?;
        let count = reader.u8("a count of deeds")?;
        let declared = reader.u8_in(0..=count, "a count of declared deeds")?.into();
        let rolls_back = reader.u8_in(0..=1, "whether it rolls back")? == 1;
        let deeds = (0..count).map(|_| {
            let row = reader.u64("a row")?;
            let deed = usize::from(reader.u8_in(0..=3, "a deed (0 to 3)")?);
            Ok((row, [Deed::Read, Deed::Update, Deed::Insert, Deed::Delete][deed]))
        });
        Ok(Transaction { tag, deeds: deeds.collect::<Result<_, _>>()?, declared, rolls_back })
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        let is_there = key.row < self.rows;
        if is_there {
            value.extend_from_slice(&key.row.to_le_bytes());
        }
        is_there
    }

    fn declare(&self, input: &Transaction, _: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        for (row, deed) in &input.deeds[..input.declared] {
            let intent = if *deed == Deed::Read { Intent::Read } else { Intent::Write };
            wanted.push((key(*row), intent));
        }
    }

    fn run(&self, input: &Transaction, rows: &mut Rows) -> Result<Decision, Missing> {
        let mut hasher = foldhash::fast::FixedState::default().build_hasher();
        for (row, deed) in &input.deeds {
            let key = key(*row);
            rows.get(key)?.hash(&mut hasher);
            // The tag is in the lowest byte, for those who look at a trace.
            let new = (hasher.finish() << 8 | u64::from(input.tag)).to_le_bytes();
            match deed {
                Deed::Read => {}
                Deed::Update => {
                    if let Some(value) = rows.get_mut(key)? {
                        value.copy_from_slice(&new);
                    }
                }
                Deed::Insert => {
                    rows.insert(key, &new)?;
                }
                Deed::Delete => {
                    rows.delete(key)?;
                }
            }
        }
        Ok(if input.rolls_back { Decision::RollBack } else { Decision::Commit })
    }
}
