// SPDX-License-Identifier: MIT OR Apache-2.0
//! YCSB A, B and F: one table, one operation a transaction.
//!
//! A row has 100 bytes besides its key: a counter, a stamp and a payload that follows from key
//! and stamp, so that every read sees whether the row is whole. Updates write a new stamp and
//! payload; read-modify-writes also add one to the counter. The total is the sum of counters.

use std::ops::ControlFlow;

use rand::{Rng, RngExt};

use super::schema::{Column, TableDefinition, TableId};
use super::store::{Access, ConsistencyError, Load, Order, Outcome, Row, RowMut};
use super::{Kind, Workload, present};
use crate::random::{agent_stream, draw_share};
use crate::scenario::YcsbSettings;
use crate::ycsb::sampler;
use crate::zipf::RowSampler;

/// The only table.
pub const USERTABLE: TableId = TableId(0);
/// The key, from 0.
pub const KEY: usize = 0;
/// How many read-modify-writes the row has seen.
pub const COUNTER: usize = 1;
/// Drawn by the last writer; 0 at first.
pub const STAMP: usize = 2;
/// Follows from key and stamp.
pub const PAYLOAD: usize = 3;
/// Bytes of the payload: with counter and stamp, 100 bytes.
pub const PAYLOAD_BYTES: usize = 84;

const TABLES: &[TableDefinition] = &[TableDefinition {
    name: "usertable",
    columns: &[
        Column::int("key"),
        Column::int("counter"),
        Column::int("stamp"),
        Column::fixed("payload", PAYLOAD_BYTES),
    ],
    key_columns: 1,
    indexes: &[],
}];

const WHOLE: &str = "the payload of a row follows from its key and stamp";

/// Which of YCSB's core workloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// Half reads, half updates.
    A,
    /// 95 % reads, 5 % updates.
    B,
    /// Half reads, half read-modify-writes.
    F,
}

impl Mix {
    fn kinds(self) -> &'static [Kind; 3] {
        const fn kinds(read: u32, update: u32, modify: u32) -> [Kind; 3] {
            [
                Kind::reads("read", read),
                Kind::writes("update", update),
                Kind::writes("read-modify-write", modify),
            ]
        }
        const A: [Kind; 3] = kinds(50, 50, 0);
        const B: [Kind; 3] = kinds(95, 5, 0);
        const F: [Kind; 3] = kinds(50, 0, 50);
        match self {
            Self::A => &A,
            Self::B => &B,
            Self::F => &F,
        }
    }
}

/// YCSB over so many rows.
#[derive(Clone, Debug)]
pub struct Ycsb {
    mix: Mix,
    sampler: RowSampler,
    seed: u64,
}

/// The input of one YCSB transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Reads a row.
    Read {
        /// Its key.
        key: i64,
    },
    /// Overwrites a row.
    Update {
        /// Its key.
        key: i64,
        /// The new stamp.
        stamp: i64,
    },
    /// Reads a row, counts, and writes it back.
    ReadModifyWrite {
        /// Its key.
        key: i64,
        /// The new stamp.
        stamp: i64,
    },
}

/// What a YCSB transaction read before any change; an update reads nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The counter.
    pub counter: i64,
    /// The stamp.
    pub stamp: i64,
}

impl Ycsb {
    /// Rows and distribution of the settings.
    ///
    /// # Panics
    /// When the settings are out of the bounds of [`RowSampler`].
    pub fn new(mix: Mix, settings: &YcsbSettings, seed: u64) -> Self {
        Self { mix, sampler: sampler(settings, seed), seed }
    }

    fn rows(&self) -> i64 {
        self.sampler.rows() as i64
    }

    fn draw(&self, random: &mut impl Rng) -> Input {
        let kinds = self.mix.kinds();
        let kind = draw_share(kinds.iter().map(|kind| kind.percent), random);
        let key = self.sampler.sample(random) as i64;
        match kind {
            0 => Input::Read { key },
            1 => Input::Update { key, stamp: random.random() },
            2 => Input::ReadModifyWrite { key, stamp: random.random() },
            _ => unreachable!("there are three kinds"),
        }
    }
}

impl Workload for Ycsb {
    type Input = Input;
    type Output = Output;

