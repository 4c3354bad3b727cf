// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep cluster run`: one run, and its report.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::ValueHint;
use cluster_sim::run::{
    Extras, Ground, InLoop, MakeDataPath, Outcome, Progress, Settings, Watch, run as execute,
};
use cluster_sim::world::DataPath;
use nic_runs::RtlNode;
use serde::Serialize;

use super::rtl::RtlArgs;
use super::settings::{SettingsArgs, of_run};
use super::table;
use crate::error::CommandError;
use crate::interrupt;
use crate::output::Output;
use crate::text;
use crate::whole_file;

const EXAMPLES: &str = "\
Examples:
  lockstep cluster run                                     FaSST and TATP on three machines
  lockstep cluster run scenarios/cluster/fasst-tatp.toml --workers 19
  lockstep cluster run --workload object-store --reads 4 --writes 2 --nodes 6
  lockstep cluster run --workload smallbank --platform connectx3 --json
  lockstep cluster run scenarios/cluster/fasst-crash.toml --history history.jsonl
  lockstep cluster run --duration-us 20 --trace trace.json
  lockstep cluster run --protocol xenic --workload smallbank-xenic --keys 20000 --rtl node0

The same settings give the same report, byte for byte, and the same digest; how long the simulation
took is this machine's, and --json writes it to standard error.
Every read is checked at the serialization point of its transaction, and at the end replicas, locks
and logs: a run that does not pass ends with exit code 1, and says what to repeat.
A history is checked by lockstep history check; a trace is read by https://ui.perfetto.dev.
Ctrl-C ends a run early: it prints what there is, and ends with exit code 130.";

/// Runs a protocol on a modelled cluster, once.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Faults, by this file (TOML, docs/cluster-command.md).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    faults: Option<PathBuf>,
    /// Prints the report as a line of JSON, and how long it took as another.
    #[arg(long)]
    json: bool,
    /// Writes the report as a line of JSON to this file, once it is whole.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// Writes what each transaction read and wrote to this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    history: Option<PathBuf>,
    /// Writes a timeline of transactions, messages and cores to this file, for Perfetto.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    trace: Option<PathBuf>,
    #[command(flatten)]
    rtl: RtlArgs,
    /// Shows no progress bar, and no table.
    #[arg(short, long)]
    quiet: bool,
}

/// What depends on this machine.
#[derive(Serialize)]
struct WallLine {
    wall_seconds: f64,
    transactions_per_wall_second: f64,
    events_per_wall_second: f64,
}

/// Runs the command.
///
/// # Errors
/// When the input is at fault, a check fails, a file cannot be written, or Ctrl-C ended it.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let out = out.quiet(args.quiet);
    let settings = args.settings.settings(args.faults.as_ref())?;
    let rtl = args.rtl.check(&settings)?;
    // Before the run, so that a long one is not in vain.
    let [mut report_file, mut history, mut trace, waves] = whole_file::create_each([
        ("--out", args.out.as_deref()),
        ("--history", args.history.as_deref()),
        ("--trace", args.trace.as_deref()),
        ("--waves", args.rtl.waves.as_deref()),
    ])?;
    let node = rtl.as_ref().map_or(0, |(node, _)| *node);
    let mut make = |ground: Ground<'_>| {
        let files = rtl.as_ref().zip(waves.as_ref());
        let waves = files.map(|((_, window), file)| window.waves(file.temporary()));
        Ok(Box::new(RtlNode::new(node, ground, waves)?) as Box<dyn DataPath>)
    };
    let make: &mut MakeDataPath<'_> = &mut make;
    let extras = Extras {
        history: history.as_mut().map(|file| file as &mut dyn Write),
        trace: trace.as_mut().map(|file| file as &mut (dyn Write + Send)),
        in_loop: rtl.as_ref().map(|_| InLoop { node, make }),
    };
    let (outcome, took) = timed(&settings, extras, &out)
        .map_err(|failure| with_repetition(failure, &args, &settings))?;
    let line = as_json(&outcome.report)?;
    if args.json {
        out.print(&line)?;
        if !outcome.report.is_interrupted {
            out.note(as_json(&wall_line(&outcome, took))?);
        }
    } else if !args.quiet {
        out.print(table::full(&outcome, took, &out))?;
    }
    if outcome.report.is_interrupted {
        return Err(CommandError::Interrupted);
    }
    if let (Some(file), Some(path)) = (&mut report_file, &args.out) {
        writeln!(file, "{line}").map_err(|cause| CommandError::writing(path, cause))?;
    }
    for file in [report_file, history, trace, waves].into_iter().flatten() {
        file.finish()?;
    }
    if let (Some(path), Some(note)) = (&args.trace, &outcome.trace_note) {
        out.note(format_args!("{}: {note}", path.display()));
    }
    Ok(())
}

fn timed(
    settings: &Settings,
    extras: Extras<'_>,
    out: &Output,
) -> Result<(Outcome, Duration), CommandError> {
    let interrupt = interrupt::install()?;
    let mut bar = out.progress(&settings.name);
    let mut progress = |Progress { done, simulated, committed }: Progress| {
        let simulated = text::duration(simulated.as_ns_f64());
        let committed = text::count(committed);
        bar.set(done, format_args!("{simulated} of the run, {committed} transactions"));
    };
    let is_interrupted = || interrupt.is_raised();
    let mut watch = Watch { is_interrupted: &is_interrupted, progress: &mut progress };
    let start = Instant::now();
    let outcome = execute(settings, extras, &mut watch).map_err(of_run)?;
    Ok((outcome, start.elapsed()))
}

/// The same failure; of one that is not of the input, with the command that repeats it.
fn with_repetition(failure: CommandError, args: &Args, settings: &Settings) -> CommandError {
    let CommandError::Internal(what) = failure else { return failure };
    let mut command = "lockstep cluster run".to_owned();
    if let Some(scenario) = args.settings.scenario() {
        command.push_str(&format!(" {}", scenario.display()));
    }
    let seed = settings.seed;
    CommandError::Internal(format!(
        "{what}\nTo repeat it: {command}, the same flags, --seed {seed}"
    ))
}

fn wall_line(outcome: &Outcome, took: Duration) -> WallLine {
    let wall_seconds = took.as_secs_f64();
    let each_second = |count: u64| count as f64 / wall_seconds.max(1e-9);
    WallLine {
        wall_seconds,
        transactions_per_wall_second: each_second(outcome.simulated_transactions),
        events_per_wall_second: each_second(outcome.report.events),
    }
}

/// A line of JSON.
///
/// # Errors
/// When it cannot be one.
pub fn as_json(line: &impl Serialize) -> Result<String, CommandError> {
    serde_json::to_string(line).map_err(|error| {
        CommandError::Internal(format!("the report does not go into JSON: {error}"))
    })
}
