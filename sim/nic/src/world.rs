// SPDX-License-Identifier: MIT OR Apache-2.0
//! The card and what is beside it, clock by clock.

use std::collections::BTreeMap;

use nic::index::{Operation, Status as IndexStatus};
use nic::lookup::{Request, Status};
use sim::bus::BusError;

use crate::card::{Exchange, Reading};
use crate::error::RunError;
use crate::job::{Job, ShippedCard, TABLE_BASE, Watch};
use crate::judge::Change;
use crate::report::{Raw, difference};
use crate::served::Served;

/// Clocks between two looks at the interrupt.
const LOOKS: u64 = 4096;

/// The host beside a card.
pub trait Beside {
    /// Does what is due in this clock.
    ///
    /// # Errors
    /// When there is no room for an insertion, or a thread has ended before its time.
    fn advance(&mut self, clock: u64) -> Result<(), RunError>;

    /// The next thread, with its key, whose eviction is to be asked for.
    fn take_eviction(&mut self) -> Option<(usize, u64)>;

    /// The eviction of a thread was answered in this clock.
    fn evicted(&mut self, thread: usize, clock: u64);

    /// Lines of the table's memory.
    fn lines(&self) -> u64;

    /// A line of them, as a remote reader sees it now.
    fn line(&self, line: usize) -> [u64; 8];

    /// Lets operations that have begun come to their ends, and begins none.
    fn end(&mut self);

    /// Whether no operation is under way.
    fn is_at_rest(&self) -> bool;

    /// The changes that have come to their ends since they were last taken.
    fn take_changes(&mut self) -> Vec<Change>;
}

/// A card and the host beside it.
pub struct World<'j, H> {
    job: &'j Job,
    card: ShippedCard,
    host: &'j mut H,
    /// The threads that wait for an eviction, by its token.
    evicting: BTreeMap<u16, usize>,
}

impl<'j, H: Beside> World<'j, H> {
    /// Both at rest.
    pub fn new(job: &'j Job, card: ShippedCard, host: &'j mut H) -> Self {
        World { job, card, host, evicting: BTreeMap::new() }
    }

    /// Runs the job.
    ///
    /// # Errors
    /// When the RTL does not do as it should, or as [`Beside::advance`].
    pub fn run(&mut self, watch: &mut Watch<'_>) -> Result<Raw, RunError> {
        let look_ups = &self.job.look_ups;
        let mut raw = Raw::default();
        let warm_up = look_ups.warm_up.len() as f64;
        let share = warm_up / (warm_up + look_ups.measured.len() as f64);
        raw.warm_up = self.serve(&look_ups.warm_up, (0.0, share), watch)?;
        let before = self.settle()?;
        raw.served = self.serve(&look_ups.measured, (share, 1.0), watch)?;
        let after = self.settle()?;
        raw.is_interrupted = watch.interrupt.is_raised();
        self.end_host()?;
        raw.changes = self.host.take_changes();
        raw.rtl = Some(difference(&after.rtl, &before.rtl));
        raw.machine = Some(difference(&after.machine, &before.machine));
        raw.dma = Some((after.vectors - before.vectors, after.traffic - before.traffic));
        Ok(raw)
    }

    /// Looks keys up, as many at once as may be, until all are answered or the interrupt is raised.
    fn serve(
        &mut self,
        keys: &[u64],
        (from, to): (f64, f64),
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Served>, RunError> {
        let mut served = Vec::with_capacity(keys.len());
        let mut asked = 0;
        let mut end = keys.len();
        while served.len() < end {
            if asked < end && self.card.has_room() {
                self.card.ask(Request::new(Operation::LookUp, keys[asked], 0));
                asked += 1;
            }
            if self.card.now().is_multiple_of(LOOKS) {
                if watch.interrupt.is_raised() {
                    end = asked;
                }
                let done = served.len() as f64 / keys.len() as f64;
                (watch.progress)(from + done * (to - from), self.card.now());
            }
            self.take_evictions();
            served.extend(self.pass_clock()?);
        }
        Ok(served)
    }

    /// Lets all that is under way in the RTL come to its end, and reads what it has counted.
    fn settle(&mut self) -> Result<Reading, RunError> {
        while !self.card.is_idle() {
            self.pass_clock()?;
        }
        // The traces and the counters tell of a clock ago, or two.
        for _ in 0..4 {
            self.pass_clock()?;
        }
        self.card.reading()
    }

    fn end_host(&mut self) -> Result<(), RunError> {
        self.host.end();
        while !self.host.is_at_rest() {
            self.take_evictions();
            self.pass_clock()?;
        }
        Ok(())
    }

    fn take_evictions(&mut self) {
        if self.card.has_room_for_software()
            && let Some((thread, key)) = self.host.take_eviction()
        {
            let request = Request::new(Operation::Evict, key, 0);
            self.evicting.insert(self.card.ask_by_software(request), thread);
        }
    }

    fn pass_clock(&mut self) -> Result<Option<Served>, RunError> {
        let clock = self.card.now();
        self.host.advance(clock)?;
        let (host, lines) = (&*self.host, self.host.lines());
        let ended = self.card.clock(|address| {
            match address.checked_sub(TABLE_BASE).map(|offset| offset / 64) {
                Some(line) if line < lines => Ok(host.line(line as usize)),
                _ => Err(BusError::DecodeError),
            }
        })?;
        if let Some(eviction) = ended.software {
            judge_eviction(clock, &eviction)?;
            let token = eviction.request.token;
            let thread = self.evicting.remove(&token).expect("a thread has asked for it");
            self.host.evicted(thread, clock);
        }
        let served = |of: Exchange| Served::of(of.request.key, of.asked, clock, &of.answer);
        ended.network.map(served).transpose()
    }
}

fn judge_eviction(clock: u64, eviction: &Exchange) -> Result<(), RunError> {
    match eviction.answer.status {
        Status::DONE | Status::Index(IndexStatus::Unknown) => Ok(()),
        status => {
            let (what, expected) = ("the eviction", "done or unknown");
            Err(RunError::Status { clock, what, key: eviction.request.key, status, expected })
        }
    }
}
