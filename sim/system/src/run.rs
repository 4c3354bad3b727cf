// SPDX-License-Identifier: MIT OR Apache-2.0
//! Starting a run, watching it, and what can go wrong.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use driver::{Device, QueueError};
use locks::Timestamp;
use sim::models::{TupleLockUnit, WaveWindow};
use sim::system::SystemError;
use timing::platform::{Platform, PlatformError};
use workloads::scenario::{Mode, Scenario};

use crate::{Report, virtual_time, wall_clock};

/// Settings that are not part of the scenario.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the lock unit's waves go, and of which of its clock cycles.
    pub waves: Option<(PathBuf, WaveWindow)>,
    /// A platform file, instead of the platform that the scenario names.
    pub platform: Option<PathBuf>,
}

impl Options {
    /// Lets the lock unit write its waves, if there are to be any.
    pub(crate) fn open_waves(&self, unit: &mut TupleLockUnit) -> Result<(), RunError> {
        let Some((path, window)) = &self.waves else { return Ok(()) };
        let opened = unit.open_waves(path, *window);
        opened.map_err(|source| RunError::File { path: path.clone(), source })
    }
}

/// Asks a run to end early, from another thread or a signal handler.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Asks for the end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// 0 to 1.
    pub done: f64,
    /// Nanoseconds of the clock that counts.
    pub simulated_ns: u64,
}

/// Why a run could not be made, or did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The scenario asks for something impossible. Nothing was run.
    #[error(transparent)]
    Scenario(#[from] workloads::Error),
    /// The platform file is no platform. Nothing was run.
    #[error(transparent)]
    Platform(#[from] PlatformError),
    /// The platform of the file has no coherent memory. Nothing was run.
    #[error("{platform}: expected a cache-coherent platform, with a table [coherence]")]
    NotCoherent {
        /// The file.
        platform: String,
    },
    /// The simulated machine failed.
    #[error(transparent)]
    System(#[from] SystemError),
    /// A file of the run could not be written.
    #[error("cannot write {path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The device does not answer.
    #[error(
        "the lock unit has not answered {request} for {waited_ns} ns, since {since_ns} ns of the \
         run: expected a response on m_axis_rsp"
    )]
    Silent {
        /// The request.
        request: String,
        /// When it was asked, in nanoseconds of the run.
        since_ns: u64,
        /// How long ago that was.
        waited_ns: u64,
    },
    /// The agents no longer come to an end.
    #[error("stuck at {simulated_ns} ns: {waiting}")]
    Stuck {
        /// When.
        simulated_ns: u64,
        /// The waits.
        waiting: String,
    },
    /// The device behind the driver failed.
    #[error("{device}: {source}")]
    Device {
        /// Which, as a URI.
        device: String,
        /// How.
        source: QueueError,
    },
    /// The lock unit has answered what it was not asked.
    #[error("the lock unit answered {response}: expected {expected}")]
    Answer {
        /// The response.
        response: String,
        /// The possible responses to its tag.
        expected: String,
    },
    /// What locks are for.
    #[error("bucket {bucket} was granted to transaction {second}, while {holder} holds it")]
    TwoHolders {
        /// Which bucket.
        bucket: u64,
        /// The earlier holder.
        holder: Timestamp,
        /// The other holder.
        second: Timestamp,
    },
    /// The lock table holds what no request writes, as a broken device may leave it.
    #[error("a request on bucket {bucket} ended as {outcome}, which no sound lock table gives")]
    Damaged {
        /// Which bucket.
        bucket: u64,
        /// How the request ended.
        outcome: String,
    },
    /// The store failed.
    #[error("the store: {0}")]
    Store(#[from] lockdb::Error),
    /// A row could not be written under its lock.
    #[error("row {row}, whose lock was granted, cannot be written: {source}")]
    Update {
        /// Number of the row.
        row: u64,
        /// Why not.
        source: Box<lockdb::Error>,
    },
    /// A row is not what the committed transactions have made of it.
    #[error("row {row}: its {what} is {found}, expected {expected} after the committed updates")]
    WrongRow {
        /// Number of the row.
        row: u64,
        /// The wrong part of it.
        what: &'static str,
        /// What it is.
        found: i64,
        /// What it would be if no update had been lost, and none added.
        expected: i64,
    },
    /// There is no more virtual time.
    #[error(
        "virtual time ends at 2^62 ps (53 days) with {left} of the transactions not ended: expected a \
         shorter run, such as by a smaller time_scale of the replay"
    )]
    EndOfTime {
        /// Transactions under way and still to come, as far as their number is known.
        left: u64,
    },
    /// All agents have ended, but the table is not empty.
    #[error("bucket {bucket} is {line:x?} after the last release, expected zeros")]
    LeftBehind {
        /// Which bucket.
        bucket: u64,
        /// Its words.
        line: [u64; 8],
    },
}

/// Executes a scenario. `progress` is called now and then. When `interrupt` is raised, the report
/// covers what was done until then.
///
/// # Errors
/// When the scenario asks for what cannot be, or the run does not come to its end.
pub fn run(
    scenario: &Scenario,
    options: &Options,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, RunError> {
    let platform = platform(scenario, options.platform.as_deref())?;
    match scenario.mode {
        Mode::Virtual => virtual_time::run(scenario, platform, options, interrupt, progress),
        Mode::WallClock => wall_clock::run(scenario, options, interrupt, progress),
    }
}

/// Executes a scenario with the lock unit of a device behind a driver. The lock table stands in
/// memory that the device was given; the device is reset before and after.
///
/// # Errors
/// As [`run`]; when the scenario is not in wall-clock mode, which a device needs;
/// [`RunError::Device`] when the device fails or does not answer in time.
pub fn run_on_device(
    scenario: &Scenario,
    device: &Device,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, RunError> {
    platform(scenario, None)?;
    if scenario.mode != Mode::WallClock {
        let expected = "`wall-clock` for a run on a device, which keeps no virtual time";
        return Err(scenario.reject("mode", expected).into());
    }
    wall_clock::run_on_device(scenario, device, interrupt, progress)
}

/// The scenario's platform, or the one of a file; it has coherent memory.
fn platform(scenario: &Scenario, file: Option<&Path>) -> Result<Platform, RunError> {
    if let Some(file) = file {
        let platform = Platform::load(file)?;
        let what = file.display();
        if platform.coherence.is_none() {
            return Err(RunError::NotCoherent { platform: what.to_string() });
        }
        // Others may have this name, and other numbers.
        let name = format!("{} ({what})", platform.name);
        return Ok(Platform { name, ..platform });
    }
    let platform = Platform::named(&scenario.platform).map_err(|error| {
        scenario.reject("platform", format!("a platform that can be used ({error})"))
    })?;
    if platform.coherence.is_none() {
        let expected = "a cache-coherent platform, such as n1sdp-u280-ccix";
        return Err(scenario.reject("platform", expected).into());
    }
    Ok(platform)
}
