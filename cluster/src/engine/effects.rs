// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine gives to its driver: messages, memory operations, the course of transactions, and
//! counts of work.

use std::ops::Range;

use crate::near;

use super::{
    Class, Endpoint, Key, NodeId, Operation, Place, Token, TransactionId, Work, WorkCounts,
};

/// The effects of one burst. A driver clears and uses it again, so that nothing is allocated.
///
/// They leave the machine at the end of the burst, in the order of each list.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    sends: Vec<SendRequest>,
    operations: Vec<OperationRequest>,
    bytes: Vec<u8>,
    /// One entry a doorbell: how many sends there were when it was rung.
    doorbells: Vec<u32>,
    moments: Vec<Moment>,
    accesses: Vec<Access>,
    work: WorkCounts,
    killed: bool,
}

/// A message to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendRequest {
    /// The receiver.
    pub to: Endpoint,
    /// The kind of traffic.
    pub class: Class,
    /// What the message is for, which a driver may count by.
    pub stage: Stage,
    /// Where its bytes are; see [`Effects::bytes_of`].
    pub bytes: Range<u32>,
}

/// A memory operation to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationRequest {
    /// The machine's number for it.
    pub token: Token,
    /// Whose memory.
    pub place: Place,
    /// What it is for, which a driver may count by.
    pub stage: Stage,
    /// What is done.
    pub operation: Operation,
    /// The bytes of a write; see [`Effects::bytes_of`].
    pub bytes: Range<u32>,
}

/// What a message is for: the phase of the transactions in it, or something beside them. A protocol
/// names its phases by the closest of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Stage {
    /// Rows are read, and locked where they will be written.
    Execute,
    /// Versions are read again.
    Validate,
    /// The record is made durable.
    Log,
    /// Backups take the new rows.
    Backup,
    /// Primaries take the new rows and unlock them.
    Primary,
    /// Locks are given back without a change.
    Abort,
    /// Leases, views, and what a change of membership needs.
    Membership,
    /// A new replica is filled.
    Copy,
    /// A benchmark of the medium, not of a protocol.
    Micro,
    /// Between a host and its NIC.
    Host,
}

impl Stage {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// All of them, in their order.
    pub const ALL: [Self; 10] = [
        Self::Execute,
        Self::Validate,
        Self::Log,
        Self::Backup,
        Self::Primary,
        Self::Abort,
        Self::Membership,
        Self::Copy,
        Self::Micro,
        Self::Host,
    ];

    /// In lower case, for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Validate => "validate",
            Self::Log => "log",
            Self::Backup => "backup",
            Self::Primary => "primary",
            Self::Abort => "abort",
            Self::Membership => "membership",
            Self::Copy => "copy",
            Self::Micro => "micro",
            Self::Host => "host and NIC",
        }
    }
}

/// A moment in the course of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It was begun: of kind `kind`, the place in the workload's list.
    Begun {
        /// The attempt.
        transaction: TransactionId,
        /// Which kind of transaction.
        kind: u8,
        /// Whether it repeats one that was aborted.
        again: bool,
    },
    /// It may commit, and what it read and will have written is known. A driver makes `point` of the
    /// current time where that is exact.
    Committing(Committing),
    /// It ended, and its client was told so.
    Ended {
        /// The attempt.
        transaction: TransactionId,
        /// How.
        ending: Ending,
    },
    /// Recovery has decided about a transaction whose coordinator may not have ended it. It may come
    /// several times, always with the same decision.
    Decided {
        /// The attempt.
        transaction: TransactionId,
        /// Whether its changes stand.
        committed: bool,
    },
    /// A worker has nothing more to do: it was told to finish, or its client is at its end.
    Rests {
        /// The worker of the thread.
        worker: u8,
    },
}

/// A transaction's serialization point, and its accesses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committing {
    /// The attempt.
    pub transaction: TransactionId,
    /// Where in the serial order it stands.
    pub point: Point,
    /// Its accesses; see [`Effects::accesses_of`].
    pub accesses: Range<u32>,
}

/// How exactly a serialization point is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// It is now.
    Now,
    /// It lies somewhere between the transaction's begin and now: of a transaction that reads under one
    /// header and writes nothing.
    Within,
}

/// What a transaction found at a key or left there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The key.
    pub key: Key,
    /// The version of its header: of a read as it was read, of a write as it will be.
    pub version: u64,
    /// A digest of the row, by [`digest`](crate::transact::digest); 0 if there is none.
    pub digest: u64,
    /// Whether it is a write.
    pub writes: bool,
}

/// How an attempt at a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Ending {
    /// Its changes stand, and survive what the protocol promises.
    Committed,
    /// Its own logic gave up; nothing has changed. What it read was valid.
    RolledBack,
    /// It met a lock of another.
    AbortedByLock,
    /// What it read had changed before it could commit.
    AbortedByValidation,
    /// The membership changed under it.
    AbortedByMembership,
    /// A table or a log had no room.
    AbortedByRoom,
}

impl Ending {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// All of them, in their order.
    pub const ALL: [Self; 6] = [
        Self::Committed,
        Self::RolledBack,
        Self::AbortedByLock,
        Self::AbortedByValidation,
        Self::AbortedByMembership,
        Self::AbortedByRoom,
    ];

