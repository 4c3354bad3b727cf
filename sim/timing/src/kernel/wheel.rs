// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buckets of events by their time, at three widths, and a heap for what lies beyond.
//!
//! A level has 4096 buckets; a bucket of the lowest is 2^10 ps wide, one of each further level as wide
//! as 2^10 of the level below. A bucket of an upper level is *opened* when its time comes near: its
//! events move into the level below. Of each level below, the next three to four buckets of the level
//! above are open, so that events of that range are put into their final bucket at once.
//!
//! When the next bucket with events is one of an upper level, and its events are few, they are sorted
//! at once: a quiet time costs no more than a busy one, and widths need not fit the delays.
//!
//! The order of insertion needs no number here. A bucket keeps it; and nothing is put into a lower
//! level for a time whose bucket is not yet open, so that what comes from above comes first.

use super::heap::{Heap, Instant};
use super::occupied::Occupied;
use super::order;
use super::pool::{Bucket, CHUNK, Pool};
use super::run::Run;

// Measured with 8-byte events and delays of many kinds (docs/benchmarks.md, event kernel), at 4000 and
// 100,000 pending. Lowest buckets of 2^9 ps were up to a sixth slower: more of them have one event, and
// each costs a search. Those of 2^12 ps were slower with long delays. With 1024 buckets a level, delays of
// a microsecond pass through two levels, at up to a sixth of the rate; the 48 KiB of 4096 still fit the
// nearer caches. With two levels, what lies more than 4 ms ahead passes through the heap and both levels,
// at half the rate of a heap alone.
const LEVELS: usize = 3;
/// Of a level.
pub(super) const BUCKETS: usize = 1 << 12;
/// A bucket of the lowest level is two to the power of so many picoseconds wide.
const WIDTH_BITS: u32 = 10;
/// A bucket is two to the power of so many of the level below wide.
const FAN_BITS: u32 = 10;
/// So many buckets of the level above are open, from the one of the present instant on.
const OPEN: u64 = (BUCKETS >> FAN_BITS) as u64;

/// Low bits of a key; above them are the low bits of the time.
pub(super) const PRIORITY_BITS: u32 = 2;
/// Bits of a key of the lowest level.
pub(super) const KEY_BITS: u32 = WIDTH_BITS + PRIORITY_BITS;

// Keys of the highest level fit; and those of the levels below, with an index in a chunk (`Wheel::sort_few`).
const _: () = assert!(shift(LEVELS - 1) + PRIORITY_BITS <= u32::BITS);
const _: () = assert!(shift(LEVELS - 2) + PRIORITY_BITS + CHUNK.ilog2() < u32::BITS);

/// The logarithm of the width of a level's buckets; of the heap's steps, for the level above all.
const fn shift(level: usize) -> u32 {
    WIDTH_BITS + FAN_BITS * level as u32
}

const fn last_of(start: u64, shift: u32) -> u64 {
    start | ((1 << shift) - 1)
}

/// The bits of a key that count in a level: the priority, and the time since the start of the bucket. The key of
/// an event has those of the highest level, and stays when the event moves down.
const fn mask(level: usize) -> u32 {
    u32::MAX >> (u32::BITS - PRIORITY_BITS - shift(level))
}

struct Level {
    buckets: Box<[Bucket; BUCKETS]>,
    occupied: Box<Occupied>,
    /// The first bucket of the level above that is not open: this level takes what lies before.
    opened: u64,
}

impl Level {
    fn new() -> Self {
        let buckets = vec![Bucket::EMPTY; BUCKETS].into_boxed_slice();
        let buckets = buckets.try_into().unwrap_or_else(|_| unreachable!("so many were made"));
        Level { buckets, occupied: Box::new(Occupied::none()), opened: OPEN }
    }

    #[inline]
    fn push<E>(&mut self, pool: &mut Pool<E>, number: u64, key: u32, event: E) {
        let place = number as usize % BUCKETS;
        self.occupied.insert(place);
        pool.push(&mut self.buckets[place], key, event);
    }

    /// Empties a bucket.
    #[inline]
    fn take(&mut self, number: u64) -> Bucket {
        let place = number as usize % BUCKETS;
        self.occupied.remove(place);
        std::mem::replace(&mut self.buckets[place], Bucket::EMPTY)
    }

