// SPDX-License-Identifier: MIT OR Apache-2.0
//! The full directory of the home agents: for each line the agents with a copy, and which
//! transaction has it to itself.

use super::transaction::{NOBODY, TransactionId};

/// Owner of a line without an owner.
const NO_OWNER: u8 = u8::MAX;

/// One line. At most one of `owner` and `sharers` says something.
#[derive(Clone, Copy)]
pub(super) struct DirectoryEntry {
    /// The agent whose copy may differ from home memory.
    owner: u8,
    /// A transaction is under way; others wait.
    pub(super) busy: bool,
    /// One bit for each agent with a shared copy.
    sharers: u16,
    /// Messages under way after which directory and caches agree again.
    pub(super) in_flight: u16,
    /// First and last transaction waiting for the line.
    first_waiting: TransactionId,
    last_waiting: TransactionId,
    /// The transaction whose message carries the line's newest data home.
    pub(super) carrier: TransactionId,
}

impl DirectoryEntry {
    /// A line that is at home and nowhere else.
    pub(super) const AT_HOME: DirectoryEntry = DirectoryEntry {
        owner: NO_OWNER,
        busy: false,
        sharers: 0,
        in_flight: 0,
        first_waiting: NOBODY,
        last_waiting: NOBODY,
        carrier: NOBODY,
    };

    pub(super) fn owner(&self) -> Option<usize> {
        (self.owner != NO_OWNER).then_some(self.owner as usize)
    }

    pub(super) fn is_sharer(&self, agent: usize) -> bool {
        self.sharers & (1 << agent) != 0
    }

    /// Everyone with a copy, a bit each.
    pub(super) fn holders(&self) -> u16 {
        self.sharers | self.owner().map_or(0, |owner| 1 << owner)
    }

    pub(super) fn set_owner(&mut self, agent: usize) {
        self.sharers = 0;
        self.owner = agent as u8;
    }

    /// Makes `agent` a sharer; an owner becomes one.
    pub(super) fn add_sharer(&mut self, agent: usize) {
        if self.owner() == Some(agent) {
            self.owner = NO_OWNER;
        }
        assert!(self.owner().is_none(), "a line has a sharer beside its owner");
        self.sharers |= 1 << agent;
    }

    pub(super) fn remove(&mut self, agent: usize) {
        if self.owner() == Some(agent) {
            self.owner = NO_OWNER;
        }
        self.sharers &= !(1 << agent);
    }

    /// Puts `id` at the end of those waiting; `link` joins it behind its predecessor.
    pub(super) fn enqueue(
        &mut self,
        id: TransactionId,
        link: impl FnOnce(TransactionId, TransactionId),
    ) {
        if self.first_waiting == NOBODY {
            self.first_waiting = id;
        } else {
            link(self.last_waiting, id);
        }
        self.last_waiting = id;
    }

    /// Takes the first of those waiting; `next` names the one behind it.
    pub(super) fn dequeue(
        &mut self,
        next: impl FnOnce(TransactionId) -> TransactionId,
    ) -> Option<TransactionId> {
        let first = self.first_waiting;
        if first == NOBODY {
            return None;
        }
        self.first_waiting = next(first);
        Some(first)
    }
}
