// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep run`: executes a scenario and reports the results.

mod table;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueHint;
use driver::DeviceUri;
use serde::Serialize;
use system::{Interrupt, Options, Progress, Report, RunError};
use workloads::Scenario;
use workloads::scenario::Mode;

use crate::device_uri;
use crate::error::CommandError;
use crate::interrupt;
use crate::output::Output;
use crate::text;
use crate::whole_file::WholeFile;

pub use table::{compact, full};

const EXAMPLES: &str = "\
Examples:
  lockstep run scenarios/hot-row-storm.toml
  lockstep run scenarios/ycsb-zipf.toml --seed 7 --json
  lockstep run scenarios/ycsb-zipf.toml --quiet --out zipf.json
  lockstep run scenarios/pgbench-replay.toml --trace my.trace.csv
  lockstep run scenarios/ycsb-zipf.toml --platform my-board.toml
  lockstep run scenarios/wall-clock.toml --device sim:
  lockstep run scenarios/wall-clock.toml --device vfio-user:/tmp/lockstep.socket

A scenario in virtual time gives the same report, byte for byte, whenever it is run with the same
seed. The time that it took is this machine's; --json writes it to standard error.
With --device, the lock unit of that device is asked (docs/driver.md has the URIs); the device is
reset before and after.
docs/scenarios.md lists every key of a scenario, docs/traces.md the format of a trace.
Ctrl-C ends a run early: it prints what there is, writes no file, and ends with exit code 130.";

/// Runs a scenario: host workers and the device's lock unit on one lock table.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The scenario (TOML, docs/scenarios.md).
    #[arg(value_hint = ValueHint::FilePath)]
    scenario: PathBuf,
    /// Replaces the scenario's seed.
    #[arg(long, value_name = "N", value_parser = seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Replays this lock trace instead of the scenario's workload or trace.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,
    /// Uses the lock unit of this device; for a scenario in wall-clock mode.
    #[arg(long, value_name = "URI", value_parser = device_uri::parse)]
    device: Option<DeviceUri>,
    /// Takes this platform file, not the scenario's platform; in virtual time.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "device")]
    platform: Option<PathBuf>,
    /// Prints the report as a line of JSON, and how long it took as another.
    #[arg(long)]
    json: bool,
    /// Writes the report as a line of JSON to this file, once it is whole.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// Shows no progress bar, and no table.
    #[arg(short, long)]
    quiet: bool,
}

/// The results of a run.
pub struct Outcome {
    /// The findings.
    pub report: Report,
    /// in wall-clock time.
    pub wall: Duration,
    /// Whether Ctrl-C ended it before its time.
    pub interrupted: bool,
}

/// The report as JSON: a function of scenario and seed, unless interrupted.
#[derive(Serialize)]
struct Line<'r> {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    interrupted: bool,
    #[serde(flatten)]
    report: &'r Report,
}

/// The settings that depend on this machine.
#[derive(Serialize)]
struct WallLine {
    wall: Wall,
}

#[derive(Serialize)]
struct Wall {
    seconds: f64,
    simulated_seconds_per_second: f64,
}

