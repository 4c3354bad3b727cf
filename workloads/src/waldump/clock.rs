// SPDX-License-Identifier: MIT OR Apache-2.0
//! When a record was logged.
//!
//! Only ends of transactions carry a time. A record between two of them gets a time in
//! proportion to its position in the log; before the first and after the last end time stands
//! still. Time 0 is the first end.

use super::line::Record;

/// Gives times to records, once the next end of a transaction has come.
#[derive(Debug, Default)]
pub(super) struct Clock {
    waiting: Vec<Record>,
    last: Option<Anchor>,
    start_us: i64,
}

/// A position of the log whose time is known.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    lsn: u64,
    time_ns: u64,
}

impl Clock {
    /// Keeps a record until its time is known.
    pub(super) fn hold(&mut self, record: Record) {
        self.waiting.push(record);
    }

    /// Sets the time of a position, and gives the records before it with theirs. A time before
    /// the last one counts as the last one: servers take the time of a commit a little before
    /// they log it.
    pub(super) fn set(&mut self, lsn: u64, time_us: i64) -> (Vec<(u64, Record)>, u64) {
        let Some(last) = self.last else {
            self.start_us = time_us;
            self.last = Some(Anchor { lsn, time_ns: 0 });
            return (self.rest(), 0);
        };
        let passed_us = u64::try_from(time_us.saturating_sub(self.start_us)).unwrap_or(0);
        let now = Anchor { lsn, time_ns: passed_us.saturating_mul(1000).max(last.time_ns) };
        let timed = self.waiting.drain(..).map(|record| (between(last, now, record.lsn), record));
        let timed = timed.collect();
        self.last = Some(now);
        (timed, now.time_ns)
    }

    /// The records after the last known time; it is theirs.
    pub(super) fn rest(&mut self) -> Vec<(u64, Record)> {
        let time_ns = self.now();
        self.waiting.drain(..).map(|record| (time_ns, record)).collect()
    }

    /// The last known time.
    pub(super) fn now(&self) -> u64 {
        self.last.map_or(0, |last| last.time_ns)
    }
}

/// The time of a position between two known ones.
fn between(from: Anchor, to: Anchor, lsn: u64) -> u64 {
    debug_assert!(from.lsn <= lsn && lsn <= to.lsn && from.time_ns <= to.time_ns);
    let part = u128::from(lsn - from.lsn) * u128::from(to.time_ns - from.time_ns);
    let whole = u128::from(to.lsn - from.lsn).max(1);
    from.time_ns + u64::try_from(part / whole).expect("at most the whole time")
}

#[cfg(test)]
mod tests {
    use super::super::line::Event;
    use super::*;

    #[test]
    fn times_lie_in_proportion_between_known_ones() {
        let record = |lsn| Record { line: 1, transaction: 1, lsn, event: Event::Other };
        let times = |timed: Vec<(u64, Record)>| -> Vec<u64> {
            timed.into_iter().map(|(time_ns, _)| time_ns).collect()
        };
        let mut clock = Clock::default();
        clock.hold(record(10));
        assert_eq!(times(clock.set(100, 5_000).0), [0]);
        clock.hold(record(125));
        clock.hold(record(150));
        assert_eq!(times(clock.set(200, 5_002).0), [500, 1000]);
        clock.hold(record(250));
        // A commit that was timed before its predecessor.
        assert_eq!(times(clock.set(300, 5_001).0), [2000]);
        clock.hold(record(350));
        assert_eq!(times(clock.rest()), [2000]);
    }
}
