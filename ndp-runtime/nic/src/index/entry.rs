// SPDX-License-Identifier: MIT OR Apache-2.0
//! An entry of the index: the cached objects of one segment, and what is known of the segment.

use super::request::{Answer, DIRECTORY_MASK, Found, Operation, Request, Status};
use super::table::Table;

/// The most objects of an entry.
pub const MOST_OBJECTS: usize = 8;

/// A cached object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Object<const WORDS: usize> {
    /// The key.
    pub key: u64,
    /// Version and value. An object that was locked before it was read has none.
    pub content: Option<(u32, [u64; WORDS])>,
    /// Who has the lock.
    pub owner: Option<u16>,
    /// Updates that the host has not applied.
    pub pins: u8,
    /// Whether it was updated since it came: then reads of host memory may be older.
    pub is_updated: bool,
}

impl<const WORDS: usize> Object<WORDS> {
    fn new(key: u64) -> Self {
        Object { key, content: None, owner: None, pins: 0, is_updated: false }
    }

    /// Whether another object may take its place.
    pub const fn is_replaceable(&self) -> bool {
        self.owner.is_none() && self.pins == 0
    }
}

/// An entry: at most `OBJECTS` objects with values of `WORDS` words.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Entry<const OBJECTS: usize, const WORDS: usize> {
    pub(super) displacement: u8,
    /// Of `DIRECTORY_BITS`.
    pub(super) directory: u64,
    pub(super) epoch: u16,
    /// The place at which the search for a replaceable object begins.
    pub(super) hand: u8,
    pub(super) objects: [Option<Object<WORDS>>; OBJECTS],
}

impl<const OBJECTS: usize, const WORDS: usize> Default for Entry<OBJECTS, WORDS> {
    fn default() -> Self {
        const { assert!(OBJECTS >= 1 && OBJECTS <= MOST_OBJECTS && WORDS >= 1 && WORDS <= 8) };
        let objects = [None; OBJECTS];
        Entry { displacement: 0, directory: 0, epoch: 0, hand: 0, objects }
    }
}

impl<const OBJECTS: usize, const WORDS: usize> Entry<OBJECTS, WORDS> {
    /// The known displacement of the segment.
    pub const fn displacement(&self) -> u8 {
        self.displacement
    }

    /// The word of the directory, of [`DIRECTORY_BITS`](super::DIRECTORY_BITS).
    pub const fn directory(&self) -> u64 {
        self.directory
    }

    /// The number of fills that are stale now, so to speak: it grows whenever an object leaves of which host
    /// memory may have shown an older version.
    pub const fn epoch(&self) -> u16 {
        self.epoch
    }

    /// The objects, by place.
    pub fn objects(&self) -> &[Option<Object<WORDS>>; OBJECTS] {
        &self.objects
    }

    /// The object of a key.
    pub fn object(&self, key: u64) -> Option<&Object<WORDS>> {
        self.objects.iter().flatten().find(|object| object.key == key)
    }

    /// Carries out a request that the table has (see [`Table::has`]); an object takes at most `most_pins` pins.
    pub fn apply(
        &mut self,
        request: &Request<WORDS>,
        table: &Table,
        most_pins: u8,
    ) -> Answer<WORDS> {
        let at = self.index_of(request.key);
        let found = at
            .and_then(|at| self.objects[at])
            .map(|object| Found { content: object.content, owner: object.owner });
        let epoch = self.epoch;
        let has_content = found.is_some_and(|found| found.content.is_some());
        let directory = if has_content { 0 } else { self.directory };
        let place = table.place(request.home, self.displacement, directory);
        let status = match request.operation {
            Operation::LookUp => Self::look_up(request, found),
            Operation::LockAndRead => self.lock_and_read(request, at, found),
            Operation::Validate => Self::validate(request, found),
            Operation::Fill => self.fill(request, at),
            Operation::UpdateAndPin => self.update_and_pin(request, at, most_pins),
            Operation::Unpin => self.unpin(at),
            Operation::Unlock => self.unlock(request, at),
            Operation::Evict => self.evict(at),
            Operation::SetHint => self.set_hint(request),
        };
        // What a request found may be refused as a fill, and tells where it was all the same.
        if request.operation == Operation::Fill {
            self.displacement = self.displacement.max(request.hint.displacement);
        }
        Answer { status, found, epoch, place }
    }

    /// The place of the object of a key.
    pub fn index_of(&self, key: u64) -> Option<usize> {
        self.objects.iter().position(|object| object.is_some_and(|object| object.key == key))
    }

    fn object_mut(&mut self, at: Option<usize>) -> Option<&mut Object<WORDS>> {
        at.and_then(|at| self.objects[at].as_mut())
    }

