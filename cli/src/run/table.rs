// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report as text, at most 100 columns wide.

use std::fmt::Write;

use system::{
    Aborts, CoherenceReport, Latency, QueueReport, Report, RowsReport, SideReport, UnitReport,
};
use workloads::Scenario;
use workloads::scenario::{Home, Mode};

use super::Outcome;
use crate::output::Output;
use crate::text::{bytes, count, duration, rate, wrap};

const WIDTH: usize = 100;
/// Characters of the names at the left.
const NAME: usize = 23;
/// Characters of each number.
const CELL: usize = 11;

/// All of a report.
pub fn full(scenario: &Scenario, outcome: &Outcome, out: &Output) -> String {
    let report = &outcome.report;
    let mut table = heading(scenario, report, out);
    if outcome.interrupted {
        push(&mut table, &out.strong("Interrupted: this covers only what was done until then."));
    }
    push(&mut table, "");
    push(&mut table, &out.strong(row("", ["host", "device"].map(String::from))));
    sides(&mut table, &report.host, &report.device);
    push(&mut table, "");
    let names = ["count", "min", "mean", "p50", "p90", "p99", "max"].map(String::from);
    push(&mut table, &out.strong(row("Latency", names)));
    latencies(&mut table, "host", &report.host);
    latencies(&mut table, "device", &report.device);
    push(&mut table, "");
    queue(&mut table, &report.queue, out);
    push(&mut table, "");
    push(&mut table, &out.strong("Rows, each compared with what was committed"));
    rows(&mut table, &report.rows);
    if let Some(coherence) = &report.coherence {
        push(&mut table, "");
        push(&mut table, &out.strong("Coherence traffic"));
        traffic(&mut table, coherence);
    }
    if let Some(unit) = &report.unit {
        push(&mut table, "");
        let unit_of =
            if report.device_uri.is_some() { "of the device" } else { "RTL under Verilator" };
        push(&mut table, &out.strong(format_args!("Lock unit ({unit_of})")));
        lock_unit(&mut table, unit, outcome);
    }
    push(&mut table, "");
    push(&mut table, &time(scenario, outcome));
    table.trim_end().into()
}

/// The lines of a report that a newcomer looks at first.
pub fn compact(scenario: &Scenario, outcome: &Outcome, out: &Output) -> String {
    let mut table = String::new();
    let above = ["", "", "acquire", "acquire", "queued", "release", "aborted"].map(String::from);
    let below = ["commits/s", "locks/s", "p50", "p99", "p50", "p50", "tries"].map(String::from);
    push(&mut table, &out.strong(row("", above)));
    push(&mut table, &out.strong(row("", below)));
    for (name, side) in [("host", &outcome.report.host), ("device", &outcome.report.device)] {
        let cells = [
            rate(side.commits_per_second),
            rate(side.locks_per_second),
            median(&side.acquire),
            tail(&side.acquire),
            median(&side.wait),
            median(&side.release),
            count(side.aborts.total()),
        ];
        push(&mut table, &row(&format!("{name}, {} agents", side.agents), cells));
    }
    push(&mut table, &time(scenario, outcome));
    table.trim_end().into()
}

fn heading(scenario: &Scenario, report: &Report, out: &Output) -> String {
    let mode = match scenario.mode {
        Mode::Virtual => "virtual time",
        Mode::WallClock => "wall clock",
    };
    let home = match scenario.table.home {
        Home::Host => "the host",
        Home::Device => "the device",
    };
    let (place, home) = match &report.device_uri {
        Some(uri) => (uri, "the host"),
        None => (&report.platform, home),
    };
    let mut heading = out.strong(&report.scenario);
    heading.push('\n');
    for line in wrap(&scenario.description, WIDTH) {
        push(&mut heading, &line);
    }
    let buckets = count(scenario.table.buckets);
    let place = format!("{place}, {mode}, {buckets} buckets at {home}, seed {}", report.seed);
    for line in wrap(&place, WIDTH) {
        push(&mut heading, &line);
    }
    heading
}

