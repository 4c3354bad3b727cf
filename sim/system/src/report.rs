// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of a run.

use hdrhistogram::Histogram;
use serde::Serialize;
use sim::coherence::{Message, Traffic};
use timing::Time;

/// The result of a run. In virtual time it is a pure function of scenario and seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the platform.
    pub platform: String,
    /// `virtual`, `wall-clock`, or `device`: in wall-clock time, with the lock unit behind a
    /// driver.
    pub mode: &'static str,
    /// Which device that is, as a URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_uri: Option<String>,
    /// The seed.
    pub seed: u64,
    /// How long the run took by the clock that counts, in nanoseconds.
    pub duration_ns: u64,
    /// The host's transactions.
    pub host: SideReport,
    /// The device's transactions.
    pub device: SideReport,
    /// How deep the queues were.
    pub queue: QueueReport,
    /// The rows that the locks protect, as they were found at the end.
    pub rows: RowsReport,
    /// The traffic between host and device. Virtual time only.
    pub coherence: Option<CoherenceReport>,
    /// The lock unit's own counters.
    pub unit: Option<UnitReport>,
}

/// One side's transactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SideReport {
    /// Workers, or transactions in flight.
    pub agents: u32,
    /// Transactions begun, tries not counted apart.
    pub started: u64,
    /// Transactions committed.
    pub committed: u64,
    /// Committed transactions per second of the clock that counts.
    pub commits_per_second: f64,
    /// Tries that were aborted, by cause.
    pub aborts: Aborts,
    /// Locks granted.
    pub locks: u64,
    /// Locks per second of the clock that counts.
    pub locks_per_second: f64,
    /// Of these, in a bucket that the transaction held already.
    pub granted_again: u64,
    /// Requests that met a lock held by another.
    pub conflicts: u64,
    /// Of these, how many waited in the queue.
    pub queued: u64,
    /// Acquire, from asking to granted, without those that had to wait.
    pub acquire: Latency,
    /// Acquire of those that had to wait.
    pub wait: Latency,
    /// Release, from asking to done.
    pub release: Latency,
}

/// Aborted tries by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Aborts {
    /// The workload's own wish.
    pub own: u64,
    /// Wait-die.
    pub died: u64,
    /// A wait timed out.
    pub timed_out: u64,
    /// A cycle of waiting.
    pub deadlock: u64,
    /// The queue was full.
    pub full: u64,
    /// Others were always faster.
    pub contended: u64,
    /// Locks are taken in the order of buckets, and a row's new version came before one held.
    pub out_of_order: u64,
    /// A bus error.
    pub bus_error: u64,
    /// Transactions given up after the scenario's number of tries.
    pub given_up: u64,
}

impl Aborts {
    /// All aborted tries.
    pub fn total(&self) -> u64 {
        let Aborts {
            own, died, timed_out, deadlock, full, contended, out_of_order, bus_error, ..
        } = *self;
        own + died + timed_out + deadlock + full + contended + out_of_order + bus_error
    }
}

/// A distribution of latencies, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// How many.
    pub count: u64,
    /// The shortest.
    pub min_ns: f64,
    /// Their mean.
    pub mean_ns: f64,
    /// Half are shorter.
    pub p50_ns: f64,
    /// 90 % are shorter.
    pub p90_ns: f64,
    /// 99 % are shorter.
    pub p99_ns: f64,
    /// The longest.
    pub max_ns: f64,
}

/// Collects latencies, to three digits.
#[derive(Clone, Debug)]
pub struct LatencyRecorder(Histogram<u64>);

impl Default for LatencyRecorder {
    fn default() -> Self {
        Self(Histogram::new(3).expect("three digits are possible"))
    }
}

impl LatencyRecorder {
    /// Adds one.
    pub fn record(&mut self, latency: Time) {
        // Not `saturating_record`: that one cuts off instead of resizing.
        self.0.record(latency.as_ps()).expect("recorders resize themselves");
    }

    /// Adds all of another's.
    pub fn add(&mut self, other: &LatencyRecorder) {
        self.0.add(&other.0).expect("recorders resize themselves");
    }

    /// The collected data.
    pub fn latency(&self) -> Latency {
        if self.0.is_empty() {
            return Latency::default();
        }
        let ns = |picoseconds: u64| picoseconds as f64 / 1000.0;
        Latency {
            count: self.0.len(),
            min_ns: ns(self.0.min()),
            mean_ns: (self.0.mean() / 10.0).round() / 100.0,
            p50_ns: ns(self.0.value_at_quantile(0.5)),
            p90_ns: ns(self.0.value_at_quantile(0.9)),
            p99_ns: ns(self.0.value_at_quantile(0.99)),
            max_ns: ns(self.0.max()),
        }
    }
}

