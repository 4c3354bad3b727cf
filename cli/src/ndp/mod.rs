// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep ndp`: near-data reads and updates of a store in a folder.

pub mod demonstration;
mod device;
mod explain;
mod host_load;
mod host_path;
mod load;
mod print;
mod report;
mod schema_text;
mod select;
mod store;
mod update;

use clap::Subcommand;

use crate::error::CommandError;
use crate::output::Output;

pub use report::Report;

const EXAMPLES: &str = "\
Examples:
  lockstep ndp load /tmp/store --accounts 100000
  lockstep ndp update /tmp/store --table account --where 'region = 7 and balance < 100' \\
      --set 'balance = balance + 5'
  lockstep ndp update /tmp/store --table account --set 'balance = balance + 1' \\
      --host-load zipf --strategy host
  lockstep ndp select /tmp/store --table account --where 'balance > 9000' --columns 'id, balance'
  lockstep ndp select /tmp/store --table account --aggregate 'sum(balance) by region'
  lockstep ndp explain /tmp/store --table account --where 'region in (1, 2)'

What SQL is understood: docs/near-data-programs.md; what the command prints and means:
docs/near-data-command.md.";

/// Reads and changes rows of a store beside its data.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Load(load::Args),
    Update(update::Args),
    Select(select::Args),
    Explain(explain::Args),
}

/// Runs the command.
///
/// # Errors
/// When the input is at fault, the store or the device fails, or Ctrl-C ended it.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    match args.command {
        Command::Load(args) => load::run(args, out),
        Command::Update(args) => update::run(args, out),
        Command::Select(args) => select::run(args, out),
        Command::Explain(args) => explain::run(args, out),
    }
}
