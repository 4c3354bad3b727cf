// SPDX-License-Identifier: MIT OR Apache-2.0
//! The object store O(r, w) of FaSST (OSDI 2016, section 6.2): a transaction reads r objects and updates
//! w of them on average.
//!
//! Objects are drawn uniformly, and those of one transaction have primaries on different nodes, so that
//! no two requests of it coalesce. Whether one of the r is updated is drawn for each, with probability
//! w / r, as in FaSST's public code: so one in 2^4 transactions of O(4, 2) updates nothing.

use std::ops::RangeInclusive;

use rand::RngExt;

use super::{Stream, Totals, counted};
use crate::engine::{Access, Key, TableNumber};
use crate::placement::partition_of;
use crate::transact::{Decision, Intent, Missing, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError, Writer};

/// The most objects of one transaction.
pub const MOST_OBJECTS: usize = 16;
/// The largest value that fits a message with its header (FaSST, section 5.1).
const LARGEST_VALUE: u16 = 4_060;

/// How many draws look for an object on another node: so many are not needed by chance unless there is none.
const DRAWS: u32 = 100_000;

const KINDS: [&str; 2] = ["read", "update"];

/// The numbers of an O(r, w).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectStoreSettings {
    /// r: how many objects a transaction reads, 1 to 16.
    pub reads: u8,
    /// w: how many of them it updates on average.
    pub writes: u8,
    /// How many objects there are on all nodes together.
    pub objects: u64,
    /// The bytes of an object, 16 to 4,060.
    pub value_bytes: u16,
    /// The number of partitions, which is that of the nodes at the start.
    pub partitions: u16,
    /// Whether the objects of a transaction have primaries on different nodes, as in the paper. If not,
    /// they are only different, and requests may coalesce.
    pub apart: bool,
    /// The seed of all draws.
    pub seed: u64,
}

impl ObjectStoreSettings {
    /// O(`reads`, `writes`) as in the paper: objects of 40 bytes, one million for each thread of the
    /// cluster.
    pub fn o(reads: u8, writes: u8, nodes: u16, threads: u16) -> Self {
        let objects = 1_000_000 * u64::from(nodes) * u64::from(threads);
        Self { reads, writes, objects, value_bytes: 40, partitions: nodes, apart: true, seed: 0 }
    }
}

/// Why there is no such object store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {found}, expected {expected}")]
pub struct ObjectStoreError {
    /// The setting.
    pub field: &'static str,
    /// Its value.
    pub found: u64,
    /// What it has to be.
    pub expected: String,
}

/// The object store.
#[derive(Clone, Debug)]
pub struct ObjectStore {
    settings: ObjectStoreSettings,
    tables: [TableShape; 1],
}

/// The input of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectTransaction {
    /// The objects; those beyond `reads` are 0.
    objects: [u64; MOST_OBJECTS],
    /// How many there are.
    reads: u8,
    /// A bit for each object that is updated.
    updated: u16,
    /// The number of this input among all of the run, which names its updates.
    writer: u64,
}

impl ObjectTransaction {
    /// Reads the objects of the list, and updates those that are marked. `writer` is what its updates are
    /// named by, and should be its alone.
    ///
    /// # Panics
    /// When there are more than 16 objects.
    pub fn new(writer: u64, objects: &[(u64, Intent)]) -> Self {
        let mut input = Self { objects: [0; MOST_OBJECTS], reads: 0, updated: 0, writer };
        for (place, (object, intent)) in objects.iter().enumerate() {
            input.objects[place] = *object;
            input.updated |= u16::from(*intent == Intent::Write) << place;
            input.reads += 1;
        }
        input
    }

    /// The objects, and whether each is updated.
    pub fn objects(&self) -> impl Iterator<Item = (u64, Intent)> + use<> {
        let Self { objects, reads, updated, .. } = *self;
        (0..usize::from(reads)).map(move |place| {
            let intent = if updated >> place & 1 == 1 { Intent::Write } else { Intent::Read };
            (objects[place], intent)
        })
    }
}

/// The key of an object.
fn key(object: u64) -> Key {
    Key { table: TableNumber(0), row: object }
}

impl ObjectStore {
    /// The object store of these settings.
    ///
    /// # Errors
    /// When a number is out of its range.
    pub fn new(settings: ObjectStoreSettings) -> Result<Self, ObjectStoreError> {
        let ObjectStoreSettings { reads, writes, objects, value_bytes, partitions, .. } = settings;
        let check = |field, found: u64, range: RangeInclusive<u64>| {
            if range.contains(&found) {
                return Ok(());
            }
            let expected = format!("{} to {}", range.start(), range.end());
            Err(ObjectStoreError { field, found, expected })
        };
        let most = if settings.apart { u64::from(partitions) } else { MOST_OBJECTS as u64 };
        check("partitions", partitions.into(), 1..=u64::from(u16::MAX))?;
        check("reads", reads.into(), 1..=most.min(MOST_OBJECTS as u64))?;
        check("writes", writes.into(), 0..=reads.into())?;
        check(
            "value_bytes",
            value_bytes.into(),
            counted::LEAST_BYTES.into()..=LARGEST_VALUE.into(),
        )?;
        check("objects", objects, u64::from(reads)..=1 << 40)?;
        let tables = [TableShape::hashed("objects", value_bytes, objects)];
        Ok(Self { settings, tables })
    }

