// SPDX-License-Identifier: MIT OR Apache-2.0
//! The NIC's index of its host's tables: entries with bounded memory, and the values of cached objects beside
//! them.
//!
//! What an entry does is `nic::index::Entry`, to which the RTL is held (`docs/nic-lookup.md`). A value lies in NIC
//! memory at the place of its object in the entry; the entry's word of it says whether there is a row.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use nic::index::{Entry, Hint, Operation, Request, Status};

use super::asked::{Answered, Asked, Row};
use super::displacements::{Displacements, Home, Place};
use super::warm::Remembered;
use crate::engine::Key;
use crate::near;
use crate::placement::PartitionId;

/// Cached objects of an entry. (The paper says that the number is fixed, and not which it is.)
pub const OBJECTS: usize = 8;
/// The most updates of an object that the host has not applied.
pub const MOST_PINS: u8 = u8::MAX;
/// The word of an object that is not there.
const ABSENT: [u64; 1] = [0];
/// The word of an object that has a value.
const PRESENT: [u64; 1] = [1];

type Objects = Entry<OBJECTS, 1>;

/// The slot of the cluster that has a lock: that of node, core and slot.
pub type Owner = u16;

/// A row as the index has it: its version, and its value if there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cached<'a> {
    /// The version.
    pub version: u32,
    /// The value, if there is a row.
    pub value: Option<&'a [u8]>,
}

/// The place of a cached object, until its entry is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct At {
    place: u32,
    object: u8,
}

/// What the index says of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It is cached; [`Index::row_at`] has it.
    Cached(At),
    /// It has to be read from host memory.
    Miss {
        /// To be given with the fill.
        epoch: u16,
        /// Slots of the first read.
        slots: u8,
    },
    /// Another has locked it.
    Locked,
    /// There is no memory for an entry, or no place in it.
    Full,
}

/// How a fill ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// The object is cached.
    Cached,
    /// There was no place for it; what was read is the newest version.
    NotCached,
    /// What was read may be too old.
    Stale,
}

/// A key as the index finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Spot {
    key: Key,
    home: Home,
    /// The number of the entry in the whole node.
    number: u64,
}

/// An entry in NIC memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Resident {
    number: u64,
    entry: Objects,
    /// A value for each object.
    values: Vec<u8>,
    /// Reads of host memory for it under way: without its epoch, they could not be told to be stale.
    reads: u16,
    /// Whether each of its rows that is not cached had been until the run began.
    was_cached: bool,
    /// Whether it was used since the hand came by.
    is_used: bool,
}

/// The bytes that an entry takes in a simulation, beside its values.
pub const ENTRY_BYTES: usize = size_of::<Resident>();

/// The index of one NIC.
#[derive(Clone, Debug)]
pub struct Index {
    displacements: Arc<Displacements>,
    places: Arc<[Place]>,
    value_bytes: Arc<[u16]>,
    residents: Vec<Resident>,
    by_number: HashMap<u64, u32, FixedState>,
    most: usize,
    /// Where the search for an entry to forget begins.
    hand: usize,
    /// Whether each entry that there is not had been until the run began: nothing was forgotten since.
    is_warm: bool,
    /// Where that is so of some entries only, these.
    remembered: Option<Box<Remembered>>,
    own_lock_conflicts: bool,
    /// What was asked since it was last taken, if anybody wants to know.
    asked: Option<Vec<Asked>>,
}

impl PartialEq for Index {
    /// The rest is a function of the entries, or of the run.
    fn eq(&self, other: &Self) -> bool {
        self.residents == other.residents
            && self.hand == other.hand
            && self.is_warm == other.is_warm
            && self.remembered == other.remembered
    }
}

impl Eq for Index {}

impl Hash for Index {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.residents.hash(state);
        self.hand.hash(state);
        self.is_warm.hash(state);
        self.remembered.hash(state);
    }
}

impl Index {
    /// An empty one of tables that lie so, with memory for `most` entries.
    pub fn new(
        displacements: Arc<Displacements>,
        places: Arc<[Place]>,
        value_bytes: Arc<[u16]>,
        most: usize,
        own_lock_conflicts: bool,
    ) -> Self {
        Self {
            displacements,
            places,
            value_bytes,
            residents: Vec::new(),
            by_number: HashMap::default(),
            most,
            hand: 0,
            is_warm: false,
            remembered: None,
            own_lock_conflicts,
            asked: None,
        }
    }

