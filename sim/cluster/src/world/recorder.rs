// SPDX-License-Identifier: MIT OR Apache-2.0
//! What transactions did, for a check afterwards: flat buffers of attempts and of their accesses.

use cluster::engine::{Access, Ending, Key, Point, TableNumber, TransactionId};
use timing::Time;

/// An attempt at a transaction, in the order of their beginnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its name.
    pub transaction: TransactionId,
    /// The start of the burst in which it began.
    pub begin: Time,
    /// The start of the burst in which it told its accesses; meaningless without [`Attempt::point`].
    told: Time,
    /// The end of the burst in which it ended, or in which recovery decided; meaningless before that.
    end: Time,
    /// The number of the burst in which it told its accesses and its place there, which order points
    /// of one instant.
    order: u64,
    /// Its first access.
    first: u32,
    /// How many accesses it has.
    count: u16,
    /// Its kind, a place in the workload's list.
    pub kind: u8,
    state: State,
    point: Option<Point>,
}

const _: () = assert!(size_of::<Attempt>() <= 56);

/// How far an attempt has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has begun.
    Open,
    /// Its coordinator ended it, and has told its client.
    Ended(Ending),
    /// Recovery has decided about it, and its coordinator never ended it.
    Decided(bool),
}

impl Attempt {
    /// How it ended; `None` if its coordinator never did.
    pub fn ending(&self) -> Option<Ending> {
        match self.state {
            State::Ended(ending) => Some(ending),
            State::Open | State::Decided(_) => None,
        }
    }

    /// Whether its changes stand: its coordinator or recovery committed it. An attempt that nobody
    /// decided about has none.
    pub fn is_committed(&self) -> bool {
        matches!(self.state, State::Ended(Ending::Committed) | State::Decided(true))
    }

    /// Whether its reads must fit its point, though its changes do not stand.
    pub fn is_rolled_back(&self) -> bool {
        self.ending() == Some(Ending::RolledBack)
    }

    /// Whether recovery decided that it has no changes, and its coordinator never ended it.
    pub fn is_undone(&self) -> bool {
        self.state == State::Decided(false)
    }

    /// Where in the serial order it stands: how exactly that is known, the time, and a number
    /// by which those of one time are ordered. `None` if it never told.
    pub fn point(&self) -> Option<(Point, Time, u64)> {
        self.point.map(|point| (point, self.told, self.order))
    }

    /// The end of the burst in which it ended: its client was told then. [`Time::MAX`] if nobody was.
    pub fn end(&self) -> Time {
        match self.state {
            State::Ended(_) => self.end,
            State::Open | State::Decided(_) => Time::MAX,
        }
    }
}

/// An access of an attempt, in 24 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedAccess {
    row: u64,
    /// Bits 63 to 56: the table. Bit 55: whether it is a write. Bits 54 to 0: the version.
    bits: u64,
    digest: u64,
}

const _: () = assert!(size_of::<RecordedAccess>() == 24);

const WRITES: u64 = 1 << 55;

impl From<Access> for RecordedAccess {
    fn from(access: Access) -> Self {
        let table = u64::from(access.key.table.0) << 56;
        let writes = if access.writes { WRITES } else { 0 };
        let bits = table | writes | (access.version & (WRITES - 1));
        Self { row: access.key.row, bits, digest: access.digest }
    }
}

impl From<RecordedAccess> for Access {
    fn from(access: RecordedAccess) -> Self {
        let table = TableNumber((access.bits >> 56) as u8);
        Access {
            key: Key { table, row: access.row },
            version: access.bits & (WRITES - 1),
            digest: access.digest,
            writes: access.bits & WRITES != 0,
        }
    }
}

/// The place of an attempt in a [`Recorder`].
pub type AttemptIndex = u32;

/// All attempts of a run with their accesses.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    attempts: Vec<Attempt>,
    accesses: Vec<RecordedAccess>,
}

impl Recorder {
    /// An empty one that needs no more memory for so many attempts and accesses.
    pub fn with_capacity(attempts: usize, accesses: usize) -> Self {
        Self { attempts: Vec::with_capacity(attempts), accesses: Vec::with_capacity(accesses) }
    }

    /// The attempts, in the order of their beginnings.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }

    /// The accesses of an attempt: of one that told none, none.
    pub fn accesses(&self, attempt: &Attempt) -> &[RecordedAccess] {
        let first = attempt.first as usize;
        &self.accesses[first..first + usize::from(attempt.count)]
    }