    /// Its settings.
    pub fn settings(&self) -> &ObjectStoreSettings {
        &self.settings
    }

    /// An object that is none of `others`, and has its primary on another node than each of them.
    fn draw_object(&self, others: &[u64], random: &mut impl rand::Rng) -> u64 {
        let ObjectStoreSettings { objects, partitions, apart, .. } = self.settings;
        let partition = |object| if apart { partition_of(object, partitions).0 } else { 0 };
        for _ in 0..DRAWS {
            let object = random.random_range(0..objects);
            let meets = |other| other == object || apart && partition(other) == partition(object);
            if !others.iter().any(|other| meets(*other)) {
                return object;
            }
        }
        // There are so few objects that other nodes may have none.
        let mut object = random.random_range(0..objects);
        while others.contains(&object) {
            object = (object + 1) % objects;
        }
        object
    }
}

impl Transactions for ObjectStore {
    type Input = ObjectTransaction;
    type Source = Stream;

    fn tables(&self) -> &[TableShape] {
        &self.tables
    }

    fn kinds(&self) -> &[&'static str] {
        &KINDS
    }

    fn kind(&self, input: &ObjectTransaction) -> u8 {
        u8::from(input.updated != 0)
    }

    fn source(&self, worker: u32) -> Stream {
        Stream::new(self.settings.seed, worker)
    }

    fn draw(&self, source: &mut Stream) -> Option<ObjectTransaction> {
        let ObjectStoreSettings { reads, writes, .. } = self.settings;
        let writer = source.next_writer();
        let random = &mut source.random;
        let mut input = ObjectTransaction { objects: [0; 16], reads, updated: 0, writer };
        for place in 0..usize::from(reads) {
            input.objects[place] = self.draw_object(&input.objects[..place], random);
            let updated = writes > 0 && random.random_range(0..reads) < writes;
            input.updated |= u16::from(updated) << place;
        }
        Some(input)
    }

    /// The number of objects (1 byte), a bit for each that is updated (2), the writer (8), the objects (8 each).
    fn put_input(&self, input: &ObjectTransaction, out: &mut Vec<u8>) {
        out.put_u8(input.reads);
        out.put_u16(input.updated);
        out.put_u64(input.writer);
        input.objects().for_each(|(object, _)| out.put_u64(object));
    }

    fn take_input(&self, reader: &mut Reader<'_>) -> Result<ObjectTransaction, WireError> {
        let reads = reader.u8_in(1..=MOST_OBJECTS as u8, "a number of objects (1 to 16)")?;
        let all = u16::MAX >> (MOST_OBJECTS as u8 - reads);
        let updated = reader.u16_in(0..=all, "a bit for each object")?;
        let writer = reader.u64("a writer")?;
        let mut objects = [0; MOST_OBJECTS];
        for object in &mut objects[..usize::from(reads)] {
            *object = reader.u64_in(0..=self.settings.objects - 1, "an object of the store")?;
        }
        Ok(ObjectTransaction { objects, reads, updated, writer })
    }

    fn initial(&self, key: Key, value: &mut Vec<u8>) -> bool {
        if key.table != TableNumber(0) || key.row >= self.settings.objects {
            return false;
        }
        counted::initial(key.row, self.settings.value_bytes, value);
        true
    }

    fn declare(&self, input: &ObjectTransaction, _: &Rows, wanted: &mut Vec<(Key, Intent)>) {
        wanted.extend(input.objects().map(|(object, intent)| (key(object), intent)));
    }

    fn run(&self, input: &ObjectTransaction, rows: &mut Rows) -> Result<Decision, Missing> {
        rows.reset();
        for (object, intent) in input.objects() {
            let there = match intent {
                Intent::Read => rows.get(key(object))?.is_some(),
                Intent::Write => rows
                    .get_mut(key(object))?
                    .is_some_and(|value| counted::update(object, input.writer, value)),
            };
            if !there {
                return Ok(Decision::RollBack);
            }
        }
        Ok(Decision::Commit)
    }
}

impl Totals for ObjectStore {
    fn total_name(&self) -> &'static str {
        "the number of updates"
    }

    fn count(&self, _: Key, value: Option<&[u8]>) -> i64 {
        counted::updates(value)
    }

    fn change(&self, _: u8, accesses: &[Access]) -> Result<i64, String> {
        Ok(accesses.iter().filter(|access| access.writes).count() as i64)
    }

    fn check_row(&self, key: Key, value: &[u8]) -> Result<(), String> {
        if key.table != TableNumber(0) || key.row >= self.settings.objects {
            return Err(format!("there are {} objects in table 0", self.settings.objects));
        }
        counted::check(key.row, self.settings.value_bytes, value)
    }
}

#[cfg(test)]
mod tests;
