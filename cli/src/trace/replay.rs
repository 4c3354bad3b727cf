// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario that replays a trace.

use std::path::{Component, Path, PathBuf};

use workloads::waldump::Report;

/// Host workers, and agents of the device, that a scenario can have.
const MOST: (u32, u32) = (256, 64);

/// A scenario with as many agents as a trace has, half of them on the device, as far as it has room.
/// `trace` and `scenario` are where they are written to.
pub fn scenario(trace: &Path, scenario: &Path, report: &Report) -> String {
    let device = (report.agents / 2).min(MOST.1);
    let host = report.agents - device;
    let (name, file) = (name(scenario), toml_text(&beside(trace, scenario).display().to_string()));
    let too_many = match host > MOST.0 {
        true => format!(
            "# {host} workers are more than a scenario can have, {}: convert with --agents.\n",
            MOST.0
        ),
        false => String::new(),
    };
    let transactions = report.committed + report.aborted + report.unended;
    let mut text = format!(
        "\
# Replays the row locks of a PostgreSQL server (docs/traces.md, docs/scenarios.md).
{too_many}name = \"{name}\"
description = \"{transactions} transactions of a PostgreSQL log, by {} agents\"
platform = \"n1sdp-u280-ccix\"
mode = \"virtual\"
seed = 1

[table]
buckets = 65536
home = \"host\"

[host]
workers = {host}
wait = \"waits-for\"
wait_timeout_ns = 20_000
",
        report.agents
    );
    if device > 0 {
        text += &format!(
            "
[device]
processing_elements = {device}
transactions_in_flight = 1
wait = \"timeout\"
wait_timeout_ns = 10_000_000_000  # transactions of a server hold their locks for long
"
        );
    }
    text + &format!(
        "
[workload.trace]
file = {file}
time_scale = 1         # as fast as the server was; less is faster
versions = \"recorded\"  # \"latest\" for a replay that is faster than the server was
"
    )
}

/// The name that a scenario has by its file.
fn name(file: &Path) -> String {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().to_lowercase());
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = stem.unwrap_or_default().chars().take(64).map(plain).collect();
    if name.is_empty() { "replay".into() } else { name }
}

/// How the trace is named in the scenario: relative to its folder if it is in that or below, else whole.
fn beside(trace: &Path, scenario: &Path) -> PathBuf {
    let folder = scenario.parent().unwrap_or(Path::new(""));
    match trace.strip_prefix(folder) {
        Ok(inside) if inside.components().all(|part| matches!(part, Component::Normal(_))) => {
            inside.to_owned()
        }
        _ => std::path::absolute(trace).unwrap_or_else(|_| trace.to_owned()),
    }
}

fn toml_text(text: &str) -> String {
    toml::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_has_a_scenario_that_is_read() {
        for agents in [1, 2, 3, 8, 128, 300] {
            let report = Report { agents, committed: 5, ..Report::default() };
            let text = scenario(Path::new("a/\"b\".csv"), Path::new("a/B c.toml"), &report);
            let read = workloads::Scenario::parse("s.toml", &text);
            let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read.agents().count(), agents as usize, "{text}");
            assert_eq!(read.name, "b-c");
            let workloads::scenario::Workload::Trace(trace) = read.workload else {
                panic!("no replay: {text}");
            };
            assert_eq!(trace.file, Path::new("\"b\".csv"));
        }
        assert!(beside(Path::new("/x/t.csv"), Path::new("y/s.toml")).is_absolute());
        assert!(beside(Path::new("t.csv"), Path::new("y/s.toml")).is_absolute());
        assert_eq!(beside(Path::new("t.csv"), Path::new("s.toml")), Path::new("t.csv"));
    }
}
