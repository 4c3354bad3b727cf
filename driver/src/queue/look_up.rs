// SPDX-License-Identifier: MIT OR Apache-2.0
//! The look-up queue: requests of the NIC's software to the look-up unit.
//!
//! What the operations do and what the answers mean: `docs/nic-lookup.md`; how they lie in submissions and
//! completions: `docs/device.md`.

use std::fmt;
use std::time::{Duration, Instant};

use super::command::{Command, CommandQueue};
use super::{Completion, Kind, QueueError, Ticket, header, out_of_range};
use crate::device::Device;
use crate::{DeviceError, layout, map};

/// How many queues a device has that has this one.
const QUEUES: u32 = 4;

/// Bits of a word of the directory.
const DIRECTORY_BITS: u32 = 38;

/// A status of the unit is this much more in a completion.
const UNIT_STATUS: u8 = 0x40;
/// The status of a look-up that is done and whose value is not in the answer.
const OUT_OF_LINE: u8 = 0x50;
/// The status of a submission whose opcode the device does not know.
const BAD_OPCODE: u8 = 1;

/// What is asked of the object of a key, or of the entry that it lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LookUpOperation {
    /// Reads value and version.
    LookUp,
    /// Locks the object for the owner, and reads it.
    LockAndRead {
        /// Who locks.
        owner: u16,
    },
    /// Says whether the object still has the version, and is not locked by another.
    Validate {
        /// Whose lock does not count.
        owner: u16,
        /// The version that it has to have.
        version: u32,
    },
    /// Gives the object that the owner has locked a new value and version, and pins it once more.
    UpdateAndPin {
        /// Who has the lock.
        owner: u16,
        /// The new version.
        version: u32,
        /// The new value.
        value: u64,
    },
    /// Takes one pin away: the host has applied an update.
    Unpin,
    /// Gives the owner's lock back.
    Unlock {
        /// Who has it.
        owner: u16,
    },
    /// Forgets the object, and fails all fills whose reads have begun.
    Evict,
    /// Sets known displacement and word of the directory.
    SetHint {
        /// A displacement of an object of the segment, in slots.
        displacement: u8,
        /// The known displacement becomes this, also when it was more.
        is_exact: bool,
        /// The word of the directory, of 38 bits.
        directory: Option<u64>,
    },
    /// The unit's operation of a number, with all other fields 0, also where there is none: for tests.
    Raw(u8),
}

impl LookUpOperation {
    /// Words 1 to 4 of a submission.
    fn words(self, key: u64) -> Result<[u64; 4], QueueError> {
        let fields = |number: u8, owner: u16| u64::from(number) << 16 | u64::from(owner) << 32;
        Ok(match self {
            LookUpOperation::LookUp => [key, fields(0, 0), 0, 0],
            LookUpOperation::LockAndRead { owner } => [key, fields(1, owner), 0, 0],
            LookUpOperation::Validate { owner, version } => {
                [key, fields(2, owner), version.into(), 0]
            }
            LookUpOperation::UpdateAndPin { owner, version, value } => {
                [key, fields(4, owner), version.into(), value]
            }
            LookUpOperation::Unpin => [key, fields(5, 0), 0, 0],
            LookUpOperation::Unlock { owner } => [key, fields(6, owner), 0, 0],
            LookUpOperation::Evict => [key, fields(7, 0), 0, 0],
            LookUpOperation::SetHint { displacement, is_exact, directory } => {
                let word = directory.unwrap_or_default();
                if word >> DIRECTORY_BITS != 0 {
                    let expected = format!("less than 2^{DIRECTORY_BITS}");
                    return Err(out_of_range("word of the directory", word, expected));
                }
                let flags = u64::from(is_exact) << 20 | u64::from(directory.is_some()) << 21;
                [key, fields(8, 0) | flags | u64::from(displacement) << 24, word, 0]
            }
            LookUpOperation::Raw(number) if number > 0xF => {
                let expected = "a number below 16".into();
                return Err(out_of_range("operation", number.into(), expected));
            }
            LookUpOperation::Raw(number) => [key, fields(number, 0), 0, 0],
        })
    }
}

