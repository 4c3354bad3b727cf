// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where objects lie in the host's tables, and so how much a look-up that misses the NIC's cache reads by DMA.
//!
//! A cluster's tables have tens of millions of rows, which are functions of their keys and are not stored. So a
//! real table of some 10,000 keys is filled once, and each segment of a large table has the displacements of
//! a segment of the small one: that of the key which a hash of its number chooses. So segments come as often as keys
//! lie in them.
//!
//! Source: Xenic, sections 4.1.2 and 4.1.3.

use nic::index::{Table, TableError};
use tables::memory::{HostMemory, PlainMemory};
use tables::robin_hood::{RobinHood, Shape};
use tables::slot::Meta;
use tables::{RemoteTable, ShapeError, Values, Walk};

use crate::engine::Key;
use crate::mix::{mix, scale};
use crate::transact::TableShape;

/// Keys of the small table.
const SAMPLE: u32 = 10_000;
/// Homes of a segment, which share an entry of the NIC's index and an overflow bucket. The paper does not give
/// the number; two to four reproduce its Table 2 (`docs/experiments.md`, `xenic-table2`).
pub const SEGMENT: u32 = 4;
/// Values above this lie out of line (4.1.2).
const MOST_INLINE: u16 = 256;
/// Key and meta word of a slot.
const SLOT_OVERHEAD: u32 = 16;
/// Slots that a first read has beyond the known displacement: the paper's k = 1, and the slot at d itself.
const MORE: u8 = 2;

/// What is known of one segment of the small table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Segment {
    /// The largest displacement of its objects.
    displacement: u8,
    /// Slots of its overflow bucket.
    overflow_slots: u8,
    objects: u8,
    /// How many of them are in the bucket.
    overflowed: u8,
}

/// The displacements of a small table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Displacements {
    /// For each key of the small table its segment.
    segments: Vec<Segment>,
    limit: u8,
    occupancy: u8,
}

/// A table of a partition, as a NIC has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Its shape.
    pub table: Table,
    /// The bytes to be read behind the slot, where values lie out of line.
    out_of_line: u32,
}

/// Where a key lies, or would.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Home {
    /// Its home.
    pub home: u32,
    /// The segment of that.
    pub segment: u32,
}

/// What a look-up has read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reading {
    /// The slots from the home on.
    First,
    /// The overflow bucket.
    Overflow,
    /// The slots beyond the known displacement, up to the limit.
    Rest,
    /// A value that lies out of line.
    Value,
}

impl Displacements {
    /// Of a table that is so full, in percent, with this largest displacement.
    ///
    /// # Errors
    /// When the table cannot have this shape.
    pub fn new(limit: u8, occupancy: u8) -> Result<Self, ShapeError> {
        let slots = slots_for(SAMPLE.into(), occupancy);
        let values = Values::inline(0);
        let shape = Shape {
            slots,
            limit: Some(limit.into()),
            segment: SEGMENT,
            overflow_slots: slots / 2 + 2,
            values,
        };
        let geometry = RobinHood::new(shape)?;
        let table = tables::Table::new(geometry, PlainMemory::new(geometry.ground().words()))?;
        for number in 0..SAMPLE.into() {
            // Half as many slots for overflow as there are slots are enough.
            let _ = table.insert(tables::experiments::key(1, number), &[]);
        }
        let hints = table.hints();
        let mut segments: Vec<_> = hints
            .iter()
            .map(|hint| Segment {
                displacement: hint.displacement.unwrap_or(0).min(limit.into()) as u8,
                overflow_slots: hint
                    .overflow
                    .and_then(|link| link.bucket())
                    .map_or(0, |(_, order)| 1 << order.min(7)),
                ..Segment::default()
            })
            .collect();
        for number in 0..SAMPLE.into() {
            let key = tables::experiments::key(1, number);
            let home = geometry.home(key);
            let is_at = |slot: u32| {
                let word = geometry.slot_word(slot);
                Meta(table.memory().load(word)).is_used() && table.memory().load(word + 1) == key
            };
            let is_inside = (home..=home + u32::from(limit)).any(is_at);
            let segment = &mut segments[geometry.segment(home) as usize];
            segment.objects += 1;
            segment.overflowed += u8::from(!is_inside);
        }
        let of_key = |number| {
            let home = geometry.home(tables::experiments::key(1, number));
            segments[geometry.segment(home) as usize]
        };
        Ok(Self { segments: (0..SAMPLE.into()).map(of_key).collect(), limit, occupancy })
    }

    /// The part of a table in one of so many partitions, whose first slot is at `base`.
    ///
    /// # Errors
    /// When no NIC can serve it.
    pub fn place(
        &self,
        shape: &TableShape,
        partitions: u16,
        base: u64,
    ) -> Result<Place, TableError> {
        let rows = shape.rows.div_ceil(partitions.into()).max(1);
        let slots = slots_for(rows, self.occupancy);
        let (slot_bytes, out_of_line) = match shape.value_bytes {
            inline @ 0..=MOST_INLINE => (slot_bytes(SLOT_OVERHEAD + u32::from(inline)), 0),
            // The slot has address and length of a value that fills lines of its own.
            long => (32, (SLOT_OVERHEAD + u32::from(long)).next_multiple_of(64)),
        };
        let segments = slots.div_ceil(SEGMENT);
        let table = Table::new(base, slots, slot_bytes as u16, self.limit, MORE, segments)?;
        Ok(Place { table, out_of_line })
    }

