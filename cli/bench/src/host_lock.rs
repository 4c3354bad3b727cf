// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's uncontended lock beside the least that it could be: two compare-and-swaps on the
//! same line.

use locks::machine::{Access, Answer, Outcome, Rule};
use locks::{Bucket, LockTable, Timestamp, TupleKey};

use super::{Goal, Measurement, Size, pin, stopwatch};

const PAIRS: u64 = 100_000;
const HOLDER: Timestamp = Timestamp::new(12_345).expect("not 0");

/// Tables of 4 and of 64 MiB; each operation depending on the last, and free to overlap.
pub fn measure(size: Size) -> Result<Vec<Measurement>, String> {
    let both = [4, 64].map(|mebibytes| pin::on_one_processor(|| of_size(size, mebibytes)));
    let both: Vec<[Measurement; 2]> = both.into_iter().collect::<Result<_, _>>()?;
    Ok(both.into_iter().flatten().collect())
}

fn of_size(size: Size, mebibytes: usize) -> Result<[Measurement; 2], String> {
    let table = LockTable::new((mebibytes << 20) / size_of::<Bucket>());
    let table = table.map_err(|error| error.to_string())?;
    let count = size.of(PAIRS);
    // Every page is there, and as much of the table as fits is in the caches.
    overlapping(4 * table.buckets().len() as u64, &mut 3, |vid| lock(&table, vid));

    // Each continues where it stopped, so that the rounds together visit the whole table.
    let (mut at, mut bare_at) = (1, 2);
    let (value, floor) = stopwatch::best_of_both(
        size,
        || stopwatch::each(count, || dependent(count, &mut at, &table, lock)),
        || stopwatch::each(count, || dependent(count, &mut bare_at, &table, bare_pair)),
    );
    let chained = Measurement::new(format!("host lock, dependent, {mebibytes} MiB"), "ns", value)
        .over(floor)
        .goal(Goal::RatioAtMost(1.5));

    let (value, floor) = stopwatch::best_of_both(
        size,
        || stopwatch::each(count, || overlapping(count, &mut at, |vid| lock(&table, vid))),
        || {
            let pair = |vid| bare_pair(&table, vid);
            stopwatch::each(count, || overlapping(count, &mut bare_at, pair))
        },
    );
    let free = Measurement::new(format!("host lock, overlapping, {mebibytes} MiB"), "ns", value)
        .over(floor)
        .goal(Goal::RatioAtMost(2.5));
    Ok([chained, free])
}

/// Each pair chooses its line by what the last one left in word 0 of its line, so that none can
/// begin before the last has ended.
#[inline(never)]
pub(super) fn dependent(
    count: u64,
    at: &mut u64,
    table: &LockTable,
    pair: impl Fn(&LockTable, u64) -> &Bucket,
) {
    let mut state = *at;
    for _ in 0..count {
        let line = pair(table, vid(state));
        state = next(state ^ line.head().word());
    }
    *at = state;
}

/// The lines are known beforehand.
#[inline(never)]
pub(super) fn overlapping<'t>(count: u64, at: &mut u64, pair: impl Fn(u64) -> &'t Bucket) {
    let mut state = *at;
    for _ in 0..count {
        pair(vid(state));
        state = next(state);
    }
    *at = state;
}

/// A step of a linear congruential generator, the least that visits lines at random. Source of
/// the factor: Knuth, MMIX.
#[inline]
fn next(state: u64) -> u64 {
    state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407)
}

/// Its upper bits, which are the random ones.
#[inline]
fn vid(state: u64) -> u64 {
    state >> 32
}

/// Acquire and release, with the hash, as a program would call them.
#[inline]
pub(super) fn lock(table: &LockTable, vid: u64) -> &Bucket {
    let key = TupleKey::new(vid, 0);
    let granted = table.acquire(HOLDER, key, Rule::Queue);
    let released = table.release(HOLDER, key);
    let is_whole = matches!(
        (granted, released),
        (Outcome::Granted { again: false }, Outcome::Released { next: None })
    );
    assert!(is_whole, "the only transaction there is was refused");
    &table.buckets()[table.bucket_of(key)]
}

/// Two compare-and-swaps of the same word of the line that the number alone chooses.
#[inline]
fn bare_pair(table: &LockTable, vid: u64) -> &Bucket {
    let buckets = table.buckets();
    let line = &buckets[vid as usize & (buckets.len() - 1)];
    let (free, held) = (0, HOLDER.word());
    let swap = |expected, new| match line.perform(Access::CompareSwap { word: 0, expected, new }) {
        Answer::Word(old) => assert!(old == expected, "another thread uses the table"),
        _ => unreachable!("a compare-and-swap is answered with a word"),
    };
    swap(free, held);
    swap(held, free);
    line
}
