// SPDX-License-Identifier: MIT OR Apache-2.0
//! What Xenic's section 4.1.4 measures, over the tables themselves with values of 0 bytes.
//!
//! Occupancy is objects by slots outside overflow buckets; it is this that reproduces the chained rows of
//! Table 2.

use crate::buckets::{self, Buckets};
use crate::error::ShapeError;
use crate::hash::{MULTIPLIER, scatter};
use crate::hopscotch::{self, Hopscotch};
use crate::memory::{HostMemory, PlainMemory};
use crate::plan::{Step, look_up};
use crate::robin_hood::{self, RobinHood, RobinHoodTable};
use crate::table::{Placement, RemoteTable, Table};
use crate::walk::{Hint, Values};

/// A table of an experiment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Xenic's.
    RobinHood {
        /// D_m in slots, if there is a limit.
        limit: Option<u32>,
        /// Homes in a segment.
        segment: u32,
    },
    /// FaRM's, H = 8.
    Hopscotch,
    /// DrTM+H's.
    Chained {
        /// Slots of a bucket (B): 4, 8 or 16.
        slots: u32,
    },
}

/// How many keys, and into how much room.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Filling {
    /// Number of keys.
    pub keys: u32,
    /// Keys by slots, over 0.
    pub occupancy: f64,
    /// From which the keys are drawn.
    pub seed: u64,
    /// Every so many keys one is looked up, at least 1.
    pub every: u32,
}

/// What remote look-ups of present keys cost on average, with hints that are up to date.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LookUps {
    /// Slots read, in overflow buckets, too.
    pub objects: f64,
    /// Reads one after the other.
    pub round_trips: f64,
    /// Share of the keys that lie in overflow buckets.
    pub overflowed: f64,
    /// Number of look-ups.
    pub count: u64,
}

/// How insertions outdate hints.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Staleness {
    /// Share of the insertions that raise the displacement of some segment.
    pub raised: f64,
    /// Share of those that raise one by two or more.
    pub raised_by_more: f64,
    /// Number of insertions.
    pub insertions: u64,
}

/// Key number `index`: random, and all different, by a bijection of 64 bits.
pub fn key(seed: u64, index: u64) -> u64 {
    scatter(seed.wrapping_add(index.wrapping_add(1).wrapping_mul(MULTIPLIER)))
}

/// Fills a table and looks its keys up: a row of Table 2.
///
/// # Errors
/// When the filling or the kind is out of its bounds.
///
/// # Panics
/// When half as many overflow slots as slots are not enough.
pub fn look_ups(kind: Kind, filling: Filling) -> Result<LookUps, ShapeError> {
    let slots = (filling.keys as f64 / filling.occupancy).ceil() as u32;
    match kind {
        Kind::RobinHood { limit, segment } => {
            let table = filled_robin_hood(limit, segment, filling)?;
            let (hints, geometry) = (table.hints(), *table.geometry());
            let hint = |key| hints[geometry.segment(geometry.home(key)) as usize];
            Ok(average(&table, filling, hint))
        }
        Kind::Hopscotch => {
            let (buckets, values) = (slots.div_ceil(4), Values::inline(0));
            let overflow_buckets = buckets / 2 + 2;
            let shape = hopscotch::Shape { buckets, overflow_buckets, values };
            Ok(average(&filled(Hopscotch::new(shape)?, filling)?, filling, |_| Hint::default()))
        }
        Kind::Chained { slots: each } => {
            let (buckets, values) = (slots.div_ceil(each.max(1)), Values::inline(0));
            let shape =
                buckets::Shape { buckets, slots: each, overflow_buckets: buckets / 2 + 2, values };
            Ok(average(&filled(Buckets::chained(shape)?, filling)?, filling, |_| Hint::default()))
        }
    }
}

