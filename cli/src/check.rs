// SPDX-License-Identifier: MIT OR Apache-2.0
//! `lockstep check`: checks whether a device behaves as documented.

use acceptance::{Extent, Latency, Measurements, Options, Progress, Report, Verdict};
use driver::DeviceUri;
use serde::Serialize;

use crate::device_uri::{self, URIS};
use crate::error::CommandError;
use crate::output::Output;
use crate::run::seed;
use crate::text::{duration, rate, wrap};

const EXAMPLES: &str = "\
Examples:
  lockstep check sim:
  lockstep check vfio-user:/tmp/lockstep.socket --quick
  lockstep check pci:0000:3b:00.0 --only interrupts --only unmap --seed 7
  lockstep check sim: --json

Exit code 1: a check has failed; 2: there is no such device, or it cannot be opened.";

const WIDTH: usize = 100;
/// Characters before the detail of a check.
const INDENT: usize = 40;

/// Checks a device (registers, copies, interrupts, resets, locks) and measures it.
///
/// Every check begins with a reset of the device, so no other program may use it at the same time.
#[derive(clap::Args)]
#[command(after_help = format!("{URIS}\n\n{EXAMPLES}"))]
pub struct Args {
    /// The device.
    #[arg(value_name = "URI", value_parser = device_uri::parse)]
    device: DeviceUri,
    /// Runs only this check; can be given more than once.
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Seed of all that is drawn.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed)]
    seed: u64,
    /// Fewer cases of each kind.
    #[arg(long)]
    quick: bool,
    /// Prints what was found as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// One line of `--json`.
#[derive(Serialize)]
struct Line<'r> {
    passed: bool,
    #[serde(flatten)]
    report: &'r Report,
}

/// Runs the command.
///
/// # Errors
/// When there is no such check or no such device, or a check has failed.
pub fn run(args: Args, out: &Output) -> Result<(), CommandError> {
    let options = options(&args)?;
    // Before anything is tried: what is in the way of opening it is no finding.
    let mut first = Some(device_uri::open_for_locks(&args.device, out)?);
    let mut open = || match first.take() {
        Some(device) => Ok(device),
        None => device_uri::open(&args.device),
    };
    let mut failed_to_print = None;
    let mut bar = out.progress("check");
    let total = if args.only.is_empty() { acceptance::names().len() } else { args.only.len() };
    let mut ended = 0;
    if !args.json {
        out.print(out.strong(format_args!("{}, seed {}", args.device, args.seed)))?;
    }
    let report = acceptance::run(&mut open, &options, &mut |progress| match progress {
        Progress::Begins { name } => bar.set(ended as f64 / total as f64, name),
        Progress::Ended(check) => {
            ended += 1;
            if !args.json
                && let Err(failure) = bar.aside(|| out.print(row(check)))
            {
                failed_to_print.get_or_insert(failure);
            }
        }
    });
    drop(bar);
    failed_to_print.map_or(Ok(()), Err)?;
    if args.json {
        out.print(json(&report)?)?;
    } else {
        measures(&report.measurements).iter().try_for_each(|line| out.print(line))?;
        out.print(out.strong(verdict(&report)))?;
    }
    if report.passed() { Ok(()) } else { Err(failure(&args, &report)) }
}

fn options(args: &Args) -> Result<Options, CommandError> {
    let options = match args.quick {
        true => Options { cases: 40, samples: 200, ..Options::default() },
        false => Options { extent: Extent::Full, ..Options::default() },
    };
    let options = Options { seed: args.seed, ..options };
    if args.only.is_empty() {
        return Ok(options);
    }
    let only: Vec<&str> = args.only.iter().map(String::as_str).collect();
    options.only(&only).map_err(|error| CommandError::Input(format!("--only: {error}")))
}

fn json(report: &Report) -> Result<String, CommandError> {
    serde_json::to_string(&Line { passed: report.passed(), report }).map_err(|error| {
        CommandError::Internal(format!("the report does not go into JSON: {error}"))
    })
}

/// A check's line, with as many more as its detail needs.
fn row(check: &acceptance::CheckReport) -> String {
    let acceptance::CheckReport { name, verdict, seconds, detail } = check;
    let time = duration(seconds * 1e9);
    let head = format!("{:<8}{name:<20}{time:>9}", verdict.to_string());
    let mut detail = wrap(detail, WIDTH - INDENT).into_iter();
    let mut row = format!("{head:<INDENT$}{}", detail.next().unwrap_or_default());
    detail.for_each(|line| row += &format!("\n{:INDENT$}{line}", ""));
    row.trim_end().into()
}

/// The measurements, one per line.
fn measures(measured: &Measurements) -> Vec<String> {
    let latency = |name: &str, latency: Option<Latency>| {
        let Latency { median_ns, p99_ns, .. } = latency?;
        let [median, p99] = [median_ns, p99_ns].map(|time| duration(time as f64));
        Some(format!("{name:<28}{median:>10} median{p99:>12} p99"))
    };
    let bytes = |name: &str, rate: Option<f64>| Some(format!("{name:<28}{:>10.2} GB/s", rate?));
    let writes = |per_second: f64| format!("{:<28}{:>8}/s", "register writes", rate(per_second));
    [
        latency("register read", measured.register_read),
        measured.register_writes_per_s.map(writes),
        latency("doorbell to completion", measured.doorbell_to_completion),
        latency("interrupt", measured.interrupt),
        bytes("copies, host to card", measured.host_to_card_gb_per_s),
        bytes("copies, card to host", measured.card_to_host_gb_per_s),
        bytes("copies, host to host", measured.host_to_host_gb_per_s),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn verdict(report: &Report) -> String {
    let verdict = if report.passed() { Verdict::Pass } else { Verdict::Fail };
    let [passed, failed, skipped] =
        [Verdict::Pass, Verdict::Fail, Verdict::Skipped].map(|verdict| report.count(verdict));
    format!("{verdict}: {passed} passed, {failed} failed, {skipped} skipped")
}

/// What has failed, and how to see it again.
fn failure(args: &Args, report: &Report) -> CommandError {
    let failed = report.checks.iter().filter(|check| check.verdict == Verdict::Fail);
    let only: String = failed.clone().map(|check| format!(" --only '{}'", check.name)).collect();
    let quick = if args.quick { " --quick" } else { "" };
    CommandError::Internal(format!(
        "{} of {} checks failed. To repeat them: lockstep check '{}' --seed {}{quick}{only}",
        failed.count(),
        report.checks.len(),
        args.device,
        args.seed
    ))
}