/// A name and its numbers.
fn row(name: &str, cells: impl IntoIterator<Item = String>) -> String {
    let mut row = format!("{name:<NAME$}");
    for cell in cells {
        write!(row, "{cell:>CELL$}").expect("a write to a string succeeds");
    }
    row
}

fn push(table: &mut String, line: &str) {
    table.push_str(line.trim_end());
    table.push('\n');
}

fn sides(table: &mut String, host: &SideReport, device: &SideReport) {
    let mut pairs = Pairs { table, host, device };
    pairs.counts("agents", |side| side.agents.into());
    pairs.counts("transactions begun", |side| side.started);
    pairs.counts("committed", |side| side.committed);
    pairs.rates("  per second", |side| side.commits_per_second);
    pairs.counts("aborted tries", |side| side.aborts.total());
    for (cause, on_host, on_device) in causes(&host.aborts, &device.aborts) {
        pairs.row(&format!("  {cause}"), count(on_host), count(on_device));
    }
    if host.aborts.given_up + device.aborts.given_up > 0 {
        pairs.counts("given up", |side| side.aborts.given_up);
    }
    pairs.counts("locks granted", |side| side.locks);
    pairs.rates("  per second", |side| side.locks_per_second);
    pairs.counts("  held already", |side| side.granted_again);
    pairs.counts("met a held lock", |side| side.conflicts);
    pairs.counts("  of these, queued", |side| side.queued);
}

/// Writes rows of two numbers, one of the host and one of the device.
struct Pairs<'a> {
    table: &'a mut String,
    host: &'a SideReport,
    device: &'a SideReport,
}

impl Pairs<'_> {
    fn row(&mut self, name: &str, host: String, device: String) {
        push(self.table, &row(name, [host, device]));
    }

    fn counts(&mut self, name: &str, of: fn(&SideReport) -> u64) {
        self.row(name, count(of(self.host)), count(of(self.device)));
    }

    fn rates(&mut self, name: &str, of: fn(&SideReport) -> f64) {
        self.row(name, rate(of(self.host)), rate(of(self.device)));
    }
}

/// The causes for which tries were aborted on either side, with how many of each.
fn causes(host: &Aborts, device: &Aborts) -> Vec<(&'static str, u64, u64)> {
    let named = |aborts: &Aborts| {
        let Aborts {
            own,
            died,
            timed_out,
            deadlock,
            full,
            contended,
            out_of_order,
            bus_error,
            given_up: _,
        } = *aborts;
        [
            ("workload's own wish", own),
            ("wait-die", died),
            ("time-out", timed_out),
            ("deadlock", deadlock),
            ("queue full", full),
            ("others were faster", contended),
            ("out of lock order", out_of_order),
            ("bus error", bus_error),
        ]
    };
    let both = named(host).into_iter().zip(named(device));
    let pairs = both.map(|((cause, on_host), (_, on_device))| (cause, on_host, on_device));
    pairs.filter(|(_, on_host, on_device)| on_host + on_device > 0).collect()
}

fn latencies(table: &mut String, name: &str, side: &SideReport) {
    let kinds =
        [("acquire", side.acquire), ("acquire queued", side.wait), ("release", side.release)];
    for (kind, latency) in kinds.into_iter().filter(|(_, latency)| latency.count > 0) {
        let Latency { min_ns, mean_ns, p50_ns, p90_ns, p99_ns, max_ns, .. } = latency;
        let times = [min_ns, mean_ns, p50_ns, p90_ns, p99_ns, max_ns].map(duration);
        let cells = [count(latency.count)].into_iter().chain(times);
        push(table, &row(&format!("  {name} {kind}"), cells));
    }
}

