// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables to try.

use rand::{Rng, RngExt};
use tables::buckets::{self, BucketTable, Buckets};
use tables::hopscotch::{self, Hopscotch, HopscotchTable};
use tables::memory::HostMemory;
use tables::robin_hood::{RobinHood, RobinHoodTable, Shape};
use tables::{Table, Values, Walk};

/// A value that tells its number and its length, so that a mixture of two is none.
pub fn value(number: u64, length: usize) -> Vec<u8> {
    (0..length).map(|index| (number.wrapping_mul(31) + index as u64 / 8 + 1) as u8).collect()
}

pub fn random_values(random: &mut impl Rng) -> Values {
    let inline_bytes = [0, 8, 16, 40, 100, 256][random.random_range(0..6)];
    match random.random_bool(0.5) {
        true => Values::inline(inline_bytes),
        false => Values { inline_bytes, longest: 400, heap_lines: random.random_range(20..200) },
    }
}

pub fn robin_hood<M: HostMemory>(shape: Shape, memory: impl Fn(usize) -> M) -> RobinHoodTable<M> {
    let geometry = RobinHood::new(shape).unwrap();
    Table::new(geometry, memory(geometry.ground().words())).unwrap()
}

pub fn random_robin_hood<M: HostMemory>(
    random: &mut impl Rng,
    values: Values,
    memory: impl Fn(usize) -> M,
) -> RobinHoodTable<M> {
    let slots = random.random_range(8..120);
    let limit = [Some(1), Some(3), Some(8), Some(20), None][random.random_range(0..5)];
    let segment = 1 << random.random_range(0..4);
    let overflow_slots = random.random_range(0..60);
    robin_hood(Shape { slots, limit, segment, overflow_slots, values }, memory)
}

pub fn buckets<M: HostMemory>(geometry: Buckets, memory: impl Fn(usize) -> M) -> BucketTable<M> {
    Table::new(geometry, memory(geometry.ground().words())).unwrap()
}

pub fn random_chained<M: HostMemory>(
    random: &mut impl Rng,
    values: Values,
    memory: impl Fn(usize) -> M,
) -> BucketTable<M> {
    let (buckets, overflow_buckets) = (random.random_range(1..20), random.random_range(0..12));
    let slots = 4 << random.random_range(0..3);
    let shape = buckets::Shape { buckets, slots, overflow_buckets, values };
    self::buckets(Buckets::chained(shape).unwrap(), memory)
}

pub fn random_mica<M: HostMemory>(
    random: &mut impl Rng,
    values: Values,
    memory: impl Fn(usize) -> M,
) -> BucketTable<M> {
    let (buckets, overflow_buckets) = (random.random_range(1..20), random.random_range(0..12));
    let slots = random.random_range(7..=15);
    let shape = buckets::Shape { buckets, slots, overflow_buckets, values };
    self::buckets(Buckets::mica(shape).unwrap(), memory)
}

pub fn hopscotch<M: HostMemory>(
    shape: hopscotch::Shape,
    memory: impl Fn(usize) -> M,
) -> HopscotchTable<M> {
    let geometry = Hopscotch::new(shape).unwrap();
    Table::new(geometry, memory(geometry.ground().words())).unwrap()
}

pub fn random_hopscotch<M: HostMemory>(
    random: &mut impl Rng,
    values: Values,
    memory: impl Fn(usize) -> M,
) -> HopscotchTable<M> {
    let (buckets, overflow_buckets) = (random.random_range(1..30), random.random_range(0..12));
    hopscotch(hopscotch::Shape { buckets, overflow_buckets, values }, memory)
}

pub const SMALL: Values = Values::inline(8);