    fn look_up(request: &Request<WORDS>, found: Option<Found<WORDS>>) -> Status {
        match found {
            Some(object) if object.owner.is_some_and(|owner| owner != request.owner) => {
                Status::Locked
            }
            Some(Found { content: Some(_), .. }) => Status::Done,
            _ => Status::Miss,
        }
    }

    fn lock_and_read(
        &mut self,
        request: &Request<WORDS>,
        at: Option<usize>,
        found: Option<Found<WORDS>>,
    ) -> Status {
        let status = Self::look_up(request, found);
        if status == Status::Locked {
            return status;
        }
        if let Some(object) = self.object_mut(at) {
            object.owner = Some(request.owner);
            return status;
        }
        let object = Object { owner: Some(request.owner), ..Object::new(request.key) };
        if self.place(object) { Status::Miss } else { Status::Full }
    }

    fn validate(request: &Request<WORDS>, found: Option<Found<WORDS>>) -> Status {
        let status = Self::look_up(request, found);
        match found.and_then(|found| found.content) {
            Some((version, _)) if status == Status::Done && version != request.version => {
                Status::Changed
            }
            _ => status,
        }
    }

    /// What is cached is never older than what a read brought, so it stays.
    fn fill(&mut self, request: &Request<WORDS>, at: Option<usize>) -> Status {
        let content = Some((request.version, request.value));
        let is_stale = request.epoch != self.epoch;
        let cached = self.object_mut(at);
        if cached.as_ref().is_some_and(|object| object.content.is_some()) {
            return Status::Done;
        }
        if is_stale {
            return Status::Stale;
        }
        if let Some(object) = cached {
            object.content = content;
            return Status::Done;
        }
        let object = Object { content, ..Object::new(request.key) };
        if self.place(object) { Status::Done } else { Status::Full }
    }

    fn update_and_pin(
        &mut self,
        request: &Request<WORDS>,
        at: Option<usize>,
        most_pins: u8,
    ) -> Status {
        let Some(object) = self.object_mut(at) else { return Status::Unknown };
        match object.owner {
            None => Status::NotLocked,
            Some(owner) if owner != request.owner => Status::Locked,
            Some(_) if object.pins >= most_pins => Status::TooManyPins,
            Some(_) => {
                object.content = Some((request.version, request.value));
                object.pins += 1;
                object.is_updated = true;
                Status::Done
            }
        }
    }

    fn unpin(&mut self, at: Option<usize>) -> Status {
        match self.object_mut(at) {
            None => Status::Unknown,
            Some(object) if object.pins == 0 => Status::NotPinned,
            Some(object) => {
                object.pins -= 1;
                Status::Done
            }
        }
    }

    /// An object that was locked and never read has nothing to stay for.
    fn unlock(&mut self, request: &Request<WORDS>, at: Option<usize>) -> Status {
        let Some(place) = at else { return Status::Unknown };
        let Some(object) = &mut self.objects[place] else { return Status::Unknown };
        match object.owner {
            None => Status::NotLocked,
            Some(owner) if owner != request.owner => Status::Locked,
            Some(_) => {
                object.owner = None;
                if object.content.is_none() {
                    self.objects[place] = None;
                }
                Status::Done
            }
        }
    }

    /// Whoever evicts knows that host memory has changed, so reads that have begun must not be filled in,
    /// whether or not the key is cached.
    fn evict(&mut self, at: Option<usize>) -> Status {
        let status = match at.and_then(|place| self.objects[place].as_ref()) {
            None => Status::Unknown,
            Some(object) if object.owner.is_some() => return Status::Locked,
            Some(object) if object.pins > 0 => return Status::Pinned,
            Some(_) => Status::Done,
        };
        if let Some(place) = at {
            self.objects[place] = None;
        }
        self.epoch = self.epoch.wrapping_add(1);
        status
    }

    fn set_hint(&mut self, request: &Request<WORDS>) -> Status {
        let hint = request.hint;
        if hint.is_exact || hint.displacement > self.displacement {
            self.displacement = hint.displacement;
        }
        if let Some(directory) = hint.directory {
            self.directory = directory & DIRECTORY_MASK;
        }
        Status::Done
    }

    /// Puts an object into the first free place, or else takes the place of the first replaceable object from
    /// the hand on, and moves the hand behind it. False when there is none.
    fn place(&mut self, object: Object<WORDS>) -> bool {
        if let Some(free) = self.objects.iter().position(Option::is_none) {
            self.objects[free] = Some(object);
            return true;
        }
        let places = (0..OBJECTS).map(|step| (usize::from(self.hand) + step) % OBJECTS);
        let mut replaceable = places
            .filter(|&place| self.objects[place].is_some_and(|object| object.is_replaceable()));
        let Some(place) = replaceable.next() else { return false };
        let left = self.objects[place].replace(object).expect("it was found there");
        if left.is_updated {
            self.epoch = self.epoch.wrapping_add(1);
        }
        self.hand = ((place + 1) % OBJECTS) as u8;
        true
    }
}
