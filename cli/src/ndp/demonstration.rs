// SPDX-License-Identifier: MIT OR Apache-2.0
//! A near-data update for `lockstep demo`: a small store in a folder that is removed afterwards.

use std::path::Path;

use clap::Parser;
use ndp_runtime::host::{Cancel, JobOptions};
use system::Interrupt;

use super::report::Report;
use super::{load, update};
use crate::error::CommandError;
use crate::output::Output;

/// Rows of table `account`, as `lockstep ndp load` takes them.
const ROWS: &str = "20000";
/// Which accounts are to be changed.
pub const PREDICATE: &str = "region = 7 and balance < 100";
/// Their new values.
pub const ASSIGNMENT: &str = "balance = balance + 5";

/// The arguments of one of the commands, as they are typed.
#[derive(Parser)]
struct Line<C: clap::Args> {
    #[command(flatten)]
    of: C,
}

/// Loads accounts, and changes some of them on the simulated device.
///
/// # Errors
/// When there is no room for the store, it or the device fails, or Ctrl-C was pressed: it has to raise
/// `interrupt` and to pull `cancel`.
pub fn run(interrupt: &Interrupt, cancel: &Cancel, out: &Output) -> Result<Report, CommandError> {
    let folder = tempfile::tempdir().map_err(|error| {
        CommandError::Internal(format!("cannot make a temporary folder: {error}"))
    })?;
    let folder = folder.path();
    load::load(&typed(folder, &["--accounts", ROWS]), interrupt, out)?;
    let statement = ["--where", PREDICATE, "--set", ASSIGNMENT];
    let arguments = [["--table", "account", "--device", "sim:"], statement].concat();
    let args = typed(folder, &arguments);
    let (opened, table) = update::prepare(&args)?;
    let options = JobOptions { cancel: cancel.clone(), ..JobOptions::default() };
    update::update(&args, opened, &table, options, out)
}

fn typed<C: clap::Args>(folder: &Path, arguments: &[&str]) -> C {
    let line = ["lockstep ndp".as_ref(), folder.as_os_str()].into_iter();
    let line = line.chain(arguments.iter().map(|argument| argument.as_ref()));
    Line::try_parse_from(line).expect("the demo's own arguments are sound").of
}
