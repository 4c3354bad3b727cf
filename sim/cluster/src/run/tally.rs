// SPDX-License-Identifier: MIT OR Apache-2.0
//! The counts of a run's slices, put together.

use cluster::engine::{Ending, NodeId, Stage};
use cluster::xenic::Looks;
use hdrhistogram::Histogram;
use timing::Time;

use super::Settings;
use super::by_hand::ByHand;
use super::report::{
    AbortReport, ChecksReport, IndexReport, KindReport, Latency, Report, ResourceReport,
    TrafficReport,
};
use crate::world::{KindCounts, Ledger, ResourceUse};

/// The sum of ledgers.
#[derive(Default)]
pub struct Tally {
    sum: Option<Ledger>,
    /// What the NICs' indices were asked.
    looks: Looks,
}

impl Tally {
    /// Adds the next slice.
    pub fn add(&mut self, next: &Ledger) {
        let Some(sum) = &mut self.sum else {
            self.sum = Some(next.clone());
            return;
        };
        add_kinds(&mut sum.kinds, &next.kinds);
        for (sum, next) in sum.messages.iter_mut().zip(&next.messages) {
            sum.sent += next.sent;
            sum.sent_bytes += next.sent_bytes;
            sum.wire_bytes += next.wire_bytes;
            sum.received += next.received;
            sum.received_bytes += next.received_bytes;
        }
        for (sum, next) in sum.verbs.iter_mut().zip(&next.verbs) {
            sum.issued += next.issued;
            sum.bytes += next.bytes;
            sum.wire_bytes += next.wire_bytes;
        }
        sum.operations.iter_mut().zip(next.operations).for_each(|(sum, next)| *sum += next);
        sum.dma.iter_mut().zip(next.dma).for_each(|(sum, next)| *sum += next);
        sum.lost.dropped += next.lost.dropped;
        sum.lost.unreachable += next.lost.unreachable;
        sum.lost.oversized += next.lost.oversized;
        sum.events += next.events;
        sum.bursts += next.bursts;
        // Shares by the lengths of the slices.
        let [before, now] = [sum.span, next.span].map(Time::as_ns_f64);
        for (sum, next) in sum.resources.iter_mut().zip(&next.resources) {
            sum.share = (sum.share * before + next.share * now) / (before + now);
        }
        sum.span += next.span;
    }

    /// Adds what the NICs' indices were asked meanwhile.
    pub fn add_looks(&mut self, rows: u64, cached: u64) {
        self.looks.rows += rows;
        self.looks.cached += cached;
    }

    /// Transactions that committed so far.
    pub fn committed(&self) -> u64 {
        self.sum.as_ref().map_or(0, |sum| sum.ended(Ending::Committed))
    }