/// What the answer is to show beside status and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shown {
    /// The value, or who has the lock.
    #[default]
    Value,
    /// All but the value.
    Particulars,
}

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookUpRequest {
    /// The key.
    pub key: u64,
    /// What to do.
    pub operation: LookUpOperation,
    /// What the answer is to show.
    pub shown: Shown,
    /// Whether an interrupt is wanted. Without one a wait looks for the completion now and then.
    pub interrupt: bool,
}

impl LookUpRequest {
    /// A request whose answer shows the value, with an interrupt.
    pub fn new(key: u64, operation: LookUpOperation) -> Self {
        LookUpRequest { key, operation, shown: Shown::Value, interrupt: true }
    }
}

/// How a request ended. Source: `docs/nic-lookup.md`, "Operations" and "Requests and answers".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LookUpStatus {
    /// It is as the request wanted it.
    Done,
    /// The same, and the value lies out of line: the answer has its address in the table's heap.
    OutOfLine,
    /// The value to be validated is not cached.
    Miss,
    /// Another owner has the lock; or any owner, when the object was to be evicted.
    Locked,
    /// Nobody has the lock that the request needs.
    NotLocked,
    /// The version is another one.
    Changed,
    /// The key is not cached.
    Unknown,
    /// All places of the entry are locked or pinned.
    Full,
    /// A pinned object cannot be evicted.
    Pinned,
    /// The object has as many pins as the counter takes.
    TooManyPins,
    /// The object has no pin that could be taken away.
    NotPinned,
    /// The read of a fill may be older than an update.
    Stale,
    /// There is no such operation, or a field of the request is impossible.
    OutOfRange,
    /// The index in the card's memory could not be reached.
    BusError,
    /// The key is not in the host's table.
    Absent,
    /// The host's table was changed in each of as many readings as may be taken.
    GaveUp,
    /// A read of host memory has failed.
    NotRead,
}

impl LookUpStatus {
    /// Those of the unit, by their numbers.
    const OF_UNIT: [LookUpStatus; 16] = [
        LookUpStatus::Done,
        LookUpStatus::Miss,
        LookUpStatus::Locked,
        LookUpStatus::NotLocked,
        LookUpStatus::Changed,
        LookUpStatus::Unknown,
        LookUpStatus::Full,
        LookUpStatus::Pinned,
        LookUpStatus::TooManyPins,
        LookUpStatus::NotPinned,
        LookUpStatus::Stale,
        LookUpStatus::OutOfRange,
        LookUpStatus::BusError,
        LookUpStatus::Absent,
        LookUpStatus::GaveUp,
        LookUpStatus::NotRead,
    ];

    /// From the code in a completion; `None` when no request ends with it.
    pub fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(LookUpStatus::Done),
            OUT_OF_LINE => Some(LookUpStatus::OutOfLine),
            code => match code.checked_sub(UNIT_STATUS) {
                None | Some(0) => None,
                Some(number) => LookUpStatus::OF_UNIT.get(usize::from(number)).copied(),
            },
        }
    }
}

impl fmt::Display for LookUpStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            LookUpStatus::Done => "done",
            LookUpStatus::OutOfLine => "done, with the value out of line",
            LookUpStatus::Miss => "not cached",
            LookUpStatus::Locked => "locked by another owner",
            LookUpStatus::NotLocked => "not locked",
            LookUpStatus::Changed => "another version",
            LookUpStatus::Unknown => "unknown to the index",
            LookUpStatus::Full => "no place in the index",
            LookUpStatus::Pinned => "pinned",
            LookUpStatus::TooManyPins => "too many pins",
            LookUpStatus::NotPinned => "not pinned",
            LookUpStatus::Stale => "stale",
            LookUpStatus::OutOfRange => "unknown operation, or a field out of range",
            LookUpStatus::BusError => "the index could not be reached",
            LookUpStatus::Absent => "absent",
            LookUpStatus::GaveUp => "gave up",
            LookUpStatus::NotRead => "host memory could not be read",
        })
    }
}

