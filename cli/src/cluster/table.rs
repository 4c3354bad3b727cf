// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report as text, at most 100 columns wide.

use std::time::Duration;

use cluster_sim::run::{DataPathReport, Latency, Outcome, Report, TrafficReport};

use crate::output::Output;
use crate::text::{bytes, count, duration, rate, wrap};

/// Characters of the names at the left.
const NAME: usize = 26;
/// Characters of each number.
const CELL: usize = 10;
const WIDTH: usize = 98;
/// A resource binds that is in use for at least this part of the time.
const BINDS: f64 = 0.9;

/// All of a report.
pub fn full(outcome: &Outcome, took: Duration, out: &Output) -> String {
    let report = &outcome.report;
    let mut text = Text(String::new());
    heading(&mut text, report, out);
    text.line("");
    transactions(&mut text, report, out);
    text.line("");
    resources(&mut text, report, out);
    text.line("");
    traffic(&mut text, report, out);
    if let Some(path) = &report.data_path {
        text.line("");
        data_path(&mut text, path, out);
    }
    if !report.faults.is_empty() {
        text.line("");
        text.line(&out.strong("Faults"));
        for of in &report.faults {
            text.row(&format!("  {}", of.name), [count(of.count)]);
        }
    }
    text.line("");
    text.paragraph(&checks(report));
    let speed = outcome.simulated_transactions as f64 / took.as_secs_f64().max(1e-9);
    text.line(&format!(
        "{} transactions in {} here: {}/s; {} events.",
        count(outcome.simulated_transactions),
        duration(took.as_nanos() as f64),
        rate(speed).trim_end(),
        count(report.events)
    ));
    text.0.trim_end().into()
}

struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    fn row(&mut self, name: &str, cells: impl IntoIterator<Item = impl AsRef<str>>) {
        let mut line = format!("{name:<NAME$}");
        for cell in cells {
            line.push_str(&format!("{:>CELL$}", cell.as_ref()));
        }
        self.line(&line);
    }

    fn paragraph(&mut self, text: &str) {
        for line in wrap(text, WIDTH) {
            self.line(&line);
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn heading(text: &mut Text, report: &Report, out: &Output) {
    let of = &report.settings;
    text.line(&out.strong(&of.name));
    text.paragraph(&of.description);
    text.paragraph(&format!(
        "{} on {}: {} nodes of {} threads with {} workers, {} copies of each row; {}; seed {}",
        of.protocol.name(),
        of.platform,
        of.nodes,
        of.threads,
        of.workers,
        of.replicas,
        of.workload.title(),
        of.seed
    ));
    if report.is_interrupted {
        text.line(&out.strong("Interrupted: this covers only what was done until then."));
    }
}

fn transactions(text: &mut Text, report: &Report, out: &Output) {
    text.row("committed a second", [rate(report.per_second)]);
    text.row("  of a node", [rate(report.per_second_and_node)]);
    text.row("committed", [count(report.committed)]);
    if report.rolled_back > 0 {
        let share = percent(report.rolled_back_share());
        text.row("rolled back", [count(report.rolled_back), share]);
        text.row("both, a second", [rate(report.ended_per_second())]);
    }
    let ended = report.aborts.iter().map(|of| of.count).sum::<u64>();
    text.row("aborted attempts", [count(ended), percent(report.abort_share())]);
    for of in report.aborts.iter().filter(|of| of.count > 0) {
        text.row(&format!("  by {}", of.cause), [count(of.count), percent(of.share)]);
    }
    text.line("");
    let heads = ["count", "mean", "p50", "p90", "p99", "p999", "max"];
    let mut line = format!("{:<NAME$}", "Latency");
    heads.iter().for_each(|head| line.push_str(&format!("{head:>CELL$}")));
    text.line(&out.strong(line));
    latency(text, "committed", &report.latency);
    if report.kinds.len() > 1 {
        for kind in &report.kinds {
            latency(text, &format!("  {}", kind.name), &kind.latency);
        }
    }
    latency(text, "rolled back", &report.rolled_back_latency);
}

fn latency(text: &mut Text, name: &str, of: &Latency) {
    if of.count == 0 {
        return;
    }
    let times = [of.mean_ns, of.p50_ns, of.p90_ns, of.p99_ns, of.p999_ns, of.max_ns];
    text.row(name, [count(of.count)].into_iter().chain(times.map(duration)));
}

fn resources(text: &mut Text, report: &Report, out: &Output) {
    let mut line = format!("{:<NAME$}", "Use of resources");
    ["busiest", "mean"].iter().for_each(|head| line.push_str(&format!("{head:>CELL$}")));
    text.line(&out.strong(line));
    for (place, of) in report.resources.iter().enumerate() {
        let mut line = format!("  {:<24}", of.name);
        [of.busiest, of.mean]
            .iter()
            .for_each(|share| line.push_str(&format!("{:>CELL$}", percent(*share))));
        if place == 0 {
            let binds = of.busiest >= BINDS;
            line.push_str(if binds { "  the resource that binds" } else { "  nothing binds" });
        }
        text.line(&line);
    }
    text.line(&format!("  A core takes {:.1} messages in one burst.", report.messages_a_burst));
    if let Some(index) = &report.index {
        text.line(&format!(
            "  A transaction asks NICs' indices for {:.2} rows, {} of them cached, and its NICs make {:.2} reads and \
             {:.2} writes of host memory.",
            index.rows,
            percent(index.cached),
            index.reads,
            index.writes
        ));
    }
}

fn traffic(text: &mut Text, report: &Report, out: &Output) {
    let has_verbs = report.traffic.iter().any(|of| of.verbs > 0.0);
    let has_bytes = report.traffic.iter().any(|of| of.bytes_by_hand.is_some());
    let mut heads = format!(
        "{:<NAME$}{:>CELL$}{:>CELL$}{:>CELL$}",
        "A transaction", "messages", "by hand", "bytes"
    );
    for (is_there, names) in [(has_bytes, &["by hand"][..]), (has_verbs, &["verbs", "by hand"])] {
        names.iter().filter(|_| is_there).for_each(|name| heads += &format!("{name:>CELL$}"));
    }
    text.line(&out.strong(heads));
    let number = |number: Option<f64>| number.map_or("-".into(), |of| format!("{of:.3}"));
    for of in &report.traffic {
        let mut cells = vec![format!("{:.3}", of.messages), number(of.by_hand), bytes(of.bytes)];
        cells.extend(has_bytes.then(|| of.bytes_by_hand.map_or("-".into(), bytes)));
        if has_verbs {
            cells.extend([format!("{:.3}", of.verbs), number(of.verbs_by_hand)]);
        }
        text.row(&format!("  {}", of.stage), cells);
    }
    let all = Some(report.messages_by_hand());
    let mut cells = vec![format!("{:.3}", report.messages()), number(all), bytes(report.bytes())];
    let sum = |of: &dyn Fn(&TrafficReport) -> f64| report.traffic.iter().map(of).sum::<f64>();
    cells.extend(has_bytes.then(|| bytes(sum(&|of| of.bytes_by_hand.unwrap_or(0.0)))));
    if has_verbs {
        let verbs = [sum(&|of| of.verbs), sum(&|of| of.verbs_by_hand.unwrap_or(0.0))];
        cells.extend(verbs.map(|of| format!("{of:.3}")));
    }
    text.row("  all", cells);
}

fn data_path(text: &mut Text, of: &DataPathReport, out: &Output) {
    let name = format!("RTL of {}", of.node);
    text.line(
        &out.strong(format!(
            "{name:<NAME$}{:>CELL$}{:>CELL$}{:>CELL$}",
            "count", "mean", "longest"
        )),
    );
    let looks = of.hits.count + of.misses.count;
    for (name, waits) in [
        ("look-ups, cached", &of.hits),
        ("look-ups, read", &of.misses),
        ("updates, unlocks, unpins", &of.others),
    ] {
        let times = [waits.mean_ns, waits.max_ns].map(duration);
        text.row(&format!("  {name}"), [count(waits.count)].into_iter().chain(times));
    }
    let share = |part: u64, all: u64| percent(part as f64 / all.max(1) as f64);
    text.row("  hits", [share(of.hits.count, looks)]);
    text.row("  clocks awake", [count(of.clocks)]);
    text.row("  with a stalled port", [count(of.stalls), share(of.stalls, of.clocks)]);
    text.paragraph(&format!(
        "All {} answers were those of the machines, in the order in which they were asked for.",
        count(of.compared)
    ));
    let counters = of.counters.iter().map(|of| format!("{} {}", of.name, count(of.count)));
    text.paragraph(&format!("Counters: {}.", counters.collect::<Vec<_>>().join(", ")));
}

fn checks(report: &Report) -> String {
    let of = &report.checks;
    if !of.are_on {
        return format!("Nothing was checked. Digest {}.", &report.digest[..16]);
    }
    let rest = if of.at_rest {
        " At rest all replicas were equal, no row was locked and the logs were empty."
    } else {
        ""
    };
    format!(
        "Checked: each of {} transactions saw the newest version at its serialization point, in {} \
         accesses.{rest} Digest {}.",
        count(of.transactions),
        count(of.accesses),
        &report.digest[..16]
    )
}
