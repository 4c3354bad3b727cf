// SPDX-License-Identifier: MIT OR Apache-2.0
//! What look-ups need of the link, and how many it can carry.
//!
//! The rule: a look-up that the index does not answer needs what a remote reader with hints that are up to date
//! reads of the table at rest (`tables::Search`): its rows of slots, and for a key that is absent both readings.
//! Reads are of whole lines of 64 bytes, each read a packet without payload to the host, and packets of at most the
//! platform's payload back. What retries, stale hints and evictions add is not needed.

use serde::Serialize;
use sim::host_link::Traffic;
use tables::memory::{HostMemory, RemoteMemory};
use tables::robin_hood::RobinHoodTable;
use tables::{Hint, Plan, RemoteTable, Step, read_range};
use timing::Time;
use timing::platform::Platform;

/// The most look-ups a second that these can be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Limits {
    /// By the bytes that they need of the busier direction of the link; none when they need none.
    pub link: Option<f64>,
    /// By the requests that are under way at once, when those that read take one round trip of one line each and
    /// others no time; none when none reads.
    pub in_flight: Option<f64>,
    /// By the index, which carries out one operation a clock of the card: one for each look-up, and a fill for each
    /// that reads.
    pub index: f64,
}

impl Limits {
    /// The least of them.
    pub fn least(&self) -> f64 {
        [self.link, self.in_flight].into_iter().flatten().fold(self.index, f64::min)
    }
}

impl Limits {
    /// Of `look_ups`, those that read among which need `needed` of the link.
    pub fn of(
        look_ups: usize,
        needed: &[Traffic],
        platform: &Platform,
        in_flight: u16,
        clock: Time,
    ) -> Self {
        let per_second = |time: Time| 1e12 / time.as_ps() as f64;
        let share = look_ups as f64 / (look_ups + needed.len()).max(1) as f64;
        let index = per_second(clock) * share;
        let mut all = Traffic::default();
        needed.iter().for_each(|one| all += *one);
        let (Some(dma), false) = (&platform.dma, needed.is_empty()) else {
            return Limits { link: None, in_flight: None, index };
        };
        let (look_ups, reading) = (look_ups as f64, needed.len() as f64);
        let link = &platform.link;
        let one = Traffic::of_read(1, link);
        let wire = |bytes| link.bandwidth.get().time_for(bytes);
        let trip = link.latency_to_host.get()
            + dma.memory_access.get()
            + link.latency_to_device.get()
            + wire(one.bytes_to_host)
            + wire(one.bytes_to_device);
        Limits {
            link: Some(look_ups * per_second(all.time(link))),
            in_flight: Some(f64::from(in_flight) * per_second(trip) * look_ups / reading),
            index,
        }
    }
}

/// A table at rest, with the hints of all its segments.
pub struct Needs<'t, M> {
    table: &'t RobinHoodTable<M>,
    hints: Vec<Hint>,
}

impl<'t, M: HostMemory + RemoteMemory> Needs<'t, M> {
    /// Looks at the whole table.
    pub fn new(table: &'t RobinHoodTable<M>) -> Self {
        Needs { hints: table.hints(), table }
    }

    /// The hints, segment by segment.
    pub fn hints(&self) -> &[Hint] {
        &self.hints
    }

    /// What a look-up of the key needs of the link.
    pub fn of(&self, key: u64, platform: &Platform) -> Traffic {
        let geometry = self.table.geometry();
        let hint = self.hints[geometry.segment(geometry.home(key)) as usize];
        let mut plan = self.table.plan(key, hint);
        let (mut words, mut traffic) = (Vec::new(), Traffic::default());
        while let Step::Read(ranges) = plan.next(&words) {
            words.clear();
            for range in &ranges {
                traffic += Traffic::of_read(range.lines().len() as u64, &platform.link);
                read_range(self.table.memory(), range, &mut words);
            }
        }
        traffic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Contents;
    use crate::job::Job;
    use crate::settings::Settings;
    use tables::memory::PlainMemory;

    #[test]
    fn a_limit_is_what_the_reads_alone_allow() {
        let platform = Platform::named("liquidio3").expect("valid");
        let clock = Time::from_ns(4);
        let needed = [Traffic::of_read(2, &platform.link); 10];
        let limits = Limits::of(20, &needed, &platform, 128, clock);
        // Half of the look-ups need 128 bytes and a packet's 26.
        let near = |found: Option<f64>, expected: f64| {
            let found = found.expect("there is one");
            assert!((found / expected - 1.0).abs() < 1e-3, "{found}, expected {expected}");
        };
        near(limits.link, 2.0 * 7.88e9 / 154.0);
        near(limits.in_flight, 2.0 * 128.0 / 1308.7e-9);
        near(Some(limits.index), 250e6 / 1.5);
        assert_eq!(Some(limits.least()), limits.link);
        let none = Limits::of(20, &[], &platform, 128, clock);
        assert_eq!((none.link, none.least()), (None, 250e6));
    }

    #[test]
    fn a_key_needs_its_first_read_and_an_absent_one_all_places_twice() {
        let platform = Platform::named("liquidio3").expect("valid");
        let contents = Contents::generated(2000, 4);
        let table = Job::table(&contents, &Settings::default(), PlainMemory::new).expect("a table");
        let needs = Needs::new(&table);
        let mean = |keys: &mut dyn Iterator<Item = u64>| {
            let lines: Vec<u64> = keys.map(|key| needs.of(key, &platform).lines).collect();
            lines.iter().sum::<u64>() as f64 / lines.len() as f64
        };
        let there = mean(&mut contents.objects.iter().map(|object| object.0));
        // About four slots of 32 bytes (Xenic, table 2).
        assert!((2.0..3.5).contains(&there), "{there} lines");
        let absent = mean(&mut (0..500).map(|n| contents.absent_key(4, n, |_| false)));
        // Twice 16 slots, the word and the bucket, as far as there is one.
        assert!((17.0..25.0).contains(&absent), "{absent} lines");
    }
}
