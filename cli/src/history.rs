// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep history`: checks what the transactions of a run read and wrote.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use history::{History, Level, Options, Report};
use serde::Serialize;

use crate::error::CommandError;
use crate::input_file;
use crate::output::Output;
use crate::text;

const EXAMPLES: &str = "\
Examples:
  lockstep cluster run --history history.jsonl
  lockstep history check history.jsonl
  lockstep history check history.jsonl.gz --level snapshot
  lockstep history check - --untimed --json < history.jsonl

A history without a violation ends with exit code 0, one with violations with 1, and one that
breaks a rule of its format (docs/histories.md) with 2.";

/// Checks histories of transactions (docs/histories.md).
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(Check),
}

/// Holds each transaction of a history to its isolation level.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
struct Check {
    /// The history (JSON lines), optionally in gzip; - reads standard input.
    file: PathBuf,
    /// Holds every transaction to this level instead of its own.
    #[arg(long, value_enum)]
    level: Option<LevelName>,
    /// Lets neither the order of sessions nor time count, only what depends on what.
    #[arg(long)]
    untimed: bool,
    /// The most violations to print.
    #[arg(long, value_name = "COUNT", default_value_t = Options::default().limit)]
    limit: usize,
    /// Prints the result as a line of JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum LevelName {
    /// Only what was committed is read, and reads do not go back in time.
    ReadCommitted,
    /// All reads are of one point, and no update is lost.
    Snapshot,
    /// There is a serial order that keeps to time.
    Serializable,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::ReadCommitted => Self::ReadCommitted,
            LevelName::Snapshot => Self::Snapshot,
            LevelName::Serializable => Self::Serializable,
        }
    }
}

/// The result for programs.
#[derive(Serialize)]
struct Line {
    transactions: usize,
    committed: usize,
    clean: bool,
    /// Whether the order of all versions was known; otherwise an anomaly may stay unseen.
    complete: bool,
    broken_off: bool,
    anomalies: Vec<String>,
    violations: Vec<String>,
}

/// Runs the subcommand.
///
/// # Errors
/// When the history cannot be read or breaks a rule of its format; when it has violations.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let Command::Check(args) = args.command;
    let (name, reader) = input_file::open(&args.file)?;
    let history =
        History::read(reader).map_err(|error| CommandError::Input(format!("{name}: {error}")))?;
    let options =
        Options { level: args.level.map(Level::from), limit: args.limit, ..Options::default() };
    let options = if args.untimed { options.untimed() } else { options };
    let report = history.check(&options);
    match args.json {
        true => out.print(as_json(&history, &report)?)?,
        false => out.print(as_text(&history, &report))?,
    }
    // What is wrong has been said.
    if report.is_clean() { Ok(()) } else { Err(CommandError::Told(1)) }
}

fn as_json(history: &History, report: &Report) -> Result<String, CommandError> {
    let line = Line {
        transactions: history.transactions().len(),
        committed: report.committed(),
        clean: report.is_clean(),
        complete: report.is_complete(),
        broken_off: report.is_broken_off(),
        anomalies: report.anomalies().iter().map(ToString::to_string).collect(),
        violations: report.violations().iter().map(ToString::to_string).collect(),
    };
    serde_json::to_string(&line).map_err(|error| {
        CommandError::Internal(format!("the result does not go into JSON: {error}"))
    })
}

fn as_text(history: &History, report: &Report) -> String {
    let header = history.header();
    let mut lines = vec![format!(
        "{}, seed {}: {} transactions",
        header.scenario,
        header.seed,
        text::count(history.transactions().len() as u64)
    )];
    lines.push(report.to_string().trim_end().to_owned());
    if !report.is_complete() {
        lines
            .push("The order of some versions is not known, so an anomaly may stay unseen.".into());
    }
    lines.join("\n")
}