    /// The report of all.
    pub fn report(
        self,
        settings: &Settings,
        kinds: &[&'static str],
        by_hand: &ByHand,
        (checks, digest): (ChecksReport, String),
    ) -> Report {
        let ledger = self.sum.unwrap_or_default();
        let committed = ledger.ended(Ending::Committed);
        let seconds = ledger.span.as_ns_f64() / 1e9;
        let per_second = if seconds > 0.0 { committed as f64 / seconds } else { 0.0 };
        let none = KindCounts::default();
        let of_kind = |(place, name): (usize, &&'static str)| {
            let counts = ledger.kinds.get(place).unwrap_or(&none);
            KindReport {
                name,
                committed: counts.endings[Ending::Committed as usize],
                rolled_back: counts.endings[Ending::RolledBack as usize],
                latency: latency(&counts.latency),
                rolled_back_latency: latency(&counts.rolled_back),
            }
        };
        Report {
            settings: settings.clone(),
            is_interrupted: false,
            measured_ns: ledger.span.as_ns_f64(),
            committed,
            rolled_back: ledger.ended(Ending::RolledBack),
            per_second,
            per_second_and_node: per_second / f64::from(settings.nodes),
            latency: latency(&ledger.latency()),
            rolled_back_latency: latency(&ledger.rolled_back_latency()),
            kinds: kinds.iter().enumerate().map(of_kind).collect(),
            aborts: aborts(&ledger),
            resources: resources(&ledger.resources),
            messages_a_burst: messages_a_burst(&ledger),
            index: index(&ledger, self.looks),
            traffic: traffic(&ledger, by_hand),
            faults: Vec::new(),
            data_path: None,
            checks,
            digest,
            events: ledger.events,
        }
    }
}

fn add_kinds(sum: &mut Vec<KindCounts>, next: &[KindCounts]) {
    if sum.len() < next.len() {
        sum.resize_with(next.len(), KindCounts::default);
    }
    for (sum, next) in sum.iter_mut().zip(next) {
        sum.endings.iter_mut().zip(next.endings).for_each(|(sum, next)| *sum += next);
        sum.latency.add(&next.latency).expect("the same bounds");
        sum.rolled_back.add(&next.rolled_back).expect("the same bounds");
    }
}

fn index(ledger: &Ledger, looks: Looks) -> Option<IndexReport> {
    let each = |count: u64| count as f64 / ledger.transactions().max(1) as f64;
    let [reads, writes] = ledger.dma.map(each);
    (looks.rows > 0).then(|| IndexReport {
        rows: each(looks.rows),
        cached: looks.cached as f64 / looks.rows as f64,
        reads,
        writes,
    })
}

fn messages_a_burst(ledger: &Ledger) -> f64 {
    let received: u64 = ledger.messages.iter().map(|counts| counts.received).sum();
    received as f64 / ledger.bursts.max(1) as f64
}

fn latency(of: &Histogram<u64>) -> Latency {
    if of.is_empty() {
        return Latency::default();
    }
    let at = |quantile: f64| of.value_at_quantile(quantile) as f64;
    Latency {
        count: of.len(),
        mean_ns: of.mean(),
        p50_ns: at(0.5),
        p90_ns: at(0.9),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        max_ns: of.max() as f64,
    }
}

fn aborts(ledger: &Ledger) -> Vec<AbortReport> {
    let all: u64 = Ending::ALL.iter().map(|ending| ledger.ended(*ending)).sum();
    let causes = Ending::ALL.into_iter().filter(|ending| ending.is_abort());
    let of = |ending: Ending| {
        let count = ledger.ended(ending);
        AbortReport { cause: ending.name(), count, share: count as f64 / all.max(1) as f64 }
    };
    causes.map(of).collect()
}

/// Of the nodes with rows, by name, the busiest first. Those of equal use stand in the order of the
/// world.
fn resources(uses: &[ResourceUse]) -> Vec<ResourceReport> {
    let mut all: Vec<(ResourceReport, f64)> = Vec::new();
    for of in uses.iter().filter(|of| of.node != NodeId::MANAGER) {
        let name = resource_name(of.name);
        match all.iter_mut().find(|(report, _)| report.name == name) {
            Some((report, count)) => {
                report.busiest = report.busiest.max(of.share);
                report.mean += of.share;
                *count += 1.0;
            }
            None => {
                all.push((ResourceReport { name, busiest: of.share, mean: of.share }, 1.0));
            }
        }
    }
    let mean = |(report, count): (ResourceReport, f64)| ResourceReport {
        mean: report.mean / count,
        ..report
    };
    let mut all: Vec<ResourceReport> = all.into_iter().map(mean).collect();
    all.sort_by(|one, other| other.busiest.total_cmp(&one.busiest));
    all
}

/// The parts of a card say that they are of it.
fn resource_name(name: &str) -> String {
    match name {
        "host cores" | "log workers" | "NIC cores" | "link out" | "link in" => name.to_owned(),
        _ => format!("NIC {name}"),
    }
}

/// For each transaction that committed or rolled back: both have sent messages.
fn traffic(ledger: &Ledger, by_hand: &ByHand) -> Vec<TrafficReport> {
    let each = |count: u64| count as f64 / ledger.transactions().max(1) as f64;
    let of = |stage: Stage| {
        let counts = &ledger.messages[stage as usize];
        let verbs = &ledger.verbs[stage as usize];
        let is_counted = (stage as usize) <= Stage::Abort as usize
            || stage == Stage::Host && by_hand.of(stage) > 0.0;
        TrafficReport {
            stage: stage.name(),
            messages: each(counts.sent),
            bytes: each(counts.sent_bytes),
            by_hand: is_counted.then(|| by_hand.of(stage)),
            bytes_by_hand: by_hand.bytes_of(stage).filter(|_| is_counted),
            verbs: each(verbs.issued),
            verb_bytes: each(verbs.bytes),
            verbs_by_hand: is_counted.then(|| by_hand.verbs_of(stage)).filter(|of| *of > 0.0),
            wire_bytes: each(counts.wire_bytes + verbs.wire_bytes),
        }
    };
    let there = |of: &TrafficReport| {
        of.messages > 0.0
            || of.verbs > 0.0
            || of.by_hand.is_some_and(|of| of > 0.0)
            || of.verbs_by_hand.is_some()
    };
    Stage::ALL.into_iter().map(of).filter(there).collect()
}
