// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many READs a coordinator needs for a key whose address it does not know: it follows the chain of buckets of
//! DrTM+H's table.
//!
//! A cluster's tables are not stored, so a real table of `lockdb/tables` with some 10,000 keys is filled once, and each
//! key of a large table needs as many buckets as a key of the small one that a hash of it chooses.
//!
//! Source: Xenic, section 4.1.4: "a closed array of B-element fixed-size buckets and additional linked buckets
//! allocated as necessary. A remote lookup traverses bucket links until finding the object."

use tables::buckets::{Buckets, Shape};
use tables::memory::PlainMemory;
use tables::{Hint, RemoteTable, ShapeError, Table, Values, Walk, look_up};

use super::address::HEADER;
use crate::engine::Key;
use crate::mix::{mix, scale};
use crate::transact::TableShape;

/// Keys of the small table.
const SAMPLE: u32 = 10_000;
/// Values above this lie out of line, as Xenic has them (section 4.1): the slot has the row's address.
const MOST_INLINE: u32 = 256;
/// Bytes of a slot's key, of a row's address, and of a bucket's link.
const WORD: u32 = 8;

/// The buckets of a small table that look-ups read.
#[derive(Clone, Debug)]
pub struct Chains {
    /// For keys that are there.
    present: Vec<u8>,
    /// For keys that are not: all of a chain.
    absent: Vec<u8>,
}

impl Chains {
    /// Of a table with buckets of so many slots, which is so full, in percent of the slots of main buckets.
    ///
    /// # Errors
    /// When there is no such table.
    pub fn new(slots: u8, occupancy: u8) -> Result<Self, ShapeError> {
        let all = (u64::from(SAMPLE) * 100).div_ceil(occupancy.max(1).into()) as u32;
        let buckets = all.div_ceil(u32::from(slots).max(1));
        let overflow_buckets = buckets / 2 + 2;
        let shape =
            Shape { buckets, slots: slots.into(), overflow_buckets, values: Values::inline(0) };
        let geometry = Buckets::chained(shape)?;
        let table = Table::new(geometry, PlainMemory::new(geometry.ground().words()))?;
        let key = |number: u32| tables::experiments::key(1, number.into());
        let home = |number: u32| geometry.home(key(number)) as usize;
        let mut keys = vec![0_u32; buckets as usize];
        for number in 0..SAMPLE {
            // Half as many buckets for overflow as there are buckets are enough.
            let _ = table.insert(key(number), &[]);
            keys[home(number)] += 1;
        }
        let trips = |number: u32| {
            let (_, cost) = look_up(table.memory(), table.plan(key(number), Hint::default()));
            cost.round_trips.clamp(1, 255) as u8
        };
        let chain = |number: u32| {
            let buckets = keys[home(number)].div_ceil(u32::from(slots));
            buckets.clamp(1, 255) as u8
        };
        let present = (0..SAMPLE).map(trips).collect();
        Ok(Self { present, absent: (SAMPLE..2 * SAMPLE).map(chain).collect() })
    }

    /// The buckets that a look-up of a key reads.
    pub fn buckets(&self, key: Key, is_there: bool) -> u8 {
        let of = if is_there { &self.present } else { &self.absent };
        let drawn = mix(key.row ^ u64::from(key.table.0) << 56 ^ 0x2545_f491_4f6c_dd1d);
        of[scale(drawn, of.len() as u64) as usize]
    }
}

/// What the READs of a table's rows are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes of a bucket.
    pub bucket: u32,
    /// Bytes of a row with its header.
    pub row: u32,
    /// Whether rows lie beside their buckets, so that a READ more brings them.
    pub is_out_of_line: bool,
}

impl Place {
    /// Of a table whose buckets have so many slots.
    pub fn new(slots: u8, shape: &TableShape) -> Self {
        let row = HEADER + u32::from(shape.value_bytes);
        let is_out_of_line = u32::from(shape.value_bytes) > MOST_INLINE;
        let slot = WORD + if is_out_of_line { WORD } else { row };
        Self { bucket: WORD + u32::from(slots) * slot, row, is_out_of_line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TableNumber;

    fn key(row: u64) -> Key {
        Key { table: TableNumber(0), row }
    }

    /// What the drawn chains make of look-ups is what the tables measure, and what Table 2 of the paper has.
    #[test]
    fn look_ups_read_as_much_as_in_table_2() {
        use tables::experiments::{Filling, Kind, look_ups};
        for (slots, objects, trips) in [(4, 4.65, 1.16), (8, 8.81, 1.10), (16, 16.96, 1.06)] {
            let chains = Chains::new(slots, 90).expect("a table");
            let keys = 50_000;
            let sum: u64 =
                (0..keys).map(|row| u64::from(chains.buckets(key(mix(row) >> 8), true))).sum();
            let drawn = sum as f64 / keys as f64;
            let filling = Filling { keys: 100_000, occupancy: 0.9, seed: 7, every: 1 };
            let real = look_ups(Kind::Chained { slots: slots.into() }, filling).expect("a table");
            println!("B {slots}: {drawn:.3} round trips, real {real:?}");
            assert!((drawn - real.round_trips).abs() < 0.015, "{drawn} and {real:?}");
            assert!((drawn - trips).abs() < 0.015, "{drawn} and {trips}");
            assert!((drawn * f64::from(slots) / objects - 1.0).abs() < 0.015, "{objects}");
        }
    }

    #[test]
    fn an_absent_key_takes_a_whole_chain() {
        let chains = Chains::new(4, 90).expect("a table");
        let mean = |is_there| {
            let sum: u64 =
                (0..20_000).map(|row| u64::from(chains.buckets(key(row), is_there))).sum();
            sum as f64 / 20_000.0
        };
        let (present, absent) = (mean(true), mean(false));
        // Buckets have 3.6 keys on average, and three of ten have more than four.
        assert!(present < absent && (1.25..1.35).contains(&absent), "{present} and {absent}");
    }

    #[test]
    fn long_values_lie_beside_their_buckets() {
        let place = |value_bytes| Place::new(4, &TableShape::hashed("rows", value_bytes, 8));
        let small = place(12);
        assert_eq!((small.bucket, small.row, small.is_out_of_line), (8 + 4 * 36, 28, false));
        let long = place(306);
        assert_eq!((long.bucket, long.row, long.is_out_of_line), (8 + 4 * 16, 322, true));
    }
}
