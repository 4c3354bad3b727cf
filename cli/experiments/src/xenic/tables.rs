// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables filled to an occupancy with keys alone, and the cost of looking all keys up.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::buckets::{self, Buckets};
use tables::hopscotch::{self, Hopscotch, NEIGHBOURHOOD};
use tables::memory::{HostMemory, PlainMemory};
use tables::robin_hood::{self, RobinHood};
use tables::slot::Meta;
use tables::{Hint, Link, RemoteTable, Step, Table, TableError, Values, Walk, look_up};

use crate::samples::Value;

/// D_m in the paper's rows; `None` is no limit.
pub const LIMITS: [Option<u32>; 4] = [Some(8), Some(16), Some(32), None];
/// Homes in a segment, one declared number for all rows beside the paper's: the paper gives none.
pub const SEGMENT: u32 = 2;

/// One of the tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Design {
    /// Xenic's, with D_m and so many homes in a segment.
    RobinHood { limit: Option<u32>, segment: u32 },
    /// FaRM's, H = 8.
    Hopscotch,
    /// DrTM+H's, with buckets of so many slots.
    Chained { slots: u32 },
}

impl std::fmt::Display for Design {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::RobinHood { limit: Some(limit), .. } => write!(f, "Robin Hood, D_m = {limit}"),
            Self::RobinHood { limit: None, .. } => f.write_str("Robin Hood, no limit"),
            Self::Hopscotch => f.write_str("FaRM hopscotch, H = 8"),
            Self::Chained { slots } => write!(f, "DrTM+H chained, B = {slots}"),
        }
    }
}

/// The mean cost of a look-up, over all keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    objects: f64,
    round_trips: f64,
    /// Of the keys, in per cent.
    overflowed: f64,
    lookups: u64,
}

impl Costs {
    /// Objects that a look-up reads.
    pub fn objects(&self) -> Value {
        Value::without_platform(self.objects, self.lookups)
    }

    /// Round trips of a look-up.
    pub fn round_trips(&self) -> Value {
        Value::without_platform(self.round_trips, self.lookups)
    }

    /// Keys in overflow buckets, in per cent.
    pub fn overflowed(&self) -> f64 {
        self.overflowed
    }
}

/// A table whose memory a look-up reads.
trait InMemory {
    fn memory(&self) -> &PlainMemory;
}

impl<P> InMemory for Table<P, PlainMemory>
where
    Self: RemoteTable,
{
    fn memory(&self) -> &PlainMemory {
        Table::memory(self)
    }
}

/// The empty table of a geometry, over a memory of its size.
macro_rules! over_memory {
    ($geometry:expr) => {{
        let geometry = $geometry.expect("a shape within its bounds");
        let memory = PlainMemory::new(geometry.ground().words());
        Table::new(geometry, memory).expect("a memory of the size that the geometry says")
    }};
}

/// Fills a table of this design with `keys` uniform keys to `occupancy`, and looks each of them up with hints that
/// are up to date.
pub fn costs(design: Design, keys: u64, occupancy: f64, seed: u64) -> Costs {
    let slots = (keys as f64 / occupancy).round() as u32;
    match design {
        Design::RobinHood { limit, segment } => {
            let table = robin_hood(limit, segment, slots, keys);
            let all = fill(&table, keys, seed);
            let hints = Displacements::of(&table);
            looked_up(&table, &all, |key| hints.hint(&table, key))
        }
        Design::Hopscotch => {
            let shape = hopscotch::Shape {
                buckets: slots / (NEIGHBOURHOOD / 2),
                overflow_buckets: spare(keys),
                values: Values::inline(0),
            };
            without_hints(&over_memory!(Hopscotch::new(shape)), keys, seed)
        }
        Design::Chained { slots: bucket } => {
            let shape = buckets::Shape {
                buckets: slots / bucket,
                slots: bucket,
                overflow_buckets: spare(keys),
                values: Values::inline(0),
            };
            without_hints(&over_memory!(Buckets::chained(shape)), keys, seed)
        }
    }
}

/// The costs of a table whose readers have no hints.
fn without_hints<T: RemoteTable + InMemory>(table: &T, keys: u64, seed: u64) -> Costs {
    let all = fill(table, keys, seed);
    looked_up(table, &all, |_| Hint::default())
}

