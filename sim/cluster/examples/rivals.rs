// SPDX-License-Identifier: MIT OR Apache-2.0
//! The rivals of Xenic, each with each workload: throughput, latency, what binds, and what a transaction sends by
//! phase beside the count by hand.
//!
//! `cargo run --release -p lockstep-cluster-sim --example rivals -- [platform] [nodes] [threads] [duration_us]
//! [workers]... [--only workload] [--protocol name]`

use cluster_sim::run::{Draft, Flags, Report, RunError, Settings, measure_on};

const PROTOCOLS: [&str; 4] = ["drtm-h", "drtm-h-nc", "drtm-r", "fasst"];
const WORKLOADS: [&str; 3] = ["smallbank-xenic", "retwis", "tpcc-new-order"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut plain, mut only, mut named) = (Vec::new(), None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--only" => only = arguments.next(),
            "--protocol" => named = arguments.next(),
            _ => plain.push(argument),
        }
    }
    let number = |place: usize, default: f64| match plain.get(place) {
        Some(text) => text.parse::<f64>(),
        None => Ok(default),
    };
    let platform = plain.first().map_or("xenic-cx5", String::as_str);
    let (nodes, threads, duration) = (number(1, 6.0)?, number(2, 32.0)?, number(3, 200.0)?);
    let loads = plain.get(4..).filter(|loads| !loads.is_empty());
    let loads = loads.map_or(vec![Ok(1), Ok(16)], |loads| {
        loads.iter().map(|load| load.parse::<u64>()).collect()
    });
    let workloads = only.map_or(WORKLOADS.map(String::from).to_vec(), |only| vec![only]);
    let protocols = named.map_or(PROTOCOLS.map(String::from).to_vec(), |named| vec![named]);
    for workload in &workloads {
        for protocol in &protocols {
            for load in &loads {
                let flags = Flags {
                    protocol: Some(protocol.clone()),
                    platform: Some(platform.into()),
                    nodes: Some(nodes as u64),
                    threads: Some(threads as u64),
                    workers: Some(load.clone()?),
                    duration_us: Some(duration),
                    workload: Some(workload.clone()),
                    checks: Some(false),
                    ..Flags::default()
                };
                let settings = Settings::check(&Draft::default().with_flags(flags)?)?;
                print(&measure(&settings)?);
            }
        }
    }
    Ok(())
}

fn measure(settings: &Settings) -> Result<Report, RunError> {
    measure_on(settings, settings.hardware()?)
}

fn print(report: &Report) {
    let of = &report.settings;
    println!(
        "{} {} {} nodes x {} threads x {} workers: {:.3} M/s a node, median {:.1} us, p99 {:.1} us, aborts {:.1} %, \
         {:.0} B on the wire",
        of.workload.name(),
        of.protocol.name(),
        of.nodes,
        of.threads,
        of.workers,
        report.per_second_and_node / 1e6,
        report.latency.p50_ns / 1e3,
        report.latency.p99_ns / 1e3,
        report.abort_share() * 100.0,
        report.wire_bytes(),
    );
    let resources = report.resources.iter().take(4);
    let resources = resources.map(|of| format!("{} {:.0} %", of.name, of.busiest * 100.0));
    println!("  {}", resources.collect::<Vec<_>>().join(", "));
    for of in &report.traffic {
        println!(
            "  {:9} {:6.2} messages ({:6.2} by hand) {:6.0} B, {:6.2} verbs ({:6.2} by hand) {:6.0} B",
            of.stage,
            of.messages,
            of.by_hand.unwrap_or(0.0),
            of.bytes,
            of.verbs,
            of.verbs_by_hand.unwrap_or(0.0),
            of.verb_bytes,
        );
    }
}