    /// From now on, keeps what is asked until [`Index::take_asked`] takes it.
    pub fn watch(&mut self) {
        self.asked.get_or_insert_default();
    }

    /// Moves what was asked since the last time to the end of `to`.
    pub fn take_asked(&mut self, to: &mut Vec<Asked>) {
        if let Some(asked) = &mut self.asked {
            to.append(asked);
        }
    }

    fn note(
        &mut self,
        (operation, key, owner): (Operation, Key, Owner),
        row: Option<Row>,
        answer: Answered,
    ) {
        if let Some(asked) = &mut self.asked {
            asked.push(Asked { operation, key, owner, row, answer });
        }
    }

    /// What a look-up has answered, as it is noted.
    fn answered(&self, look: Look, key: Key) -> Answered {
        match look {
            Look::Cached(at) => {
                self.row_at(at, key).map_or(Answered::Miss, |row| Answered::Row(Row::of(row)))
            }
            Look::Miss { .. } => Answered::Miss,
            Look::Locked => Answered::Locked,
            Look::Full => Answered::Full,
        }
    }

    /// The same that has all rows cached at the start, though it holds none yet: whoever misses one brings it, with
    /// no read of host memory. Nothing else is different, as an uncached row is in the host's table as it is.
    #[must_use]
    pub fn warm(self, is_warm: bool) -> Self {
        Self { is_warm, ..self }
    }

    /// Whether each row that is not cached had been until the run began: nothing was forgotten since.
    pub fn is_warm(&self) -> bool {
        self.is_warm
    }

    /// The number of a key's entry.
    pub fn entry_of(&self, partition: PartitionId, key: Key) -> u64 {
        self.spot(partition, key).number
    }

    /// The largest displacement of the host's tables (D_m), and how full they are, in percent.
    pub fn shape(&self) -> (u8, u8) {
        self.displacements.shape()
    }

    /// The same with only some entries, whose rows are all cached.
    #[must_use]
    pub fn remembering(self, entries: Option<Remembered>) -> Self {
        Self { remembered: entries.map(Box::new), ..self }
    }

    /// Whether a row that is not cached had been at the start, and may be brought with no read.
    pub fn was_cached(&self, partition: PartitionId, key: Key) -> bool {
        let place = self.by_number.get(&self.spot(partition, key).number);
        place.is_some_and(|place| self.residents[*place as usize].was_cached)
    }

    fn spot(&self, partition: PartitionId, key: Key) -> Spot {
        let home = self.places[usize::from(key.table.0)].home(key);
        let number =
            u64::from(partition.0) << 40 | u64::from(key.table.0) << 32 | u64::from(home.segment);
        Spot { key, home, number }
    }

    /// The place of an entry, which is made if there is none and there is memory.
    fn resident(&mut self, spot: Spot) -> Option<usize> {
        if let Some(place) = self.by_number.get(&spot.number) {
            let place = *place as usize;
            self.residents[place].is_used = true;
            return Some(place);
        }
        let was_cached = self.is_warm || self.recall(spot);
        let remembered = self.remembered.as_deref_mut();
        let left = remembered.as_ref().map_or(0, |entries| entries.left());
        let has_room = self.residents.len() + left < self.most;
        let place = if has_room || remembered.is_some_and(Remembered::forget) {
            self.residents.push(Resident {
                number: spot.number,
                entry: Objects::default(),
                values: Vec::new(),
                reads: 0,
                was_cached,
                is_used: true,
            });
            self.residents.len() - 1
        } else {
            self.forget()?
        };
        let resident = &mut self.residents[place];
        resident.number = spot.number;
        resident.entry = Objects::default();
        resident.was_cached = was_cached;
        resident.is_used = true;
        self.by_number.insert(spot.number, place as u32);
        // The hints of all segments stay in NIC memory: eight bytes each.
        let displacement = self.displacements.displacement(spot.key, spot.home);
        let hint = Hint { displacement, is_exact: true, directory: None };
        let mut request = request(Operation::SetHint, spot);
        request.hint = hint;
        self.apply(place, &request);
        Some(place)
    }

