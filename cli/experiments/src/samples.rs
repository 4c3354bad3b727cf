//! An experiment under several seeds: one [`Run`] each, on all cores, and what they make together.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::ops::{Deref, Div};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use sim::kernel::Time;
use sim::platform::{Kind, Platform};

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Observation, Origin, Row};
use terminal::Progress;

/// One run of an experiment: all of it, under one seed.
pub struct Run<'a> {
    /// Of all draws.
    pub seed: u64,
    scale: f64,
    /// Every fitted entry of the first platform is multiplied by it.
    fitted: f64,
    /// In place of the first platform.
    platform: Option<&'a Path>,
    number: usize,
    shared: &'a Mutex<Shared<'a>>,
}

/// What the runs tell of how far they are.
struct Shared<'a> {
    progress: &'a mut Progress,
    done: Vec<f64>,
}

impl Run<'_> {
    /// Says that the part `done` (0 to 1) of the run is done, and something about it.
    pub fn progress(&self, done: f64, message: impl Display) {
        let mut shared = self.shared.lock().expect("nothing panics while it is held");
        shared.done[self.number] = done;
        let all = shared.done.iter().sum::<f64>() / shared.done.len() as f64;
        shared.progress.set(all, format_args!("seed {}, {message}", self.seed));
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
        let platform = match self.platform.filter(|_| is_first) {
            Some(file) => Platform::load_with_fitted_times(file, factor)?,
            None => Platform::with_fitted_times(name, factor)?,
        };
        let seen = measure(&platform)?;
        Ok(Measured { seen, fitted: platform.read(Kind::Fitted) })
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

/// What was seen on a platform.
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
    number: f64,
    operations: u64,
    fitted: Fitted,
}

impl Value {
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

/// What the runs under all seeds have measured, in the order of their seeds.
pub struct Samples<S> {
    /// Of the first.
    seed: u64,
    seeds: Vec<S>,
    /// With other values of the fitted entries.
    shifted: Vec<S>,
}

impl<S: Send> Samples<S> {
    /// Makes a run under each seed of `setting`. Which core makes which, and when, changes nothing.
    ///
    /// # Errors
    /// That of the first run that fails.
    pub fn take(
        setting: &mut Setting<'_>,
        make: impl Fn(&Run<'_>) -> Result<S, ExperimentError> + Sync,
    ) -> Result<Self, ExperimentError> {
        let Setting { seeds, threads, scale, fitted, shifts, platform, progress } = setting;
        let (seed, seeds) = (seeds.first, seeds.count as usize);
        let shifts = shifts.iter().map(|shift| (seed, *fitted * shift));
        let runs: Vec<(u64, f64)> = (0..seeds)
            .map(|number| (seed.wrapping_add(number as u64), *fitted))
            .chain(shifts)
            .collect();
        let count = runs.len();
        let shared = Mutex::new(Shared { progress, done: vec![0.0; count] });
        let made: Vec<Mutex<Option<Result<S, ExperimentError>>>> =
            (0..count).map(|_| Mutex::new(None)).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            while let number = next.fetch_add(1, Ordering::Relaxed)
                && let Some(place) = made.get(number)
            {
                let (seed, fitted) = runs[number];
                let (scale, platform) = (*scale, *platform);
                let run = Run { seed, scale, fitted, platform, number, shared: &shared };
                let sample = make(&run);
                *place.lock().expect("one thread has it") = Some(sample);
            }
        };
        thread::scope(|scope| {
            // This thread is one of them.
            for _ in 1..(*threads).min(count) {
                scope.spawn(work);
            }
            work();
        });
        let samples = made.into_iter().map(|place| {
            let sample = place.into_inner().expect("its thread has not panicked");
            sample.expect("every run was made")
        });
        let mut samples: Vec<S> = samples.collect::<Result<_, _>>()?;
        let shifted = samples.split_off(seeds);
        Ok(Self { seed, seeds: samples, shifted })
    }
}

impl<S> Samples<S> {
    /// A value over all seeds.
    pub fn spread(&self, of: impl Fn(&S) -> f64) -> Spread {
        Spread::over(self.seeds.iter().map(of).collect())
    }

    /// A row of a value, in `unit`; `operations` says what the operations behind it are.
    pub fn row(
        &self,
        label: impl Into<String>,
        (unit, operations): (&'static str, &'static str),
        of: impl Fn(&S) -> Value,
    ) -> Row {
        let (mut observations, mut fitted) = (Vec::new(), Fitted::new());
        for (number, sample) in self.seeds.iter().enumerate() {
            let value = of(sample);
            let seed = self.seed.wrapping_add(number as u64);
            let (value, operations, of) = (value.number, value.operations, value.fitted);
            observations.push(Observation { seed, value, operations });
            fitted.extend(of);
        }
        Row::new(label, (unit, operations), observations, fitted)
    }

