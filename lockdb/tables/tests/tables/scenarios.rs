// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small tables with a few random operations, in all interleavings with a look-up of each key; and planted
//! bugs, which some of them find.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::memory::LoggedMemory;
use tables::mutant::{Mutant, plant};
use tables::robin_hood::{RobinHood, Shape};
use tables::{Hint, RemoteTable, Search, Table, Values, Walk};

use crate::interleavings::{Explored, Operation, history};
use crate::shapes;

/// Two readings to confirm an absence, and one that was disturbed.
const READINGS: u32 = 3;

/// The most states of one look-up. `LOCKSTEP_FULL=1` explores all, which takes hours.
fn most_states() -> usize {
    let full = std::env::var_os("LOCKSTEP_FULL").is_some_and(|value| value == "1");
    if full { usize::MAX } else { 10_000 }
}

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
        let result = history.explore(key, hint, READINGS, most_states());
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

/// Operations on a table with all keys at the same home, or with the home that their hundreds say.
fn directed(shape: Shape, before: &[Operation], script: &[Operation]) -> Result<Explored, String> {
    let table = shapes::robin_hood(shape, LoggedMemory::new);
    let history = history(&table, before, script);
    let mut keys: Vec<u64> = before.iter().chain(script).map(|operation| operation.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().try_fold(Explored::default(), |mut sum, key| {
        sum.add(history.explore(key, Hint::default(), READINGS, usize::MAX)?);
        Ok(sum)
    })
}

const ONE_HOME: Shape = Shape {
    slots: 1,
    limit: Some(1),
    segment: 1,
    overflow_slots: 3,
    values: Values::inline(8),
};

/// An object moves to the slot behind it and back, across two lines, while both readings look elsewhere.
fn there_and_back() -> Result<Explored, String> {
    let shape = Shape { slots: 2, limit: Some(2), segment: 2, ..ONE_HOME };
    let geometry = RobinHood::new(shape).unwrap();
    let at_home = |home| (0..).filter(move |&key| geometry.home(key) == home);
    let (mut first, mut second) = (at_home(0), at_home(1));
    let [a, b] = [(); 2].map(|()| first.next().unwrap());
    let moved = second.next().unwrap();
    let script = [Operation::Insert(b, 8), Operation::Delete(b)];
    directed(shape, &[Operation::Insert(a, 8), Operation::Insert(moved, 8)], &script)
}

/// An overflow bucket goes, and another comes in its place, while an object leaves it for a slot.
fn bucket_comes_back() -> Result<Explored, String> {
    let before = [0, 1, 2].map(|key| Operation::Insert(key, 8));
    let [w, v] = [3, 4];
    let script = [
        Operation::Insert(w, 8),
        Operation::Delete(0),
        Operation::Delete(w),
        Operation::Insert(v, 8),
    ];
    directed(ONE_HOME, &before, &script)
}

/// A value out of line is replaced twice, the second time in the lines of the first one.
fn lines_used_again() -> Result<Explored, String> {
    let values = Values { inline_bytes: 1, longest: 60, heap_lines: 4 };
    let script = [Operation::Update(0, 60), Operation::Update(0, 50)];
    directed(Shape { values, ..ONE_HOME }, &[Operation::Insert(0, 60)], &script)
}

#[test]
fn rare_histories_are_right_in_all_interleavings() {
    for history in [there_and_back, bucket_comes_back, lines_used_again] {
        let explored = history().unwrap();
        println!("{explored:?}");
        assert!(explored.found > 0 && explored.cut == 0);
    }
}

#[test]
fn robin_hood_is_right_in_all_interleavings() {
    let (seeds, mut explored) = (seeds::of!(40), Explored::default());
    seeds.each(|seed| robin_hood(seed).map(|these| explored.add(these)));
    println!("{explored:?}");
    assert!(!seeds.is_whole() || explored.found > 100 && explored.absent > 100);
}

/// Runs a closure with a planted bug, which is gone afterwards.
fn with<R>(mutant: Mutant, run: impl FnOnce() -> R) -> R {
    plant(Some(mutant));
    let result = run();
    plant(None);
    result
}

fn assert_found(mutant: Mutant, error: Option<String>) {
    let error = error.unwrap_or_else(|| panic!("{mutant:?} went unnoticed"));
    println!("{mutant:?}: {error:.300}");
}

#[test]
fn bugs_of_robin_hood_are_found() {
    for (mutant, history) in [
        (Mutant::StampResetOnEmpty, there_and_back as fn() -> _),
        (Mutant::LinksWithoutStamp, bucket_comes_back),
        (Mutant::TicketsNotCompared, lines_used_again),
    ] {
        assert_found(mutant, with(mutant, history).err());
    }
    // The first seed that finds the bug; when scenarios change, another one behind it will.
    for (mutant, seed) in [
        (Mutant::MovesFromHome, 123),
        (Mutant::ShiftsFromFarEnd, 22),
        (Mutant::NoConfirmation, 9),
        (Mutant::EvenStampFirst, 9),
        (Mutant::DirectoryBeforeCopy, 210),
        (Mutant::EmptyBeforeDirectory, 210),
        (Mutant::OverflowLeavesFirst, 11),
        (Mutant::PartsNotCompared, 431),
    ] {
        let search = || (seed..seed + 1000).find_map(|seed| robin_hood(seed).err());
        assert_found(mutant, with(mutant, search));
    }
}