/// Xenic's table, empty. Its D_m is read so: an object whose displacement would *reach* D_m goes to the overflow
/// bucket, so that the largest displacement is D_m − 1.
pub fn robin_hood(
    limit: Option<u32>,
    segment: u32,
    slots: u32,
    keys: u64,
) -> Table<RobinHood, PlainMemory> {
    over_memory!(RobinHood::new(robin_hood::Shape {
        slots,
        limit: limit.map(|limit| limit - 1),
        segment,
        overflow_slots: if limit.is_some() { spare(keys) } else { 0 },
        values: Values::inline(0),
    }))
}

/// Places for objects in overflow buckets: enough for all tables here.
fn spare(keys: u64) -> u32 {
    keys as u32 / 2 + 64
}

/// Uniform keys without an end.
pub fn uniform_keys(seed: u64) -> impl Iterator<Item = u64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    std::iter::repeat_with(move || random.random())
}

/// Inserts so many uniform keys, each once.
fn fill(table: &impl RemoteTable, count: u64, seed: u64) -> Vec<u64> {
    let is_new = |key: &u64| match table.insert(*key, &[]) {
        Ok(()) => true,
        Err(TableError::KeyPresent { .. }) => false,
        Err(error) => panic!("a table with room refuses {key}: {error}"),
    };
    uniform_keys(seed).filter(is_new).take(count as usize).collect()
}

fn looked_up(
    table: &(impl RemoteTable + InMemory),
    keys: &[u64],
    hint: impl Fn(u64) -> Hint,
) -> Costs {
    let (mut objects, mut round_trips) = (0, 0);
    for &key in keys {
        let (end, cost) = look_up(table.memory(), table.plan(key, hint(key)));
        assert!(
            matches!(end, Step::Found(_)),
            "key {key} was inserted, and a look-up ends with {end:?}"
        );
        objects += cost.objects as u64;
        round_trips += cost.round_trips as u64;
    }
    let lookups = keys.len() as u64;
    let of_all = |count: u64| count as f64 / lookups as f64;
    let overflowed = 100.0 * of_all(table.statistics().overflowed);
    Costs { objects: of_all(objects), round_trips: of_all(round_trips), overflowed, lookups }
}

/// The highest displacement of each segment's objects that are not in overflow buckets.
pub struct Displacements(Vec<u16>);

impl Displacements {
    /// As they are in the table.
    pub fn of(table: &Table<RobinHood, PlainMemory>) -> Self {
        let geometry = table.geometry();
        let mut highest = vec![0; geometry.segments() as usize];
        for slot in 0..geometry.all_slots() {
            if let Some((segment, displacement)) = displaced(table, slot) {
                let known = &mut highest[segment as usize];
                *known = displacement.max(*known);
            }
        }
        Self(highest)
    }

    /// What the index knows of the key's segment.
    fn hint(&self, table: &Table<RobinHood, PlainMemory>, key: u64) -> Hint {
        let geometry = table.geometry();
        let segment = geometry.segment(geometry.home(key));
        let link = || Link(table.memory().load(geometry.directory_word(segment)));
        Hint {
            displacement: Some(self.0[segment as usize]),
            overflow: geometry.has_overflow().then(link),
        }
    }

    /// Takes in what the slots from `first` on hold, `count` of them. By how much the hint that grew most has
    /// grown.
    pub fn grow(&mut self, table: &Table<RobinHood, PlainMemory>, first: u32, count: u32) -> u16 {
        let end = first.saturating_add(count).min(table.geometry().all_slots());
        let grown = (first..end).filter_map(|slot| displaced(table, slot));
        let by = grown.map(|(segment, displacement)| {
            let known = &mut self.0[segment as usize];
            let by = displacement.saturating_sub(*known);
            *known += by;
            by
        });
        by.max().unwrap_or(0)
    }
}

/// Of the object in a slot: its segment and its displacement.
fn displaced(table: &Table<RobinHood, PlainMemory>, slot: u32) -> Option<(u32, u16)> {
    let (geometry, memory) = (table.geometry(), table.memory());
    let word = geometry.slot_word(slot);
    if !Meta(memory.load(word)).is_used() {
        return None;
    }
    let home = geometry.home(memory.load(word + 1));
    Some((geometry.segment(home), (slot - home) as u16))
}
