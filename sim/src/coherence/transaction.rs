// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions: an operation, or a line on its way home, from start to end.

use timing::Time;

use super::traffic::Message;
use super::{Cost, Line, Operation};

/// Index of a transaction in [`Transactions`].
pub(super) type TransactionId = u32;

/// No transaction.
pub(super) const NOBODY: TransactionId = u32::MAX;

/// The states of a copy. Invalid is no copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// One of perhaps many; equal to home memory.
    #[default]
    Shared,
    /// The only one; equal to home memory.
    Exclusive,
    /// The only one; newer than home memory.
    Modified,
}

impl State {
    /// Whether no other agent has a copy.
    pub(super) fn is_alone(self) -> bool {
        self != State::Shared
    }
}

/// One operation of an agent (or a prefetch, or a line on its way home).
#[derive(Clone)]
pub(super) struct Transaction {
    pub(super) agent: usize,
    pub(super) line: u32,
    /// None for a prefetch and for a line on its way home.
    pub(super) operation: Option<Operation>,
    pub(super) request: u64,
    pub(super) issued: Time,
    /// What was asked of the home agent.
    pub(super) message: Message,
    /// The agent gave up a shared copy when it sent this.
    pub(super) relinquished: bool,
    /// Snoops and accesses to memory that the home agent waits for.
    pub(super) waiting: u8,
    /// One bit for each snooped agent that kept a shared copy.
    pub(super) kept: u16,
    /// The last snoop answer carries newer data than home memory.
    pub(super) dirty: bool,
    /// The line as this transaction carries or has read it.
    pub(super) data: Line,
    /// The word as it was before the operation.
    pub(super) value: u64,
    /// The state in which the line was granted.
    pub(super) granted: State,
    /// Place in the order of all operations; 0 before it was performed.
    pub(super) order: u64,
    pub(super) cost: Cost,
    /// The one behind this in a queue.
    pub(super) next: TransactionId,
}

/// All transactions that are under way. Indices are used again.
#[derive(Default)]
pub(super) struct Transactions {
    slots: Vec<Transaction>,
    free: Vec<TransactionId>,
}

impl Transactions {
    /// Starts a transaction.
    pub(super) fn begin(
        &mut self,
        now: Time,
        agent: usize,
        line: u32,
        message: Message,
    ) -> TransactionId {
        let transaction = Transaction {
            agent,
            line,
            operation: None,
            request: 0,
            issued: now,
            message,
            relinquished: false,
            waiting: 0,
            kept: 0,
            dirty: false,
            data: [0; 8],
            value: 0,
            granted: State::Shared,
            order: 0,
            cost: Cost::default(),
            next: NOBODY,
        };
        if let Some(id) = self.free.pop() {
            self.slots[id as usize] = transaction;
            return id;
        }
        self.slots.push(transaction);
        (self.slots.len() - 1) as TransactionId
    }

    /// Ends a transaction; its index may be used again.
    pub(super) fn end(&mut self, id: TransactionId) {
        self.free.push(id);
    }

    /// How many are under way.
    pub(super) fn open(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl std::ops::Index<TransactionId> for Transactions {
    type Output = Transaction;

    fn index(&self, id: TransactionId) -> &Transaction {
        &self.slots[id as usize]
    }
}

impl std::ops::IndexMut<TransactionId> for Transactions {
    fn index_mut(&mut self, id: TransactionId) -> &mut Transaction {
        &mut self.slots[id as usize]
    }
}