/// Deletes and inserts keys in turns in a filled table, and compares the hints of before and after each
/// insertion.
///
/// # Errors
/// When the filling is out of its bounds, or the limit or the segment.
///
/// # Panics
/// When half as many overflow slots as slots are not enough.
pub fn staleness(
    limit: Option<u32>,
    segment: u32,
    filling: Filling,
    insertions: u64,
) -> Result<Staleness, ShapeError> {
    let table = filled_robin_hood(limit, segment, filling)?;
    let (mut raised, mut raised_by_more) = (0, 0);
    for index in 0..insertions {
        let new = key(filling.seed, filling.keys as u64 + index);
        table.delete(key(filling.seed, index)).expect("the oldest key is there");
        let before = displacements(&table, new);
        table.insert(new, &[]).expect("there is room");
        let after = displacements(&table, new);
        let most = before.iter().zip(&after).map(|(old, new)| new.saturating_sub(*old)).max();
        raised += (most > Some(0)) as u64;
        raised_by_more += (most > Some(1)) as u64;
    }
    let share = |count: u64| count as f64 / insertions as f64;
    Ok(Staleness { raised: share(raised), raised_by_more: share(raised_by_more), insertions })
}

/// The highest displacement of each segment that an insertion of the key may change.
fn displacements(table: &RobinHoodTable<PlainMemory>, key: u64) -> Vec<u32> {
    let (geometry, memory) = (table.geometry(), table.memory());
    let used = |slot| crate::slot::Meta(memory.load(geometry.slot_word(slot))).is_used();
    let home_of = |slot| geometry.home(memory.load(geometry.slot_word(slot) + 1));
    let home = geometry.home(key);
    // Objects as far as the free slot move. Without a limit, it ends their row.
    let free = (home..geometry.all_slots()).find(|&slot| !used(slot));
    let last = match geometry.limit() {
        Some(limit) => home + 2 * limit,
        None => free.unwrap_or(home) + 1,
    };
    let first = geometry.segment(home);
    let end = geometry.segment(last.min(geometry.all_slots() - 1)) + 1;
    let mut most = vec![0; (end - first) as usize];
    // The objects of the first segment lie from its first home on.
    let start = first * geometry.homes_in_segment();
    for slot in (start..=last.min(geometry.all_slots() - 1)).filter(|&slot| used(slot)) {
        let Some(index) = geometry.segment(home_of(slot)).checked_sub(first) else { continue };
        let most = &mut most[index as usize];
        *most = slot.saturating_sub(home_of(slot)).max(*most);
    }
    most
}

fn filled_robin_hood(
    limit: Option<u32>,
    segment: u32,
    filling: Filling,
) -> Result<RobinHoodTable<PlainMemory>, ShapeError> {
    let slots = (filling.keys as f64 / filling.occupancy).ceil() as u32;
    let (overflow_slots, values) = (slots / 2 + 2, Values::inline(0));
    let shape = robin_hood::Shape { slots, limit, segment, overflow_slots, values };
    filled(RobinHood::new(shape)?, filling)
}

fn filled<P: Placement>(
    placement: P,
    filling: Filling,
) -> Result<Table<P, PlainMemory>, ShapeError> {
    let memory = PlainMemory::new(placement.ground().words());
    let table = Table::new(placement, memory)?;
    for index in 0..filling.keys as u64 {
        table.insert(key(filling.seed, index), &[]).expect("there is room");
    }
    Ok(table)
}

fn average<P: Placement>(
    table: &Table<P, PlainMemory>,
    filling: Filling,
    hint: impl Fn(u64) -> Hint,
) -> LookUps {
    let (mut objects, mut round_trips, mut count) = (0, 0, 0);
    for index in (0..filling.keys as u64).step_by(filling.every.max(1) as usize) {
        let key = key(filling.seed, index);
        let (end, cost) = look_up(table.memory(), table.plan(key, hint(key)));
        debug_assert!(matches!(end, Step::Found(_)), "{end:?}");
        objects += cost.objects as u64;
        round_trips += cost.round_trips as u64;
        count += 1;
    }
    let statistics = table.statistics();
    LookUps {
        objects: objects as f64 / count as f64,
        round_trips: round_trips as f64 / count as f64,
        overflowed: statistics.overflowed as f64 / statistics.objects as f64,
        count,
    }
}
