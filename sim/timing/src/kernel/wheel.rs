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

/// Low bits of a key; above them is the time since the start of the bucket.
pub(super) const PRIORITY_BITS: u32 = 2;
/// Bits of a key of the lowest level.
pub(super) const KEY_BITS: u32 = WIDTH_BITS + PRIORITY_BITS;

// `Wheel::insert_above` names them.
const _: () = assert!(LEVELS == 3);

// Keys of the highest level fit.
const _: () = assert!(shift(LEVELS - 1) + PRIORITY_BITS <= u32::BITS);

/// The logarithm of the width of a level's buckets; of the heap's steps, for the level above all.
const fn shift(level: usize) -> u32 {
    WIDTH_BITS + FAN_BITS * level as u32
}

const fn last_of(start: u64, shift: u32) -> u64 {
    start | ((1 << shift) - 1)
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
        let bucket = &mut self.buckets[place];
        if bucket.is_empty() {
            self.occupied.insert(place);
        }
        pool.push(bucket, key, event);
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
    /// Room to sort a bucket of several chunks: key and place of each event, and the chunks.
    numbers: Vec<u64>,
    spare: Vec<u64>,
    chunks: Vec<u32>,
}

impl<E> Wheel<E> {
    /// With memory for so many events.
    pub fn with_capacity(events: usize) -> Self {
        // Each bucket may have a chunk that is not full, and one may be emptied while others fill.
        let chunks = events.min(LEVELS * BUCKETS) + events.div_ceil(CHUNK) + 1;
        Wheel {
            levels: std::array::from_fn(|_| Level::new()),
            pool: Pool::with_capacity(chunks),
            far: Heap::with_capacity(events),
            taken: 0,
            numbers: Vec::with_capacity(events),
            spare: Vec::with_capacity(events),
            chunks: Vec::with_capacity(events.div_ceil(CHUNK)),
        }
    }

    /// The run that a kernel begins with: the first bucket of the lowest level.
    pub fn first_run(events: usize) -> Run<E> {
        Run::with_capacity(last_of(0, WIDTH_BITS), events)
    }

    /// Puts an event that lies behind the run.
    #[inline]
    pub fn insert(&mut self, at: Instant, event: E) {
        if self.takes(0, at) {
            self.put(0, at, event);
        } else {
            self.insert_above(at, event);
        }
    }

    #[inline(never)]
    fn insert_above(&mut self, at: Instant, event: E) {
        if self.takes(1, at) {
            self.put(1, at, event);
        } else if self.takes(2, at) {
            self.put(2, at, event);
        } else {
            self.far.push(at, event);
        }
    }

    #[inline]
    fn takes(&self, level: usize, at: Instant) -> bool {
        at.time >> shift(level + 1) < self.levels[level].opened
    }

    #[inline]
    fn put(&mut self, level: usize, at: Instant, event: E) {
        let offset = at.time & last_of(0, shift(level));
        let key = (offset as u32) << PRIORITY_BITS | at.priority;
        self.levels[level].push(&mut self.pool, at.time >> shift(level), key, event);
    }

    /// Makes the next bucket with events the run, which is empty. `false` when nothing is pending.
    pub fn advance(&mut self, run: &mut Run<E>) -> bool {
        loop {
            match self.next_bucket(run) {
                Some((0, number)) => {
                    self.taken += self.take(0, number, run);
                    self.keep_open(run.start());
                    return true;
                }
                Some((level, number)) => {
                    let start = number << shift(level);
                    for upper in (level..LEVELS).rev() {
                        self.open(upper, start);
                    }
                    if self.is_sparse(level, number) {
                        self.take(level, number, run);
                        self.begin_at(level, number + 1);
                        return true;
                    }
                    self.begin_at(level, number);
                    run.begin(start - 1, start - 1);
                    self.open(0, start);
                }
                None => {
                    let Some(next) = self.far.peek() else { return false };
                    let number = next.time >> shift(LEVELS);
                    self.begin_at(LEVELS, number);
                    self.open(LEVELS - 1, number << shift(LEVELS));
                }
            }
        }
    }

