// SPDX-License-Identifier: MIT OR Apache-2.0
//! A worker: the client of one transaction after another.

use super::super::messages::host::Head;
use crate::engine::{Instant, Key};
use crate::transact::{Intent, Rows};

/// What a worker is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// It was not told to begin, or has nothing more to do.
    Rests,
    /// It will begin another transaction.
    Next,
    /// It will begin the same transaction again, not before this.
    Again {
        /// When.
        at: Instant,
    },
    /// The NIC has its transaction.
    Nic,
    /// The NIC is asked whether the host's tables, from which it has read, are up to date.
    LocalReads,
}

/// A worker. `I` is a transaction's input, `S` what draws them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Worker<I, S> {
    pub number: u8,
    pub state: State,
    /// Whether it begins no other transaction.
    pub finishing: bool,
    pub input: Option<I>,
    /// The number of the attempt.
    pub attempt: u32,
    /// How often in a row the transaction was aborted.
    pub failures: u8,
    /// When the attempt began; of no meaning between attempts.
    pub begun: Instant,
    pub source: S,
    /// The rows, if the logic runs here.
    pub rows: Rows,
    /// The keys that were asked for last, in their order.
    pub keys: Vec<(Key, Intent)>,
    /// Whether the logic gave up on rows that are still to be checked.
    pub rolls_back: bool,
}

impl<I, S> Worker<I, S> {
    /// Worker `number`, whose attempts are counted from after `attempt`.
    pub fn new(number: u8, attempt: u32, source: S) -> Self {
        Self {
            number,
            state: State::Rests,
            finishing: false,
            input: None,
            attempt,
            failures: 0,
            begun: Instant::default(),
            source,
            rows: Rows::new(),
            keys: Vec::new(),
            rolls_back: false,
        }
    }

    /// It is told to begin. Says whether it has to be invoked.
    pub fn start(&mut self) -> bool {
        self.finishing = false;
        let rested = self.state == State::Rests;
        if rested {
            self.state = State::Next;
        }
        rested
    }

    /// It is told to begin no further transaction. Says whether it has to be invoked.
    pub fn finish_up(&mut self) -> bool {
        self.finishing = true;
        self.state == State::Next
    }

    /// The name of its attempt among those of its thread.
    pub fn head(&self) -> Head {
        Head { worker: self.number, attempt: self.attempt }
    }
}