    /// Whether there was an entry of this segment at the start, which nobody has asked for since.
    fn recall(&mut self, spot: Spot) -> bool {
        let partition = PartitionId((spot.number >> 40) as u16);
        let remembered = self.remembered.as_deref_mut();
        remembered.is_some_and(|of| of.take(partition, spot.key.table.0, spot.home.segment))
    }

    /// Forgets the objects of an entry that nobody needs, and says which it was: the next one from the hand on
    /// that was not used since the last time.
    fn forget(&mut self) -> Option<usize> {
        let is_idle = |resident: &Resident| {
            let mut objects = resident.entry.objects().iter().flatten();
            resident.reads == 0 && objects.all(|object| object.is_replaceable())
        };
        for _ in 0..2 * self.residents.len() {
            let place = self.hand;
            self.hand = (self.hand + 1) % self.residents.len();
            let resident = &mut self.residents[place];
            if std::mem::take(&mut resident.is_used) || !is_idle(resident) {
                continue;
            }
            self.by_number.remove(&resident.number);
            self.is_warm = false;
            return Some(place);
        }
        None
    }

    fn apply(&mut self, place: usize, request: &Request<1>) -> nic::index::Answer<1> {
        let table = (self.residents[place].number >> 32) as u8;
        let table = &self.places[usize::from(table)].table;
        self.residents[place].entry.apply(request, table, MOST_PINS)
    }

    /// Applies a request that may put an object in the place of another one.
    fn apply_placing(&mut self, place: usize, request: &Request<1>) -> nic::index::Answer<1> {
        let entry = &self.residents[place].entry;
        let is_full = entry.objects().iter().all(Option::is_some);
        let replaces = is_full && entry.index_of(request.key).is_none();
        let answer = self.apply(place, request);
        let resident = &mut self.residents[place];
        // An object that has left has to be read again, and the entry does not tell which.
        resident.was_cached &= !(replaces && resident.entry.index_of(request.key).is_some());
        answer
    }

    /// The place of an object in its entry.
    fn object(&self, partition: PartitionId, key: Key) -> Option<(usize, usize)> {
        let spot = self.spot(partition, key);
        let place = *self.by_number.get(&spot.number)? as usize;
        let objects = self.residents[place].entry.objects();
        let at = objects.iter().position(|object| object.is_some_and(|it| it.key == key.row))?;
        Some((place, at))
    }

    fn look_with(
        &mut self,
        operation: Operation,
        partition: PartitionId,
        key: Key,
        owner: Owner,
    ) -> (Look, bool) {
        let spot = self.spot(partition, key);
        let Some(place) = self.resident(spot) else { return (Look::Full, false) };
        let mut request = request(operation, spot);
        request.owner = owner;
        if self.own_lock_conflicts && self.owner_of(partition, key) == Some(owner) {
            return (Look::Locked, true);
        }
        let answer = self.apply_placing(place, &request);
        let had = answer.found.is_some_and(|found| found.owner == Some(owner));
        let look = match answer.status {
            Status::Done => {
                let object = self.residents[place].entry.index_of(key.row).unwrap_or(OBJECTS);
                Look::Cached(At { place: place as u32, object: object as u8 })
            }
            Status::Miss => Look::Miss { epoch: answer.epoch, slots: answer.place.slots },
            Status::Locked => Look::Locked,
            _ => Look::Full,
        };
        (look, had)
    }

    /// Asks for the lines of a key's entry, if there is one, and says its place.
    pub fn prefetch(&self, partition: PartitionId, key: Key) -> Option<u32> {
        let place = *self.by_number.get(&self.spot(partition, key).number)?;
        near::fetch_value(&self.residents[place as usize]);
        Some(place)
    }

    /// Asks for the values of an entry, whose own lines should be there by then.
    pub fn prefetch_values(&self, place: u32) {
        if let Some(resident) = self.residents.get(place as usize) {
            near::fetch_start(&resident.values, 2);
        }
    }

    /// Looks a key up for `owner`.
    pub fn look(&mut self, partition: PartitionId, key: Key, owner: Owner) -> Look {
        self.look_and_note(Operation::LookUp, partition, key, owner).0
    }

