// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table in memory, laid out as the one of FaSST's published code, for the time that its handlers take.
//!
//! ```text
//! word 0            who has locked the bucket (32 bits), the next bucket of the chain (32 bits)
//! word 1            63 bits of version, lock bit
//! words 2 to 8      seven keys
//! words 9 on        seven values
//! ```
//!
//! Sources: FaSST, section 5.1 ("multiple (7-15) slots", one header for all of a chain); its code, table
//! `FixedTable`: seven slots, keys before values, 1.1 slots for each row and then the next power of two of
//! buckets, a tenth of them for overflow.

use tables::hash::hash;
use tables::memory::{AtomicMemory, HostMemory};

/// Slots of a bucket.
pub const SLOTS: usize = 7;
const OWNER: usize = 0;
const VERSION: usize = 1;
const KEYS: usize = 2;
const VALUES: usize = KEYS + SLOTS;
/// Lines of a bucket that a handler asks for in advance, as the published code does.
const PREFETCHED_LINES: usize = 3;
const LINE_WORDS: usize = 8;
const FREE: u64 = 0;

/// The table. Only one thread changes it.
#[derive(Debug)]
pub struct BucketTable {
    memory: AtomicMemory,
    value_words: usize,
    buckets: usize,
    /// Overflow buckets, which come after the others, and how many are taken.
    overflow: usize,
    taken: usize,
}

impl BucketTable {
    /// An empty table for so many rows. Keys are not 0.
    ///
    /// # Errors
    /// When the system refuses the memory.
    pub fn new(rows: usize, value_bytes: usize) -> std::io::Result<Self> {
        let buckets = (rows * 11 / 10).div_ceil(SLOTS).next_power_of_two();
        let overflow = buckets / 10;
        let value_words = value_bytes.div_ceil(8);
        let words = (buckets + overflow) * (VALUES + SLOTS * value_words);
        let memory = AtomicMemory::mapped(words)?;
        Ok(Self { memory, value_words, buckets, overflow, taken: 0 })
    }

    pub fn has_huge_pages(&self) -> bool {
        self.memory.has_huge_pages()
    }

    pub fn memory_bytes(&self) -> usize {
        self.memory.words() * 8
    }

    /// How many overflow buckets are taken.
    pub fn overflowed(&self) -> usize {
        self.taken
    }

    /// The first word of a key's bucket.
    #[inline]
    fn main(&self, key: u64) -> usize {
        self.word_of(hash(key) as usize & (self.buckets - 1))
    }

    #[inline]
    fn word_of(&self, bucket: usize) -> usize {
        bucket * (VALUES + SLOTS * self.value_words)
    }

    /// The next bucket of a chain. Overflow buckets are numbered from 1.
    #[inline]
    fn next(&self, bucket: usize) -> Option<usize> {
        let next = self.memory.load(bucket + OWNER) as u32 as usize;
        (next != 0).then(|| self.word_of(self.buckets + next - 1))
    }

    /// The bucket of a chain that has the key, and its slot.
    #[inline]
    fn find(&self, mut bucket: usize, key: u64) -> Option<(usize, usize)> {
        loop {
            let found = (0..SLOTS).find(|slot| self.memory.load(bucket + KEYS + slot) == key);
            if let Some(slot) = found {
                return Some((bucket, slot));
            }
            bucket = self.next(bucket)?;
        }
    }

    #[inline]
    fn value(&self, (bucket, slot): (usize, usize)) -> usize {
        bucket + VALUES + slot * self.value_words
    }

    /// Asks for the first lines of a key's bucket.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        let bucket = self.main(key);
        (0..PREFETCHED_LINES).for_each(|line| self.memory.prefetch(bucket + line * LINE_WORDS));
    }

    /// Appends the value of a key and says the version of its bucket; `None` if the bucket is locked, or
    /// changes meanwhile, or there is no such row.
    #[inline]
    pub fn get(&self, key: u64, value: &mut Vec<u8>) -> Option<u64> {
        let bucket = self.main(key);
        let version = self.memory.load(bucket + VERSION);
        if version & 1 == 1 {
            return None;
        }
        let place = self.value(self.find(bucket, key)?);
        for word in place..place + self.value_words {
            value.extend_from_slice(&self.memory.load(word).to_le_bytes());
        }
        (self.memory.load(bucket + VERSION) == version).then_some(version >> 1)
    }

    /// Locks a key's bucket for `owner`, and says its version; `None` if it is locked.
    #[inline]
    pub fn try_lock(&self, key: u64, owner: u32) -> Option<u64> {
        let bucket = self.main(key);
        let version = self.memory.load(bucket + VERSION) & !1;
        self.memory.compare_exchange(bucket + VERSION, version, version | 1).ok()?;
        let link = self.memory.load(bucket + OWNER) as u32;
        self.memory.store(bucket + OWNER, u64::from(owner) << 32 | u64::from(link));
        Some(version >> 1)
    }

    /// Unlocks a key's bucket if `owner` has locked it, and says whether it had.
    #[inline]
    pub fn unlock(&self, key: u64, owner: u32) -> bool {
        let bucket = self.main(key);
        let version = self.memory.load(bucket + VERSION);
        let is_mine =
            version & 1 == 1 && self.memory.load(bucket + OWNER) >> 32 == u64::from(owner);
        if is_mine {
            self.memory.store(bucket + VERSION, version & !1);
        }
        is_mine
    }

    /// Replaces a value, raises the version and unlocks. Says the new version; `None` if there is no such row.
    #[inline]
    pub fn update(&self, key: u64, value: &[u8]) -> Option<u64> {
        let bucket = self.main(key);
        self.put(self.value(self.find(bucket, key)?), value);
        Some(self.raise(bucket))
    }

    /// Makes a row, raises the version and unlocks. Says whether there was room; a row that is there already
    /// is not looked for, as the handler has found it absent.
    pub fn insert(&mut self, key: u64, value: &[u8]) -> bool {
        let main = self.main(key);
        let Some((bucket, slot)) = self.find(main, FREE).or_else(|| self.grow(main)) else {
            return false;
        };
        self.put(self.value((bucket, slot)), value);
        self.memory.store(bucket + KEYS + slot, key);
        self.raise(main);
        true
    }

    /// Appends an overflow bucket to a chain.
    fn grow(&mut self, mut bucket: usize) -> Option<(usize, usize)> {
        if self.taken == self.overflow {
            return None;
        }
        while let Some(next) = self.next(bucket) {
            bucket = next;
        }
        self.taken += 1;
        let owner = self.memory.load(bucket + OWNER) >> 32 << 32;
        self.memory.store(bucket + OWNER, owner | self.taken as u64);
        Some((self.word_of(self.buckets + self.taken - 1), 0))
    }

    #[inline]
    fn put(&self, place: usize, value: &[u8]) {
        for (word, bytes) in value.chunks_exact(8).enumerate() {
            let bytes = bytes.try_into().expect("eight bytes");
            self.memory.store(place + word, u64::from_le_bytes(bytes));
        }
    }

    #[inline]
    fn raise(&self, bucket: usize) -> u64 {
        let version = (self.memory.load(bucket + VERSION) & !1) + 2;
        self.memory.store(bucket + VERSION, version);
        version >> 1
    }
}