    /// The level and the number of the bucket that comes next.
    fn next_bucket(&self, run: &Run<E>) -> Option<(usize, u64)> {
        // At the end of time nothing is behind the run, wherever the search begins.
        let behind = run.last().wrapping_add(1) >> WIDTH_BITS;
        if let Some(number) = self.levels[0].first(behind) {
            return Some((0, number));
        }
        (1..LEVELS).find_map(|level| {
            let number = self.levels[level].first(self.levels[level - 1].opened)?;
            Some((level, number))
        })
    }

    /// Whether the events of a bucket are so few that they are sorted at once, without the levels below.
    fn is_sparse(&self, level: usize, number: u64) -> bool {
        self.pool.is_one_chunk(self.levels[level].bucket(number))
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
        let mut next = Some(self.pool.first(bucket));
        while let Some(chunk) = next {
            for place in 0..self.pool.chunk(chunk).len() {
                let (key, event) = self.pool.chunk_mut(chunk).take(place);
                // Time and priority since the start of the lower bucket, and that bucket.
                let key_bits = shift(level) + PRIORITY_BITS;
                let below = number << FAN_BITS | u64::from(key >> key_bits);
                lower.push(&mut self.pool, below, key & ((1 << key_bits) - 1), event);
            }
            next = self.pool.next(bucket, chunk);
            self.pool.free(chunk);
        }
    }

    /// Makes a bucket the run, and tells how many events it has.
    fn take(&mut self, level: usize, number: u64, run: &mut Run<E>) -> usize {
        let start = number << shift(level);
        run.begin(start, last_of(start, shift(level)));
        let bucket = self.levels[level].take(number);
        let first = self.pool.first(bucket);
        if !self.pool.is_one_chunk(bucket) {
            return self.take_many(bucket, run);
        }
        let chunk = self.pool.chunk_mut(first);
        let len = chunk.len();
        run.reserve(len);
        if len == 1 {
            let (key, event) = chunk.take(0);
            run.push_front(key, event);
        } else {
            let mut keys = [0; CHUNK];
            for (to, key) in keys.iter_mut().zip(chunk.keys()) {
                *to = key;
            }
            for &place in order::descending(&keys, len).iter().take(len) {
                let (key, event) = chunk.take(usize::from(place) % CHUNK);
                run.push_front(key, event);
            }
        }
        self.pool.free(first);
        len
    }

    fn take_many(&mut self, bucket: Bucket, run: &mut Run<E>) -> usize {
        self.numbers.clear();
        self.chunks.clear();
        let mut next = Some(self.pool.first(bucket));
        while let Some(number) = next {
            let chunk = self.pool.chunk(number);
            let from = (self.chunks.len() * CHUNK) as u64;
            let keys = chunk.keys().zip(from..);
            self.numbers.extend(keys.map(|(key, place)| u64::from(key) << 32 | place));
            self.chunks.push(number);
            next = self.pool.next(bucket, number);
        }
        order::sort(&mut self.numbers, &mut self.spare);
        run.reserve(self.numbers.len());
        for &number in self.numbers.iter().rev() {
            let place = number as u32 as usize;
            let chunk = self.pool.chunk_mut(self.chunks[place / CHUNK]);
            let (key, event) = chunk.take(place % CHUNK);
            run.push_front(key, event);
        }
        for &chunk in self.chunks.iter().rev() {
            self.pool.free(chunk);
        }
        self.numbers.len()
    }

    /// The instant of the first event, which a search through a bucket may be needed for.
    pub fn peek(&self, run: &Run<E>) -> Option<u64> {
        match self.next_bucket(run) {
            None => self.far.peek().map(|at| at.time),
            Some((level, number)) => {
                let least = self.pool.least(self.levels[level].bucket(number));
                Some((number << shift(level)) + u64::from(least >> PRIORITY_BITS))
            }
        }
    }

    /// An event of the next bucket, if that is one of the lowest level.
    #[inline]
    pub fn likely_next(&self, run: &Run<E>) -> Option<&E> {
        let behind = run.last().wrapping_add(1) >> WIDTH_BITS;
        let number = self.levels[0].first(behind)?;
        self.pool.chunk(self.pool.first(self.levels[0].bucket(number))).first()
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
