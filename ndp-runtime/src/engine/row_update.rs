// SPDX-License-Identifier: MIT OR Apache-2.0
//! The update of one row, as a pure machine: no memory, no clock, no lock unit.
//!
//! Its driver performs each [`RowUpdate::action`] and reports the result, until [`RowUpdate::end`]
//! says how the row ended. A version is written only under the lock of its predecessor, and after a
//! check of the host's VID map, made under that lock, that this predecessor is still the newest
//! version (ccSLT paper, section 3, "Protocol"; Figure 1: without the lock or without the look two
//! branches of versions arise).
//!
//! | state | action | continues with |
//! |---|---|---|
//! | asking | `AcquireLock` | granted, queued, refused |
//! | waiting | `AwaitLock` | granted; lost: refused; time-out, cancel: leaving |
//! | refused | `AskLater` | ask again; time-out, cancel: the end |
//! | leaving | `CancelLock` | left; granted (too late): after a time-out the update continues |
//! | looking | `LoadHead` | the head: the end, or writing |
//! | writing | `Write` | written |

use lockdb::Isolation;
use lockdb::layout::RecordId;

/// The update of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowUpdate {
    record: RecordId,
    leave_changed: bool,
    state: State,
    /// The job is over; the row ends as soon as nothing of it is open.
    cancelled: bool,
    skipped: Skipped,
}

/// The event that the update waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Asking,
    Waiting,
    TurnedAway,
    Leaving,
    Looking,
    Writing,
    Ended(RowEnd),
}

/// Steps that a test leaves out, to see that others notice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Skipped {
    /// No lock is asked for.
    pub lock: bool,
    /// The host's VID map is not looked at.
    pub check: bool,
}

/// The task for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Ask the lock unit for the lock, with a place in the queue. Continues with
    /// [`Input::Granted`], [`Input::Queued`], [`Input::Refused`] or [`Input::Failed`].
    AcquireLock,
    /// Wait for the lock unit's notice, or poll. Continues with [`Input::Granted`],
    /// [`Input::Lost`], [`Input::Failed`], [`Input::TimedOut`] or [`Input::Cancel`].
    AwaitLock,
    /// Ask again after a while. Continues with [`Input::Again`], [`Input::TimedOut`] or
    /// [`Input::Cancel`].
    AskLater,
    /// Ask the lock unit to take the request out of the queue. Continues with [`Input::Granted`],
    /// [`Input::Lost`] or [`Input::Failed`].
    CancelLock,
    /// Load the word of the host's VID map. Continues with [`Input::Head`] or [`Input::Failed`].
    LoadHead,
    /// Append the new version. Continues with [`Input::Written`].
    Write,
    /// Nothing: it has ended.
    None,
}

/// Its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// The transaction holds the lock.
    Granted,
    /// It waits for the lock.
    Queued,
    /// The lock unit had no place for it.
    Refused,
    /// It is not in the queue any more, and does not hold the lock.
    Lost,
    /// Time to ask again.
    Again,
    /// The contents of the host's VID map.
    Head(RecordId),
    /// The version is in its page and in the result set.
    Written,
    /// The row has waited for its lock as long as it may.
    TimedOut,
    /// The job ends.
    Cancel,
    /// The lock unit or host memory failed; no request of the row is open.
    Failed,
}

/// How a row ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowEnd {
    /// It has a new version; the lock is held.
    Written,
    /// Another transaction changed it, and the host is to see to it; the lock is held.
    Left,
    /// Another transaction changed it, and the first updater wins; the lock is held.
    Conflict,
    /// The lock did not come in time.
    TimedOut,
    /// The job ended.
    Cancelled {
        /// The lock is held.
        locked: bool,
    },
    /// The lock unit or host memory failed.
    Failed {
        /// The lock is held.
        locked: bool,
    },
}

impl RowEnd {
    /// Whether the transaction holds the lock of the version that the row was found at.
    pub fn is_locked(self) -> bool {
        match self {
            RowEnd::Written | RowEnd::Left | RowEnd::Conflict => true,
            RowEnd::TimedOut => false,
            RowEnd::Cancelled { locked } | RowEnd::Failed { locked } => locked,
        }
    }
}