    /// An attempt begins.
    pub fn begin(&mut self, transaction: TransactionId, kind: u8, now: Time) -> AttemptIndex {
        let index = self.attempts.len() as AttemptIndex;
        self.attempts.push(Attempt {
            transaction,
            begin: now,
            told: Time::ZERO,
            end: Time::ZERO,
            order: 0,
            first: 0,
            count: 0,
            kind,
            state: State::Open,
            point: None,
        });
        index
    }

    /// An attempt may commit, and tells at `now` what it accessed; `order` rises among those of one
    /// time. The last word counts.
    pub fn tell(
        &mut self,
        attempt: AttemptIndex,
        point: Point,
        (now, order): (Time, u64),
        accesses: &[Access],
    ) {
        let first = self.accesses.len() as u32;
        self.accesses.extend(accesses.iter().map(|access| RecordedAccess::from(*access)));
        let attempt = &mut self.attempts[attempt as usize];
        (attempt.point, attempt.told, attempt.order) = (Some(point), now, order);
        (attempt.first, attempt.count) = (first, accesses.len() as u16);
    }

    /// An attempt ends.
    pub fn end(&mut self, attempt: AttemptIndex, ending: Ending, end: Time) {
        let attempt = &mut self.attempts[attempt as usize];
        attempt.state = State::Ended(ending);
        attempt.end = end;
        if ending.is_abort() {
            (attempt.point, attempt.count) = (None, 0);
        }
    }

    /// Recovery decides at `now` about an attempt; nothing changes for one that its coordinator ended.
    pub fn decide(&mut self, attempt: AttemptIndex, committed: bool, now: Time) {
        let attempt = &mut self.attempts[attempt as usize];
        if attempt.state == State::Open {
            attempt.state = State::Decided(committed);
            attempt.end = now;
        }
    }

    /// What was known at `time`: attempts that began later are left out, and nobody has decided about those that
    /// ended or were decided later.
    #[must_use]
    pub fn until(&self, time: Time) -> Self {
        let known = self.attempts.iter().filter(|attempt| attempt.begin <= time).map(|attempt| {
            let mut attempt = *attempt;
            if attempt.state != State::Open && attempt.end > time {
                attempt.state = State::Open;
            }
            if attempt.told > time {
                (attempt.point, attempt.count) = (None, 0);
            }
            attempt
        });
        Self { attempts: known.collect(), accesses: self.accesses.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_keeps_what_it_is() {
        for writes in [false, true] {
            let key = Key { table: TableNumber(255), row: u64::MAX };
            let access = Access { key, version: WRITES - 1, digest: 7, writes };
            assert_eq!(Access::from(RecordedAccess::from(access)), access);
        }
    }

    #[test]
    fn an_aborted_attempt_has_no_point() {
        let mut recorder = Recorder::default();
        let access = Access { key: Key::default(), version: 1, digest: 2, writes: true };
        let [first, second, third] = [1, 2, 3].map(|id| {
            let index = recorder.begin(TransactionId(id), 4, Time::from_ns(id));
            recorder.tell(index, Point::Now, (Time::from_ns(10 + id), id), &[access]);
            index
        });
        recorder.end(first, Ending::AbortedByValidation, Time::from_ns(20));
        recorder.end(second, Ending::Committed, Time::from_ns(21));
        recorder.decide(second, true, Time::from_ns(22));
        recorder.decide(third, true, Time::from_ns(23));
        let [aborted, committed, decided] = recorder.attempts() else { panic!("three began") };
        assert_eq!((aborted.point(), aborted.is_committed()), (None, false));
        assert_eq!(recorder.accesses(aborted), []);
        assert_eq!(committed.point(), Some((Point::Now, Time::from_ns(12), 2)));
        assert_eq!((committed.is_committed(), committed.end()), (true, Time::from_ns(21)));
        assert_eq!((decided.is_committed(), decided.end()), (true, Time::MAX));
        assert_eq!(recorder.accesses(decided), [RecordedAccess::from(access)]);
        let states = |ns| {
            let known = recorder.until(Time::from_ns(ns));
            let of =
                |it: &Attempt| (it.is_committed(), it.point().is_some(), it.ending().is_some());
            known.attempts().iter().map(of).collect::<Vec<_>>()
        };
        let (open, told) = ((false, false, false), (false, true, false));
        assert_eq!(states(2), [open, open], "the third has not begun, and nobody has told");
        assert_eq!(states(12), [open, told, open]);
        assert_eq!(states(22), [(false, false, true), (true, true, true), told]);
        assert_eq!(states(23)[2], (true, true, false));
    }
}
