// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions that do what those of the paper never do: rows of no bytes and of many, keys that are wanted
//! to be written and are not changed, keys that are read first and written in a later round, rows that are
//! made and deleted below one header, by chance.

use cluster::engine::{Key, TableNumber};
use cluster::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions};
use cluster::wire::{Reader, WireError, Writer};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What is done to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Deed {
    Read,
    /// It is locked, and stays as it is.
    Keep,
    Update,
    Insert,
    Delete,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    writer: u64,
    /// Those from `second` on are known only when the first ones are there.
    deeds: Vec<(Key, Deed)>,
    second: usize,
    rolls_back: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Wild {
    /// How many rows each table has.
    pub rows: u64,
    pub seed: u64,
}

const TABLES: [TableShape; 3] = [
    TableShape::hashed("nothing", 0, 8),
    TableShape::hashed("small", 9, 8),
    TableShape::hashed("large", 1300, 8),
];

fn value(key: Key, writer: u64) -> Vec<u8> {
    let bytes = usize::from(TABLES[usize::from(key.table.0)].value_bytes);
    (0..bytes).map(|at| (writer >> (8 * (at % 8))) as u8 ^ key.row as u8).collect()
}

impl Transactions for Wild {
    type Input = Input;
    type Source = (u32, u64);

    fn tables(&self) -> &[TableShape] {
        &TABLES
    }

    fn kinds(&self) -> &[&'static str] {
        &["wild"]
    }

    fn kind(&self, _: &Input) -> u8 {
        0
    }

    fn source(&self, worker: u32) -> (u32, u64) {
        (worker, 0)
    }

    fn draw(&self, (worker, number): &mut (u32, u64)) -> Option<Input> {
        *number += 1;
        let writer = u64::from(*worker) << 32 | *number;
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ writer << 8);
        let count = random.random_range(1..6);
        let deeds = (0..count).map(|_| {
            let table = TableNumber(random.random_range(0..3));
            let row = random.random_range(0..self.rows);
            let all =
                [Deed::Read, Deed::Read, Deed::Keep, Deed::Update, Deed::Insert, Deed::Delete];
            (Key { table, row }, all[random.random_range(0..all.len())])
        });
        let deeds: Vec<_> = deeds.collect();
        let second = random.random_range(1..=deeds.len());
        Some(Input { writer, deeds, second, rolls_back: random.random_range(0..8) == 0 })
    }

    /// The writer, how many deeds there are and how many are known at first, whether it rolls back, and the
    /// deeds.
    fn put_input(&self, input: &Input, out: &mut Vec<u8>) {
        let Input { writer, ref deeds, second, rolls_back } = *input;
        out.put_u64(writer);
        out.extend([deeds.len() as u8, second as u8, rolls_back.into()]);
        for (key, deed) in deeds {
            out.put_u8(key.table.0);
            out.put_u64(key.row);
            out.put_u8(*deed as u8);
        }
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<Input, WireError> {
        const DEEDS: [Deed; 5] = [Deed::Read, Deed::Keep, Deed::Update, Deed::Insert, Deed::Delete];
        let writer = reader.u64("a writer")?;
        let count = reader.u8("a count of deeds")?;
        let second = reader.u8_in(0..=count, "a count of deeds that are known")?.into();
        let rolls_back = reader.u8_in(0..=1, "whether it rolls back")? == 1;
        let deeds = (0..count).map(|_| {
            let table = TableNumber(reader.u8_in(0..=2, "a table (0 to 2)")?);
            let row = reader.u64("a row")?;
            let deed = DEEDS[usize::from(reader.u8_in(0..=4, "a deed (0 to 4)")?)];
            Ok((Key { table, row }, deed))
        });
        Ok(Input { writer, deeds: deeds.collect::<Result<_, _>>()?, second, rolls_back })
    }

    fn initial(&self, key: Key, bytes: &mut Vec<u8>) -> bool {
        if key.row.is_multiple_of(2) {
            bytes.extend(value(key, 0));
        }
        key.row.is_multiple_of(2)
    }

    fn declare(&self, input: &Input, rows: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        let (first, second) = input.deeds.split_at(input.second);
        let intent = |deed| if deed == Deed::Read { Intent::Read } else { Intent::Write };
        wanted.extend(first.iter().map(|(key, deed)| (*key, intent(*deed))));
        if first.iter().all(|(key, _)| rows.get(*key).is_ok()) {
            wanted.extend(second.iter().map(|(key, deed)| (*key, intent(*deed))));
        }
    }

    fn run(&self, input: &Input, rows: &mut Rows) -> Result<Decision, Missing> {
        for (key, deed) in &input.deeds {
            match deed {
                Deed::Read | Deed::Keep => {
                    rows.get(*key)?;
                }
                Deed::Update => {
                    if let Some(bytes) = rows.get_mut(*key)? {
                        bytes.copy_from_slice(&value(*key, input.writer));
                    }
                }
                Deed::Insert => {
                    rows.insert(*key, &value(*key, input.writer))?;
                }
                Deed::Delete => {
                    rows.delete(*key)?;
                }
            }
        }
        Ok(if input.rolls_back { Decision::RollBack } else { Decision::Commit })
    }
}
