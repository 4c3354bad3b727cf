// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's threads in virtual time: they delete and insert, one store after the other, and ask for an eviction
//! after each change.
//!
//! The stores of all threads come to memory in one order, so a thread that wants to change the table while another
//! does waits its turn, in the order of coming.

use std::collections::VecDeque;

use tables::memory::LoggedMemory;
use tables::robin_hood::RobinHoodTable;
use tables::{RemoteTable, TableError};
use timing::Time;

use crate::churn::{Churn, Step};
use crate::contents::Contents;
use crate::judge::Change;
use crate::settings::Settings;

/// The threads, and their table.
pub struct Host {
    table: RobinHoodTable<LoggedMemory>,
    threads: Vec<Thread>,
    store: Time,
    pause: Time,
    clock: Time,
    /// Threads that wait to change the table; the first one does so.
    turns: VecDeque<usize>,
    /// Stores of the first of them that are still to come, and when the next one does.
    stores: usize,
    next_store: Time,
    changes: Vec<Change>,
    /// No operation begins any more.
    is_ending: bool,
}

struct Thread {
    churn: Churn,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Until then.
    Rests(Time),
    /// For its turn, or for its stores.
    Writes,
    /// The eviction is to be asked for.
    Asks(Change),
    /// It is asked for.
    Waits(Change),
    Over,
}

impl Host {
    /// Threads that rest over a filled table.
    pub fn new(
        table: RobinHoodTable<LoggedMemory>,
        contents: &Contents,
        settings: &Settings,
    ) -> Self {
        while table.memory().let_through().is_some() {}
        let host = settings.host;
        let pause = Time::from_ns(host.pause_ns);
        let thread = |number: u32| Thread {
            churn: Churn::new(contents, host.share, (number, host.threads), settings.seed),
            // Not all at once.
            state: State::Rests(pause * u64::from(number)),
        };
        Host {
            table,
            threads: (0..host.threads).map(thread).collect(),
            store: Time::from_ns(host.store_ns.max(1)),
            pause,
            clock: settings.card.clock(),
            turns: VecDeque::new(),
            stores: 0,
            next_store: Time::ZERO,
            changes: Vec::new(),
            is_ending: false,
        }
    }

    /// The table; its memory shows remote readers what has been stored by now.
    pub fn table(&self) -> &RobinHoodTable<LoggedMemory> {
        &self.table
    }

    /// What has come to its end, in that order, since it was last taken.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// The period of the card's clock, in which changes are noted.
    pub fn clock_period(&self) -> Time {
        self.clock
    }

    /// Lets operations that have begun come to their ends, and begins none.
    pub fn end(&mut self) {
        self.is_ending = true;
    }

    /// Whether no operation is under way.
    pub fn is_at_rest(&self) -> bool {
        let rests = |thread: &Thread| matches!(thread.state, State::Rests(_) | State::Over);
        self.threads.iter().all(rests)
    }

    /// Does all that is due by `now`. Times do not go back from call to call.
    ///
    /// # Errors
    /// When there is no room for an insertion.
    pub fn advance(&mut self, now: Time) -> Result<(), TableError> {
        for number in 0..self.threads.len() {
            if matches!(self.threads[number].state, State::Rests(until) if until <= now)
                && !self.is_ending
            {
                self.threads[number].state = State::Writes;
                self.turns.push_back(number);
                if self.turns.len() == 1 {
                    self.begin(now)?;
                }
            }
        }
        while self.stores > 0 && self.next_store <= now {
            self.table.memory().let_through().expect("the operation has made the store");
            self.stores -= 1;
            let then = self.next_store;
            self.next_store += self.store;
            if self.stores == 0 {
                self.finish(then)?;
            }
        }
        Ok(())
    }

    /// The first of those that wait carries its operation out; its stores come one by one.
    fn begin(&mut self, now: Time) -> Result<(), TableError> {
        let Some(&number) = self.turns.front() else { return Ok(()) };
        let thread = &mut self.threads[number];
        let Some(Step { key, content }) = thread.churn.next() else {
            thread.state = State::Over;
            self.turns.pop_front();
            return self.begin(now);
        };
        let before = self.table.memory().stores();
        match content {
            Some(value) => self.table.insert(key, &value.to_le_bytes())?,
            None => self.table.delete(key)?,
        }
        self.stores = self.table.memory().stores() - before;
        self.next_store = now + self.store;
        let begun = now.as_ps() / self.clock.as_ps();
        thread.state = State::Asks(Change { key, content, begun, stored: 0, evicted: 0 });
        Ok(())
    }

    /// The last store of an operation was made.
    fn finish(&mut self, now: Time) -> Result<(), TableError> {
        let number = self.turns.pop_front().expect("a thread has made the stores");
        let State::Asks(change) = self.threads[number].state else {
            unreachable!("the thread that makes stores asks next")
        };
        let stored = now.as_ps().div_ceil(self.clock.as_ps());
        self.threads[number].state = State::Asks(Change { stored, ..change });
        self.begin(now)
    }

    /// The next thread, with its key, whose eviction is to be asked for.
    pub fn take_eviction(&mut self) -> Option<(usize, u64)> {
        let writes = if self.stores > 0 { self.turns.front().copied() } else { None };
        let asks = |thread: &Thread| matches!(thread.state, State::Asks(_));
        let place = (0..self.threads.len())
            .find(|&number| asks(&self.threads[number]) && Some(number) != writes)?;
        let State::Asks(change) = self.threads[place].state else { unreachable!("it asks") };
        self.threads[place].state = State::Waits(change);
        Some((place, change.key))
    }

    /// The eviction of a thread was answered in this clock.
    ///
    /// # Panics
    /// When the thread has asked for none.
    pub fn evicted(&mut self, thread: usize, clock: u64) {
        let State::Waits(change) = self.threads[thread].state else {
            panic!("thread {thread} has asked for no eviction")
        };
        self.changes.push(Change { evicted: clock, ..change });
        self.threads[thread].state = State::Rests(self.clock * clock + self.pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Job, LOGGED};
    use crate::settings::{HostSettings, Settings};
    use tables::memory::{HostMemory, RemoteMemory};

    #[test]
    fn changes_show_store_by_store_and_end_with_their_evictions() {
        let host = HostSettings { threads: 3, share: 0.1, store_ns: 20, pause_ns: 100 };
        let settings = Settings { host, ..Settings::default() };
        let contents = Contents::generated(500, 3);
        let table = Job::table(&contents, &settings, LOGGED).expect("a table");
        let mut host = Host::new(table, &contents, &settings);
        let lines = host.table().memory().words() / 8;
        let whole = |host: &Host| -> Vec<_> {
            (0..lines).map(|line| host.table().memory().read_line(line)).collect()
        };
        let (mut seen, mut states) = (whole(&host), 0);
        for clock in 0..2000_u64 {
            host.advance(Time::from_ns(4 * clock)).expect("there is room");
            let now = whole(&host);
            let words = now.iter().flatten().zip(seen.iter().flatten());
            let changed = words.filter(|(now, before)| now != before).count();
            assert!(changed <= 1, "{changed} words in 4 ns");
            states += changed;
            seen = now;
            if let Some((thread, _)) = host.take_eviction() {
                host.evicted(thread, clock);
            }
            if clock == 1500 {
                host.end();
            }
        }
        assert!(host.is_at_rest());
        let changes = host.take_changes();
        assert!(changes.len() > 20 && states > 4 * changes.len(), "{} {states}", changes.len());
        assert!(changes.iter().all(|of| of.begun < of.stored && of.stored <= of.evicted));
    }
}
