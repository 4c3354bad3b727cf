// SPDX-License-Identifier: MIT OR Apache-2.0
//! What all tables share: locks, values, versions, and the order of things in an operation.

use crate::error::{ShapeError, TableError, check};
use crate::job::{Job, Spare};
use crate::link::Link;
use crate::local::{self, Seen};
use crate::memory::HostMemory;
use crate::object::Image;
use crate::plan::Plan;
use crate::primitive::{Mutex, lock};
use crate::search::{MOST_READINGS, Search};
use crate::slot::{LINE_WORDS, Meta};
use crate::stripes::Stripes;
use crate::walk::{Hint, Walk};

/// Words that are asked for before an operation reads them: about as many lines as a core can have under way.
const MOST_PREFETCHED: usize = 16 * LINE_WORDS;

/// A hash table whose host threads insert, update and delete, while remote readers search it line by line.
pub trait RemoteTable {
    /// How a remote reader looks a key up.
    type Plan: Plan;

    /// Adds an object, whose version is 1.
    ///
    /// # Errors
    /// When the key is there, the value is over the limit, or there is no room; then nothing has changed.
    fn insert(&self, key: u64, value: &[u8]) -> Result<(), TableError>;

    /// Replaces a value, and says the object's new version: one more, modulo 2³², or that of its bucket.
    ///
    /// # Errors
    /// When the key is not there, the value is over the limit, or there is no room for a value out of line;
    /// then nothing has changed.
    fn update(&self, key: u64, value: &[u8]) -> Result<u64, TableError>;

    /// Takes an object out.
    ///
    /// # Errors
    /// When the key is not there.
    fn delete(&self, key: u64) -> Result<(), TableError>;

    /// Copies the value of a key and says its version, or its bucket's. It takes no lock unless it meets with
    /// writes again and again. When the key is not there, `value` has any content.
    fn get(&self, key: u64, value: &mut Vec<u8>) -> Option<u64>;

    /// How a remote reader with this hint looks the key up.
    fn plan(&self, key: u64, hint: Hint) -> Self::Plan;

    /// What is in the table. Operations that run meanwhile are counted or not.
    fn statistics(&self) -> Statistics;
}

/// What is in a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Objects.
    pub objects: u64,
    /// Those of them that lie in overflow buckets.
    pub overflowed: u64,
    /// Slots that are not in overflow buckets and that keys have their homes in.
    pub slots: u64,
    /// Slots, or buckets of slots, that overflow buckets take of their area.
    pub overflow_taken: u64,
    /// Lines that values out of line take.
    pub heap_lines_taken: u64,
    /// Bytes of a slot.
    pub slot_bytes: usize,
    /// Bytes of the table in the memory that remote readers see.
    pub memory_bytes: usize,
    /// Bytes of the host's locks.
    pub lock_bytes: usize,
}

impl Statistics {
    /// Objects by slots: 1 when there are as many as slots outside overflow buckets.
    pub fn occupancy(&self) -> f64 {
        self.objects as f64 / self.slots as f64
    }
}

/// Where an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The first word of its slot.
    pub word: usize,
    /// Index of the row of slots; 0 is not an overflow bucket.
    pub node: usize,
    /// Index of the slot in the row.
    pub slot: usize,
}

/// How a table places its objects.
pub trait Placement: Walk {
    /// Number of positions that locks are made for.
    fn positions(&self) -> u32;

    /// How many positions in a row an operation may touch.
    fn reach(&self) -> u32;

    /// The first of the positions that an operation on the key may touch.
    fn position(&self, key: u64) -> u32;

    /// Slots outside overflow buckets that keys have their homes in.
    fn slots(&self) -> u64;

    /// Units of the overflow area.
    fn overflow_units(&self) -> u32;

    /// Makes the list that adds an object whose key is not there. Says by how many the objects in overflow
    /// buckets grow.
    ///
    /// # Errors
    /// When there is no room.
    fn place<M: HostMemory>(
        &self,
        job: &mut Job<'_, M>,
        image: &Image<'_>,
    ) -> Result<i32, TableError>;

    /// Makes the list that takes an object out. Says by how many the objects in overflow buckets grow.
    fn remove<M: HostMemory>(&self, job: &mut Job<'_, M>, key: u64, place: Place) -> i32;
}

/// A table: a way to place objects, over a memory.
#[derive(Debug)]
pub struct Table<P, M> {
    placement: P,
    memory: M,
    stripes: Stripes,
    spare: Mutex<Spare>,
}

impl<P, M> Table<P, M> {
    /// The geometry, from which plans are made without the table.
    pub fn geometry(&self) -> &P {
        &self.placement
    }

    /// The memory.
    pub fn memory(&self) -> &M {
        &self.memory
    }
}

impl<P: Placement, M: HostMemory> Table<P, M> {
    /// An empty table. It reads all of its words.
    ///
    /// # Errors
    /// When the memory is too small; when a word of the table is not 0, as in a file that has a table already. Such
    /// a table can be read ([`Search`] needs the geometry alone), but not be written on: which parts of it are free
    /// is known only to whoever has written it.
    pub fn new(placement: P, memory: M) -> Result<Self, ShapeError> {
        let ground = placement.ground();
        let expected = "as many words as the geometry says";
        check(memory.words() >= ground.words(), "words of the memory", memory.words(), expected)?;
        let used = (0..ground.words()).find(|&word| memory.load(word) != 0);
        let expected = "none: a table begins with words of 0";
        check(used.is_none(), "first word that is not 0", used.unwrap_or(0), expected)?;
        let spare = Mutex::new(Spare::new(placement.overflow_units(), ground.heap_lines));
        let stripes = Stripes::new(placement.positions(), placement.reach());
        Ok(Table { placement, memory, stripes, spare })
    }

