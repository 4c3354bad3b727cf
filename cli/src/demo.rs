// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep demo`: what a newcomer sees.

use std::path::{Path, PathBuf};

use ndp_runtime::host::Cancel;
use system::{Options, Report};
use workloads::Scenario;

use crate::error::CommandError;
use crate::interrupt;
use crate::ndp::{self, demonstration};
use crate::output::Output;
use crate::run::{compact, execute};
use crate::text::{bytes, count, duration, wrap};

const WIDTH: usize = 100;

const OPENING: &str = "Host software and a hardware lock unit share one lock table in \
    cache-coherent memory. The unit is its real RTL, run clock by clock under Verilator.";

/// Shows host and device on one lock table, and a near-data update; takes seconds.
#[derive(clap::Args)]
pub struct Args {}

/// One scenario of the demo.
struct Act {
    title: &'static str,
    /// Its file in the folder of scenarios.
    file: &'static str,
    /// What to look at in its report.
    look: fn(&Report) -> String,
}

const ACTS: [Act; 4] = [
    Act { title: "A storm on four rows", file: "hot-row-storm.toml", look: look_at_storm },
    Act { title: "YCSB updates, Zipf 0.99", file: "ycsb-zipf.toml", look: look_at_zipf },
    Act {
        title: "A PostgreSQL server, replayed",
        file: "pgbench-replay.toml",
        look: look_at_replay,
    },
    Act { title: "Real threads, real atomics", file: "wall-clock.toml", look: look_at_race },
];

/// Runs the demo.
///
/// # Errors
/// When the scenarios are not where the program was built, a run fails, or Ctrl-C ends it.
pub fn run(_: Args, out: &Output) -> Result<(), CommandError> {
    let folder = scenarios()?;
    let cancel = Cancel::default();
    let interrupt = interrupt::install_with({
        let cancel = cancel.clone();
        move || cancel.cancel()
    })?;
    print_wrapped(OPENING, out)?;
    for (number, act) in (1..).zip(&ACTS) {
        let scenario = Scenario::load(folder.join(act.file))?;
        out.print(out.strong(format_args!("\n{number}. {} (scenarios/{})", act.title, act.file)))?;
        let outcome = execute(&scenario, &Options::default(), interrupt, out)?;
        if outcome.interrupted {
            return Err(CommandError::Interrupted);
        }
        out.print(compact(&scenario, &outcome, out))?;
        print_wrapped(&(act.look)(&outcome.report), out)?;
    }
    let number = ACTS.len() + 1;
    out.print(
        out.strong(format_args!("\n{number}. An update beside the data (./kit ndp update)")),
    )?;
    let report = demonstration::run(interrupt, &cancel, out)?;
    out.print(near_data(&report))?;
    out.print(format_args!("\n{}", next_steps(out)))
}

fn look_at_storm(report: &Report) -> String {
    format!(
        "{} requests of the host and {} of the device had to queue, up to {} deep in one bucket. \
         A lock that is given back goes to the transaction that has waited longest.",
        count(report.host.queued),
        count(report.device.queued),
        report.queue.max_depth,
    )
}

fn look_at_zipf(report: &Report) -> String {
    let (host, device) = (&report.host, &report.device);
    format!(
        "The home agent is on the host: asking it for a lock takes a core {}, and the device, whose \
         atomics cross the link, {}. The release tells more: the core finds the line in its own \
         cache ({}), the device crosses the link again ({}).",
        duration(host.acquire.p50_ns),
        duration(device.acquire.p50_ns),
        duration(host.release.p50_ns),
        duration(device.release.p50_ns),
    )
}

fn look_at_replay(report: &Report) -> String {
    format!(
        "{} transactions from the log of a real server under pgbench; all update the one row of \
         the branch, so {} of {} locks had to queue. They are replayed two thousand times as \
         fast, and each lock names the version that the server's log recorded, so fewer locks \
         conflict than did there, and {} of {} writes change a newer version than was locked. With \
         versions = \"latest\" in the scenario they would lock the newest version.",
        count(report.host.started + report.device.started),
        count(report.host.queued + report.device.queued),
        count(report.host.locks + report.device.locks),
        count(report.rows.overtaken),
        count(report.rows.versions_written),
    )
}

fn look_at_race(report: &Report) -> String {
    format!(
        "Nothing is modelled here: host threads and the clocked RTL race on the same memory. {} \
         transactions of the host and {} of the device later the table is empty again: no lock \
         was lost. Each has changed rows of a store under its locks, {} versions in all, and the \
         balances add up: no update was lost. The latencies are those of this machine and its \
         simulation.",
        count(report.host.committed),
        count(report.device.committed),
        count(report.rows.versions_written),
    )
}

/// The gain: what passed the link beside what the host would have pulled.
fn near_data(report: &ndp::Report) -> String {
    let (moved, host) = (report.moved() as f64, report.host_path_bytes as f64);
    let (locks, _, _) = report.locks.unwrap_or_default();
    let text = format!(
        "{} of {} rows changed, with {} over the link instead of {}: {:.0} times less. The device has \
         read the pages from storage of its own ({}), taken {} locks in the table that it shares with \
         the host, and written the new versions; the host has checked and committed them. Bytes are \
         counted as host and device hand them over, without those of opening and closing the store. The \
         gain in time is smaller; ./kit experiment ndp-update-speedup measures it in virtual time.",
        count(report.rows),
        count(report.visible.unwrap_or_default()),
        bytes(moved),
        bytes(host),
        host / moved.max(1.0),
        bytes(report.storage_bytes.unwrap_or_default() as f64),
        count(locks),
    );
    let statement = format!("set {} where {}", demonstration::ASSIGNMENT, demonstration::PREDICATE);
    format!("  {statement}\n{}", wrap(&text, WIDTH).join("\n"))
}

fn next_steps(out: &Output) -> String {
    let steps = [
        ("./kit run scenarios/hot-row-storm.toml", "all that one run found out"),
        ("./kit run --help", "seeds, JSON, your own trace of locks"),
        ("./kit wave --help", "waves of the lock unit"),
        ("./kit figures", "the figures of the paper, measured again"),
        ("./kit test", "tests that hardware and software mean the same by \"lock\""),
        ("docs/README.md", "the book"),
    ];
    let lines = steps.map(|(step, what)| format!("\n  {step:<38}  {what}"));
    format!("{}{}", out.strong("Where to go next"), lines.concat())
}

/// The folder of the scenarios: where the program was built, or else where it is called.
fn scenarios() -> Result<PathBuf, CommandError> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("scenarios");
    let places = [built, PathBuf::from("scenarios")];
    let here = places.iter().find(|place| place.join(ACTS[0].file).is_file());
    here.cloned().ok_or_else(|| {
        CommandError::input(
            &places[0],
            "no scenarios there, nor in ./scenarios; expected a clone of Lockstep",
        )
    })
}

fn print_wrapped(text: &str, out: &Output) -> Result<(), CommandError> {
    out.print(wrap(text, WIDTH).join("\n"))
}
