// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run in virtual time: the RTL, clock by clock, and the host's threads between its clocks. The report is a
//! function of the job.

use std::collections::BTreeMap;

use sim::bus::BusError;
use tables::Walk;
use tables::memory::RemoteMemory;

use crate::card::{Card, Reading};
use crate::error::RunError;
use crate::host::Host;
use crate::job::{Job, LOGGED, TABLE_BASE, Watch};
use crate::limit::Needs;
use crate::report::{Raw, Report, Vectors, difference};
use crate::served::Served;

/// Clocks between two looks at the interrupt.
const LOOKS: u64 = 4096;

struct World<'j> {
    job: &'j Job,
    card: Card,
    host: Host,
    lines: u64,
    /// The threads that wait for an eviction, by its token.
    evicting: BTreeMap<u16, usize>,
}

impl Job {
    /// Runs it through the RTL in virtual time.
    ///
    /// # Errors
    /// When the RTL does not do as it should, an answer is wrong, or there is no room in the table.
    pub fn virtual_time(&self, watch: &mut Watch<'_>) -> Result<Report, RunError> {
        let table = Self::table(&self.contents, &self.settings, LOGGED)?;
        let geometry = self.lookup_geometry(table.geometry())?;
        let host = Host::new(table, &self.contents, &self.settings);
        let needs = Needs::new(host.table());
        let needed = self.needed(&needs);
        let known = if self.settings.card.knows_hints { needs.hints() } else { &[] };
        let card = Card::new(self, geometry, known)?;
        let lines = host.table().geometry().ground().words() as u64 / 8;
        let evicting = BTreeMap::new();
        let mut world = World { job: self, card, host, lines, evicting };
        let mut raw = world.run(watch)?;
        raw.changes = world.host.into_changes();
        Report::of(self, raw, &needed)
    }
}

impl World<'_> {
    fn run(&mut self, watch: &mut Watch<'_>) -> Result<Raw, RunError> {
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
        raw.rtl = Some(difference(&after.rtl, &before.rtl));
        raw.machine = Some(difference(&after.machine, &before.machine));
        let vectors = Vectors {
            elements: after.vectors.elements - before.vectors.elements,
            vectors: after.vectors.vectors - before.vectors.vectors,
        };
        raw.dma = Some((vectors, after.traffic - before.traffic));
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
                self.card.look_up(keys[asked]);
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
            self.evicting.insert(self.card.evict(key), thread);
        }
    }

    fn pass_clock(&mut self) -> Result<Option<Served>, RunError> {
        let clock = self.card.now();
        self.host.advance(self.job.settings.card.clock() * clock)?;
        let (memory, lines) = (self.host.table().memory(), self.lines);
        let ended = self.card.clock(|address| {
            match address.checked_sub(TABLE_BASE).map(|offset| offset / 64) {
                Some(line) if line < lines => Ok(memory.read_line(line as usize)),
                _ => Err(BusError::DecodeError),
            }
        })?;
        if let Some(token) = ended.evicted {
            let thread = self.evicting.remove(&token).expect("a thread has asked for it");
            self.host.evicted(thread, clock);
        }
        Ok(ended.served)
    }
}
