// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run in virtual time: the RTL, clock by clock, and the host's threads between its clocks. The report is a
//! function of the job.

use tables::Walk;
use tables::memory::RemoteMemory;

use crate::error::RunError;
use crate::host::Host;
use crate::job::{Job, LOGGED, Watch};
use crate::judge::Change;
use crate::limit::Needs;
use crate::report::Report;
use crate::world::{Beside, World};

impl Job {
    /// Runs it through the RTL in virtual time.
    ///
    /// # Errors
    /// When the RTL does not do as it should, an answer is wrong, or there is no room in the table.
    pub fn virtual_time(&self, watch: &mut Watch<'_>) -> Result<Report, RunError> {
        let table = Self::table(&self.contents, &self.settings, LOGGED)?;
        let geometry = self.lookup_geometry(table.geometry())?;
        let mut host = Host::new(table, &self.contents, &self.settings);
        let needs = Needs::new(host.table());
        let needed = self.needed(&needs);
        let known = if self.settings.card.knows_hints { needs.hints() } else { &[] };
        let card = self.card(geometry, known)?;
        let raw = World::new(self, card, &mut host).run(watch)?;
        Report::of(self, raw, &needed)
    }
}

impl Beside for Host {
    fn advance(&mut self, clock: u64) -> Result<(), RunError> {
        Ok(Host::advance(self, self.clock_period() * clock)?)
    }

    fn take_eviction(&mut self) -> Option<(usize, u64)> {
        Host::take_eviction(self)
    }

    fn evicted(&mut self, thread: usize, clock: u64) {
        Host::evicted(self, thread, clock);
    }

    fn lines(&self) -> u64 {
        self.table().geometry().ground().words() as u64 / 8
    }

    fn line(&self, line: usize) -> [u64; 8] {
        self.table().memory().read_line(line)
    }

    fn end(&mut self) {
        Host::end(self);
    }

    fn is_at_rest(&self) -> bool {
        Host::is_at_rest(self)
    }

    fn take_changes(&mut self) -> Vec<Change> {
        Host::take_changes(self)
    }
}
