// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small tables with a few random operations, in all interleavings with a look-up of each key; and planted
//! bugs, which some of them find.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::memory::LoggedMemory;
use tables::mutant::{Mutant, plant};
use tables::robin_hood::Shape;
use tables::{Hint, RemoteTable, Search, Table, Values, Walk};

use crate::interleavings::{Explored, Operation, history};
use crate::shapes;

/// More states than that of one look-up are not worth the time.
const READINGS: u32 = 3;

fn random_operation(random: &mut impl Rng, keys: u64, longest: usize, inserts: u32) -> Operation {
    let key = random.random_range(0..keys);
    let length = random.random_range(0..=longest);
    match random.random_range(0..10) {
        choice if choice < inserts => Operation::Insert(key, length),
        choice if choice < (inserts + 10) / 2 => Operation::Delete(key),
        _ => Operation::Update(key, length),
    }
}

/// Runs random operations on a table, and explores the last few.
fn explore<W: Walk>(
    table: &Table<W, LoggedMemory>,
    random: &mut impl Rng,
    keys: u64,
    script: usize,
) -> Result<Explored, String>
where
    Table<W, LoggedMemory>: RemoteTable<Plan = Search<W>>,
{
    let longest = table.geometry().ground().longest();
    let mut draw = |count, inserts| -> Vec<Operation> {
        (0..count).map(|_| random_operation(random, keys, longest, inserts)).collect()
    };
    let (before, script) = (draw(2 * keys as usize, 8), draw(script, 4));
    let history = history(table, &before, &script);
    let mut explored = Explored::default();
    for key in 0..keys {
        let displacement = random.random_bool(0.3).then(|| random.random_range(0..3));
        let hint = Hint { displacement, overflow: None };
        let result = history.explore(key, hint, READINGS);
        explored.add(result.map_err(|error| format!("{before:?}, then {script:?}: {error}"))?);
    }
    Ok(explored)
}

fn robin_hood(seed: u64) -> Result<Explored, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let slots: u32 = random.random_range(1..5);
    let limit = [Some(1), Some(2), None][random.random_range(0..3)];
    let segment = [1, slots.next_power_of_two()][random.random_range(0..2)];
    let values = match random.random_range(0..8) {
        0..3 => Values::inline(0),
        3..6 => Values::inline(8),
        6 => Values::inline(50),
        _ => Values { inline_bytes: 1, longest: 60, heap_lines: 4 },
    };
    let shape = Shape { slots, limit, segment, overflow_slots: 3, values };
    let table = shapes::robin_hood(shape, LoggedMemory::new);
    let large = values.longest > 8;
    let script = random.random_range(1..if large { 2 } else { 3 });
    explore(&table, &mut random, slots as u64 + 3, script)
}

/// Whether some scenario shows the bug, and which.
fn find(mutant: Mutant, scenario: fn(u64) -> Result<Explored, String>, seeds: u64) {
    plant(Some(mutant));
    let found = (0..seeds).find_map(|seed| scenario(seed).err().map(|error| (seed, error)));
    plant(None);
    let (seed, error) = found.unwrap_or_else(|| panic!("{mutant:?} went unnoticed"));
    println!("{mutant:?}, seed {seed}: {error:.200}");
}

#[test]
fn robin_hood_is_right_in_all_interleavings() {
    let (seeds, mut explored) = (seeds::of!(40), Explored::default());
    seeds.each(|seed| robin_hood(seed).map(|these| explored.add(these)));
    println!("{explored:?}");
    assert!(!seeds.is_whole() || explored.found > 100 && explored.absent > 100);
}

#[test]
fn bugs_of_robin_hood_are_found() {
    for mutant in [
        Mutant::MovesFromHome,
        Mutant::ShiftsFromFarEnd,
        Mutant::NoConfirmation,
        Mutant::EvenStampFirst,
        Mutant::StampResetOnEmpty,
        Mutant::DirectoryBeforeCopy,
        Mutant::EmptyBeforeDirectory,
        Mutant::OverflowLeavesFirst,
        Mutant::PartsNotCompared,
        Mutant::LinksWithoutStamp,
        Mutant::TicketsNotCompared,
    ] {
        find(mutant, robin_hood, 2000);
    }
}