    /// Looks a key up for `owner` again, whose last look-up was a miss, as what was missing was brought within it.
    pub fn look_again(&mut self, partition: PartitionId, key: Key, owner: Owner) -> Look {
        let (look, _) = self.look_with(Operation::LookUp, partition, key, owner);
        if self.asked.is_some() {
            let answer = self.answered(look, key);
            let last = self.asked.as_mut().and_then(|asked| asked.last_mut());
            last.expect("its first look-up was noted").answer = answer;
        }
        look
    }

    fn look_and_note(
        &mut self,
        operation: Operation,
        partition: PartitionId,
        key: Key,
        owner: Owner,
    ) -> (Look, bool) {
        let (look, had) = self.look_with(operation, partition, key, owner);
        if self.asked.is_some() {
            let answer = self.answered(look, key);
            self.note((operation, key, owner), None, answer);
        }
        (look, had)
    }

    /// Locks a key for `owner`, and looks it up. With a miss the lock is taken, too. Says whether the owner had it
    /// already.
    pub fn lock(&mut self, partition: PartitionId, key: Key, owner: Owner) -> (Look, bool) {
        self.look_and_note(Operation::LockAndRead, partition, key, owner)
    }

    /// Who has locked a key.
    pub fn owner_of(&self, partition: PartitionId, key: Key) -> Option<Owner> {
        let (place, at) = self.object(partition, key)?;
        self.residents[place].entry.objects()[at]?.owner
    }

