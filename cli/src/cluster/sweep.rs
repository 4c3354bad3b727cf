// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep cluster sweep`: throughput against median latency, as the load rises.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Instant;

use cluster_sim::run::{Report, Settings, sweep};
use experiments::findings::{Colour, Curve, Plot, Point, Stroke};
use experiments::plot;

use super::run::as_json;
use super::settings::{SettingsArgs, of_run};
use crate::error::CommandError;
use crate::experiment::make_folder;
use crate::interrupt;
use crate::output::Output;
use crate::text::{duration, rate};
use crate::whole_file::WholeFile;

const EXAMPLES: &str = "\
Examples:
  lockstep cluster sweep                                   1 to 19 workers a thread
  lockstep cluster sweep scenarios/cluster/fasst-tatp.toml --over workers=1,2,5,10,19
  lockstep cluster sweep --over nodes=3,6,11 --workload smallbank --out out/nodes
Points are run on all cores, and printed in their order: the values do not depend on how many there
are. The folder has NAME.csv with all values and NAME.svg, throughput against median latency.";

/// Runs a protocol at rising load: a table, CSV, and a picture.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    settings: SettingsArgs,
    /// What is varied, and its values: workers, threads or nodes.
    #[arg(long, value_name = "FIELD=VALUES", default_value = "workers=1,2,3,5,7,10,13,16,19")]
    over: Over,
    /// How many points are run at once; as many as there are cores, if it is not given.
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Prints each point's report as a line of JSON instead of the table.
    #[arg(long)]
    json: bool,
    /// Folder for the CSV and SVG files.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    /// Shows no progress bar, and no table.
    #[arg(short, long)]
    quiet: bool,
}

/// What is varied along a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Over {
    field: Field,
    values: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Workers,
    Threads,
    Nodes,
}

impl Field {
    const ALL: [Self; 3] = [Self::Workers, Self::Threads, Self::Nodes];

    fn name(self) -> &'static str {
        match self {
            Self::Workers => "workers",
            Self::Threads => "threads",
            Self::Nodes => "nodes",
        }
    }
}

impl FromStr for Over {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            format!(
                "expected {} = whole numbers with commas between, as workers=1,5,19",
                Field::ALL.map(Field::name).join(", ")
            )
        };
        let (name, values) = text.split_once('=').ok_or_else(expected)?;
        let field = Field::ALL.into_iter().find(|field| field.name() == name.trim());
        let field = field.ok_or_else(expected)?;
        let values: Result<Vec<u64>, _> = values.split(',').map(|one| one.trim().parse()).collect();
        let values = values.map_err(|_| expected())?;
        Ok(Self { field, values })
    }
}

/// Runs the command.
///
/// # Errors
/// When the input is at fault, a check fails, a file cannot be written, or Ctrl-C ended it.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let out = out.quiet(args.quiet);
    let points = points(&args)?;
    // Before the runs, so that they are not in vain.
    make_folder(&args.out)?;
    let interrupt = interrupt::install()?;
    let name = format!("{}-sweep", points[0].name);
    let mut bar = out.progress(&name);
    let jobs = args.jobs.map(usize::from);
    let jobs = jobs.or(thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let start = Instant::now();
    let mut progress = |done: f64, ended: usize| {
        bar.set(done, format_args!("{ended} of {} points", points.len()));
    };
    let reports = sweep(&points, jobs, &|| interrupt.is_raised(), &mut progress).map_err(of_run)?;
    drop(bar);
    if interrupt.is_raised() {
        return Err(CommandError::Interrupted);
    }
    write(&args.out.join(format!("{name}.csv")), &csv(args.over.field, &reports))?;
    let picture = plot::svg(&picture(&points[0], &reports), &points[0].name, plot::Display::Wide);
    write(&args.out.join(format!("{name}.svg")), &picture)?;
    if args.json {
        return reports.iter().try_for_each(|report| out.print(as_json(report)?));
    }
    if args.quiet {
        return Ok(());
    }
    out.print(table(args.over.field, &reports, &out))?;
    out.note(format_args!(
        "{} points in {}. Written: {}.csv and .svg",
        reports.len(),
        duration(start.elapsed().as_nanos() as f64),
        args.out.join(name).display()
    ));
    Ok(())
}