/// All but the value of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Particulars {
    /// Bytes of the value.
    pub length: u16,
    /// Who had the lock, or 0.
    pub owner: u16,
    /// The epoch of the entry.
    pub epoch: u16,
    /// Round trips to host memory, at most 255.
    pub round_trips: u8,
    /// Value and version come from the cache.
    pub is_cached: bool,
    /// The value lies out of line.
    pub is_out_of_line: bool,
    /// There are a value and a version.
    pub has_value: bool,
    /// The request has taken the lock of the key, or found it as its owner's.
    pub has_lock: bool,
}

impl Particulars {
    fn decode(word: u64) -> Self {
        let flag = |bit: u32| word >> (48 + bit) & 1 == 1;
        Particulars {
            length: word as u16 & 0x1FF,
            owner: (word >> 16) as u16,
            epoch: (word >> 32) as u16,
            round_trips: (word >> 56) as u8,
            is_cached: flag(4),
            is_out_of_line: flag(5),
            has_value: flag(6),
            has_lock: flag(7),
        }
    }
}

/// What an answer shows beside status and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The first word of the value; or its address in the heap, when it lies out of line; or who has the
    /// lock, when the request ended as locked.
    Value(u64),
    /// All but the value.
    Particulars(Particulars),
}

/// A request that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "its status tells how the request ended"]
pub struct LookUpDone {
    /// Which one.
    pub ticket: Ticket,
    /// How.
    pub status: LookUpStatus,
    /// The version of the object, or 0.
    pub version: u32,
    /// What was to be shown.
    pub answer: Answer,
}

/// A request that the device has not answered yet.
#[derive(Debug, Clone, Copy)]
struct Open {
    interrupt: bool,
    shown: Shown,
}

impl Command for Open {
    type Done = LookUpDone;
    const KIND: Kind = Kind {
        name: "look-up",
        code: map::queue::Kind::LookUp,
        base: map::device::LOOK_UP_QUEUE,
        vector: layout::LOOK_UP_VECTOR,
    };
    const NOUN: &'static str = "request";

    fn interrupts(&self) -> bool {
        self.interrupt
    }

    fn judge(self, ticket: Ticket, completion: Completion) -> Result<LookUpDone, String> {
        let Completion { status: code, bytes: version, response, .. } = completion;
        let status = LookUpStatus::from_code(code).ok_or_else(|| match code {
            BAD_OPCODE => format!("status is {code}: the device does not know an opcode of ours"),
            _ => format!("status is 0x{code:X}, expected 0, 0x41 to 0x4F or 0x50"),
        })?;
        let answer = match self.shown {
            Shown::Value => Answer::Value(response),
            Shown::Particulars => Answer::Particulars(Particulars::decode(response)),
        };
        Ok(LookUpDone { ticket, status, version, answer })
    }
}

/// The look-up queue of a device. Requests are begun in their order and end in any.
pub struct LookUpQueue(CommandQueue<Open>);

impl fmt::Debug for LookUpQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LookUpQueue({})", self.0)
    }
}

impl LookUpQueue {
    pub(crate) fn open(device: &Device, entries: u16) -> Result<Self, QueueError> {
        let queues = device.capabilities().queues;
        if queues < QUEUES {
            return Err(QueueError::Device(DeviceError::Refused {
                attempted: "open the look-up queue".into(),
                reason: format!("the device has {queues} queues, expected {QUEUES} or more"),
            }));
        }
        CommandQueue::open(device, entries).map(LookUpQueue)
    }

    /// Hands a request to the device. The unit takes it up when it is enabled.
    ///
    /// # Errors
    /// [`QueueError::Full`] when as many requests are open as the queue has entries; others by
    /// [`QueueError`]. An impossible field is [`DeviceError::OutOfRange`], and nothing is handed over.
    pub fn submit(&mut self, request: LookUpRequest) -> Result<Ticket, QueueError> {
        let LookUpRequest { key, operation, shown, interrupt } = request;
        let [a, b, c, d] = operation.words(key)?;
        let opcode = match shown {
            Shown::Value => 1,
            Shown::Particulars => 2,
        };
        let ticket = self.0.enqueue(Open { interrupt, shown }, |identifier| {
            [header(identifier, opcode, interrupt), a, b, c, d, 0, 0, 0]
        })?;
        self.0.ring()?;
        Ok(ticket)
    }