/// How deep the queues were when a request entered one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct QueueReport {
    /// How often a request entered at position 1, 2, …, 7.
    pub entered_at: [u64; 7],
    /// The mean position.
    pub mean_depth: f64,
    /// The greatest position.
    pub max_depth: u8,
}

impl QueueReport {
    /// Counts an entry at `position`, 1 to 7.
    pub fn enter(&mut self, position: u8) {
        self.entered_at[position as usize - 1] += 1;
        self.max_depth = self.max_depth.max(position);
        let entries: u64 = self.entered_at.iter().sum();
        let depths: u64 = (1..).zip(self.entered_at).map(|(depth, count)| depth * count).sum();
        self.mean_depth = depths as f64 / entries as f64;
    }
}

/// The rows that the locks protect. They have been compared, one by one, with what the committed
/// transactions have written (those included that committed after the run's time was over).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowsReport {
    /// Rows in the store.
    pub rows: u64,
    /// Versions written over the first ones.
    pub versions_written: u64,
    /// Of these, written in a replay onto a newer version than the trace's lock was of.
    pub overtaken: u64,
    /// Sum of all balances, in cents.
    pub sum: i64,
    /// Pages of 8 KiB in use at the end.
    pub pages: u64,
    /// And after a vacuum.
    pub pages_after_vacuum: u64,
    /// Old versions that this vacuum has removed.
    pub versions_removed: u64,
    /// Versions that it has moved.
    pub versions_moved: u64,
}

/// The traffic between host and device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CoherenceReport {
    /// Messages between agents and home, by kind, of those kinds that were sent.
    pub messages: Vec<(String, u64)>,
    /// Messages that crossed the link.
    pub link_messages: u64,
    /// Bytes over the link to the host.
    pub link_bytes_to_host: u64,
    /// Bytes over the link to the device.
    pub link_bytes_to_device: u64,
    /// Copies that were invalidated.
    pub invalidations: u64,
    /// Accesses that found what they needed in the cache.
    pub cache_hits: u64,
    /// Accesses that did not.
    pub cache_misses: u64,
}

impl CoherenceReport {
    /// The counters of the coherent memory.
    pub fn new(traffic: &Traffic) -> Self {
        let sent = |&message: &Message| match traffic.count(message) {
            0 => None,
            count => Some((format!("{message:?}"), count)),
        };
        Self {
            messages: Message::ALL.iter().filter_map(sent).collect(),
            link_messages: traffic.link_messages,
            link_bytes_to_host: traffic.link_bytes_to_host,
            link_bytes_to_device: traffic.link_bytes_to_device,
            invalidations: traffic.invalidations,
            cache_hits: traffic.hits,
            cache_misses: traffic.misses,
        }
    }
}

/// The lock unit's own counters, and its clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnitReport {
    /// Clock cycles simulated (idle ones are skipped); `None` behind a driver, which sees no clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycles: Option<u64>,
    /// Requests accepted.
    pub requests: u64,
    /// Compare-and-swaps made.
    pub compare_swaps: u64,
    /// Stores made.
    pub stores: u64,
    /// Lines read.
    pub line_reads: u64,
    /// Copies of lines that were voided by others.
    pub copies_voided: u64,
    /// Locks that it handed over.
    pub handed_over: u64,
}

impl UnitReport {
    /// The unit's counters, after `cycles` clock cycles if they were counted.
    pub fn new(cycles: Option<u64>, counters: &driver::lock_unit::Counters) -> Self {
        Self {
            cycles,
            requests: counters.requests,
            compare_swaps: counters.compare_and_swaps,
            stores: counters.stores,
            line_reads: counters.line_reads,
            copies_voided: counters.copies_voided,
            handed_over: counters.handed_over,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_come_back_to_three_digits() {
        let mut recorder = LatencyRecorder::default();
        (1..=1000).for_each(|microseconds| recorder.record(Time::from_us(microseconds)));
        let latency = recorder.latency();
        assert_eq!(latency.count, 1000);
        let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 1e-3;
        assert!(near(latency.min_ns, 1e3) && near(latency.max_ns, 1e6), "{latency:?}");
        assert!(near(latency.mean_ns, 500.5e3) && near(latency.p99_ns, 990e3), "{latency:?}");
    }
}
