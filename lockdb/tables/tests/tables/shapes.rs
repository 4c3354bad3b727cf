// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables to try.

use rand::{Rng, RngExt};
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