    /// In lower case, for tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::RolledBack => "rolled back",
            Self::AbortedByLock => "lock",
            Self::AbortedByValidation => "validation",
            Self::AbortedByMembership => "membership",
            Self::AbortedByRoom => "room",
        }
    }

    /// Whether the transaction is to be tried again.
    pub const fn is_abort(self) -> bool {
        !matches!(self, Self::Committed | Self::RolledBack)
    }
}

impl Effects {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all, and keeps the memory.
    pub fn clear(&mut self) {
        self.sends.clear();
        self.operations.clear();
        self.bytes.clear();
        self.doorbells.clear();
        self.moments.clear();
        self.accesses.clear();
        self.work = WorkCounts::default();
        self.killed = false;
    }

    /// Fetches the first lines of each list, for a driver that has not seen the effects for a while.
    #[inline]
    pub fn fetch(&self) {
        near::fetch_start(&self.moments, 2);
        near::fetch_start(&self.accesses, 3);
        near::fetch_start(&self.sends, 3);
        near::fetch_start(&self.bytes, 10);
    }

    /// Sends what `write` appends. Counts [`Work::Send`].
    pub fn send(
        &mut self,
        to: Endpoint,
        class: Class,
        stage: Stage,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let bytes = self.append(write);
        self.sends.push(SendRequest { to, class, stage, bytes });
        self.work.add(Work::Send, 1);
    }

    /// Lends the buffer of all messages, for one to be appended that is written in several steps:
    /// [`Effects::send_lent`] takes it back.
    pub fn lend(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Takes the buffer back that was lent, and sends what stands in it from `start` on. Counts
    /// [`Work::Send`].
    pub fn send_lent(
        &mut self,
        to: Endpoint,
        class: Class,
        stage: Stage,
        (buffer, start): (Vec<u8>, usize),
    ) {
        self.bytes = buffer;
        let bytes = start as u32..self.bytes.len() as u32;
        self.sends.push(SendRequest { to, class, stage, bytes });
        self.work.add(Work::Send, 1);
    }

    /// Rings the doorbell, if there are messages since the last time. Counts [`Work::Doorbell`].
    pub fn ring_doorbell(&mut self) {
        let sends = self.sends.len() as u32;
        if sends > self.doorbells.last().copied().unwrap_or(0) {
            self.doorbells.push(sends);
            self.work.add(Work::Doorbell, 1);
        }
    }

    /// Makes a memory operation of no phase; `write` appends the bytes of a write.
    pub fn operate(
        &mut self,
        token: Token,
        place: Place,
        operation: Operation,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let (bytes, stage) = (self.append(write), Stage::Micro);
        self.operations.push(OperationRequest { token, place, stage, operation, bytes });
    }

    /// Makes a one-sided verb of a phase on the memory of `to`; `write` appends the bytes of a write.
    pub fn verb(
        &mut self,
        token: Token,
        (to, stage): (NodeId, Stage),
        operation: Operation,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let (bytes, place) = (self.append(write), Place::Node(to));
        self.operations.push(OperationRequest { token, place, stage, operation, bytes });
    }

    fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Range<u32> {
        let start = self.bytes.len() as u32;
        write(&mut self.bytes);
        start..self.bytes.len() as u32
    }

    /// Tells of a moment in a transaction's course.
    pub fn tell(&mut self, moment: Moment) {
        self.moments.push(moment);
    }

    /// Tells of a transaction's serialization point and its accesses.
    pub fn tell_committing(
        &mut self,
        transaction: TransactionId,
        point: Point,
        accesses: impl IntoIterator<Item = Access>,
    ) {
        let start = self.accesses.len() as u32;
        self.accesses.extend(accesses);
        let accesses = start..self.accesses.len() as u32;
        self.moments.push(Moment::Committing(Committing { transaction, point, accesses }));
    }

    /// Counts work.
    pub fn work(&mut self, work: Work, times: u32) {
        self.work.add(work, times);
    }

    /// The process of this node ends itself: none of its machines is called again.
    pub fn kill(&mut self) {
        self.killed = true;
    }

    /// The messages, in order.
    pub fn sends(&self) -> &[SendRequest] {
        &self.sends
    }

    /// The messages that each doorbell announced, in order. What was sent without a doorbell is last.
    pub fn batches(&self) -> impl Iterator<Item = &[SendRequest]> {
        let ends = self.doorbells.iter().map(|end| *end as usize).chain([self.sends.len()]);
        let mut start = 0;
        ends.map(move |end| {
            let batch = &self.sends[start..end];
            start = end;
            batch
        })
        .filter(|batch| !batch.is_empty())
    }

    /// The memory operations, in order.
    pub fn operations(&self) -> &[OperationRequest] {
        &self.operations
    }

    /// The bytes of a message or of a write.
    pub fn bytes_of(&self, range: &Range<u32>) -> &[u8] {
        &self.bytes[range.start as usize..range.end as usize]
    }

    /// The moments of transactions, in order.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// The accesses of a transaction.
    pub fn accesses_of(&self, committing: &Committing) -> &[Access] {
        &self.accesses[committing.accesses.start as usize..committing.accesses.end as usize]
    }

    /// The counts of work.
    pub fn work_done(&self) -> &WorkCounts {
        &self.work
    }

    /// Whether the process ends itself.
    pub fn is_killed(&self) -> bool {
        self.killed
    }
}