fn queue(table: &mut String, queue: &QueueReport, out: &Output) {
    let positions = (1..=7).map(|position| position.to_string());
    push(table, &out.strong(row("Queue", positions)));
    push(table, &row("  entered at position", queue.entered_at.map(count)));
    if queue.max_depth > 0 {
        let depth = format!("  on average at {:.2}, at most {}", queue.mean_depth, queue.max_depth);
        push(table, &depth);
    }
}

fn rows(table: &mut String, rows: &RowsReport) {
    let written = format!(
        "{} rows, {} new versions; the balances add up to {} cents, as they must",
        count(rows.rows),
        count(rows.versions_written),
        grouped(rows.sum)
    );
    paragraph(table, &written);
    if rows.overtaken > 0 {
        let overtaken = format!(
            "{} of them written onto a newer version than the trace has locked",
            count(rows.overtaken)
        );
        paragraph(table, &overtaken);
    }
    let pages = format!(
        "{} pages of 8 KiB; {} after vacuum, which removed {} versions and moved {}",
        count(rows.pages),
        count(rows.pages_after_vacuum),
        count(rows.versions_removed),
        count(rows.versions_moved)
    );
    paragraph(table, &pages);
}

/// A count that can be below 0.
fn grouped(number: i64) -> String {
    let sign = if number < 0 { "-" } else { "" };
    format!("{sign}{}", count(number.unsigned_abs()))
}

fn traffic(table: &mut String, coherence: &CoherenceReport) {
    let kinds: Vec<String> = coherence
        .messages
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(kind, number)| format!("{kind} {}", count(*number)))
        .collect();
    paragraph(table, &format!("messages: {}", kinds.join(", ")));
    let link = format!(
        "over the link: {} messages, {} to the host, {} to the device",
        count(coherence.link_messages),
        bytes(coherence.link_bytes_to_host as f64),
        bytes(coherence.link_bytes_to_device as f64)
    );
    paragraph(table, &link);
    let caches = format!(
        "caches: {} hits, {} misses, {} copies invalidated",
        count(coherence.cache_hits),
        count(coherence.cache_misses),
        count(coherence.invalidations)
    );
    paragraph(table, &caches);
}

fn lock_unit(table: &mut String, unit: &UnitReport, outcome: &Outcome) {
    if let Some(cycles) = unit.cycles {
        let per_second = cycles as f64 / outcome.wall.as_secs_f64().max(1e-9);
        let per_second = rate(per_second);
        let clock =
            format!("{} clock cycles simulated, {} cycles/s", count(cycles), per_second.trim_end());
        paragraph(table, &clock);
    }
    let work = format!(
        "{} requests, {} compare-and-swaps, {} stores, {} lines read, {} copies voided, \
         {} locks handed over",
        count(unit.requests),
        count(unit.compare_swaps),
        count(unit.stores),
        count(unit.line_reads),
        count(unit.copies_voided),
        count(unit.handed_over)
    );
    paragraph(table, &work);
}

fn paragraph(table: &mut String, text: &str) {
    for (place, line) in wrap(text, WIDTH - 4).iter().enumerate() {
        let indent = if place == 0 { 2 } else { 4 };
        push(table, &format!("{:indent$}{line}", ""));
    }
}

fn time(scenario: &Scenario, outcome: &Outcome) -> String {
    let ran = duration(outcome.report.duration_ns as f64);
    let wall = duration(outcome.wall.as_nanos() as f64);
    match scenario.mode {
        Mode::Virtual => {
            let speed = duration(1e9 * outcome.simulated_seconds_per_second());
            format!("{ran} simulated in {wall}: {speed} per second of wall-clock time")
        }
        Mode::WallClock => format!("{ran} by the clock on the wall; {wall} with set-up"),
    }
}

/// A median, if there is one.
fn median(latency: &Latency) -> String {
    if latency.count == 0 { "-".into() } else { duration(latency.p50_ns) }
}

/// The 99th percentile, if there is one.
fn tail(latency: &Latency) -> String {
    if latency.count == 0 { "-".into() } else { duration(latency.p99_ns) }
}