/// Runs the command.
///
/// # Errors
/// When scenario or trace are at fault, the run fails or is interrupted, or a file cannot be
/// written.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let out = out.quiet(args.quiet);
    let mut scenario = Scenario::load(&args.scenario)?;
    scenario.seed = args.seed.unwrap_or(scenario.seed);
    if let Some(trace) = &args.trace {
        scenario.replay(trace.clone())?;
    }
    if let (Some(file), Mode::WallClock) = (&args.platform, scenario.mode) {
        let message = "--platform: expected a scenario in virtual time; by the wall clock no \
                       platform is modelled";
        return Err(CommandError::input(file, message));
    }
    let options = Options { platform: args.platform.clone(), ..Options::default() };
    // Before the run, so that a long one is not in vain.
    let file = args.out.as_deref().map(WholeFile::create).transpose()?;
    let outcome = match &args.device {
        None => execute(&scenario, &options, interrupt::install()?, &out),
        Some(address) => execute_on(&scenario, address, &out),
    };
    let outcome = outcome.map_err(|failure| match failure {
        CommandError::Internal(what) => {
            let again = repetition(&args, scenario.seed);
            CommandError::Internal(format!("{what}\nTo repeat it: {again}"))
        }
        other => other,
    })?;
    if args.json {
        out.print(outcome.json()?)?;
        if !outcome.interrupted {
            // Not with the report, which the same seed repeats byte for byte.
            out.note(outcome.wall_json()?);
        }
    } else if !args.quiet {
        out.print(full(&scenario, &outcome, &out))?;
    }
    if outcome.interrupted {
        return Err(CommandError::Interrupted);
    }
    if let (Some(mut file), Some(path)) = (file, &args.out) {
        writeln!(file, "{}", outcome.json()?)
            .map_err(|cause| CommandError::writing(path, cause))?;
        file.finish()?;
    }
    Ok(())
}

/// The command that makes the same run.
fn repetition(args: &Args, seed: u64) -> String {
    let mut command = format!("lockstep run {} --seed {seed}", args.scenario.display());
    if let Some(trace) = &args.trace {
        command.push_str(&format!(" --trace {}", trace.display()));
    }
    if let Some(platform) = &args.platform {
        command.push_str(&format!(" --platform {}", platform.display()));
    }
    if let Some(device) = &args.device {
        command.push_str(&format!(" --device '{device}'"));
    }
    command
}

/// Executes `scenario` under a progress bar.
///
/// # Errors
/// When the scenario is at fault, or the run fails.
pub fn execute(
    scenario: &Scenario,
    options: &Options,
    interrupt: &Interrupt,
    out: &Output,
) -> Result<Outcome, CommandError> {
    timed(scenario, interrupt, out, |progress| system::run(scenario, options, interrupt, progress))
}

/// Executes `scenario` on a device.
fn execute_on(scenario: &Scenario, uri: &DeviceUri, out: &Output) -> Result<Outcome, CommandError> {
    let device = device_uri::open_for_locks(uri, out)?;
    let interrupt = interrupt::install()?;
    timed(scenario, interrupt, out, |progress| {
        system::run_on_device(scenario, &device, interrupt, progress)
    })
}

fn timed(
    scenario: &Scenario,
    interrupt: &Interrupt,
    out: &Output,
    run: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<Report, RunError>,
) -> Result<Outcome, CommandError> {
    let mut bar = out.progress(&scenario.name);
    let start = Instant::now();
    let report = run(&mut |progress| {
        let simulated = text::duration(progress.simulated_ns as f64);
        bar.set(progress.done, format_args!("{simulated} of the run"));
    })?;
    Ok(Outcome { report, wall: start.elapsed(), interrupted: interrupt.is_raised() })
}

impl Outcome {
    /// Seconds of the run per second of wall-clock time.
    fn simulated_seconds_per_second(&self) -> f64 {
        self.report.duration_ns as f64 / self.wall.as_nanos().max(1) as f64
    }

    fn json(&self) -> Result<String, CommandError> {
        as_json(&Line { interrupted: self.interrupted, report: &self.report })
    }

    fn wall_json(&self) -> Result<String, CommandError> {
        let seconds = self.wall.as_secs_f64();
        let simulated_seconds_per_second = self.simulated_seconds_per_second();
        as_json(&WallLine { wall: Wall { seconds, simulated_seconds_per_second } })
    }
}

/// Reads a seed.
///
/// # Errors
/// Says what was expected.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "expected a whole number from 0 to 2^64 - 1".into())
}

fn as_json(line: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(line).map_err(|error| {
        CommandError::Internal(format!("the report does not go into JSON: {error}"))
    })
}
