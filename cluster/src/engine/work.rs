// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine did in a burst, as counts. A world in virtual time makes lengths of time of them, by
//! the costs of its platform; other drivers ignore them.

/// The kinds of work of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Work {
    /// A message was taken from the NIC and its header read.
    Receive,
    /// A message was made and handed to the NIC. The doorbell is apart.
    Send,
    /// The NIC's doorbell was rung, once for all messages since the last time.
    Doorbell,
    /// A buffer for a message to come was handed to the NIC by a new descriptor. (A buffer that is
    /// handed over by the head pointer alone is part of [`Work::Receive`].)
    PostReceive,
    /// A coroutine was switched to and left.
    Switch,
    /// A transaction was drawn and begun.
    Begin,
    /// The logic of a transaction handled one row.
    Logic,
    /// A request was handled: its type found, its handler called.
    Handle,
    /// A row was looked up.
    Look,
    /// A header was locked, unlocked or compared.
    Header,
    /// A value was written in its place.
    Write,
    /// A row was made or deleted.
    Insert,
    /// A record was appended to a log.
    Log,
    /// 64 bytes were copied, or fewer.
    CopyLine,
    /// A one-sided verb was handed to the NIC with a doorbell of its own, and its completion taken.
    Post,
    /// The queue pair of a one-sided verb was taken over from another thread.
    TakeOver,
    /// A NIC's core looked a key up in its index, and read, locked, compared, changed or unlocked it there.
    Index,
    /// A NIC's core went on with what had waited for a memory operation or an answer.
    Continue,
    /// A log worker took a record from a log, beside what it does to the rows.
    Apply,
}

impl Work {
    /// How many kinds there are.
    pub const COUNT: usize = Self::ALL.len();

    /// All kinds, in their order.
    pub const ALL: [Self; 19] = [
        Self::Receive,
        Self::Send,
        Self::Doorbell,
        Self::PostReceive,
        Self::Switch,
        Self::Begin,
        Self::Logic,
        Self::Handle,
        Self::Look,
        Self::Header,
        Self::Write,
        Self::Insert,
        Self::Log,
        Self::CopyLine,
        Self::Post,
        Self::TakeOver,
        Self::Index,
        Self::Continue,
        Self::Apply,
    ];

    /// Its name in platform files, below `cpu`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receive => "receive",
            Self::Send => "send",
            Self::Doorbell => "doorbell",
            Self::PostReceive => "post_receive",
            Self::Switch => "switch",
            Self::Begin => "begin",
            Self::Logic => "logic",
            Self::Handle => "handle",
            Self::Look => "look",
            Self::Header => "header",
            Self::Write => "write",
            Self::Insert => "insert",
            Self::Log => "log",
            Self::CopyLine => "copy_line",
            Self::Post => "post",
            Self::TakeOver => "take_over",
            Self::Index => "index",
            Self::Continue => "continue",
            Self::Apply => "apply",
        }
    }
}

/// How often each kind of work was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCounts([u32; Work::COUNT]);

impl WorkCounts {
    /// Counts `times` more of `work`.
    pub fn add(&mut self, work: Work, times: u32) {
        self.0[work as usize] += times;
    }

    /// How often `work` was done.
    pub fn of(&self, work: Work) -> u32 {
        self.0[work as usize]
    }

    /// All counts, in the order of [`Work::ALL`].
    pub fn all(&self) -> &[u32; Work::COUNT] {
        &self.0
    }
}