    /// A claim, for how many seeds it holds, and whether it also does with fitted entries moved.
    pub fn claim(
        &self,
        origin: Origin,
        says: impl Into<String>,
        holds: impl Fn(&S) -> bool,
        because: String,
    ) -> Claim {
        let held = self.seeds.iter().filter(|sample| holds(sample)).count();
        let hangs_on_fit = !self.shifted.iter().all(holds);
        let (says, seeds) = (says.into(), self.seeds.len());
        Claim { origin, says, held, seeds, hangs_on_fit, because }
    }
}

/// A value under several seeds. Displayed as the median, with the ends where they print otherwise:
/// `808 (575–2572)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Half of the seeds give no more, half no less.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// How many seeds.
    pub seeds: usize,
}

impl Spread {
    /// Over these values, one a seed.
    ///
    /// # Panics
    /// When there is none.
    pub fn over(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let seeds = values.len();
        let median = f64::midpoint(values[(seeds - 1) / 2], values[seeds / 2]);
        Self { median, min: values[0], max: values[seeds - 1], seeds }
    }

    /// From the least to the most with so many decimals, `575–2572`; nothing where both print alike.
    pub fn range(&self, decimals: usize) -> Option<String> {
        let [min, max] = [self.min, self.max].map(|end| format!("{end:.decimals$}"));
        (min != max).then(|| format!("{min}–{max}"))
    }
}

impl Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = f.precision().unwrap_or(0);
        write!(f, "{:.decimals$}", self.median)?;
        match self.range(decimals) {
            Some(range) => write!(f, " ({range})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Seeds, Verdict};

    fn setting(first: u64, count: u32, progress: &mut Progress) -> Setting<'_> {
        Setting::full(Seeds { first, count }, None, progress)
    }

    fn taken(
        seeds: u32,
        make: impl Fn(&Run<'_>) -> Result<u64, ExperimentError> + Sync,
    ) -> Samples<u64> {
        Samples::take(&mut setting(u64::MAX, seeds, &mut Progress::hidden()), make).expect("made")
    }

    #[test]
    fn runs_stand_in_the_order_of_their_seeds_however_long_they_take() {
        let samples = taken(9, |run| {
            thread::sleep(std::time::Duration::from_millis(9 - run.seed.wrapping_add(1).min(9)));
            run.progress(0.5, "half");
            Ok(run.seed)
        });
        assert_eq!(samples.seeds, [u64::MAX, 0, 1, 2, 3, 4, 5, 6, 7]);
        let claim = samples.claim(Origin::Own, "small", |&seed| seed < 5, String::new());
        assert_eq!((claim.held, claim.seeds), (5, 9));
    }

    #[test]
    fn what_rests_on_fitted_entries_says_so() {
        const NAME: &str = "n1sdp-u280-ccix";
        let mut progress = Progress::hidden();
        let samples = Samples::take(&mut setting(1, 2, &mut progress), |run| {
            let latency = |platform: &Platform| platform.link.latency_to_host.get().as_ns_f64();
            let overhead = |platform: &Platform| platform.link.packet_overhead.get().0 as f64;
            let far = run.measured(NAME, |platform| Ok(latency(platform)))?;
            let plain = run.measured(NAME, |platform| Ok(overhead(platform)))?;
            Ok((far, plain))
        });
        let samples = samples.expect("made");
        let far = samples.row("far", ("ns", "reads"), |(far, _)| far.value(|&ns| (ns, 3)));
        let plain =
            samples.row("plain", ("B", "reads"), |(_, plain)| plain.value(|&bytes| (bytes, 2)));
        let both = samples.row("both", ("", "reads"), |(far, plain)| {
            plain.value(|&bytes| (bytes, 2)) / far.value(|&ns| (ns, 3))
        });
        let names = |row: &Row| row.fitted.iter().cloned().collect::<Vec<_>>();
        assert_eq!(names(&far), ["link.latency_to_host"]);
        assert_eq!(names(&plain), [""; 0]);
        assert_eq!(names(&both), ["link.latency_to_host"]);
        // Of two seeds.
        assert_eq!([&far, &plain, &both].map(Row::operations), [6, 4, 10]);
        assert_eq!(far.observations.iter().map(|of| of.seed).collect::<Vec<_>>(), [1, 2]);
        let verdict = |least: f64| {
            samples.claim(Origin::Own, "", |(far, _)| **far > least, String::new()).verdict()
        };
        // 268 ns, and 134 at half.
        let verdicts = [100.0, 200.0, 300.0].map(verdict);
        assert_eq!(verdicts, [Verdict::ComesOut, Verdict::Fitted, Verdict::DoesNot]);
    }

    #[test]
    fn a_spread_has_the_median_and_says_its_ends_where_they_differ() {
        let spread = Spread::over(vec![2572.4, 575.0, 808.0]);
        assert_eq!(
            (spread.median, spread.min, spread.max, spread.seeds),
            (808.0, 575.0, 2572.4, 3)
        );
        assert_eq!(format!("{spread}; {spread:.1}"), "808 (575–2572); 808.0 (575.0–2572.4)");
        assert_eq!(Spread::over(vec![1.0, 2.0]).median, 1.5);
        assert_eq!(Spread::over(vec![83.1, 82.9]).to_string(), "83");
        assert_eq!(Spread::over(vec![7.0]).range(3), None);
    }
}
