// SPDX-License-Identifier: MIT OR Apache-2.0
//! An experiment under several seeds: the combined measurements of its runs.

mod run;

use std::fmt::{self, Display};

use crate::experiment::{ExperimentError, Setting};
use crate::findings::{Claim, Observation, Origin, Row};

use run::make_all;
pub use run::{Fitted, Measured, Run, Value, scaled_count};

/// The measurements of the runs under all seeds, in the order of their seeds.
pub struct Samples<S> {
    /// Of the first.
    seed: u64,
    seeds: Vec<S>,
    /// With other values of the fitted entries.
    shifted: Vec<S>,
}

/// The measurements of a run at each point.
pub struct Points<P, V>(Vec<(P, V)>);

impl<P: PartialEq + fmt::Debug, V> Points<P, V> {
    /// The measurement at `point`.
    ///
    /// # Panics
    /// When it is none of the points that were measured.
    pub fn at(&self, point: &P) -> &V {
        let found = self.0.iter().find(|(measured, _)| measured == point);
        &found.unwrap_or_else(|| panic!("{point:?} was not measured")).1
    }
}

impl<S: Send> Samples<S> {
    /// Makes a run under each seed of `setting`, on all its threads.
    ///
    /// # Errors
    /// That of the first run that fails.
    pub fn take(
        setting: &mut Setting<'_>,
        make: impl Fn(&Run<'_>) -> Result<S, ExperimentError> + Sync,
    ) -> Result<Self, ExperimentError> {
        let runs = make_all(setting, 1, |run, _| make(run))?;
        Ok(Self::of(setting, runs.into_iter().flatten().collect()))
    }
}

impl<P: Display + Clone + Sync, V: Send> Samples<Points<P, V>> {
    /// Measures at each of `points` under each seed of `setting`, on all its threads: for runs whose
    /// points do not depend on each other.
    ///
    /// # Errors
    /// That of the first point that fails.
    pub fn take_points(
        setting: &mut Setting<'_>,
        points: &[P],
        measure: impl Fn(&Run<'_>, &P) -> Result<V, ExperimentError> + Sync,
    ) -> Result<Self, ExperimentError> {
        let runs = make_all(setting, points.len(), |run, number| {
            let point = &points[number];
            run.progress(0.0, point);
            measure(run, point)
        })?;
        let of_run = |values: Vec<V>| Points(points.iter().cloned().zip(values).collect());
        Ok(Self::of(setting, runs.into_iter().map(of_run).collect()))
    }
}

impl<S> Samples<S> {
    /// Of these runs: under the seeds, then with fitted entries moved.
    fn of(setting: &Setting<'_>, mut runs: Vec<S>) -> Self {
        let shifted = runs.split_off(setting.seeds.count as usize);
        Self { seed: setting.seeds.first, seeds: runs, shifted }
    }

    /// The same with something else made of each run.
    pub fn map<T>(self, make: impl Fn(S) -> T) -> Samples<T> {
        let all = |runs: Vec<S>| runs.into_iter().map(&make).collect();
        Samples { seed: self.seed, seeds: all(self.seeds), shifted: all(self.shifted) }
    }

    /// What the run under the first seed says.
    pub fn first<T>(&self, of: impl FnOnce(&S) -> T) -> T {
        of(&self.seeds[0])
    }

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
    use std::thread;

    use terminal::Progress;
    use timing::platform::Platform;

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
    fn points_are_the_same_on_any_number_of_threads() {
        let taken = |threads| {
            let progress = &mut Progress::hidden();
            let seeds = Seeds { first: 3, count: 2 };
            let mut setting = Setting { threads, ..Setting::full(seeds, None, progress) };
            Samples::take_points(&mut setting, &[1, 10, 100], |run, point| {
                // The later ones end first, where threads allow that.
                thread::sleep(std::time::Duration::from_micros(500 / point));
                Ok(run.seed * point)
            })
            .expect("made")
        };
        for threads in [1, 2, 50] {
            let samples = taken(threads);
            let all = |runs: &[Points<u64, u64>]| -> Vec<Vec<u64>> {
                runs.iter().map(|run| [1, 10, 100].map(|point| *run.at(&point)).into()).collect()
            };
            assert_eq!(all(&samples.seeds), [[3, 30, 300], [4, 40, 400]]);
            // At half and at one and a half times the fitted values, under the first seed.
            assert_eq!(all(&samples.shifted), [[3, 30, 300], [3, 30, 300]]);
        }
        let sums = taken(2).map(|run| run.at(&1) + run.at(&100));
        assert_eq!(sums.seeds, [303, 404]);
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