    /// Where a key is. While threads write near it, the answer may be out of date, or wrong.
    pub fn locate(&self, key: u64) -> Option<Place> {
        locate(&self.placement, &self.memory, key)
    }

    /// Says that an operation on the key will come soon. Whoever has many, as when a table is filled, does not wait
    /// for memory if it says so some operations ahead.
    pub fn prefetch(&self, key: u64) {
        self.stripes.prefetch(self.placement.position(key));
        self.prefetch_slots(key);
    }

    /// Asks for the lines that an operation reads first, while it waits for those of the locks.
    fn prefetch_slots(&self, key: u64) {
        let node = self.placement.first(key);
        let words = (node.count * self.placement.ground().layout.words()).min(MOST_PREFETCHED);
        (0..words).step_by(LINE_WORDS).for_each(|word| self.memory.prefetch(node.slots + word));
        node.link.into_iter().for_each(|link| self.memory.prefetch(link));
    }

    fn checked<'a>(&self, value: &'a [u8]) -> Result<&'a [u8], TableError> {
        let limit = self.placement.ground().longest;
        if value.len() > limit {
            return Err(TableError::ValueTooLong { length: value.len(), limit });
        }
        Ok(value)
    }

    /// Runs a change of the memory under the locks of a key.
    pub(crate) fn locked<R>(&self, key: u64, change: impl FnOnce(&M) -> R) -> R {
        let first = self.placement.position(key);
        let _locked = self.stripes.lock(first, self.placement.reach());
        change(&self.memory)
    }

    /// Runs an operation on one key: the locks, the list, the stores, the counts.
    fn run<R>(
        &self,
        key: u64,
        make: impl FnOnce(&mut Job<'_, M>, Option<Place>) -> Result<(R, i32, i32), TableError>,
    ) -> Result<R, TableError> {
        self.prefetch_slots(key);
        let first = self.placement.position(key);
        let mut locked = self.stripes.lock(first, self.placement.reach());
        let place = locate(&self.placement, &self.memory, key);
        let mut job = Job::new(*self.placement.ground(), &self.memory, &self.spare);
        let header = self.placement.header(key).map(|word| (word, self.memory.load(word)));
        if let Some((word, old)) = header {
            job.store(word, old | 1);
        }
        let (result, objects, overflowed) = make(&mut job, place)?;
        if let Some((word, old)) = header {
            job.store(word, old.wrapping_add(2));
        }
        job.carry_out();
        locked.counts.change(objects, overflowed);
        Ok(result)
    }
}

/// Where a key is, in memory at rest.
pub(crate) fn locate<P: Walk, M: HostMemory>(walk: &P, memory: &M, key: u64) -> Option<Place> {
    let size = walk.ground().layout.words();
    let mut row = walk.first(key);
    for node in 0.. {
        for slot in 0..row.count {
            let word = row.slots + slot * size;
            let other = memory.load(word + 1);
            let used = (walk.has_ends() || other == key) && Meta(memory.load(word)).is_used();
            if used && other == key {
                return Some(Place { word, node, slot });
            }
            if walk.has_ends() && walk.ends_at(key, used.then_some(other)) {
                return None;
            }
        }
        row = match row.link {
            Some(link) => walk.behind(Link(memory.load(link)))?,
            None => walk.adjacent(&row)?,
        };
    }
    None
}

impl<P: Placement, M: HostMemory> RemoteTable for Table<P, M> {
    type Plan = Search<P>;

    fn insert(&self, key: u64, value: &[u8]) -> Result<(), TableError> {
        let value = self.checked(value)?;
        self.run(key, |job, place| {
            if place.is_some() {
                return Err(TableError::KeyPresent { key });
            }
            let image = job.image(key, 1, value)?;
            let overflowed = self.placement.place(job, &image)?;
            Ok(((), 1, overflowed))
        })
    }

    fn update(&self, key: u64, value: &[u8]) -> Result<u64, TableError> {
        let value = self.checked(value)?;
        self.run(key, |job, place| {
            let place = place.ok_or(TableError::UnknownKey { key })?;
            let version = Meta(self.memory.load(place.word)).version().wrapping_add(1);
            let image = job.image(key, version, value)?;
            job.free_value(place.word);
            job.write(place.word, &image);
            let header = self.placement.header(key).map(|word| (self.memory.load(word) >> 1) + 1);
            Ok((header.unwrap_or(version as u64), 0, 0))
        })
    }

    fn delete(&self, key: u64) -> Result<(), TableError> {
        self.run(key, |job, place| {
            let place = place.ok_or(TableError::UnknownKey { key })?;
            job.free_value(place.word);
            let overflowed = self.placement.remove(job, key, place);
            Ok(((), -1, overflowed))
        })
    }

    #[inline]
    fn get(&self, key: u64, value: &mut Vec<u8>) -> Option<u64> {
        match local::get(&self.placement, &self.memory, key, value) {
            Seen::Version(version) => Some(version),
            Seen::Absent => None,
            Seen::Disturbed => {
                self.locked(key, |memory| local::get_at_rest(&self.placement, memory, key, value))
            }
        }
    }

    fn plan(&self, key: u64, hint: Hint) -> Search<P> {
        Search::new(self.placement.clone(), key, hint, MOST_READINGS)
    }

    fn statistics(&self) -> Statistics {
        let (objects, overflowed) = self.stripes.counts();
        let (overflow_taken, heap_lines_taken) = lock(&self.spare).taken();
        let ground = self.placement.ground();
        Statistics {
            objects,
            overflowed,
            slots: self.placement.slots(),
            overflow_taken,
            heap_lines_taken,
            slot_bytes: ground.layout.bytes(),
            memory_bytes: ground.words() * 8,
            lock_bytes: self.stripes.bytes(),
        }
    }
}
