// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small tables with a few random operations, in all interleavings with a look-up of each key; and planted
//! bugs, which some of them find.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use tables::buckets::{self, Buckets};
use tables::hopscotch;
use tables::memory::LoggedMemory;
use tables::mutant::{Mutant, plant};
use tables::robin_hood::{RobinHood, Shape};
use tables::{Hint, RemoteTable, Search, Table, Values, Walk};

use crate::interleavings::{Explored, Operation, history};
use crate::shapes;

/// Two readings to confirm an absence, and one that was disturbed.
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
        let hint = Hint {
            displacement,
            overflow: random.random_bool(0.5).then(|| history.link(key)).flatten(),
        };
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

/// One or two buckets that overflow.
fn hopscotch(seed: u64) -> Result<Explored, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let buckets = random.random_range(1..4);
    let shape =
        hopscotch::Shape { buckets, overflow_buckets: 2, values: small_values(&mut random) };
    let script = random.random_range(1..3);
    explore(
        &shapes::hopscotch(shape, LoggedMemory::new),
        &mut random,
        4 * buckets as u64 + 7,
        script,
    )
}

fn chained(seed: u64) -> Result<Explored, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let values = small_values(&mut random);
    let shape = buckets::Shape { buckets: 1, slots: 4, overflow_buckets: 2, values };
    let table = shapes::buckets(Buckets::chained(shape).unwrap(), LoggedMemory::new);
    let script = random.random_range(1..4);
    explore(&table, &mut random, 11, script)
}

fn mica(seed: u64) -> Result<Explored, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let values = small_values(&mut random);
    let shape = buckets::Shape { buckets: 1, slots: 7, overflow_buckets: 1, values };
    let table = shapes::buckets(Buckets::mica(shape).unwrap(), LoggedMemory::new);
    let script = random.random_range(1..3);
    explore(&table, &mut random, 9, script)
}

fn small_values(random: &mut impl Rng) -> Values {
    Values::inline([0, 8][random.random_range(0..2)])
}

/// Operations on a table with all keys at the same home, or with the home that their hundreds say.
fn directed(shape: Shape, before: &[Operation], script: &[Operation]) -> Result<Explored, String> {
    let table = shapes::robin_hood(shape, LoggedMemory::new);
    let history = history(&table, before, script);
    let mut keys: Vec<u64> = before.iter().chain(script).map(|operation| operation.key()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().try_fold(Explored::default(), |mut sum, key| {
        sum.add(history.explore(key, Hint::default(), READINGS)?);
        Ok(sum)
    })
}

const ONE_HOME: Shape =
    Shape { slots: 1, limit: Some(1), segment: 1, overflow_slots: 3, values: Values::inline(8) };

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

/// The first overflow bucket of a chain leaves it and comes back as the last one, while a reader stands in it.
fn bucket_at_the_other_end() -> Result<Explored, String> {
    let shape =
        buckets::Shape { buckets: 1, slots: 4, overflow_buckets: 2, values: Values::inline(8) };
    let table = shapes::buckets(Buckets::chained(shape).unwrap(), LoggedMemory::new);
    let inserts = (0..12).map(|key| Operation::Insert(key, 8));
    let before: Vec<_> = inserts.chain([5, 6, 7].map(Operation::Delete)).collect();
    let history = history(&table, &before, &[Operation::Delete(4), Operation::Insert(12, 8)]);
    history.explore(8, Hint::default(), READINGS)
}

#[test]
fn rare_histories_are_right_in_all_interleavings() {
    for history in [there_and_back, bucket_comes_back, lines_used_again, bucket_at_the_other_end] {
        let explored = history().unwrap();
        println!("{explored:?}");
        assert!(explored.found > 0);
    }
}

fn assert_right(default: u64, scenario: fn(u64) -> Result<Explored, String>) {
    let (seeds, mut explored) = (seeds::of!(default), Explored::default());
    seeds.each(|seed| scenario(seed).map(|these| explored.add(these)));
    println!("{explored:?}");
    let many = explored.found > 100 && explored.absent > 100;
    assert!(!seeds.is_whole() || many);
    assert!(
        seeds.count() > default || explored.cut == 0,
        "{} look-ups were cut short",
        explored.cut
    );
}

#[test]
fn robin_hood_is_right_in_all_interleavings() {
    assert_right(40, robin_hood);
}

#[test]
fn hopscotch_is_right_in_all_interleavings() {
    assert_right(10, hopscotch);
}

#[test]
fn chained_buckets_are_right_in_all_interleavings() {
    assert_right(10, chained);
}

#[test]
fn buckets_with_headers_are_right_in_all_interleavings() {
    assert_right(10, mica);
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
    find_from(
        robin_hood,
        &[
            (Mutant::MovesFromHome, 123),
            (Mutant::ShiftsFromFarEnd, 22),
            (Mutant::NoConfirmation, 9),
            (Mutant::EvenStampFirst, 9),
            (Mutant::DirectoryBeforeCopy, 210),
            (Mutant::EmptyBeforeDirectory, 210),
            (Mutant::OverflowLeavesFirst, 11),
            (Mutant::PartsNotCompared, 431),
        ],
    );
}

#[test]
fn bugs_of_hopscotch_and_of_chains_are_found() {
    find_from(hopscotch, &[(Mutant::MovesFromHome, 65)]);
    find_from(mica, &[(Mutant::HeaderNotConfirmed, 0)]);
    let error = with(Mutant::NoConfirmation, bucket_at_the_other_end).err();
    assert_found(Mutant::NoConfirmation, error);
}

/// Each bug with the first seed that finds it; when scenarios change, another one behind it will.
fn find_from(scenario: fn(u64) -> Result<Explored, String>, mutants: &[(Mutant, u64)]) {
    for &(mutant, seed) in mutants {
        let search = || (seed..seed + 1000).find_map(|seed| Some((seed, scenario(seed).err()?)));
        let found = with(mutant, search);
        if let Some((seed, _)) = found {
            println!("{mutant:?}: seed {seed}");
        }
        assert_found(mutant, found.map(|found| found.1));
    }
}