    #[inline]
    fn bucket(&self, number: u64) -> Bucket {
        self.buckets[number as usize % BUCKETS]
    }

    /// The first bucket with events. `from` is not behind it.
    #[inline]
    fn first(&self, from: u64) -> Option<u64> {
        let place = from as usize % BUCKETS;
        let found = self.occupied.next_around(place)?;
        Some(from + (found.wrapping_sub(place) % BUCKETS) as u64)
    }
}

pub(super) struct Wheel<E> {
    levels: [Level; LEVELS],
    pool: Pool<E>,
    far: Heap<E>,
    /// Events of the buckets of the lowest level that were taken since one above was opened.
    taken: usize,
    /// Room to sort or move a bucket of several chunks: key and place of each event, and the chunks.
    numbers: Vec<u64>,
    spare: Vec<u64>,
    chunks: Vec<u32>,
}

impl<E> Wheel<E> {
    /// With memory for so many events.
    pub fn with_capacity(events: usize) -> Self {
        // Each bucket may have a chunk that is not full, one may be emptied while others fill, and one is
        // always ready.
        let chunks = events.min(LEVELS * BUCKETS) + events.div_ceil(CHUNK) + 2;
        Wheel {
            levels: std::array::from_fn(|_| Level::new()),
            pool: Pool::with_capacity(chunks),
            far: Heap::with_capacity(events),
            taken: 0,
            numbers: Vec::with_capacity(events + CHUNK),
            spare: Vec::with_capacity(events + CHUNK),
            chunks: Vec::with_capacity(events.div_ceil(CHUNK)),
        }
    }

    /// The run that a kernel begins with: the first bucket of the lowest level.
    pub fn first_run(events: usize) -> Run<E> {
        Run::with_capacity(last_of(0, WIDTH_BITS), events)
    }

    /// Puts an event that lies behind the run.
    // Always inlined, as is `take`: a step with mixed delays has a seventh fewer instructions so.
    #[inline(always)]
    pub fn insert(&mut self, at: Instant, event: E) {
        // Counted, as with delays of many lengths a branch would go either way.
        let above = |level: usize| at.time >> shift(level + 1) >= self.levels[level].opened;
        let level = (0..LEVELS).map(|level| usize::from(above(level))).sum();
        debug_assert!(
            (level..LEVELS).all(|level| !above(level)),
            "a level takes what one below takes"
        );
        if level == LEVELS {
            return self.insert_far(at, event);
        }
        let key = (at.time as u32) << PRIORITY_BITS | at.priority;
        self.levels[level].push(&mut self.pool, at.time >> shift(level), key, event);
    }

    // Apart, as the heap's code would make `insert` save more registers.
    #[cold]
    #[inline(never)]
    fn insert_far(&mut self, at: Instant, event: E) {
        self.far.push(at, event);
    }

    /// Takes the next event when the run is empty. The rest of its bucket becomes the run.
    #[inline]
    pub fn pop(&mut self, run: &mut Run<E>) -> Option<(Instant, E)> {
        loop {
            if let Some(number) = self.levels[0].first(Self::behind(run)) {
                let (len, next) = self.take(0, number, run);
                self.taken += len;
                self.keep_open(run.start());
                return next;
            }
            if let Some(next) = self.descend(run)? {
                return Some(next);
            }
        }
    }

    /// When the lowest level is empty: opens the next bucket above it, or, when that has few events, takes the
    /// next one as [`Self::pop`] does. `None` when nothing is pending.
    #[inline(never)]
    fn descend(&mut self, run: &mut Run<E>) -> Option<Option<(Instant, E)>> {
        let Some((level, number)) = self.next_above() else {
            let number = self.far.peek()?.time >> shift(LEVELS);
            self.begin_at(LEVELS, number);
            self.open(LEVELS - 1, number << shift(LEVELS));
            return Some(None);
        };
        let start = number << shift(level);
        for upper in (level..LEVELS).rev() {
            self.open(upper, start);
        }
        if self.is_sparse(level, number) {
            self.begin_at(level, number + 1);
            return Some(self.take(level, number, run).1);
        }
        self.begin_at(level, number);
        run.begin(start - 1, start - 1);
        self.open(0, start);
        Some(None)
    }

    /// The first bucket of the lowest level that is behind the run.
    fn behind(run: &Run<E>) -> u64 {
        // At the end of time nothing is there, wherever the search begins.
        run.last().wrapping_add(1) >> WIDTH_BITS
    }

