// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of a host in a cluster, as the RTL reads it: a real table, whose rows are those of the run.
//!
//! The rows of a run neither come nor go, so their slots stay where they are. What is in a slot is taken from the
//! run when it is read, so both have one memory.

use cluster::engine::Key;
use cluster::xenic::asked::{Row, word};
use cluster::xenic::log::Address;
use cluster::xenic::messages::Version;
use cluster_sim::run::Ground;
use cluster_sim::world::Registered;
use nic::index::{self, Index, Operation};
use nic::lookup::{Geometry, Settings};
use sim::bus::BusError;
use sim::bus::axi4::ReadBeat;
use tables::memory::{PlainMemory, RemoteMemory};
use tables::robin_hood::{RobinHood, RobinHoodTable, Shape};
use tables::slot::Meta;
use tables::{RemoteTable, Table, Values, Walk};

use crate::error::RunError;
use crate::job::{LANDING_LINES, MORE, MOST_READINGS, TABLE_BASE, WORDS, index_of};

/// Objects of an entry, as those of the machines' index.
pub const OBJECTS: usize = cluster::xenic::index::OBJECTS;
/// Homes of a segment. The machines have as many for each of their tables; half of it here, so that the entry of
/// a segment has room for all of its rows.
const SEGMENT: u32 = 2;
/// Bytes of a row before its value, and of a value with zeros behind it, as a NIC's core reads them.
const HEAD: usize = 4;
const ROW: u32 = 12;
/// Words of a slot and of a line.
const SLOT_WORDS: usize = 4;

/// The table of a host.
pub struct Image {
    table: RobinHoodTable<PlainMemory>,
    value_bytes: u16,
    lines: u64,
    bytes: Vec<u8>,
    /// Whether a bit of a row is wrong.
    #[cfg(test)]
    pub wrong: fn(Key) -> bool,
}

/// The key by which the RTL knows a row: of all tables in one.
pub fn key_of(key: Key) -> u64 {
    Address::Row(key).number()
}

/// The row that the RTL knows by a key.
fn row_of(key: u64) -> Option<Key> {
    match Address::of(key) {
        Address::Row(key) => Some(key),
        Address::Cell { .. } | Address::Marks { .. } => None,
    }
}

impl Image {
    /// A table with these rows.
    ///
    /// # Errors
    /// When it is not possible, or there is no room in it.
    pub fn new(ground: &Ground<'_>) -> Result<Self, RunError> {
        let slots = (ground.keys.len() as u64 * 100).div_ceil(ground.occupancy.max(1).into());
        let slots = slots.clamp(1, 1 << 31) as u32;
        let shape = Shape {
            slots,
            limit: Some(ground.displacement.into()),
            segment: SEGMENT,
            overflow_slots: slots / 2 + 64,
            values: Values::inline(ground.value_bytes.into()),
        };
        let geometry = RobinHood::new(shape)?;
        let table = Table::new(geometry, PlainMemory::new(geometry.ground().words()))?;
        let value = vec![0; ground.value_bytes.into()];
        for key in &ground.keys {
            table.insert(key_of(*key), &value)?;
        }
        Ok(Self {
            lines: geometry.ground().words() as u64 / 8,
            table,
            value_bytes: ground.value_bytes,
            bytes: Vec::new(),
            #[cfg(test)]
            wrong: |_| false,
        })
    }

    /// The same as look-ups know it.
    ///
    /// # Errors
    /// When they cannot be made.
    pub fn geometry(&self) -> Result<Geometry<WORDS>, RunError> {
        let settings = Settings {
            value_bytes: self.value_bytes,
            most_readings: MOST_READINGS,
            landing_lines: LANDING_LINES,
        };
        Ok(Geometry::of_table(self.table.geometry(), TABLE_BASE, MORE, settings)?)
    }

    /// The index that knows the table, and has cached `keys`, of each entry as many as it takes.
    pub fn index(
        &mut self,
        geometry: &Geometry<WORDS>,
        keys: &[Key],
        host: &mut dyn Registered,
    ) -> Index<OBJECTS, WORDS> {
        let mut index = index_of(*geometry.table(), &self.table.hints());
        for key in keys {
            let home = geometry.home(key_of(*key));
            let segment = geometry.segment(home);
            let is_full = index.entry(segment).objects().iter().all(Option::is_some);
            let Some(Row { version, word: Some(word) }) = self.row(*key, host) else { continue };
            if !is_full {
                let fill = index::Request::new(Operation::Fill, key_of(*key), home, segment);
                index.apply(&index::Request { version, value: [word], ..fill });
            }
        }
        index
    }

    /// A row, as it is in host memory now.
    pub fn row(&mut self, key: Key, host: &mut dyn Registered) -> Option<Row> {
        self.bytes.clear();
        if !host.read(key_of(key), ROW, &mut self.bytes) {
            return None;
        }
        let version = Version::decode(&mut cluster::wire::Reader::new(&self.bytes)).ok()?;
        let value = version.present.then(|| word(&self.bytes[HEAD..]));
        Some(Row { version: version.number, word: value })
    }

    /// The line at an address.
    pub fn line(&mut self, address: u64, host: &mut dyn Registered) -> ReadBeat {
        let number = address.checked_sub(TABLE_BASE).map(|offset| offset / 64);
        let number = number.filter(|number| *number < self.lines).ok_or(BusError::DecodeError)?;
        let mut line = self.table.memory().read_line(number as usize);
        let geometry = self.table.geometry();
        let first = number as usize * line.len();
        // The directory is between the slots of homes and those of buckets, on lines of its own.
        if first >= geometry.directory_word(0) && first < geometry.overflow_word(0) {
            return Ok(line);
        }
        for slot in line.chunks_exact_mut(SLOT_WORDS) {
            let key = if Meta(slot[0]).is_used() { row_of(slot[1]) } else { None };
            let Some(key) = key else { continue };
            let Some(Row { version, word: Some(word) }) = self.row(key, host) else {
                slot.fill(0);
                continue;
            };
            // Twice the version: a stamp that is even, and grows with each update.
            let meta = Meta::object(version, self.value_bytes.into(), false);
            slot[0] = meta.with_stamp(version.wrapping_mul(2)).0;
            slot[2] = word ^ self.fault(key);
        }
        Ok(line)
    }

    #[cfg(test)]
    fn fault(&self, key: Key) -> u64 {
        u64::from((self.wrong)(key))
    }

    #[cfg(not(test))]
    #[expect(clippy::unused_self, reason = "tests plant one")]
    fn fault(&self, _: Key) -> u64 {
        0
    }
}
