// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a run has measured: a function of its settings alone.

use serde::Serialize;

use super::{DataPathReport, Settings};

/// The results of a run. The same settings give the same report, byte for byte.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// What was run.
    pub settings: Settings,
    /// Whether it was ended early, so that it covers only the time until then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_interrupted: bool,
    /// What was measured, in nanoseconds of virtual time.
    pub measured_ns: f64,
    /// Transactions that committed in this time.
    pub committed: u64,
    /// Transactions whose own logic gave up, which is a result.
    pub rolled_back: u64,
    /// Committed transactions a second, all machines together.
    pub per_second: f64,
    /// The same of one machine, on average.
    pub per_second_and_node: f64,
    /// From the end of the burst in which a transaction began to that in which it committed, of all
    /// kinds.
    pub latency: Latency,
    /// The same of transactions that rolled back.
    pub rolled_back_latency: Latency,
    /// The kinds of transactions.
    pub kinds: Vec<KindReport>,
    /// Attempts that were aborted and tried again, by cause.
    pub aborts: Vec<AbortReport>,
    /// How busy each resource was, the busiest first: it binds.
    pub resources: Vec<ResourceReport>,
    /// Messages that a core takes in one burst, on average: what a poll brings.
    pub messages_a_burst: f64,
    /// What NICs with an index asked it and the memory of their hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexReport>,
    /// Messages by what they were for, beside the count by hand.
    pub traffic: Vec<TrafficReport>,
    /// What the faults did; empty without faults.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<CountReport>,
    /// What the hardware in the loop did, if there was some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_path: Option<DataPathReport>,
    /// What is known to be right.
    pub checks: ChecksReport,
    /// Of everything that happened, in hexadecimal: two runs with the same one were the same.
    pub digest: String,
    /// What the simulation itself did.
    pub events: u64,
}

/// A length of time, over many transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Latency {
    /// How many.
    pub count: u64,
    /// The mean, in nanoseconds; as all that follow.
    pub mean_ns: f64,
    /// Half take no longer.
    pub p50_ns: f64,
    /// Nine of ten take no longer.
    pub p90_ns: f64,
    /// 99 of a hundred take no longer.
    pub p99_ns: f64,
    /// 999 of a thousand take no longer.
    pub p999_ns: f64,
    /// The longest.
    pub max_ns: f64,
}

/// Transactions of one kind.
#[derive(Clone, Debug, Serialize)]
pub struct KindReport {
    /// Its name.
    pub name: &'static str,
    /// Those that committed.
    pub committed: u64,
    /// Those whose own logic gave up.
    pub rolled_back: u64,
    /// How long those took that committed.
    pub latency: Latency,
    /// How long those took that rolled back.
    pub rolled_back_latency: Latency,
}

/// Attempts that were aborted.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AbortReport {
    /// What they met.
    pub cause: &'static str,
    /// How many.
    pub count: u64,
    /// Of all attempts that ended.
    pub share: f64,
}

/// A resource of the cluster.
#[derive(Clone, Debug, Serialize)]
pub struct ResourceReport {
    /// Its name.
    pub name: String,
    /// The part of the time in which it was in use, on the machine where that was most.
    pub busiest: f64,
    /// The same on average over all machines.
    pub mean: f64,
}

/// The index of a NIC, and the memory of its host, for each transaction that committed or rolled back.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct IndexReport {
    /// Rows that were looked up to be read, locked or validated, also for attempts that were aborted.
    pub rows: f64,
    /// The part of them that was cached.
    pub cached: f64,
    /// Reads of host memory by DMA.
    pub reads: f64,
    /// Writes to host memory by DMA.
    pub writes: f64,
}

/// Messages and one-sided verbs of one stage.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TrafficReport {
    /// What they are for.
    pub stage: &'static str,
    /// Messages for each transaction that committed or rolled back.
    pub messages: f64,
    /// Their bytes for each of these, without the medium's headers.
    pub bytes: f64,
    /// Messages as counted by hand for a transaction without aborts; none where that says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_hand: Option<f64>,
    /// Their bytes, counted in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_by_hand: Option<f64>,
    /// One-sided verbs for each transaction that committed or rolled back; left out of files where there are none.
    #[serde(skip_serializing_if = "is_none")]
    pub verbs: f64,
    /// The bytes that they read or write, without the medium's headers.
    #[serde(skip_serializing_if = "is_none")]
    pub verb_bytes: f64,
    /// Verbs as counted by hand; none where there are to be none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verbs_by_hand: Option<f64>,
    /// Bytes of messages and verbs on the wire, with all headers.
    #[serde(skip)]
    pub wire_bytes: f64,
}

/// Whether there is nothing of something.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_none(number: &f64) -> bool {
    *number == 0.0
}

/// How often something happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CountReport {
    /// What.
    pub name: String,
    /// How often.
    pub count: u64,
}

/// What was checked, and found right; what was not right is an error instead.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ChecksReport {
    /// Whether anything was checked.
    pub are_on: bool,
    /// Transactions whose reads saw the newest version at their serialization points.
    pub transactions: u64,
    /// Their reads and writes.
    pub accesses: u64,
    /// Whether replicas, locks, logs and the workload's own conditions were looked at when the cluster
    /// was at rest.
    pub at_rest: bool,
}

impl Report {
    /// Transactions that rolled back, of all that ended without an abort.
    pub fn rolled_back_share(&self) -> f64 {
        self.rolled_back as f64 / (self.committed + self.rolled_back).max(1) as f64
    }

    /// Transactions a second that committed or rolled back, all machines together.
    pub fn ended_per_second(&self) -> f64 {
        self.per_second / (1.0 - self.rolled_back_share()).max(f64::MIN_POSITIVE)
    }

    /// The resource that was busiest on its busiest machine: the one that binds, if anything does.
    pub fn binding(&self) -> Option<&ResourceReport> {
        self.resources.first()
    }

    /// Messages for each transaction that committed or rolled back.
    pub fn messages(&self) -> f64 {
        self.traffic.iter().map(|of| of.messages).sum()
    }

    /// One-sided verbs for each of these.
    pub fn verbs(&self) -> f64 {
        self.traffic.iter().map(|of| of.verbs).sum()
    }

    /// Bytes on the wire for each of these, of messages and verbs with all headers.
    pub fn wire_bytes(&self) -> f64 {
        self.traffic.iter().map(|of| of.wire_bytes).sum()
    }

    /// Bytes for each of these.
    pub fn bytes(&self) -> f64 {
        self.traffic.iter().map(|of| of.bytes).sum()
    }

    /// The same as [`Report::messages`], counted by hand.
    pub fn messages_by_hand(&self) -> f64 {
        self.traffic.iter().filter_map(|of| of.by_hand).sum()
    }

    /// Aborted attempts for each attempt that ended.
    pub fn abort_share(&self) -> f64 {
        self.aborts.iter().map(|of| of.share).sum()
    }
}