    /// The bucket of an upper level that comes next, if none of the lowest does: its level and number.
    fn next_above(&self) -> Option<(usize, u64)> {
        (1..LEVELS).find_map(|level| {
            let number = self.levels[level].first(self.levels[level - 1].opened)?;
            Some((level, number))
        })
    }

    /// Whether the events of a bucket are so few that they are sorted at once, without the levels below. The
    /// highest level's are not, as their keys leave no room to sort them by.
    fn is_sparse(&self, level: usize, number: u64) -> bool {
        level < LEVELS - 1 && self.pool.is_one_chunk(self.levels[level].bucket(number))
    }

    /// All levels below begin with this bucket, and nothing is in them.
    fn begin_at(&mut self, level: usize, number: u64) {
        for (index, below) in self.levels[..level].iter_mut().enumerate() {
            below.opened = number << (FAN_BITS * (level - 1 - index) as u32);
        }
    }

    /// Opens what is due for the lowest level, unless so few events were there since the last time that
    /// the buckets above are better sorted at once.
    fn keep_open(&mut self, now: u64) {
        if self.levels[0].opened < (now >> shift(1)) + OPEN
            && std::mem::take(&mut self.taken) > CHUNK
        {
            self.open_more(0, now);
        }
    }

    /// Opens the buckets above a level that are due at the instant `now`.
    fn open(&mut self, level: usize, now: u64) {
        if self.levels[level].opened < (now >> shift(level + 1)) + OPEN {
            self.open_more(level, now);
        }
    }

    #[inline(never)]
    fn open_more(&mut self, level: usize, now: u64) {
        let due = (now >> shift(level + 1)) + OPEN;
        if level + 1 == LEVELS {
            self.levels[level].opened = due;
            while self.far.peek().is_some_and(|next| next.time >> shift(LEVELS) < due) {
                let (at, event) = self.far.pop().expect("it was seen");
                self.insert(at, event);
            }
            return;
        }
        self.open(level + 1, now);
        let from = self.levels[level].opened;
        self.levels[level].opened = due;
        for number in from..due {
            self.move_down(level, number);
        }
    }

    /// Moves the events of a bucket of the level above into this level.
    fn move_down(&mut self, level: usize, number: u64) {
        let (lower, upper) = self.levels.split_at_mut(level + 1);
        let (lower, upper) = (&mut lower[level], &mut upper[0]);
        if upper.bucket(number).is_empty() {
            return;
        }
        let bucket = upper.take(number);
        self.chunks.clear();
        self.chunks.extend(self.pool.chunks(bucket));
        let mut chunks = self.chunks.iter().rev().peekable();
        while let Some(&chunk) = chunks.next() {
            let len = if chunks.peek().is_some() { CHUNK } else { bucket.len_of_last() };
            for place in (Pool::<E>::place(chunk)..).take(len) {
                let (key, event) = self.pool.take(place);
                let below = u64::from(key >> (PRIORITY_BITS + shift(level))) % (1 << FAN_BITS);
                lower.push(&mut self.pool, number << FAN_BITS | below, key, event);
            }
            self.pool.free(chunk);
        }
    }

    /// Takes the first event of a bucket, and makes the others the run. Also tells how many there were.
    // Always inlined: `pop` knows the level.
    #[inline(always)]
    fn take(
        &mut self,
        level: usize,
        number: u64,
        run: &mut Run<E>,
    ) -> (usize, Option<(Instant, E)>) {
        let start = number << shift(level);
        run.begin(start, last_of(start, shift(level)));
        let bucket = self.levels[level].take(number);
        if !self.pool.is_single(bucket) {
            return (self.sort(level, bucket, run), run.pop());
        }
        let chunk = bucket.last();
        let (key, event) = self.pool.take(Pool::<E>::place(chunk));
        self.pool.free(chunk);
        (1, Some((run.instant(key & mask(level)), event)))
    }