    fn segment(&self, key: Key, segment: u32) -> Segment {
        let drawn = mix(u64::from(key.table.0) << 32 | u64::from(segment));
        self.segments[scale(drawn, self.segments.len() as u64) as usize]
    }

    /// The largest displacement of a segment's objects.
    pub fn displacement(&self, key: Key, home: Home) -> u8 {
        self.segment(key, home.segment).displacement
    }

    /// The largest displacement (D_m) and the occupancy, in percent, of the table.
    pub fn shape(&self) -> (u8, u8) {
        (self.limit, self.occupancy)
    }

    /// The bytes of the next read of a look-up, and what it is of. `last` is the one before, and whether
    /// there is a row; `slots` are those of the first read.
    ///
    /// The last read of a look-up is the one that brings the row, or its absence.
    pub fn next(
        &self,
        place: &Place,
        key: Key,
        slots: u8,
        last: Option<(Reading, bool)>,
    ) -> Option<(Reading, u32)> {
        let segment = self.segment(key, place.home(key).segment);
        let of_slots = |slots: u8| u32::from(slots) * u32::from(place.table.slot_bytes());
        let overflow = (segment.overflow_slots > 0)
            .then(|| (Reading::Overflow, of_slots(segment.overflow_slots)));
        let left = (self.limit + 1).saturating_sub(slots);
        let rest = (left > 0).then(|| (Reading::Rest, of_slots(left)));
        let value = (place.out_of_line > 0).then_some((Reading::Value, place.out_of_line));
        // The object of this key is one of the segment's.
        let drawn = scale(mix(key.row ^ 0x5bd1_e995), segment.objects.max(1).into());
        let is_in_overflow = drawn < segment.overflowed.into();
        match last {
            None => Some((Reading::First, of_slots(slots))),
            Some((Reading::First, true)) if !is_in_overflow => value,
            Some((Reading::First, _)) => overflow.or(rest),
            Some((Reading::Overflow, true)) => value,
            Some((Reading::Overflow, false)) => rest,
            Some((Reading::Rest | Reading::Value, _)) => None,
        }
    }
}

impl Place {
    /// Where a key lies, or would.
    pub fn home(&self, key: Key) -> Home {
        let home = tables::hash::home(key.row, self.table.slots());
        Home { home, segment: home / SEGMENT }
    }
}

/// As many slots as so many rows need.
fn slots_for(rows: u64, occupancy: u8) -> u32 {
    let slots = (rows * 100).div_ceil(occupancy.max(1).into());
    slots.clamp(1, 1 << 31) as u32
}

/// Slots are of 16 or 32 bytes, or fill lines.
fn slot_bytes(object: u32) -> u32 {
    match object {
        0..=16 => 16,
        17..=32 => 32,
        long => long.next_multiple_of(64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TableNumber;

    fn shape(value_bytes: u16) -> TableShape {
        TableShape::hashed("objects", value_bytes, 3_000_000)
    }

    fn key(row: u64) -> Key {
        Key { table: TableNumber(0), row }
    }

    /// The reads of a look-up, by their slots.
    fn reads(sample: &Displacements, place: &Place, key: Key, is_there: bool) -> Vec<u32> {
        let slots = place.table.place(0, sample.displacement(key, place.home(key)), 0).slots;
        let (mut last, mut all) = (None, Vec::new());
        while let Some((reading, bytes)) = sample.next(place, key, slots, last) {
            all.push(bytes / u32::from(place.table.slot_bytes()));
            last = Some((reading, is_there));
        }
        all
    }

    /// What the drawn displacements make of look-ups is what the tables measure (Table 2 of the paper).
    #[test]
    fn look_ups_read_as_much_as_in_a_real_table() {
        use tables::experiments::{Filling, Kind, look_ups};
        for limit in [8, 16, 32] {
            let sample = Displacements::new(limit, 90).unwrap();
            let place = sample.place(&shape(0), 3, 0).unwrap();
            let (mut objects, mut trips) = (0, 0);
            let keys = 50_000;
            for row in 0..keys {
                let reads = reads(&sample, &place, key(mix(row) >> 8), true);
                objects += reads.iter().sum::<u32>();
                trips += reads.len();
            }
            let drawn = f64::from(objects) / keys as f64;
            let trips = trips as f64 / keys as f64;
            let filling = Filling { keys: 100_000, occupancy: 0.9, seed: 7, every: 1 };
            let kind = Kind::RobinHood { limit: Some(limit.into()), segment: SEGMENT };
            let real = look_ups(kind, filling).unwrap();
            println!("D_m {limit}: {drawn:.2} / {trips:.3}, real {real:?}");
            assert!((drawn / real.objects - 1.0).abs() < 0.03, "{drawn} and {real:?}");
            assert!((trips - real.round_trips).abs() < 0.01, "{trips} and {real:?}");
        }
    }

    #[test]
    fn an_absent_key_is_looked_for_everywhere_and_long_values_take_one_more_read() {
        let sample = Displacements::new(16, 90).unwrap();
        let place = sample.place(&shape(8), 3, 0).unwrap();
        for row in 0..1_000 {
            let reads = reads(&sample, &place, key(row), false);
            let buckets = if reads.len() == 3 { reads[1] } else { 0 };
            assert_eq!(reads.iter().sum::<u32>(), 17 + buckets, "{reads:?}");
        }
        let long = sample.place(&shape(300), 3, 0).unwrap();
        let last = |row| *reads(&sample, &long, key(row), true).last().expect("a read");
        assert!((0..1_000).any(|row| last(row) == 320 / 32));
    }
}
