// SPDX-License-Identifier: MIT OR Apache-2.0
//! The accesses between their handshake and the end of their last response.
//!
//! A fixed table with a list per id: the id space is small, so ids index arrays and
//! nothing is hashed or allocated in a cycle.

use super::super::BusError;
use super::{AccessKind, ID_COUNT, MemoryAccess, MemoryAnswer, MemoryData};

/// Most accesses that are outstanding at once; with more, AW and AR are not ready.
pub(super) const CAPACITY: usize = 256;

/// Ends a list.
const NONE: u16 = u16::MAX;

/// The two channels on which an access is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Channel {
    Read,
    Write,
}

/// How far the response on one channel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// There is none, or it was handed over.
    None,
    /// Waits for the owner's answer or for an earlier access of the id.
    Waiting,
    /// With the channel.
    Scheduled,
}

/// One outstanding access.
#[derive(Debug, Clone)]
pub(super) struct Outstanding {
    pub access: MemoryAccess,
    /// The owner's answer, once there.
    pub outcome: Option<Result<MemoryData, BusError>>,
    /// The owner has answered; for a read of several beats: the first of them.
    pub answered: bool,
    read: Progress,
    write: Progress,
    /// Next younger access of the same id, or next free entry.
    next: u16,
}

impl Outstanding {
    fn progress(&mut self, channel: Channel) -> &mut Progress {
        match channel {
            Channel::Read => &mut self.read,
            Channel::Write => &mut self.write,
        }
    }

    fn finished(&self) -> bool {
        self.read == Progress::None && self.write == Progress::None
    }

    /// The channel that an overdue access is missed on, R first.
    pub fn missing(&self) -> Channel {
        if self.read == Progress::None { Channel::Write } else { Channel::Read }
    }
}

/// All outstanding accesses.
#[derive(Debug, Clone)]
pub(super) struct OutstandingTable {
    entries: Vec<Outstanding>,
    /// First free entry.
    free: u16,
    used: usize,
    /// Of these, how many the owner has not answered.
    unanswered: usize,
    /// Oldest entry of each id.
    first: Box<[u16; ID_COUNT]>,
}

impl OutstandingTable {
    pub fn new() -> Self {
        let access = MemoryAccess {
            id: 0,
            address: 0,
            kind: AccessKind::ReadLine { keep_copy: false },
            accepted_at_cycle: 0,
        };
        let entry = |index: usize| Outstanding {
            access,
            outcome: None,
            answered: false,
            read: Progress::None,
            write: Progress::None,
            next: if index + 1 < CAPACITY { index as u16 + 1 } else { NONE },
        };
        OutstandingTable {
            entries: (0..CAPACITY).map(entry).collect(),
            free: 0,
            used: 0,
            unanswered: 0,
            first: Box::new([NONE; ID_COUNT]),
        }
    }

    pub fn used(&self) -> usize {
        self.used
    }

    /// Accesses that the owner has not answered.
    pub fn unanswered(&self) -> usize {
        self.unanswered
    }

    pub fn entry(&self, slot: u16) -> &Outstanding {
        &self.entries[usize::from(slot)]
    }

