// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep experiment`: figures and tables of the papers, measured again.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueHint;
use experiments::{
    Commit, Experiment, ExperimentError, Findings, Record, Seeds, Setting, files, registry,
    sensitivity, table,
};

use crate::error::CommandError;
use crate::output::Output;
use crate::whole_file::WholeFile;

const ABOUT: &str = "\
Examples:
  lockstep experiment                       lists them
  lockstep experiment ccslt-fig4            prints the table, writes out/ccslt-fig4.json, .csv, .svg
  lockstep experiment ccslt-fig5 --json --seed 7 --seeds 12
  lockstep experiment ccslt-placement --platform my-board.toml
  lockstep experiment fasst-fig10 --sensitivity
  lockstep experiment xenic-table3 --sensitivity --entries network.core_work.index,cpu.look
";

/// The seeds of the measurement.
#[derive(clap::Args, Clone, Copy)]
pub struct SeedArgs {
    /// Of all draws of the first run; the next has the next seed.
    #[arg(long, default_value_t = DEFAULT_SEED, value_parser = crate::run::seed, allow_negative_numbers = true)]
    seed: u64,
    /// Seeds of each experiment; one by the clock here runs once.
    #[arg(long, default_value_t = DEFAULT_SEEDS, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    seeds: u32,
}

impl From<SeedArgs> for Seeds {
    fn from(SeedArgs { seed, seeds }: SeedArgs) -> Self {
        Self { first: seed, count: seeds }
    }
}

/// Reproduces a figure or table of a paper, or lists the available ones.
#[derive(clap::Args)]
#[command(after_help = ABOUT)]
pub struct Args {
    /// Which one; without it, they are listed.
    name: Option<String>,
    /// Prints JSON instead of the table.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    seeds: SeedArgs,
    /// Takes the place of n1sdp-u280-ccix, or of the first cluster.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    platform: Option<PathBuf>,
    /// Prints the range of headlines over the intervals of assumptions.
    #[arg(long, conflicts_with_all = ["json", "platform"])]
    sensitivity: bool,
    /// Moves these assumptions only, by their names in platform files.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', requires = "sensitivity")]
    entries: Vec<String>,
    /// Folder for the JSON, CSV and SVG files.
    #[arg(long, default_value = "out")]
    out: PathBuf,
}

/// Of an experiment that was not given one.
const DEFAULT_SEED: u64 = 1;

/// How many seeds: enough to tell a value from its luck, few enough to wait for.
const DEFAULT_SEEDS: u32 = 5;

/// Runs the command.
///
/// # Errors
/// When there is no such experiment, or its files cannot be written.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let Some(name) = args.name else { return list(out) };
    let experiment =
        registry::named(&name).map_err(|unknown| CommandError::Input(unknown.to_string()))?;
    if args.sensitivity {
        return print_sensitivity(experiment, args.seeds.seed, &args.entries, out);
    }
    // Before the run, so that a long one is not in vain.
    make_folder(&args.out)?;
    let seeds = args.seeds.into();
    let findings = measure(experiment, seeds, args.platform.as_deref(), out)?;
    let commit = Commit::of_sources();
    let record = Record::new(experiment, seeds, &findings, commit.clone());
    let written = write(&args.out, experiment, &findings, &record)?;
    if args.json {
        return out.print(record.text());
    }
    let title = out.strong(experiment.title);
    out.print(table::text(&title, experiment, seeds, &findings, commit.as_ref()))?;
    out.note(format_args!("Written: {}, .csv and .svg", written.display()));
    Ok(())
}

fn list(out: &Output) -> Result<(), CommandError> {
    registry::all().try_for_each(|experiment| {
        let Experiment { name, title, source, .. } = experiment;
        out.print(format_args!(
            "{}  {title}\n{:16}  {source}",
            out.strong(format_args!("{name:16}")),
            ""
        ))
    })
}

/// Measures at full length; on the user's `platform`, if there is one.
///
/// # Errors
/// When the platform does not do, when something that is to be measured is not on this machine, or
/// when the simulation fails.
pub fn measure(
    experiment: &Experiment,
    seeds: Seeds,
    platform: Option<&Path>,
    out: &Output,
) -> Result<Findings, CommandError> {
    let name = experiment.name;
    let mut progress = out.progress(name);
    let measured = experiment.measure(&mut Setting::full(seeds, platform, &mut progress));
    measured.map_err(|error| match (error, platform) {
        (ExperimentError::Unfit(why), _) => CommandError::Input(why.to_string()),
        (ExperimentError::Postgres(why), _) => {
            CommandError::NotMeasured(format!("{name}: not measured: {why}"))
        }
        (error, Some(file)) if error.is_of_platform() => CommandError::input(file, error),
        (error, _) => CommandError::Internal(format!("{name}: {error}")),
    })
}

/// How long a measurement is with an assumption moved, as a part of the full length.
const MOVED: f64 = 0.5;

/// Prints what the headlines of `experiment` hang on.
fn print_sensitivity(
    experiment: &Experiment,
    seed: u64,
    names: &[String],
    out: &Output,
) -> Result<(), CommandError> {
    let name = experiment.name;
    let mut entries = sensitivity::assumptions(experiment);
    if entries.is_empty() {
        let what = format!(
            "{name} --sensitivity: expected an experiment on a platform with entries of class E; \
             lockstep platforms lists them"
        );
        return Err(CommandError::Input(what));
    }
    if !names.is_empty() {
        let chosen = sensitivity::named(entries, names);
        entries = chosen.map_err(|what| CommandError::Input(format!("--entries {what}")))?;
    }
    let mut progress = out.progress(name);
    let mut told = |done: usize, all: usize, what: &str| {
        progress.set(done as f64 / all as f64, format_args!("{done} of {all}: {what}"));
    };
    let found = sensitivity::measure(experiment, &entries, seed, MOVED, &mut told)
        .map_err(|error| CommandError::Internal(format!("{name}: {error}")))?;
    drop(progress);
    out.print(format_args!("{}\n{}", out.strong(experiment.title), found.text()))
}

/// Makes the folder for results, if it is not there.
///
/// # Errors
/// When it cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), CommandError> {
    fs::create_dir_all(folder).map_err(|cause| {
        let what = format_args!("expected a folder for the results, which cannot be made: {cause}");
        CommandError::input(folder, what)
    })
}

/// Writes the record (JSON), its values as CSV and the pictures into `folder`, which
/// [`make_folder`] has made; the first one's path.
///
/// # Errors
/// When they cannot be written.
pub fn write(
    folder: &Path,
    experiment: &Experiment,
    findings: &Findings,
    record: &Record<'_>,
) -> Result<PathBuf, CommandError> {
    let files = files(experiment, findings, record);
    for (name, text) in &files {
        let path = folder.join(name);
        let mut file = WholeFile::create(&path)?;
        file.write_all(text.as_bytes()).map_err(|cause| CommandError::writing(&path, cause))?;
        file.finish()?;
    }
    Ok(folder.join(&files[0].0))
}