    /// A request that has ended, if there is one. Does not wait, and reads memory only: ask
    /// [`LookUpQueue::check`] now and then whether the device still runs.
    ///
    /// # Errors
    /// See [`QueueError`].
    pub fn poll(&mut self) -> Result<Option<LookUpDone>, QueueError> {
        self.0.poll()
    }

    /// Waits until a request has ended.
    ///
    /// # Errors
    /// [`QueueError::Timeout`] when none ends within `bound`; others by [`QueueError`].
    pub fn wait(&mut self, bound: Duration) -> Result<LookUpDone, QueueError> {
        self.0.wait(bound)
    }

    /// Submits one request and waits for its end; what else ends meanwhile is kept for
    /// [`LookUpQueue::poll`] and [`LookUpQueue::wait`].
    ///
    /// # Errors
    /// As [`LookUpQueue::submit`] and [`LookUpQueue::wait`]. After a time-out the request is still open.
    pub fn ask(
        &mut self,
        request: LookUpRequest,
        bound: Duration,
    ) -> Result<LookUpDone, QueueError> {
        let started = Instant::now();
        let ticket = self.submit(request)?;
        self.0.wait_for(ticket, started, bound)
    }

    /// Asks the device whether it still runs the queue.
    ///
    /// # Errors
    /// [`QueueError::Halted`], [`QueueError::Stopped`], or what the device reports.
    pub fn check(&mut self) -> Result<(), QueueError> {
        self.0.check()
    }

    /// Takes the queue into use again after an error or a reset; open requests are forgotten. The device
    /// takes new ones up when those that it has in hand have ended, so without a reset between this
    /// waits for them for a moment. (A request waits for as long as the unit is disabled.)
    ///
    /// # Errors
    /// [`QueueError::Timeout`] while requests from before go on; others by [`QueueError`].
    pub fn restart(&mut self) -> Result<(), QueueError> {
        self.0.restart()
    }

    /// The number of requests that the device has not answered.
    pub fn open_requests(&self) -> usize {
        self.0.open_commands()
    }

    /// The number of entries.
    pub fn entries(&self) -> u16 {
        self.0.entries()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_the_unit_looks_for_them() {
        let operation = LookUpOperation::SetHint {
            displacement: 0x3F,
            is_exact: true,
            directory: Some(0x3F_FFFF_FFFF),
        };
        assert_eq!(operation.words(7).unwrap(), [7, 0x3F38_0000, 0x3F_FFFF_FFFF, 0]);
        let operation = LookUpOperation::UpdateAndPin { owner: 0xABCD, version: 9, value: 5 };
        assert_eq!(operation.words(u64::MAX).unwrap(), [u64::MAX, 0xABCD_0004_0000, 9, 5]);
    }

    #[test]
    fn impossible_fields_are_refused() {
        let wide =
            LookUpOperation::SetHint { displacement: 0, is_exact: false, directory: Some(1 << 38) };
        for (operation, field) in
            [(wide, "word of the directory"), (LookUpOperation::Raw(16), "operation")]
        {
            let error = operation.words(0).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
    }

    #[test]
    fn each_status_has_one_code() {
        let codes: Vec<u8> =
            (0..=255).filter(|&code| LookUpStatus::from_code(code).is_some()).collect();
        assert_eq!(codes, [&[0][..], &(0x41..=0x50).collect::<Vec<u8>>()].concat());
        assert_eq!(LookUpStatus::from_code(0x4D), Some(LookUpStatus::Absent));
        assert_eq!(LookUpStatus::from_code(0x4F), Some(LookUpStatus::NotRead));
    }

    #[test]
    fn particulars_are_what_the_unit_says() {
        // An answer of status done, cached, with value and lock: 2 trips, 8 bytes, owner 3, epoch 4.
        let (low, middle) = (0x02_D0u64, 0x0004_0003_0008u64);
        let expected = Particulars {
            length: 8,
            owner: 3,
            epoch: 4,
            round_trips: 2,
            is_cached: true,
            has_value: true,
            has_lock: true,
            ..Particulars::default()
        };
        assert_eq!(Particulars::decode(low << 48 | middle), expected);
    }
}