impl RowUpdate {
    /// The update of a row of which the snapshot sees the version at `record`.
    pub fn new(record: RecordId, isolation: Isolation) -> Self {
        Self::skipping(record, isolation, Skipped::default())
    }

    /// The same with steps left out; for tests alone.
    pub fn skipping(record: RecordId, isolation: Isolation, skipped: Skipped) -> Self {
        let leave_changed = isolation == Isolation::ReadCommitted;
        let mut row =
            Self { record, leave_changed, state: State::Asking, cancelled: false, skipped };
        if skipped.lock {
            row.look();
        }
        row
    }

    /// The task.
    pub fn action(&self) -> Action {
        match self.state {
            State::Asking => Action::AcquireLock,
            State::Waiting => Action::AwaitLock,
            State::TurnedAway => Action::AskLater,
            State::Leaving => Action::CancelLock,
            State::Looking => Action::LoadHead,
            State::Writing => Action::Write,
            State::Ended(_) => Action::None,
        }
    }

    /// How it ended; `None` while it has not.
    pub fn end(&self) -> Option<RowEnd> {
        match self.state {
            State::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// The outcome of the action, or an external event ([`Input::TimedOut`], [`Input::Cancel`]).
    /// What the state has no use for changes nothing: a time-out may come together with the grant.
    pub fn resume(&mut self, input: Input) {
        self.cancelled |= input == Input::Cancel;
        match (self.state, input) {
            (State::Ended(_), _) => {}
            (State::Asking | State::Waiting, Input::Granted) => self.granted(),
            (State::Asking, Input::Queued) if self.cancelled => self.state = State::Leaving,
            (State::Asking, Input::Queued) => self.state = State::Waiting,
            (State::Asking, Input::Refused) if self.cancelled => self.cancel(false),
            (State::Asking, Input::Refused) => self.state = State::TurnedAway,
            // It waited in the place of another row of the transaction, which has given up.
            (State::Waiting, Input::Lost) => self.state = State::TurnedAway,
            (State::Waiting, Input::TimedOut | Input::Cancel) => self.state = State::Leaving,
            (State::TurnedAway, Input::Again) => self.state = State::Asking,
            (State::TurnedAway, Input::TimedOut) => self.state = State::Ended(RowEnd::TimedOut),
            (State::TurnedAway, Input::Cancel) => self.cancel(false),
            (State::Leaving, Input::Granted) => self.granted(),
            (State::Leaving, Input::Lost) if self.cancelled => self.cancel(false),
            (State::Leaving, Input::Lost) => self.state = State::Ended(RowEnd::TimedOut),
            (State::Looking | State::Writing, Input::Cancel) => self.cancel(true),
            (State::Looking, Input::Head(head)) => self.looked(head),
            (State::Writing, Input::Written) => self.state = State::Ended(RowEnd::Written),
            (State::Looking, Input::Failed) => self.fail(true),
            (State::Asking | State::Waiting | State::Leaving, Input::Failed) => self.fail(false),
            _ => {}
        }
    }

    fn granted(&mut self) {
        match self.cancelled {
            true => self.cancel(true),
            false => self.look(),
        }
    }

    fn look(&mut self) {
        self.state = if self.skipped.check { State::Writing } else { State::Looking };
    }

    /// The version that the snapshot sees is the newest of the host's, or another transaction
    /// committed a newer one, or its removal, before the lock came.
    fn looked(&mut self, head: RecordId) {
        self.state = match (head == self.record, self.leave_changed) {
            (true, _) => State::Writing,
            (false, true) => State::Ended(RowEnd::Left),
            (false, false) => State::Ended(RowEnd::Conflict),
        };
    }

    fn cancel(&mut self, locked: bool) {
        self.state = State::Ended(RowEnd::Cancelled { locked });
    }

    fn fail(&mut self, locked: bool) {
        self.state = State::Ended(RowEnd::Failed { locked });
    }
}

#[cfg(test)]
mod tests;
