// SPDX-License-Identifier: MIT OR Apache-2.0
//! The traffic of the coherence protocol so far.

/// The messages between request agents and home agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Message {
    /// Asks for a snapshot of a line, without keeping a copy.
    ReadOnce,
    /// Asks for a copy of a line.
    ReadShared,
    /// Asks for the only copy of a line.
    ReadUnique,
    /// A store to be performed at the home agent.
    FarStore,
    /// A compare-and-swap to be performed at the home agent.
    FarCompareSwap,
    /// Brings a modified line back, of which no copy is kept.
    WriteBack,
    /// Tells that an unmodified copy was dropped.
    Evict,
    /// Asks the owner for the line, of which it keeps the ownership.
    SnoopOnce,
    /// Asks the owner for the line, of which it keeps a shared copy.
    SnoopShared,
    /// Tells a holder to give its copy up.
    SnoopInvalidate,
    /// Answers a snoop without data.
    SnoopAnswer,
    /// Answers a snoop with the line.
    SnoopData,
    /// Answers a read with the line.
    LineData,
    /// Answers a far compare-and-swap with the old word.
    WordData,
    /// Answers what needs no data: a far store, or a copy that becomes the only one.
    Acknowledge,
}

impl Message {
    /// How many kinds there are.
    pub const KINDS: usize = 15;

    /// All kinds.
    pub const ALL: [Message; Self::KINDS] = [
        Message::ReadOnce,
        Message::ReadShared,
        Message::ReadUnique,
        Message::FarStore,
        Message::FarCompareSwap,
        Message::WriteBack,
        Message::Evict,
        Message::SnoopOnce,
        Message::SnoopShared,
        Message::SnoopInvalidate,
        Message::SnoopAnswer,
        Message::SnoopData,
        Message::LineData,
        Message::WordData,
        Message::Acknowledge,
    ];

    /// Bytes beside the packet's overhead.
    pub(super) fn payload(self) -> u64 {
        match self {
            Message::WriteBack | Message::SnoopData | Message::LineData => 64,
            Message::FarCompareSwap => 16,
            Message::FarStore | Message::WordData => 8,
            _ => 0,
        }
    }
}

/// Counters of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages by [`Message`], on and off the link.
    pub messages: [u64; Message::KINDS],
    /// Messages that crossed the link.
    pub link_messages: u64,
    /// Bytes on the link towards the host, packet overhead included.
    pub link_bytes_to_host: u64,
    /// Bytes on the link towards the device, packet overhead included.
    pub link_bytes_to_device: u64,
    /// Operations whose agent had what it needed in its cache.
    pub hits: u64,
    /// Operations that needed a home agent.
    pub misses: u64,
    /// Copies that were given up because of a snoop.
    pub invalidations: u64,
    /// Lines that came out of one agent's cache because another wanted them.
    pub line_moves: u64,
    /// Lines fetched ahead of a sequential reader.
    pub prefetches: u64,
    /// Requests that found their line busy at the home agent.
    pub conflicts: u64,
}

impl Traffic {
    /// Messages of one kind.
    pub fn count(&self, message: Message) -> u64 {
        self.messages[message as usize]
    }

    /// Messages of all kinds.
    pub fn total_messages(&self) -> u64 {
        self.messages.iter().sum()
    }
}
