// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep wave`: waveforms of the lock unit.
//!
//! Verilator's wave writer ends its process when it cannot write. So a child process makes the run,
//! the same program with `--into`, and this process reports the result.

mod apart;

use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueHint};
use conformance::ReplayError;
use sim::models::WaveWindow;
use system::Options;
use workloads::Scenario;

use crate::error::CommandError;
use crate::interrupt;
use crate::output::Output;
use crate::run::{execute, seed};
use crate::text;

const EXAMPLES: &str = "\
Examples:
  lockstep wave run scenarios/hot-row-storm.toml --from 1000 --to 2000 -o storm.fst
  gtkwave storm.fst        (or surfer storm.fst)";

const CONFORMANCE_EXAMPLES: &str = "\
Examples:
  lockstep wave conformance --case case.json -o case.fst
  lockstep wave conformance --case case.json --from 100 --to 400 -o case.fst";

/// Writes waveforms of the lock unit as FST files, for GTKWave or Surfer.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Run),
    Conformance(Conformance),
}

/// Runs a scenario and keeps the waves of a window of the lock unit's clock cycles.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
struct Run {
    /// The scenario (TOML, docs/scenarios.md).
    #[arg(value_hint = ValueHint::FilePath)]
    scenario: PathBuf,
    /// Replaces the scenario's seed.
    #[arg(long, value_name = "N", value_parser = seed)]
    seed: Option<u64>,
    /// First clock cycle of the window, from 0; the run skips idle ones uncounted.
    #[arg(long, value_name = "CYCLE")]
    from: u64,
    /// First clock cycle after the window.
    #[arg(long, value_name = "CYCLE")]
    to: u64,
    /// Output file of the waves.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    #[command(flatten)]
    part: Part,
}

/// Which of the two processes this is.
#[derive(clap::Args)]
struct Part {
    /// The process that writes: into this file, which the other has made and looks at afterwards.
    #[arg(long, hide = true)]
    into: Option<PathBuf>,
}

/// Repeats a conformance case that a failed test has saved, and writes its waves.
#[derive(clap::Args)]
#[command(after_help = CONFORMANCE_EXAMPLES)]
struct Conformance {
    /// The case (JSON); the message of the failed test names its file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    case: PathBuf,
    /// First clock cycle of the window.
    #[arg(long, value_name = "CYCLE", default_value_t = 0)]
    from: u64,
    /// First clock cycle after the window [default: the end of the case].
    #[arg(long, value_name = "CYCLE")]
    to: Option<u64>,
    /// Output file of the waves.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    #[command(flatten)]
    part: Part,
}

/// Runs the subcommand.
///
/// # Errors
/// When the window or the scenario is impossible, the run fails or is interrupted, or the file
/// cannot be written.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    match args.command {
        Command::Run(args) => waves_of_a_run(args, out),
        Command::Conformance(args) => waves_of_a_case(args, out),
    }
}

/// The window of clock cycles from `from` up to `to`.
///
/// # Errors
/// When there is none in between.
pub fn window(from: u64, to: u64) -> Result<WaveWindow, CommandError> {
    if to <= from {
        return Err(CommandError::Input(format!(
            "--to {to}: expected a cycle after --from {from}"
        )));
    }
    Ok(WaveWindow { from, to })
}

fn waves_of_a_run(args: Run, out: &Output) -> Result<(), CommandError> {
    let Run { scenario, seed, from, to, output, part } = args;
    let window = window(from, to)?;
    let mut scenario = Scenario::load(scenario)?;
    scenario.seed = seed.unwrap_or(scenario.seed);
    let Some(into) = part.into else { return apart::write(&output, false) };
    let waves = Some((into, window));
    let options = Options { waves, ..Options::default() };
    let outcome = execute(&scenario, &options, interrupt::install()?, out)?;
    if outcome.interrupted {
        return Err(CommandError::Interrupted);
    }
    let cycles = outcome.report.unit.and_then(|unit| unit.cycles).unwrap_or(0);
    tell(&output, window, cycles, out)
}

fn waves_of_a_case(args: Conformance, out: &Output) -> Result<(), CommandError> {
    let Conformance { case, from, to, output, part } = args;
    let window = window(from, to.unwrap_or(u64::MAX))?;
    // Its errors name the file.
    let case = conformance::load(&case).map_err(|error| CommandError::Input(error.to_string()))?;
    let Some(into) = part.into else { return apart::write(&output, true) };
    match conformance::replay(&case, Some((into, window))) {
        Ok(summary) => {
            tell(&output, window, summary.cycles, out)?;
            out.print("Hardware and software agree in this case.")
        }
        Err(ReplayError::Mismatch(mismatch)) => Err(CommandError::Internal(format!(
            "{mismatch}\nThe waves are in {}",
            output.display()
        ))),
        Err(ReplayError::File(error)) => Err(CommandError::writing(&output, error)),
    }
}

/// Says what is in the file, if some of the run's `cycles` are in the window.
fn tell(path: &Path, window: WaveWindow, cycles: u64, out: &Output) -> Result<(), CommandError> {
    let WaveWindow { from, to } = window;
    if cycles <= from {
        return Err(CommandError::Input(format!(
            "--from {from}: expected a cycle of the run, which ended after {} of them",
            text::count(cycles)
        )));
    }
    out.print(format_args!(
        "{}: cycles {} to {} of {}",
        path.display(),
        text::count(from),
        text::count(to.min(cycles)),
        text::count(cycles)
    ))
}