    /// Makes the events of a bucket the run, and tells how many they are.
    #[inline(never)]
    fn sort(&mut self, level: usize, bucket: Bucket, run: &mut Run<E>) -> usize {
        if !self.pool.is_one_chunk(bucket) {
            assert_eq!(level, 0, "only a bucket of one chunk is taken from an upper level");
            return self.sort_many(bucket, run);
        }
        let (chunk, len) = (bucket.last(), bucket.len_of_last());
        match len {
            ..=4 => self.sort_few::<4>(level, chunk, len, run),
            5..=8 => self.sort_few::<8>(level, chunk, len, run),
            _ => self.sort_few::<CHUNK>(level, chunk, len, run),
        }
        len
    }

    /// As [`Self::sort`], for a chunk of `len` events, which are at most `N`.
    #[inline]
    fn sort_few<const N: usize>(&mut self, level: usize, chunk: u32, len: usize, run: &mut Run<E>) {
        let keys = self.pool.keys(chunk);
        let keys: [i32; N] = std::array::from_fn(|index| {
            // The index makes each differ. What is not there comes last.
            let key = (keys[index] & mask(level)) << CHUNK.ilog2() | index as u32;
            if index < len { key as i32 } else { -1 }
        });
        run.reserve(len);
        for &index in order::descending(&keys).iter().take(len) {
            let (key, event) = self.pool.take(Pool::<E>::place(chunk) + u32::from(index));
            run.push_front(key & mask(level), event);
        }
        self.pool.free(chunk);
    }

    /// As [`Self::sort`], for a bucket of the lowest level.
    fn sort_many(&mut self, bucket: Bucket, run: &mut Run<E>) -> usize {
        self.chunks.clear();
        self.chunks.extend(self.pool.chunks(bucket));
        self.numbers.clear();
        for &chunk in &self.chunks {
            let (keys, first) = (self.pool.keys(chunk), Pool::<E>::place(chunk));
            let number = |index: usize| {
                u64::from(keys[index] & mask(0)) << 32 | (u64::from(first) + index as u64)
            };
            // The event that was inserted last comes first.
            let numbers: [u64; CHUNK] = std::array::from_fn(|index| number(CHUNK - 1 - index));
            self.numbers.extend_from_slice(&numbers);
        }
        self.numbers.drain(..CHUNK - bucket.len_of_last());
        order::sort(&mut self.numbers, &mut self.spare);
        run.reserve(self.numbers.len());
        for &number in &self.numbers {
            let (key, event) = self.pool.take(number as u32);
            run.push_front(key & mask(0), event);
        }
        for &chunk in &self.chunks {
            self.pool.free(chunk);
        }
        self.numbers.len()
    }

    /// The instant of the first event, which a search through a bucket may be needed for.
    pub fn peek(&self, run: &Run<E>) -> Option<u64> {
        let lowest = self.levels[0].first(Self::behind(run)).map(|number| (0, number));
        match lowest.or_else(|| self.next_above()) {
            None => self.far.peek().map(|at| at.time),
            Some((level, number)) => {
                let least = self.pool.least(self.levels[level].bucket(number), mask(level));
                Some((number << shift(level)) + u64::from(least >> PRIORITY_BITS))
            }
        }
    }

    /// An event of the next bucket, if that is one of the lowest level.
    #[inline]
    pub fn likely_next(&self, run: &Run<E>) -> Option<&E> {
        let number = self.levels[0].first(Self::behind(run))?;
        self.pool.some_of(self.levels[0].bucket(number))
    }

    /// Whether the run is wider than a bucket of the lowest level.
    pub fn is_wide(run: &Run<E>) -> bool {
        run.last() - run.start() >= 1 << WIDTH_BITS
    }

    /// Puts back what is in a wide run, but for the lowest level's bucket of the instant `now`.
    /// `aside` is room to work in.
    #[inline(never)]
    pub fn narrow(&mut self, run: &mut Run<E>, now: u64, aside: &mut Vec<(Instant, E)>) {
        let last = last_of(now, WIDTH_BITS);
        for level in (0..LEVELS - 1).rev() {
            let due = (now >> shift(level + 1)) + OPEN;
            // Nothing is there yet that the level above does not take.
            let opened = &mut self.levels[level].opened;
            *opened = due.min(*opened);
            self.open(level, now);
        }
        aside.clear();
        while let Some((at, event)) = run.pop() {
            if at.time <= last {
                aside.push((at, event));
            } else {
                self.insert(at, event);
            }
        }
        run.begin(now >> WIDTH_BITS << WIDTH_BITS, last);
        while let Some((at, event)) = aside.pop() {
            run.restore(at, event);
        }
    }
}
