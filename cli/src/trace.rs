// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep trace`: makes lock traces and checks them.

mod replay;

use std::collections::BTreeSet;
use std::fmt;
use std::io::{BufRead, Write, stdout};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use workloads::trace::{TraceOp, TraceReader};
use workloads::waldump;

use crate::error::CommandError;
use crate::input_file::open;
use crate::output::Output;
use crate::text;
use crate::whole_file::{WholeFile, is_same};

const FROM_WALDUMP_EXAMPLES: &str = "\
Examples:
  pg_waldump --path=pg_wal --start=LSN --end=LSN > dump.txt
  lockstep trace from-waldump dump.txt -o trace.csv --scenario replay.toml
  lockstep run replay.toml
  lockstep trace from-waldump dump.txt.gz -o trace.csv
  pg_waldump … | lockstep trace from-waldump - -o - | lockstep trace check -

docs/traces.md says what becomes of each record.";

/// Makes and checks lock traces (docs/traces.md).
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    FromWaldump(FromWaldump),
    Check(Check),
}

/// Turns the output of PostgreSQL's pg_waldump into a lock trace.
#[derive(clap::Args)]
#[command(after_help = FROM_WALDUMP_EXAMPLES)]
struct FromWaldump {
    /// Text of pg_waldump (PostgreSQL 15 to 18), optionally in gzip; - reads standard input.
    file: PathBuf,
    /// Output file of the trace; - is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Writes a scenario that replays the trace, half of its agents on the device.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// Maximum number of agents of the trace [default: as many as it needs].
    #[arg(long, value_name = "N")]
    agents: Option<NonZeroU32>,
}

/// Checks a lock trace and says what is in it.
#[derive(clap::Args)]
struct Check {
    /// The trace, optionally in gzip; - reads standard input.
    file: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// When the input breaks a rule of its format, or cannot be read; when the output cannot be
/// written.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    match args.command {
        Command::FromWaldump(args) => from_waldump(&args, out),
        Command::Check(args) => {
            let (name, reader) = open(&args.file)?;
            out.print(summarise(TraceReader::new(name, reader))?)
        }
    }
}

fn from_waldump(args: &FromWaldump, out: &Output) -> Result<(), CommandError> {
    let (file, reader) = open(&args.file)?;
    let options = waldump::Options { file, agents: args.agents };
    if args.output == Path::new("-") {
        if let Some(scenario) = &args.scenario {
            let message = "--scenario: expected -o FILE with it, as a scenario names its trace";
            return Err(CommandError::input(scenario, message));
        }
        let report = waldump::convert(reader, &options, stdout().lock())?;
        out.note(report);
        return Ok(());
    }
    if let Some(scenario) = args.scenario.as_deref().filter(|path| is_same(path, &args.output)) {
        let message = "--scenario: expected another file than that of -o, the trace";
        return Err(CommandError::input(scenario, message));
    }
    let mut written = [Some(&args.output), args.scenario.as_ref()].into_iter().flatten();
    if let Some(path) = written.find(|path| is_same(path, &args.file)) {
        return Err(CommandError::input(path, "expected another file to write than the dump"));
    }
    let mut trace = WholeFile::create(&args.output)?;
    let mut scenario = args.scenario.as_deref().map(WholeFile::create).transpose()?;
    let report = waldump::convert(reader, &options, &mut trace)?;
    if let (Some(file), Some(path)) = (&mut scenario, &args.scenario) {
        let text = replay::scenario(&args.output, path, &report);
        file.write_all(text.as_bytes()).map_err(|cause| CommandError::writing(path, cause))?;
    }
    trace.finish()?;
    if let (Some(file), Some(path)) = (scenario, &args.scenario) {
        file.finish()?;
        out.print(report)?;
        return out.print(format_args!("Replay it: lockstep run {}", path.display()));
    }
    out.print(report)
}

/// The contents of a trace.
#[derive(Debug, Default, PartialEq, Eq)]
struct Summary {
    agents: BTreeSet<u32>,
    rows: BTreeSet<u64>,
    locks: u64,
    unlocks: u64,
    committed: u64,
    aborted: u64,
    duration_ns: u64,
}

fn summarise(trace: TraceReader<impl BufRead>) -> Result<Summary, workloads::Error> {
    let mut summary = Summary::default();
    for record in trace {
        let record = record?;
        summary.agents.insert(record.agent);
        summary.duration_ns = record.time_ns;
        match record.op {
            TraceOp::Lock(key) => {
                summary.rows.insert(key.vid);
                summary.locks += 1;
            }
            TraceOp::Unlock(_) => summary.unlocks += 1,
            TraceOp::Commit => summary.committed += 1,
            TraceOp::Abort => summary.aborted += 1,
        }
    }
    Ok(summary)
}

impl fmt::Display for Summary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = [
            ("agents", self.agents.len() as u64, String::new()),
            (
                "transactions",
                self.committed + self.aborted,
                format!(
                    "{} committed, {} aborted",
                    text::count(self.committed),
                    text::count(self.aborted)
                ),
            ),
            ("rows", self.rows.len() as u64, String::new()),
            ("locks", self.locks, String::new()),
            ("early unlocks", self.unlocks, String::new()),
        ];
        writeln!(out, "The trace is well formed.")?;
        for (name, number, more) in lines {
            let line = format!("  {name:<14}{:>12}  {more}", text::count(number));
            writeln!(out, "{}", line.trim_end())?;
        }
        write!(out, "  {:<14}{:>12}", "duration", text::duration(self.duration_ns as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_summarised() {
        let trace = "time_ns,agent,txn,vid,version,op\n\
                     0,0,735,1,0,lock\n850,0,735,7,0,lock\n900,4,736,7,0,lock\n\
                     1200,0,735,,,commit\n2100,4,736,7,0,unlock\n2400,4,736,,,abort\n";
        let summary = summarise(TraceReader::new("t.csv", trace.as_bytes())).expect("well formed");
        let expected = Summary {
            agents: [0, 4].into(),
            rows: [1, 7].into(),
            locks: 3,
            unlocks: 1,
            committed: 1,
            aborted: 1,
            duration_ns: 2400,
        };
        assert_eq!(summary, expected);
    }
}
