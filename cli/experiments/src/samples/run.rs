// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of an experiment, on all cores, and the platform entries that they have read.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::{Deref, Div};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cluster_sim::nic::smart_timing::SmartTiming;
use cluster_sim::platform::Hardware;
use terminal::Progress;
use timing::Time;
use timing::platform::{Kind, Platform, PlatformFile, entries_read};

use crate::experiment::{Assumed, ExperimentError, Setting};

/// One run of an experiment, or the part of it at one point: under one seed.
pub struct Run<'a> {
    /// Of all draws.
    pub seed: u64,
    scale: f64,
    /// Every fitted entry of the first platform is multiplied by it.
    fitted: f64,
    /// In place of the platform that a file of the user's replaces.
    platform: Option<&'a Path>,
    /// That platform.
    replaced: &'static str,
    /// An entry at an end of its interval.
    assumed: Option<&'a Assumed>,
    task: usize,
    shared: &'a Mutex<Shared<'a>>,
}

/// How far the runs are.
struct Shared<'a> {
    progress: &'a mut Progress,
    /// The part of each task that is done, 0 to 1.
    done: Vec<f64>,
}

impl Run<'_> {
    /// Says that the part `done` (0 to 1) of it is done, and something about it.
    pub fn progress(&self, done: f64, message: impl Display) {
        let mut shared = self.shared.lock().expect("nothing panics while it is held");
        shared.done[self.task] = done;
        let all = shared.done.iter().sum::<f64>() / shared.done.len() as f64;
        shared.progress.set(all, format_args!("seed {}, {message}", self.seed));
    }

    fn is_done(&self) {
        self.shared.lock().expect("nothing panics while it is held").done[self.task] = 1.0;
    }

    /// Measures on the platform `name`, and notes which fitted entries that has read. In place of the
    /// first platform stands the user's, if there is one.
    ///
    /// Where the entries of the first platform are moved, those of the others go the other way: that
    /// one is better than another may hang on the fit of both.
    ///
    /// # Errors
    /// Those of `measure`; when the user's platform cannot be read.
    pub fn measured<T>(
        &self,
        name: &str,
        measure: impl FnOnce(&Platform) -> Result<T, ExperimentError>,
    ) -> Result<Measured<T>, ExperimentError> {
        let is_first = name == Platform::NAMES[0];
        let factor = if is_first { self.fitted } else { 2.0 - self.fitted };
        let platform = Platform::read_from(self.file(name)?.times(Kind::Fitted, factor))?;
        let seen = measure(&platform)?;
        Ok(Measured { seen, fitted: platform.read(Kind::Fitted) })
    }

    /// Measures on the hardware of the cluster `name`, or on the user's in its place.
    ///
    /// Entries that were fitted there were fitted to micro-benchmarks of the same paper, which is what
    /// a prediction may rest on: they stay as they are, and nothing is said of them beside a row. What is
    /// moved instead are the assumptions, by `--sensitivity`.
    ///
    /// # Errors
    /// Those of `measure`; when the user's platform cannot be read, or is no cluster.
    pub fn on_cluster<T>(
        &self,
        name: &str,
        measure: impl FnOnce(&Hardware) -> Result<T, ExperimentError>,
    ) -> Result<Measured<T>, ExperimentError> {
        let hardware = Hardware::read_from(self.file(name)?)?;
        Ok(Measured { seen: measure(&hardware)?, fitted: Fitted::new() })
    }

    /// Measures on the nodes with a SmartNIC of the platform `name`, and notes which fitted entries that
    /// has read: a benchmark of hardware cannot confirm what was fitted to it.
    ///
    /// # Errors
    /// Those of `measure`; when the platform cannot be read.
    pub fn on_smart_nic<T>(
        &self,
        name: &str,
        measure: impl FnOnce(&SmartTiming) -> Result<T, ExperimentError>,
    ) -> Result<Measured<T>, ExperimentError> {
        let timing = SmartTiming::read_from(self.file(name)?.times(Kind::Fitted, self.fitted))?;
        let seen = measure(&timing)?;
        Ok(Measured { seen, fitted: entries_read(&timing, Kind::Fitted) })
    }

    /// Measures on a cluster whose nodes have the SmartNIC of the platform `name`. As with [`Run::on_cluster`], what was
    /// fitted to micro-benchmarks stays as it is.
    ///
    /// # Errors
    /// Those of `measure`; when the platform cannot be read.
    pub fn on_smart_cluster<T>(
        &self,
        name: &str,
        measure: impl FnOnce(&SmartTiming) -> Result<T, ExperimentError>,
    ) -> Result<Measured<T>, ExperimentError> {
        let timing = SmartTiming::read_from(self.file(name)?)?;
        Ok(Measured { seen: measure(&timing)?, fitted: Fitted::new() })
    }

    /// The file of the platform `name`, or the user's in its place, with what is assumed otherwise.
    fn file(&self, name: &str) -> Result<PlatformFile, ExperimentError> {
        let file = match self.platform.filter(|_| name == self.replaced) {
            Some(file) => PlatformFile::load(file)?,
            None => PlatformFile::named(name)?,
        };
        Ok(match self.assumed {
            Some(Assumed { platform, entry, end }) if *platform == name => {
                file.at_end(entry, *end)?
            }
            _ => file,
        })
    }

    /// Whether a length is only to be long enough to see that all works, on a cluster as small as that.
    pub fn is_small(&self) -> bool {
        self.scale < 0.1
    }

    /// The part of a length that is to be taken.
    pub fn scaled(&self, length: Time) -> Time {
        Time::from_ps((length.as_ps() as f64 * self.scale) as u64)
    }

    /// The part of a count that is to be taken, at least 1.
    pub fn scaled_count(&self, count: u64) -> u64 {
        scaled_count(count, self.scale)
    }
}

