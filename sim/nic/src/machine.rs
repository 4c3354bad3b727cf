// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pure machine in place of the RTL: one request after the other, without time.
//!
//! Each step of the machine, which is one request to the index or one line, counts as one clock, so that the
//! host's threads run beside it.

use std::collections::HashSet;

use nic::index::Operation;
use nic::lookup::{Answer, At, Engine, Request};
use tables::Walk;

use crate::error::RunError;
use crate::host::Host;
use crate::job::{Job, LOGGED, MOST_PINS, OBJECTS, TABLE_BASE, WORDS, Watch, hint_request};
use crate::limit::Needs;
use crate::report::{Raw, Report};
use crate::served::Served;

/// Look-ups between two looks at the interrupt.
const LOOKS: usize = 256;

struct Machine<'j> {
    job: &'j Job,
    engine: Engine<OBJECTS, WORDS>,
    host: Host,
    words: usize,
    clock: u64,
    /// Tests forget evictions, to see that this is found.
    evicts: bool,
}

impl Job {
    /// Runs it on the machine.
    ///
    /// # Errors
    /// When there is no room in the table, or an answer is wrong.
    pub fn machine(&self, watch: &mut Watch<'_>) -> Result<Report, RunError> {
        self.machine_that(watch, true)
    }

    fn machine_that(&self, watch: &mut Watch<'_>, evicts: bool) -> Result<Report, RunError> {
        let table = Self::table(&self.contents, &self.settings, LOGGED)?;
        let geometry = self.lookup_geometry(table.geometry())?;
        let host = Host::new(table, &self.contents, &self.settings);
        let needs = Needs::new(host.table());
        let needed = self.needed(&needs);
        let (words, engine) =
            (host.table().geometry().ground().words(), Engine::new(geometry, MOST_PINS));
        let hints = needs.hints().to_vec();
        let mut machine = Machine { job: self, engine, host, words, clock: 0, evicts };
        if self.settings.card.knows_hints {
            machine.tell_hints(&hints);
        }
        let mut raw = machine.run(watch)?;
        raw.changes = machine.host.take_changes();
        Report::of(self, raw, &needed)
    }
}