/// The settings of each point; all are checked before the first is run.
fn points(args: &Args) -> Result<Vec<Settings>, CommandError> {
    let Over { field, values } = &args.over;
    let points = values.iter().map(|value| args.settings.with(field.name(), *value).settings(None));
    points.collect()
}

fn write(path: &Path, text: &str) -> Result<(), CommandError> {
    let mut file = WholeFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|cause| CommandError::writing(path, cause))?;
    file.finish()
}

fn value(field: Field, report: &Report) -> u64 {
    let of = &report.settings;
    match field {
        Field::Workers => of.workers.into(),
        Field::Threads => of.threads.into(),
        Field::Nodes => of.nodes.into(),
    }
}

fn table(field: Field, reports: &[Report], out: &Output) -> String {
    let heads = format!(
        "{:>8}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}  {}",
        field.name(),
        "committed/s",
        "a node",
        "p50",
        "p99",
        "aborts",
        "messages",
        "busiest"
    );
    let mut table = out.strong(heads);
    for report in reports {
        let binding = report
            .binding()
            .map_or(String::new(), |of| format!("{} {:.0} %", of.name, 100.0 * of.busiest));
        let aborts = format!("{:.2} %", 100.0 * report.abort_share());
        write!(
            table,
            "\n{:>8}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10.3}  {binding}",
            value(field, report),
            rate(report.per_second),
            rate(report.per_second_and_node),
            duration(report.latency.p50_ns),
            duration(report.latency.p99_ns),
            aborts,
            report.messages(),
        )
        .expect("a write to a string succeeds");
    }
    table
}

fn csv(field: Field, reports: &[Report]) -> String {
    let mut csv = format!(
        "{},committed_per_second,per_node,p50_ns,p90_ns,p99_ns,p999_ns,abort_share,messages,\
         messages_by_hand,bytes,busiest,busiest_share\n",
        field.name()
    );
    for report in reports {
        let (name, share) = report.binding().map_or(("", 0.0), |of| (of.name.as_str(), of.busiest));
        let latency = &report.latency;
        writeln!(
            csv,
            "{},{},{},{},{},{},{},{},{},{},{},{name},{share}",
            value(field, report),
            report.per_second,
            report.per_second_and_node,
            latency.p50_ns,
            latency.p90_ns,
            latency.p99_ns,
            latency.p999_ns,
            report.abort_share(),
            report.messages(),
            report.messages_by_hand(),
            report.bytes(),
        )
        .expect("a write to a string succeeds");
    }
    csv
}

fn picture(settings: &Settings, reports: &[Report]) -> Plot {
    let point =
        |report: &Report| Point::lone((report.per_second / 1e6, report.latency.p50_ns / 1e3));
    let name = format!("{}, {}", settings.protocol.name(), settings.platform);
    let (colour, stroke) = (Colour::Device, Stroke::Solid);
    let points = reports.iter().map(point).collect();
    Plot::Lines {
        across: "committed transactions a second, M",
        up: "median latency, µs",
        curves: vec![Curve { name, colour, stroke, points }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_varied_is_read() {
        let over: Over = "workers=1, 5,19".parse().expect("well formed");
        assert_eq!(over, Over { field: Field::Workers, values: vec![1, 5, 19] });
        for wrong in ["workers", "seed=1,2", "workers=", "workers=1,x", "workers=-1"] {
            let message = wrong.parse::<Over>().expect_err(wrong);
            assert!(message.contains("workers=1,5,19"), "{message}");
        }
    }
}
