// SPDX-License-Identifier: MIT OR Apache-2.0
//! Look-ups over tables at rest and tables that change, and by single events.

mod bad_input;
mod events;
mod history;
mod interleavings;
mod live;
mod rest;

use rand::{Rng, RngExt};
use tables::robin_hood::{RobinHood, Shape};
use tables::{Table, Values, Walk};

use super::*;
use crate::index::{self, Operation};
use mutant::Mutant;

/// Where the host has its table.
const BASE: u64 = 0x1234_0000;
/// Words of the values in answers: slots of two lines have a value word in their second line.
const WORDS: usize = 8;

const SETTINGS: Settings = Settings { value_bytes: 8, most_readings: 4, landing_lines: 32 };

/// A geometry over a Robin Hood table at [`BASE`], whose first reads have two slots more than the hint says.
fn geometry(table: &RobinHood, settings: Settings) -> Geometry<WORDS> {
    Geometry::of_table(table, BASE, 2, settings).unwrap()
}

/// A value that tells its number and its length, so that a mixture of two is none.
fn value(number: u64, length: usize) -> Vec<u8> {
    (0..length).map(|index| (number.wrapping_mul(31) + index as u64 / 8 + 1) as u8).collect()
}

/// The first words of a value, as an answer has them.
fn first_words(value: &[u8]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(value.chunks(8)) {
        *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    words
}

/// Whether an answer has the object with this version and value. Of a value out of line it has only the place.
fn has_object(
    answer: &Answer<WORDS>,
    version: u32,
    value: &[u8],
    inline_bytes: usize,
) -> Result<(), String> {
    let Some(content) = answer.content else { return Err("there is no object".into()) };
    let right = content.version == version
        && content.is_out_of_line == (value.len() > inline_bytes)
        && (content.is_out_of_line
            || content.value == first_words(value) && usize::from(content.length) == value.len());
    if right { Ok(()) } else { Err(format!("expected version {version}, {value:?}")) }
}

/// A table over a memory of zeros.
fn table<M: tables::memory::HostMemory>(
    shape: Shape,
    memory: impl Fn(usize) -> M,
) -> Table<RobinHood, M> {
    let geometry = RobinHood::new(shape).unwrap();
    Table::new(geometry, memory(geometry.ground().words())).unwrap()
}

/// Values in slots of 16 bytes to three lines, and some out of line.
fn random_values(random: &mut impl Rng) -> Values {
    let inline_bytes = [0, 8, 16, 40, 60, 120][random.random_range(0..6)];
    match random.random_bool(0.7) {
        true => Values::inline(inline_bytes),
        false => Values { inline_bytes: inline_bytes.max(1), longest: 200, heap_lines: 100 },
    }
}

/// Lines of a read: enough for a slot, for some of them, or for all.
fn random_landing(random: &mut impl Rng, table: &RobinHood) -> u16 {
    let least = table.ground().layout().parts() as u16;
    [least, least + 1, 32][random.random_range(0..3)]
}

/// A hint of any quality: displacement and word of the directory are too small, stale, exact, too large, or
/// name nothing.
fn random_hint(random: &mut impl Rng, limit: u8, word: u64) -> index::Hint {
    let bucket = |place: u64, order: u64| (order + 1) << 32 | place;
    let directory = match random.random_range(0..8) {
        0..3 => word,
        3 => 0,
        4 => bucket(random.random_range(0..70), random.random_range(0..4)),
        5 => bucket(u32::MAX.into(), 30),
        6 => random.random(),
        _ => u64::MAX,
    };
    let displacement = random.random_range(0..=limit);
    index::Hint { displacement, is_exact: true, directory: Some(directory) }
}

/// The request that sets a hint for the segment of a key.
fn set_hint(key: u64, hint: index::Hint) -> Request<WORDS> {
    Request { hint, ..Request::new(Operation::SetHint, key, 0) }
}

#[test]
fn planted_bugs_are_found() {
    type Search = fn() -> Result<(), String>;
    let found: [(Mutant, Search); 10] = [
        (Mutant::NoConfirmation, || interleavings::any(0..40)),
        (Mutant::StampsNotCompared, || interleavings::bucket_comes_back().map(drop)),
        (Mutant::SumsNotCompared, || interleavings::any(0..400)),
        (Mutant::TornIsWhole, || interleavings::any(0..40)),
        (Mutant::AnyBucketIsWhole, events::another_bucket),
        (Mutant::OutsideIsNone, events::outside),
        (Mutant::RestSkipped, || rest::any(0..40)),
        (Mutant::OldBucketReadAgain, || rest::any(0..40)),
        (Mutant::OneReadIsEnough, || rest::any(0..40)),
        (Mutant::OldReadingConfirms, events::disturbed_in_between),
    ];
    for (mutant, search) in found {
        let error = mutant::with(mutant, search).err();
        let error = error.unwrap_or_else(|| panic!("{mutant:?} went unnoticed"));
        println!("{mutant:?}: {error:.200}");
    }
}