    /// The row of a key, if it is cached.
    pub fn cached(&self, partition: PartitionId, key: Key) -> Option<Cached<'_>> {
        let (place, at) = self.object(partition, key)?;
        self.row_at(At { place: place as u32, object: at as u8 }, key)
    }

    /// The row of a key that was cached there, if it still is.
    pub fn row_at(&self, at: At, key: Key) -> Option<Cached<'_>> {
        let resident = self.residents.get(at.place as usize)?;
        let at = usize::from(at.object);
        // The entry may have been forgotten, and belong to another table or partition; a key is one of a table.
        let is_of_table = (resident.number >> 32) as u8 == key.table.0;
        let object = resident.entry.objects().get(at)?.filter(|object| object.key == key.row)?;
        let (version, word) = object.content.filter(|_| is_of_table)?;
        let bytes = usize::from(self.value_bytes[usize::from(key.table.0)]);
        let value = (word == PRESENT).then(|| &resident.values[at * bytes..][..bytes]);
        Some(Cached { version, value })
    }

    fn write(&mut self, place: usize, at: usize, key: Key, value: Option<&[u8]>) {
        let bytes = usize::from(self.value_bytes[usize::from(key.table.0)]);
        let resident = &mut self.residents[place];
        let Some(value) = value else { return };
        // An entry that served another table before has values of another length.
        resident.values.resize(OBJECTS * bytes, 0);
        resident.values[at * bytes..][..bytes].copy_from_slice(value);
    }

    /// A read of host memory for a key begins, so that its entry stays.
    pub fn begin_read(&mut self, partition: PartitionId, key: Key) {
        let spot = self.spot(partition, key);
        if let Some(place) = self.resident(spot) {
            self.residents[place].reads += 1;
        }
    }

    /// Brings what a read found, which began in `epoch`.
    pub fn end_read(
        &mut self,
        partition: PartitionId,
        key: Key,
        epoch: u16,
        row: Cached<'_>,
    ) -> Fill {
        let spot = self.spot(partition, key);
        let Some(place) = self.by_number.get(&spot.number).map(|place| *place as usize) else {
            return Fill::Stale;
        };
        self.residents[place].reads = self.residents[place].reads.saturating_sub(1);
        let object = self.residents[place].entry.object(key.row);
        let had_content = object.is_some_and(|object| object.content.is_some());
        let mut request = request(Operation::Fill, spot);
        request.epoch = epoch;
        request.version = row.version;
        request.value = if row.value.is_some() { PRESENT } else { ABSENT };
        let status = self.apply_placing(place, &request).status;
        match status {
            Status::Done => {
                let at = self.residents[place].entry.index_of(key.row);
                if let (false, Some(at)) = (had_content, at) {
                    self.write(place, at, key, row.value);
                }
                Fill::Cached
            }
            Status::Full => Fill::NotCached,
            _ => Fill::Stale,
        }
    }

    /// Whether the object can take another pin.
    pub fn has_room_for_pin(&self, partition: PartitionId, key: Key) -> bool {
        let object = self.object(partition, key);
        let object = object.and_then(|(place, at)| self.residents[place].entry.objects()[at]);
        object.is_none_or(|object| object.pins < MOST_PINS)
    }

    /// Gives an object that `owner` has locked a new value and version, and pins it. Says whether that was so.
    pub fn update_and_pin(
        &mut self,
        partition: PartitionId,
        key: Key,
        owner: Owner,
        row: Cached<'_>,
    ) -> bool {
        let is_done = self.update(partition, key, owner, row);
        let answer = if is_done { Answered::Done } else { Answered::Refused };
        self.note((Operation::UpdateAndPin, key, owner), Some(Row::of(row)), answer);
        is_done
    }

    fn update(&mut self, partition: PartitionId, key: Key, owner: Owner, row: Cached<'_>) -> bool {
        let spot = self.spot(partition, key);
        let Some((place, at)) = self.object(partition, key) else { return false };
        let mut request = request(Operation::UpdateAndPin, spot);
        request.owner = owner;
        request.version = row.version;
        request.value = if row.value.is_some() { PRESENT } else { ABSENT };
        let is_done = self.apply(place, &request).status == Status::Done;
        if is_done {
            self.write(place, at, key, row.value);
        }
        is_done
    }

    /// Takes a pin away. Says whether there was one.
    pub fn unpin(&mut self, partition: PartitionId, key: Key) -> bool {
        self.give_back(Operation::Unpin, partition, key, 0)
    }

    /// Gives the lock of `owner` back. Says whether it had one.
    pub fn unlock(&mut self, partition: PartitionId, key: Key, owner: Owner) -> bool {
        self.give_back(Operation::Unlock, partition, key, owner)
    }

    fn give_back(
        &mut self,
        operation: Operation,
        partition: PartitionId,
        key: Key,
        owner: Owner,
    ) -> bool {
        let spot = self.spot(partition, key);
        let place = self.by_number.get(&spot.number).map(|place| *place as usize);
        let is_done = place.is_some_and(|place| {
            let mut request = request(operation, spot);
            request.owner = owner;
            self.apply(place, &request).status == Status::Done
        });
        let answer = if is_done { Answered::Done } else { Answered::Refused };
        self.note((operation, key, owner), None, answer);
        is_done
    }

    /// Forgets everything: of a view that is over.
    pub fn clear(&mut self) {
        self.residents.clear();
        self.by_number.clear();
        self.hand = 0;
        self.is_warm = false;
        self.remembered = None;
    }

    /// A locked or pinned object in words, if there is one.
    pub fn busy(&self) -> Option<String> {
        let of = |resident: &Resident| {
            let table = (resident.number >> 32) as u8;
            let objects = resident.entry.objects().iter().flatten();
            let mut busy = objects.filter(|object| !object.is_replaceable());
            busy.next().map(|object| match object.owner {
                Some(owner) => {
                    format!("row {} of table {table} is locked by slot {owner}", object.key)
                }
                None => {
                    format!("row {} of table {table} has {} pins", object.key, object.pins)
                }
            })
        };
        self.residents.iter().find_map(of)
    }

    /// A cached row that is not what `is_right` says, in words.
    pub fn wrong(&self, mut is_right: impl FnMut(Key, Cached<'_>) -> bool) -> Option<String> {
        for resident in &self.residents {
            let table = crate::engine::TableNumber((resident.number >> 32) as u8);
            for object in resident.entry.objects().iter().flatten() {
                let key = Key { table, row: object.key };
                let partition = PartitionId((resident.number >> 40) as u16);
                let Some(cached) = self.cached(partition, key) else { continue };
                if !is_right(key, cached) {
                    return Some(format!("row {} of table {}: {cached:?}", key.row, table.0));
                }
            }
        }
        None
    }
}

fn request(operation: Operation, spot: Spot) -> Request<1> {
    Request::new(operation, spot.key.row, spot.home.home, spot.home.segment)
}

#[cfg(test)]
mod tests;