impl Machine<'_> {
    fn tell_hints(&mut self, hints: &[tables::Hint]) {
        let (geometry, mut told) = (*self.engine.geometry(), HashSet::new());
        for (key, _) in &self.job.contents.objects {
            let segment = geometry.segment(geometry.home(*key));
            if told.insert(segment) {
                let request = hint_request(*key, hints[segment as usize]);
                self.engine
                    .run(&At::new(TABLE_BASE, self.words, self.host.table().memory()), request);
            }
        }
    }

    fn run(&mut self, watch: &mut Watch<'_>) -> Result<Raw, RunError> {
        let look_ups = &self.job.look_ups;
        let mut raw = Raw::default();
        for key in &look_ups.warm_up {
            raw.warm_up.push(self.look_up(*key)?);
        }
        let before = *self.engine.counters();
        for (number, key) in look_ups.measured.iter().enumerate() {
            if number % LOOKS == 0 {
                if watch.interrupt.is_raised() {
                    raw.is_interrupted = true;
                    break;
                }
                (watch.progress)(number as f64 / look_ups.measured.len() as f64, self.clock);
            }
            raw.served.push(self.look_up(*key)?);
        }
        raw.machine = Some(crate::report::difference(self.engine.counters(), &before));
        self.host.end();
        while !self.host.is_at_rest() {
            self.pass_clock()?;
        }
        Ok(raw)
    }

    fn look_up(&mut self, key: u64) -> Result<Served, RunError> {
        let asked = self.clock;
        let answer = self.carry_out(Request::new(Operation::LookUp, key, 0))?;
        Served::of(key, asked, self.clock, &answer)
    }

    fn carry_out(&mut self, request: Request<WORDS>) -> Result<Answer<WORDS>, RunError> {
        let mut run = self.engine.begin(request);
        let mut answer = None;
        while !run.is_over() {
            if request.operation == Operation::LookUp {
                self.pass_clock()?;
            }
            let memory = At::new(TABLE_BASE, self.words, self.host.table().memory());
            answer = answer.or(self.engine.step(&mut run, &memory));
        }
        Ok(answer.expect("each request is answered before it is over"))
    }

    /// Lets the host do what is due, and evicts what it has changed.
    fn pass_clock(&mut self) -> Result<(), RunError> {
        self.clock += 1;
        self.host.advance(self.job.settings.card.clock() * self.clock)?;
        while let Some((thread, key)) = self.host.take_eviction() {
            if self.evicts {
                self.carry_out(Request::new(Operation::Evict, key, 0))?;
            }
            self.host.evicted(thread, self.clock);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Contents, HostSettings, Profile, Settings};
    use system::Interrupt;
    use timing::platform::Platform;

    fn job(seed: u64, profile: &str, threads: u32) -> Job {
        let host = HostSettings { threads, share: 0.1, store_ns: 4, pause_ns: 40 };
        let settings = Settings { seed, host, ..Settings::default() };
        let platform = Platform::named("liquidio3").expect("valid");
        let (contents, profile) =
            (Contents::generated(5000, seed), profile.parse().expect(profile));
        Job::of_profile(contents, &profile, (500, 3000), 0.1, settings, platform).expect("a job")
    }

    fn run(job: &Job, evicts: bool) -> Result<Report, RunError> {
        let interrupt = Interrupt::default();
        let mut watch = Watch { interrupt: &interrupt, progress: &mut |_, _| () };
        job.machine_that(&mut watch, evicts)
    }

    #[test]
    fn a_profile_has_the_hits_that_it_names() {
        let report = run(&job(1, "hits:75", 0), true).expect("it runs");
        assert_eq!((report.look_ups, report.found), (3000, 3000));
        assert!((2150..2350).contains(&report.hits), "{}", report.hits);
        assert!(report.hint_quality > 0.9 && report.trips < 0.3, "{report:?}");
        let counters = report.machine_counters.expect("of the machine");
        assert_eq!((counters["LOOK_UPS"], counters["HITS"]), (3000, report.hits));
    }

    #[test]
    fn answers_are_right_while_threads_change_the_table() {
        seeds::each!(3, |seed| {
            let job = job(seed, "zipf:0.9", 3);
            let report = run(&job, true).expect("it runs");
            let host = report.host.expect("there are threads");
            assert!(host.insertions > 20 && host.deletions > 20, "{host:?}");
            assert!(report.absent > 200 && report.hits > 200, "{report:?}");
        });
    }

    #[test]
    fn a_forgotten_eviction_is_found() {
        let error = run(&job(0, "zipf:0.9", 3), false).expect_err("values stay in the index");
        assert!(matches!(error, RunError::Wrong(_)), "{error}");
    }

    #[test]
    fn impossible_settings_are_refused() {
        let platform = || Platform::named("liquidio3").expect("valid");
        let profile = Profile::Uniform;
        let refused = |settings: Settings, expected: &str| {
            let contents = Contents::generated(100, 0);
            let job = Job::of_profile(contents, &profile, (0, 10), 0.0, settings, platform());
            let error = job.err().expect(expected);
            assert!(error.is_of_input() && error.to_string().contains(expected), "{error}");
        };
        let mut settings = Settings::default();
        settings.table.occupancy = 1.0;
        refused(settings, "occupancy is 1, expected above 0 to 0.95");
        let mut settings = Settings::default();
        settings.table.limit = 64;
        refused(settings, "limit is 64, expected 1 to 63");
        let mut settings = Settings::default();
        settings.card.in_flight = 129;
        refused(settings, "in flight is 129, expected 1 to 128");
        let mut settings = Settings::default();
        settings.host.share = f64::NAN;
        refused(settings, "expected 0 to 1");
    }
}