    /// All accesses, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = &Outstanding> {
        self.entries.iter().filter(|entry| !entry.finished())
    }

    /// Where the next access will be.
    pub fn next_slot(&self) -> u16 {
        self.free
    }

    /// Takes a new access up, behind the others of its id.
    pub fn insert(&mut self, access: MemoryAccess) {
        let slot = self.free;
        assert_ne!(slot, NONE, "more than {CAPACITY} accesses: ready was high without room");
        let (read, write) = match access.kind {
            AccessKind::ReadLine { .. } | AccessKind::ReadBurst(_) => {
                (Progress::Waiting, Progress::None)
            }
            AccessKind::CompareSwap { .. } => (Progress::Waiting, Progress::Waiting),
            AccessKind::Store { .. } | AccessKind::WriteBurst(_) => {
                (Progress::None, Progress::Waiting)
            }
        };
        let entry = &mut self.entries[usize::from(slot)];
        self.free = entry.next;
        *entry = Outstanding { access, outcome: None, answered: false, read, write, next: NONE };
        self.used += 1;
        self.unanswered += 1;
        match self.of_id(access.id).last() {
            Some(last) => self.entries[usize::from(last)].next = slot,
            None => self.first[usize::from(access.id)] = slot,
        }
    }

    /// Notes the answer to the oldest unanswered access of its id.
    ///
    /// # Panics
    /// When there is none or the data are not of its kind: the owner's error.
    pub fn answer(&mut self, answer: &MemoryAnswer) {
        let slot = self.unanswered_of(answer.id);
        let entry = &mut self.entries[usize::from(slot)];
        let fits = matches!(
            (&entry.access.kind, &answer.outcome),
            (_, Err(_))
                | (AccessKind::ReadLine { .. }, Ok(MemoryData::Line(_)))
                | (AccessKind::CompareSwap { .. }, Ok(MemoryData::OldWord(_)))
                | (AccessKind::Store { .. }, Ok(MemoryData::Stored))
        );
        assert!(fits, "answer {:?} to {:?}", answer.outcome, entry.access);
        entry.outcome = Some(answer.outcome);
        entry.answered = true;
        self.unanswered -= 1;
    }

    /// The oldest unanswered access of an id.
    ///
    /// # Panics
    /// When there is none: the owner's error.
    pub fn unanswered_of(&self, id: u16) -> u16 {
        let unanswered = self.of_id(id).find(|slot| !self.entry(*slot).answered);
        unanswered
            .unwrap_or_else(|| panic!("answer to id 0x{id:03X}, which has no unanswered access"))
    }

    /// Notes that the response to a burst can begin; `outcome` is that of a write.
    ///
    /// # Panics
    /// When it was answered before: the owner's error.
    pub fn answer_burst(&mut self, slot: u16, outcome: Option<Result<(), BusError>>) {
        let entry = &mut self.entries[usize::from(slot)];
        assert!(!entry.answered, "second answer to {:?}", entry.access);
        entry.outcome = outcome.map(|outcome| outcome.map(|()| MemoryData::Stored));
        entry.answered = true;
        self.unanswered -= 1;
    }

    /// Calls `schedule` for each response of `id` that may go out now: answered, and no
    /// earlier access of the id owes one on the same channel.
    pub fn release(&mut self, id: u16, mut schedule: impl FnMut(Channel, u16)) {
        let (mut read_owed, mut write_owed) = (false, false);
        let mut slot = self.first[usize::from(id)];
        while slot != NONE {
            let entry = &mut self.entries[usize::from(slot)];
            for (channel, owed) in
                [(Channel::Read, &mut read_owed), (Channel::Write, &mut write_owed)]
            {
                let answered = entry.answered;
                let progress = entry.progress(channel);
                if *progress == Progress::Waiting && answered && !*owed {
                    *progress = Progress::Scheduled;
                    schedule(channel, slot);
                }
                *owed |= *progress != Progress::None;
            }
            slot = entry.next;
        }
    }

    /// The response on `channel` was handed over; true when it was the access's last.
    pub fn complete(&mut self, channel: Channel, slot: u16) -> bool {
        let entry = &mut self.entries[usize::from(slot)];
        let progress = entry.progress(channel);
        assert_eq!(*progress, Progress::Scheduled, "response without a schedule");
        *progress = Progress::None;
        let finished = entry.finished();
        if finished {
            self.unlink(slot);
        }
        finished
    }

    /// Takes the entry out of its id's list and frees it.
    fn unlink(&mut self, slot: u16) {
        let Outstanding { access, next, .. } = *self.entry(slot);
        let before = self.of_id(access.id).take_while(|other| *other != slot).last();
        match before {
            Some(before) => self.entries[usize::from(before)].next = next,
            None => self.first[usize::from(access.id)] = next,
        }
        self.entries[usize::from(slot)].next = self.free;
        self.free = slot;
        self.used -= 1;
    }

    /// Entries of `id`, oldest first.
    fn of_id(&self, id: u16) -> impl Iterator<Item = u16> + '_ {
        let first = self.first[usize::from(id)];
        std::iter::successors((first != NONE).then_some(first), |slot| {
            let next = self.entry(*slot).next;
            (next != NONE).then_some(next)
        })
    }
}