    fn tables(&self) -> &'static [TableDefinition] {
        TABLES
    }

    fn kinds(&self) -> &'static [Kind] {
        self.mix.kinds()
    }

    fn kind(&self, input: &Input) -> usize {
        match input {
            Input::Read { .. } => 0,
            Input::Update { .. } => 1,
            Input::ReadModifyWrite { .. } => 2,
        }
    }

    fn populate<L: Load>(&self, load: &mut L) -> Result<(), L::Error> {
        load.create(TABLES)?;
        for key in 0..self.rows() {
            let payload = payload(key, 0);
            load.row(USERTABLE, &[key.into(), 0.into(), 0.into(), (&payload).into()])?;
        }
        load.finish()
    }

    fn inputs(&self, agent: u32) -> impl Iterator<Item = Input> + Send {
        let mut random = agent_stream(self.seed, agent);
        let workload = self.clone();
        std::iter::repeat_with(move || workload.draw(&mut random))
    }

    fn run<A: Access>(&self, input: &Input, access: &mut A) -> Result<Outcome<Output>, A::Error> {
        let (key, output) = match *input {
            Input::Read { key } => (key, access.get(USERTABLE, &[key], |row| read(key, row))?),
            Input::Update { key, stamp } => {
                let written = access.update(USERTABLE, &[key], |row| write(key, stamp, row))?;
                (key, written.map(|()| Ok(Output::default())))
            }
            Input::ReadModifyWrite { key, stamp } => {
                let modified = access.update(USERTABLE, &[key], |row| {
                    let output = read(key, row)?;
                    row.add(COUNTER, 1);
                    write(key, stamp, row);
                    Ok(output)
                })?;
                (key, modified)
            }
        };
        Ok(Outcome::Committed(present(output, "usertable", &[key])??))
    }

    fn change(&self, input: &Input, _: &Output) -> i64 {
        i64::from(matches!(input, Input::ReadModifyWrite { .. }))
    }

    fn total<A: Access>(&self, access: &mut A) -> Result<i64, A::Error> {
        let mut sum = 0;
        access.scan(USERTABLE, &[], &[], Order::Ascending, |row| {
            sum += row.int(COUNTER);
            ControlFlow::Continue(())
        })?;
        Ok(sum)
    }

    /// Every key has its row, there are no others, and each row is whole.
    fn check<A: Access>(&self, access: &mut A) -> Result<(), A::Error> {
        let (mut rows, mut sound) = (0, Ok(()));
        access.scan(USERTABLE, &[], &[], Order::Ascending, |row| {
            let key = row.int(KEY);
            sound = match key == rows {
                true => read(key, row).map(drop),
                false => Err(ConsistencyError::new(EVERY_KEY, format!("{key} instead of {rows}"))),
            };
            rows += 1;
            if sound.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        sound?;
        if rows != self.rows() {
            let found = format!("{rows} rows instead of {}", self.rows());
            return Err(ConsistencyError::new(EVERY_KEY, found).into());
        }
        Ok(())
    }
}

const EVERY_KEY: &str = "each key has its row";

/// Reads all of a row.
fn read(key: i64, row: &impl Row) -> Result<Output, ConsistencyError> {
    let output = Output { counter: row.int(COUNTER), stamp: row.int(STAMP) };
    if row.fixed(PAYLOAD) != payload(key, output.stamp) {
        return Err(ConsistencyError::new(
            WHOLE,
            format!("key {key}, stamp {}: another", output.stamp),
        ));
    }
    Ok(output)
}

fn write(key: i64, stamp: i64, row: &mut impl RowMut) {
    row.set_int(STAMP, stamp);
    row.set_fixed(PAYLOAD, &payload(key, stamp));
}

/// Bytes that tell apart any two (key, stamp) in each word.
fn payload(key: i64, stamp: i64) -> [u8; PAYLOAD_BYTES] {
    let mut bytes = [0; PAYLOAD_BYTES];
    let mut word = (key as u64) ^ (stamp as u64).rotate_left(32);
    for chunk in bytes.chunks_mut(8) {
        // Weyl steps, each multiplied and folded.
        word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (word ^ (word >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let mixed = mixed ^ (mixed >> 32);
        chunk.copy_from_slice(&mixed.to_le_bytes()[..chunk.len()]);
    }
    bytes
}