/// The part `scale` of a count, at least 1.
pub fn scaled_count(count: u64, scale: f64) -> u64 {
    ((count as f64 * scale) as u64).max(1)
}

/// Names of fitted entries of a platform.
pub type Fitted = BTreeSet<String>;

/// The entries read from a platform.
#[derive(Clone, Debug)]
pub struct Measured<T> {
    seen: T,
    fitted: Fitted,
}

impl<T> Measured<T> {
    /// A number that was seen, and of how many operations.
    pub fn value(&self, of: impl FnOnce(&T) -> (f64, u64)) -> Value {
        let (number, operations) = of(&self.seen);
        Value { number, operations, fitted: self.fitted.clone() }
    }
}

impl<T> Deref for Measured<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.seen
    }
}

/// A number that was measured on a platform, the operations behind it, and the fitted entries that it
/// rests on: those that the run behind it has read.
#[derive(Clone, Debug)]
pub struct Value {
    pub(super) number: f64,
    pub(super) operations: u64,
    pub(super) fitted: Fitted,
}

impl Value {
    /// Of a run that reads no platform.
    pub fn without_platform(number: f64, operations: u64) -> Self {
        Self { number, operations, fitted: Fitted::new() }
    }

    /// The number alone.
    pub fn number(&self) -> f64 {
        self.number
    }
}

impl Div for Value {
    type Output = Self;

    fn div(mut self, by: Self) -> Self {
        self.fitted.extend(by.fitted);
        let operations = self.operations + by.operations;
        Self { number: self.number / by.number, operations, ..self }
    }
}

/// Makes a run under each seed of `setting`, then further ones with fitted entries moved; each consists
/// of so many parts, of which `make` makes one. The values stand in the order of runs and parts: which
/// thread makes which, and when, changes nothing.
///
/// # Errors
/// That of the first part that fails.
pub fn make_all<V: Send>(
    setting: &mut Setting<'_>,
    parts: usize,
    make: impl Fn(&Run<'_>, usize) -> Result<V, ExperimentError> + Sync,
) -> Result<Vec<Vec<V>>, ExperimentError> {
    let Setting { seeds, threads, scale, fitted, shifts, platform, progress, .. } = setting;
    let (scale, platform) = (*scale, *platform);
    let (replaced, assumed) = (setting.replaced, setting.assumed);
    let under_seeds =
        (0..seeds.count).map(|number| (seeds.first.wrapping_add(number.into()), *fitted));
    let shifted = shifts.iter().map(|shift| (seeds.first, *fitted * shift));
    let runs: Vec<(u64, f64)> = under_seeds.chain(shifted).collect();
    let tasks = runs.len() * parts;
    let shared = Mutex::new(Shared { progress, done: vec![0.0; tasks] });
    let made: Vec<Mutex<Option<Result<V, ExperimentError>>>> =
        (0..tasks).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let task = next.fetch_add(1, Ordering::Relaxed)
            && let Some(place) = made.get(task)
        {
            let (seed, fitted) = runs[task / parts];
            let run =
                Run { seed, scale, fitted, platform, replaced, assumed, task, shared: &shared };
            let value = make(&run, task % parts);
            run.is_done();
            *place.lock().expect("one thread has it") = Some(value);
        }
    };
    thread::scope(|scope| {
        // This thread is one of them.
        for _ in 1..(*threads).min(tasks) {
            scope.spawn(work);
        }
        work();
    });
    let mut values = made.into_iter().map(|place| {
        let value = place.into_inner().expect("its thread has not panicked");
        value.expect("every part was made")
    });
    runs.iter().map(|_| values.by_ref().take(parts).collect()).collect()
}
