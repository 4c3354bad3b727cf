// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is asked of an index, and what it answers.

use thiserror::Error;

/// What to do with the object of a key, or with its entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operation {
    /// Reads value and version.
    LookUp = 0,
    /// Locks the object for the owner, cached or not, and reads it.
    LockAndRead = 1,
    /// Says whether the object still has the version, and is not locked by another.
    Validate = 2,
    /// Brings the object of a read of host memory.
    Fill = 3,
    /// Gives the object that the owner has locked a new value and version, and pins it once more.
    UpdateAndPin = 4,
    /// Takes one pin away: the host has applied an update.
    Unpin = 5,
    /// Gives the owner's lock back.
    Unlock = 6,
    /// Forgets the object, and fails all fills whose reads have begun.
    Evict = 7,
    /// Sets known displacement and word of the directory.
    SetHint = 8,
}

impl Operation {
    /// All of them, each at its number.
    pub const ALL: [Operation; 9] = [
        Operation::LookUp,
        Operation::LockAndRead,
        Operation::Validate,
        Operation::Fill,
        Operation::UpdateAndPin,
        Operation::Unpin,
        Operation::Unlock,
        Operation::Evict,
        Operation::SetHint,
    ];

    /// The operation with this number.
    ///
    /// # Errors
    /// When none has it.
    pub fn from_number(number: u8) -> Result<Self, UnknownOperation> {
        Self::ALL.get(usize::from(number)).copied().ok_or(UnknownOperation(number))
    }

    /// Whether the request says where an object was found, or what is known of the segment.
    pub const fn has_hint(self) -> bool {
        matches!(self, Operation::Fill | Operation::SetHint)
    }
}

/// A number that no operation has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
#[error("operation {0}, expected 0 to 8")]
pub struct UnknownOperation(pub u8);

/// Bits of the word of the directory that say where an overflow bucket is and how large: the place and the order
/// of a link of the tables. The stamp above them is not kept.
pub const DIRECTORY_BITS: u32 = 38;
pub(super) const DIRECTORY_MASK: u64 = (1 << DIRECTORY_BITS) - 1;

/// What a request says about a segment.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Hint {
    /// A displacement of an object of the segment: the known one becomes at least this.
    pub displacement: u8,
    /// The known displacement becomes this, also when it was more (set-hint only).
    pub is_exact: bool,
    /// The word of the directory, if it was read (set-hint only). Bits from [`DIRECTORY_BITS`] on are ignored.
    pub directory: Option<u64>,
}

/// A request; fields that an operation has no use for mean nothing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Request<const WORDS: usize> {
    /// What to do.
    pub operation: Operation,
    /// The key.
    pub key: u64,
    /// The home slot of the key.
    pub home: u32,
    /// The segment of the home, which is the number of the entry.
    pub segment: u32,
    /// Who locks, validates, updates, or unlocks.
    pub owner: u16,
    /// Of a fill, of an update, or to be validated.
    pub version: u32,
    /// Of a fill or an update.
    pub value: [u64; WORDS],
    /// Of a fill: the epoch of the answer that asked for the read.
    pub epoch: u16,
    /// Of a fill or a set-hint.
    pub hint: Hint,
}

impl<const WORDS: usize> Request<WORDS> {
    /// A request about a key, all other fields 0.
    pub fn new(operation: Operation, key: u64, home: u32, segment: u32) -> Self {
        Request {
            operation,
            key,
            home,
            segment,
            owner: 0,
            version: 0,
            value: [0; WORDS],
            epoch: 0,
            hint: Hint::default(),
        }
    }
}

/// How a request ended. Refusals change nothing, except as [`Operation`]s say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Status {
    /// It is as the request wanted it.
    Done = 0,
    /// The value is not cached: it has to be read from host memory. A lock was taken nevertheless.
    Miss = 1,
    /// Another owner has the lock; or any owner, when the object was to be evicted.
    Locked = 2,
    /// Nobody has the lock that the request needs.
    NotLocked = 3,
    /// The version is another one.
    Changed = 4,
    /// The key is not cached.
    Unknown = 5,
    /// All places of the entry are locked or pinned.
    Full = 6,
    /// A pinned object cannot be evicted.
    Pinned = 7,
    /// The object has as many pins as the counter takes.
    TooManyPins = 8,
    /// The object has no pin that could be taken away.
    NotPinned = 9,
    /// The read of the fill may be older than an update: it has to be done again.
    Stale = 10,
    /// Unknown operation, a segment or home outside the table, or a displacement over D_m.
    OutOfRange = 11,
    /// The entry could not be fetched, or none could give it its place (hardware only).
    BusError = 12,
}

impl Status {
    const ALL: [Status; 13] = [
        Status::Done,
        Status::Miss,
        Status::Locked,
        Status::NotLocked,
        Status::Changed,
        Status::Unknown,
        Status::Full,
        Status::Pinned,
        Status::TooManyPins,
        Status::NotPinned,
        Status::Stale,
        Status::OutOfRange,
        Status::BusError,
    ];

    /// The status with this number, if one has it.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

/// An object as an operation found it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Found<const WORDS: usize> {
    /// Version and value, if they are cached.
    pub content: Option<(u32, [u64; WORDS])>,
    /// Who has the lock.
    pub owner: Option<u16>,
}

/// Where a key is to be looked for in host memory: in one read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Place {
    /// Address of the home slot, in bytes.
    pub address: u64,
    /// Slots to read: d + k, at most D_m + 1, which is all that can have the key outside the overflow bucket.
    pub slots: u8,
    /// The word of the directory, of [`DIRECTORY_BITS`], that says where the overflow bucket is, read last of all.
    /// 0 when the answer has a version and a value: then nothing has to be read, and the version has its bits.
    pub directory: u64,
}

/// An answer; object, epoch and place are as the operation found them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Answer<const WORDS: usize> {
    /// How it ended.
    pub status: Status,
    /// The object, if the key is cached.
    pub found: Option<Found<WORDS>>,
    /// To be given with the fill.
    pub epoch: u16,
    /// Where to read.
    pub place: Place,
}

impl<const WORDS: usize> Answer<WORDS> {
    /// The answer to a request that reached no entry.
    pub fn refused(status: Status) -> Self {
        Answer { status, found: None, epoch: 0, place: Place::default() }
    }
}
