// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep bench`: each performance goal beside its floor. Its exit code does not depend on
//! whether goals are reached.

use std::path::PathBuf;

use bench::{BenchError, HEADS, Measured, Rival, Setting, Size};

use crate::error::CommandError;
use crate::output::Output;

const ABOUT: &str = "\
Examples:
  lockstep bench                      all of them; some minutes on an idle machine
  lockstep bench host-lock lock-unit
  lockstep bench postgres             beside a PostgreSQL server of its own; ./kit gets one
  lockstep bench --json               one object a line: bench, unit, value, floor, ratio, goal, met
";

/// Measures each performance goal beside its floor.
#[derive(clap::Args)]
#[command(after_help = ABOUT)]
pub struct Args {
    /// Which ones; all, if none is named.
    names: Vec<String>,
    /// Prints one JSON object a line instead of the table.
    #[arg(long)]
    json: bool,
    /// A folder with the programs of other engines, for the bench "store".
    #[arg(long, value_name = "FOLDER")]
    rivals: Option<PathBuf>,
    /// Lists the benchmarks and runs none.
    #[arg(long)]
    list: bool,
}

/// Runs the command.
///
/// # Errors
/// When there is no such bench.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let chosen = bench::chosen(&args.names)?;
    let rivals = args.rivals.as_deref().map(Rival::find).transpose()?;
    if args.list {
        return chosen.iter().try_for_each(|bench| {
            out.print(format_args!("{}  {}", out.strong(format!("{:12}", bench.name)), bench.about))
        });
    }
    let line = |cells: [&str; 7]| {
        let [bench, value, unit, floor, ratio, goal, met] = cells;
        format!("{bench:<44}{value:>9} {unit:<13}{floor:>9}{ratio:>8}  {goal:<13}{met}")
    };
    if !args.json {
        out.print(out.strong(line(HEADS).trim_end()))?;
    }
    let mut progress = out.progress("bench");
    for (number, bench) in chosen.iter().enumerate() {
        progress.set(number as f64 / chosen.len() as f64, bench.name);
        let measured = match measure(bench, rivals.as_deref(), out) {
            // A run of all benchmarks includes those that this machine supports.
            Err(CommandError::NotMeasured(why)) if args.names.is_empty() => {
                out.note(why);
                continue;
            }
            measured => measured?,
        };
        for measurement in measured.figures {
            match args.json {
                true => out.print(measurement.json())?,
                false => out.print(line(measurement.cells().each_ref().map(String::as_str)))?,
            }
        }
        if let Some(picture) = measured.picture.filter(|_| !args.json) {
            out.print(picture)?;
        }
    }
    Ok(())
}

/// Measures a bench at full size, the store beside these engines if there are any.
///
/// # Errors
/// When what is to be measured does not work, or is not on this machine.
pub fn measure(
    bench: &bench::Bench,
    rivals: Option<&[Rival]>,
    out: &Output,
) -> Result<Measured, CommandError> {
    let program = std::env::current_exe().map_err(|error| {
        CommandError::Internal(format!("cannot find the program that runs: {error}"))
    })?;
    let setting = Setting { size: Size::FULL, rivals, server: Some(&program) };
    Ok(bench.measure(&setting, &mut out.progress(bench.name))?)
}

impl From<BenchError> for CommandError {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Unknown { .. } | BenchError::NoRival { .. } => {
                Self::Input(error.to_string())
            }
            BenchError::NotMeasured { .. } => Self::NotMeasured(error.to_string()),
            BenchError::Failed { .. } => Self::Internal(error.to_string()),
        }
    }
}
