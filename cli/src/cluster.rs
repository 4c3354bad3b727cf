// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep cluster`: distributed transaction protocols on a modelled cluster, in virtual time.

mod rtl;
mod run;
mod settings;
mod sweep;
mod table;

use clap::Subcommand;

use crate::error::CommandError;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  lockstep cluster run                                      FaSST and TATP on three machines
  lockstep cluster run scenarios/cluster/fasst-smallbank.toml
  lockstep cluster sweep scenarios/cluster/fasst-tatp.toml --over workers=1,5,10,19
docs/cluster-command.md lists every key of a scenario, and says what is printed.";

/// Runs a distributed protocol on a modelled cluster, with every read checked.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Sweep(sweep::Args),
}

/// Runs the command.
///
/// # Errors
/// When the input is at fault, a check fails, or Ctrl-C ended it.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    match args.command {
        Command::Run(args) => run::run(args, out),
        Command::Sweep(args) => sweep::run(args, out),
    }
}
