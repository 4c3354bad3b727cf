// SPDX-License-Identifier: MIT OR Apache-2.0
//! One suite that the device must pass through every backend: in process, over a socket, through the
//! kernel.
//!
//! [`run`] opens a device and tests everything that the documents guarantee: registers, copies,
//! interrupts, resets, locks. It depends on the `driver` crate but not on any backend, and accesses
//! the queues word by word, so that it can also do what the driver never would.
//!
//! `docs/acceptance.md` says what each check is for.

mod checks;
mod context;
mod host_table;
mod map;
mod measure;
mod options;
mod queue;
mod report;
mod requests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use driver::{Device, OpenError};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub use measure::{Latency, Measurements};
pub use options::{Extent, Options, UnknownCheckError, names};
pub use report::{CheckReport, Progress, Report, Verdict};

use checks::Check;
use context::{CheckError, Context};

/// Opens the device under test. The suite calls it once, and again to see what a second opener gets.
pub type Opener<'a> = dyn FnMut() -> Result<Device, OpenError> + 'a;

/// Name under which the report has a device that cannot be opened.
const OPENING: &str = "opening";
/// Name under which the report has measurements that failed.
const MEASUREMENTS: &str = "measurements";

/// Runs the suite on a device. Every check begins with a reset; whatever happens in one, the next is
/// run.
pub fn run(
    open: &mut Opener<'_>,
    options: &Options,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Report {
    let mut report = Report {
        device: String::new(),
        seed: options.seed,
        checks: Vec::new(),
        measurements: Measurements::default(),
    };
    let begun = Instant::now();
    let device = match open() {
        Ok(device) => device,
        Err(error) => {
            report.add(OPENING, Verdict::Fail, begun.elapsed(), error.to_string());
            report.checks.iter().for_each(|check| progress(Progress::Ended(check)));
            return report;
        }
    };
    report.device.clone_from(&device.information().name);
    let backend = device.backend().clone();
    let random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut context = Context { device, backend, open, options, random };
    for check in checks::ALL.iter().filter(|check| options.includes(check.name)) {
        // Each check draws the same whichever others are run.
        context.random = ChaCha8Rng::seed_from_u64(options.seed);
        step(&mut report, check.name, progress, || run_check(check, &mut context));
    }
    if options.samples > 0 && options.includes(MEASUREMENTS) {
        let mut measurements = Measurements::default();
        step(&mut report, MEASUREMENTS, progress, || {
            context.backend.reset()?;
            measurements = measure::measure(&mut context)?;
            Ok("below".into())
        });
        report.measurements = measurements;
    }
    report
}

fn run_check(check: &Check, context: &mut Context<'_>) -> Result<String, CheckError> {
    context.backend.reset()?;
    (check.run)(context)
}

/// Runs one check and adds it to the report.
fn step(
    report: &mut Report,
    name: &'static str,
    progress: &mut dyn FnMut(Progress<'_>),
    run: impl FnOnce() -> Result<String, CheckError>,
) {
    progress(Progress::Begins { name });
    let begun = Instant::now();
    // The checks share nothing but the device, which each of them resets.
    let outcome = catch_unwind(AssertUnwindSafe(run));
    let (verdict, detail) = match outcome {
        Ok(Ok(detail)) => (Verdict::Pass, detail),
        Ok(Err(CheckError::Skip(reason))) => (Verdict::Skipped, reason),
        Ok(Err(stop)) => (Verdict::Fail, stop.to_string()),
        Err(panic) => (Verdict::Fail, format!("a panic: {}", panic_text(&*panic))),
    };
    report.add(name, verdict, begun.elapsed(), detail);
    report.checks.last().into_iter().for_each(|check| progress(Progress::Ended(check)));
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}
