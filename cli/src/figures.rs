// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep figures`: all experiments on one HTML page.

use std::io::Write;
use std::path::PathBuf;

use experiments::page::Page;
use experiments::{Clock, Commit, Record, SCHEMA, Seeds, date, machine, registry};

use crate::error::CommandError;
use crate::experiment::SeedArgs;
use crate::output::Output;
use crate::whole_file::WholeFile;
use crate::{bench, experiment};

/// Runs all experiments and writes one self-contained HTML page.
#[derive(clap::Args)]
pub struct Args {
    /// Folder for the page, and for the JSON, CSV and SVG files of the experiments.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    #[command(flatten)]
    seeds: SeedArgs,
    /// Also runs the benchmarks, which depend on this machine.
    #[arg(long)]
    benches: bool,
}

/// Runs the command.
///
/// # Errors
/// When the folder cannot be written to.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    experiment::make_folder(&args.out)?;
    // Before the runs: it is the state that the program was built from, not what is edited meanwhile.
    let commit = Commit::of_sources();
    let seeds = args.seeds.into();
    let mut page = Page {
        experiments: Vec::new(),
        benches: Vec::new(),
        benches_not_measured: Vec::new(),
        seeds,
        command: command(&args),
        commit: Commit::text(commit.as_ref()),
        date: date(),
        made_with: made_with(),
    };
    let count = registry::all().count();
    for (number, experiment) in registry::all().enumerate() {
        out.note(format_args!("{} of {count}: {}", number + 1, experiment.name));
        let findings = match experiment::measure(experiment, seeds, None, out) {
            // The page says so; the others are worth having.
            Err(CommandError::NotMeasured(why)) => {
                out.note(&why);
                Err(why)
            }
            findings => Ok(findings?),
        };
        if let Ok(findings) = &findings {
            let record = Record::new(experiment, seeds, findings, commit.clone());
            experiment::write(&args.out, experiment, findings, &record)?;
        }
        page.experiments.push((experiment, findings));
    }
    if args.benches {
        for bench in &::bench::ALL {
            out.note(format_args!("bench {}", bench.name));
            match bench::measure(bench, None, out) {
                Ok(measured) => page.benches.extend(measured.figures),
                Err(CommandError::NotMeasured(why)) => {
                    out.note(&why);
                    page.benches_not_measured.push(why);
                }
                Err(failure) => return Err(failure),
            }
        }
    }
    let path = args.out.join("figures.html");
    let mut file = WholeFile::create(&path)?;
    file.write_all(page.html().as_bytes()).map_err(|cause| CommandError::writing(&path, cause))?;
    file.finish()?;
    out.print(path.display())
}

/// The command that makes the page again.
fn command(args: &Args) -> String {
    let benches = if args.benches { " --benches" } else { "" };
    format!("lockstep figures{}{benches}", Seeds::from(args.seeds).arguments(Clock::Virtual))
}

/// Names and values of what the page was made with: versions and machine.
fn made_with() -> Vec<(&'static str, String)> {
    let mut entries = vec![
        ("Lockstep", env!("CARGO_PKG_VERSION").into()),
        ("form of the JSON", SCHEMA.to_string()),
        ("Verilator", sim::models::VERILATOR_VERSION.into()),
    ];
    entries.extend(machine::description());
    entries
}
