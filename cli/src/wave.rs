//! `lockstep wave`: waveforms of the lock unit.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};
use sim::models::WaveWindow;
use system::Options;
use workloads::Scenario;

use crate::failure::Failure;
use crate::interrupt;
use crate::output::Output;
use crate::run::{execute, seed};
use crate::text;
use crate::whole_file::WholeFile;

const EXAMPLES: &str = "\
Examples:
  lockstep wave run scenarios/hot-row-storm.toml --from 1000 --to 2000 -o storm.fst
  gtkwave storm.fst        (or surfer storm.fst)";

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
    /// Where the waves go.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// When the window or the scenario is impossible, the run fails or is interrupted, or the file
/// cannot be written.
pub fn run(args: Args, out: &Output) -> Result<(), Failure> {
    match args.command {
        Command::Run(args) => waves_of_a_run(args, out),
    }
}

fn waves_of_a_run(args: Run, out: &Output) -> Result<(), Failure> {
    let Run { scenario, seed, from, to, output } = args;
    if to <= from {
        return Err(Failure::Input(format!("--to {to}: expected a cycle after --from {from}")));
    }
    let mut scenario = Scenario::load(scenario)?;
    scenario.seed = seed.unwrap_or(scenario.seed);
    let file = WholeFile::create(&output)?;
    let options = Options { waves: Some((file.temporary().to_owned(), WaveWindow { from, to })) };
    let outcome = execute(&scenario, &options, interrupt::install()?, out)?;
    if outcome.interrupted {
        return Err(Failure::Interrupted);
    }
    let cycles = outcome.report.unit.map_or(0, |unit| unit.cycles);
    if cycles <= from {
        let last = text::count(cycles);
        return Err(Failure::Input(format!(
            "--from {from}: expected a cycle of the run, which ended after {last} of them"
        )));
    }
    file.finish()?;
    out.print(format_args!(
        "{}: cycles {} to {} of {}",
        output.display(),
        text::count(from),
        text::count(to.min(cycles)),
        text::count(cycles)
    ))
}
