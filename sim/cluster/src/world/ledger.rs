// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is counted and measured in a world.

use cluster::engine::{Ending, NodeId, Stage};
use hdrhistogram::Histogram;
use timing::Time;

/// The longest latency that is told apart from longer ones, in nanoseconds.
const LONGEST: u64 = 100_000_000_000;

/// The counts of a span of time.
#[derive(Clone, Debug)]
pub struct Ledger {
    /// When counting began.
    pub since: Time,
    /// How long it went on.
    pub span: Time,
    /// Transactions by kind, the places of the workload's list.
    pub kinds: Vec<KindCounts>,
    /// Messages that were sent and that were given to machines, by stage.
    pub messages: [StageCounts; Stage::COUNT],
    /// One-sided verbs, by stage.
    pub verbs: [VerbCounts; Stage::COUNT],
    /// Memory operations that were begun, and those of them that failed.
    pub operations: [u64; 2],
    /// Reads and writes of host memory by cores of the own NIC, of those that were begun.
    pub dma: [u64; 2],
    /// Frames that were lost, by why.
    pub lost: LostCounts,
    /// Events of the kernel.
    pub events: u64,
    /// Bursts of machines.
    pub bursts: u64,
    /// How busy each resource was; filled in when the span ends.
    pub resources: Vec<ResourceUse>,
}

/// The transactions of a kind.
#[derive(Clone, Debug)]
pub struct KindCounts {
    /// Attempts by their [`Ending`].
    pub endings: [u64; Ending::COUNT],
    /// Nanoseconds from the beginning of the first attempt to the end of the last, of transactions
    /// that committed.
    pub latency: Histogram<u64>,
    /// The same of transactions that rolled back, which took fewer steps.
    pub rolled_back: Histogram<u64>,
}

impl Default for KindCounts {
    fn default() -> Self {
        let latency = Histogram::new_with_bounds(1, LONGEST, 3).expect("bounds in order");
        Self { endings: [0; Ending::COUNT], rolled_back: latency.clone(), latency }
    }
}

/// The messages of a stage. Bytes are those of messages; those on the wire have all headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageCounts {
    /// Messages that left their machine.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Their bytes on the wire; those within a node have none.
    pub wire_bytes: u64,
    /// Messages that were given to a machine.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
}

/// The one-sided verbs of a stage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VerbCounts {
    /// Verbs that were issued.
    pub issued: u64,
    /// The bytes that they read or write.
    pub bytes: u64,
    /// The bytes of requests and answers on the wire, with all headers.
    pub wire_bytes: u64,
}

/// Frames that did not come to a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostCounts {
    /// The plan of faults dropped them.
    pub dropped: u64,
    /// Their receiver was down, or had no such part.
    pub unreachable: u64,
    /// They were longer than a datagram can be.
    pub oversized: u64,
}

/// How busy a resource was.
#[derive(Clone, Debug, PartialEq)]
pub struct ResourceUse {
    /// The node.
    pub node: NodeId,
    /// What it is.
    pub name: &'static str,
    /// The share of the span in which it was busy; of several, on average.
    pub share: f64,
}

impl Default for Ledger {
    fn default() -> Self {
        Self::since(Time::ZERO)
    }
}

impl Ledger {
    /// Nothing counted yet.
    pub fn since(since: Time) -> Self {
        Self {
            since,
            span: Time::ZERO,
            kinds: Vec::new(),
            messages: [StageCounts::default(); Stage::COUNT],
            verbs: [VerbCounts::default(); Stage::COUNT],
            operations: [0; 2],
            dma: [0; 2],
            lost: LostCounts::default(),
            events: 0,
            bursts: 0,
            resources: Vec::new(),
        }
    }

    /// Forgets all counts, and keeps the memory.
    pub(super) fn restart(&mut self, now: Time) {
        let mut kinds = std::mem::take(&mut self.kinds);
        for kind in &mut kinds {
            kind.endings = [0; Ending::COUNT];
            kind.latency.reset();
            kind.rolled_back.reset();
        }
        *self = Self { kinds, ..Self::since(now) };
    }

    /// The counts of a kind, which may be new.
    pub(super) fn kind(&mut self, kind: u8) -> &mut KindCounts {
        let kind = usize::from(kind);
        if kind >= self.kinds.len() {
            self.kinds.resize_with(kind + 1, KindCounts::default);
        }
        &mut self.kinds[kind]
    }

    /// Attempts that ended so, of all kinds.
    pub fn ended(&self, ending: Ending) -> u64 {
        self.kinds.iter().map(|kind| kind.endings[ending as usize]).sum()
    }

    /// Transactions that ended, whether they committed or rolled back.
    pub fn transactions(&self) -> u64 {
        self.ended(Ending::Committed) + self.ended(Ending::RolledBack)
    }

    /// Transactions a second, of all nodes together.
    pub fn throughput(&self) -> f64 {
        if self.span == Time::ZERO {
            return 0.0;
        }
        self.transactions() as f64 / (self.span.as_ns_f64() / 1e9)
    }

    /// The latencies of transactions of all kinds that committed.
    pub fn latency(&self) -> Histogram<u64> {
        self.sum(|kind| &kind.latency)
    }

    /// The latencies of those that rolled back.
    pub fn rolled_back_latency(&self) -> Histogram<u64> {
        self.sum(|kind| &kind.rolled_back)
    }

    fn sum(&self, of: fn(&KindCounts) -> &Histogram<u64>) -> Histogram<u64> {
        let mut all = KindCounts::default().latency;
        for kind in &self.kinds {
            all.add(of(kind)).expect("the same bounds");
        }
        all
    }

    /// The resource that was busiest, on average over the nodes that have one: what binds, if its
    /// share is near 1.
    pub fn busiest(&self) -> Option<(&'static str, f64)> {
        let mut sums: Vec<(&'static str, f64, f64)> = Vec::new();
        for resource in self.resources.iter().filter(|it| it.node != NodeId::MANAGER) {
            match sums.iter_mut().find(|(name, ..)| *name == resource.name) {
                Some((_, share, count)) => {
                    (*share, *count) = (*share + resource.share, *count + 1.0)
                }
                None => sums.push((resource.name, resource.share, 1.0)),
            }
        }
        let shares = sums.into_iter().map(|(name, share, count)| (name, share / count));
        shares.max_by(|(_, one), (_, other)| one.total_cmp(other))
    }
}
