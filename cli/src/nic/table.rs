// SPDX-License-Identifier: MIT OR Apache-2.0
//! A report as text, at most 100 columns wide.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use nic_runs::{DmaReport, HostReport, Report, Speed};

use super::Sources;
use crate::output::Output;
use crate::text::{bytes, count, duration, rate};

/// Characters of the names at the left.
const NAME: usize = 36;
/// Characters of each number.
const CELL: usize = 10;

/// All of a report.
pub fn full(sources: &Sources, report: &Report, took: Duration, out: &Output) -> String {
    let mut text = Text(String::new());
    text.line(&out.strong("Look-ups of a NIC in its host's table"));
    let of = report.settings;
    text.line(&format!(
        "{}, {}; table: {}; seed {}",
        report.platform, sources.look_ups, sources.table, of.seed
    ));
    if report.is_interrupted {
        text.line(&out.strong("Interrupted: this covers only what was done until then."));
    }
    text.line("");
    look_ups(&mut text, report);
    if let Some(speed) = &report.speed {
        text.line("");
        text.line(&out.strong("Speed, in virtual time"));
        times(&mut text, speed, out);
    }
    if let Some(dma) = &report.dma {
        text.line("");
        text.line(&out.strong("DMA and link"));
        link(&mut text, dma);
    }
    if let Some(host) = &report.host {
        text.line("");
        text.line(&out.strong("Host"));
        threads(&mut text, host);
    }
    text.line("");
    counters(&mut text, report, out);
    text.line("");
    text.line(checks(report));
    if let Some(rate_of_wall) = report.simulated_per_wall_second {
        text.line(&format!(
            "By the wall clock the simulation made {} look-ups a second: how fast the model of the \
             RTL is\non this machine, not how fast the card is.",
            rate(rate_of_wall)
        ));
    }
    write!(text.0, "It took {} here.", self::duration(took.as_nanos() as f64))
        .expect("a write to a string succeeds");
    text.0
}

struct Text(String);

impl Text {
    fn line(&mut self, line: &str) {
        self.0.push_str(line.trim_end());
        self.0.push('\n');
    }

    fn row(&mut self, name: &str, value: impl AsRef<str>, remark: &str) {
        self.line(&format!("{name:<NAME$}{:>CELL$}  {remark}", value.as_ref()));
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn part(number: u64, of: u64) -> String {
    percent(number as f64 / of.max(1) as f64)
}

fn look_ups(text: &mut Text, report: &Report) {
    let all = report.look_ups;
    text.row("look-ups measured", count(all), "");
    text.row("  found", count(report.found), &part(report.found, all));
    text.row("  absent", count(report.absent), &part(report.absent, all));
    if report.gave_up > 0 {
        let why = "each reading met with a write";
        text.row("  gave up", count(report.gave_up), why);
    }
    text.row("hits of the index", count(report.hits), &part(report.hits, all));
    text.row("round trips of a look-up", format!("{:.3}", report.trips), "");
    for (trips, misses) in &report.misses_by_trips {
        let name =
            format!("  misses with {trips} round trip{}", if *trips == 1 { "" } else { "s" });
        text.row(&name, count(*misses), &part(*misses, all));
    }
    let remark = "of misses needed no more slots than the index named";
    text.row("hint quality", percent(report.hint_quality), remark);
}

fn times(text: &mut Text, speed: &Speed, out: &Output) {
    let limits = speed.limits;
    let of = |limit: f64| format!("{} reached", percent(speed.look_ups_per_second / limit));
    text.row("look-ups a second", rate(speed.look_ups_per_second), "");
    if let Some(limit) = limits.link {
        text.row("  the link's limit", rate(limit), &of(limit));
    }
    if let Some(limit) = limits.in_flight {
        let name = "  look-ups in flight by a round trip";
        text.row(name, rate(limit), &of(limit));
    }
    text.row("  one operation of the index a clock", rate(limits.index), &of(limits.index));
    let names = ["count", "p50", "p90", "p99", "max"].map(|name| format!("{name:>CELL$}"));
    text.line(&out.strong(format!("{:<24}{}", "Latency", names.concat())));
    for (name, latency) in
        [("all", &speed.latency), ("hits", &speed.hit_latency), ("misses", &speed.miss_latency)]
    {
        if latency.count == 0 {
            continue;
        }
        let times = [latency.p50_ns, latency.p90_ns, latency.p99_ns, latency.max_ns].map(duration);
        let cells: String = times.iter().map(|time| format!("{time:>CELL$}")).collect();
        text.line(&format!("{name:<24}{:>CELL$}{cells}", count(latency.count)));
    }
}

fn link(text: &mut Text, dma: &DmaReport) {
    let [full, flushed, idle] = dma.vectors.map(count);
    let elements = count(dma.elements);
    let remark = format!("{elements} in {full} full, {flushed} flushed, {idle} idle vectors");
    text.row("DMA elements a vector", format!("{:.2}", dma.elements_per_vector), &remark);
    text.row("bytes asked for, a look-up", bytes(dma.bytes_asked), "slots and directory words");
    let of = |share| format!("{} of the time occupied", percent(share));
    text.row("bytes to the host, a look-up", bytes(dma.bytes_to_host), &of(dma.busy_to_host));
    text.row("bytes to the card, a look-up", bytes(dma.bytes_to_card), &of(dma.busy_to_card));
}

fn threads(text: &mut Text, host: &HostReport) {
    text.row("threads", count(host.threads.into()), "");
    text.row("keys deleted", count(host.deletions), "");
    text.row("keys inserted", count(host.insertions), "");
}

/// Those that have counted something, of RTL and machine side by side.
fn counters(text: &mut Text, report: &Report, out: &Output) {
    let sides = [("RTL", &report.rtl_counters), ("machine", &report.machine_counters)];
    let sides = sides.into_iter().filter_map(|(name, of)| of.as_ref().map(|of| (name, of)));
    let (names, sides): (Vec<_>, Vec<_>) = sides.unzip();
    let heads: String = names.iter().map(|name| format!("{name:>CELL$}")).collect();
    text.line(&out.strong(format!("{:<NAME$}{heads}", "Counters that are not 0")));
    for name in sides.iter().flat_map(|of| of.keys()).collect::<BTreeSet<_>>() {
        let values: Vec<u64> = sides.iter().map(|of| of[name]).collect();
        if values.iter().any(|value| *value > 0) {
            let cells: String =
                values.iter().map(|value| format!("{:>CELL$}", count(*value))).collect();
            text.line(&format!("{name:<NAME$}{cells}"));
        }
    }
}

fn checks(report: &Report) -> &'static str {
    match (&report.rtl_counters, &report.machine_counters) {
        (Some(_), Some(_)) => {
            "Every answer is right, and RTL and machine count the same on these look-ups."
        }
        _ => "Every answer is right.",
    }
}
