// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long each of many calls took.

use std::collections::BTreeMap;

/// Whole nanoseconds, and how many calls took so long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    calls: BTreeMap<u32, u64>,
}

impl FromIterator<(u32, u64)> for Latencies {
    fn from_iter<I: IntoIterator<Item = (u32, u64)>>(pairs: I) -> Self {
        let mut latencies = Self::default();
        for (nanoseconds, calls) in pairs {
            *latencies.calls.entry(nanoseconds).or_default() += calls;
        }
        latencies
    }
}

impl Latencies {
    /// Adds the calls of `other`.
    pub fn add(&mut self, other: &Self) {
        for (nanoseconds, calls) in &other.calls {
            *self.calls.entry(*nanoseconds).or_default() += calls;
        }
    }

    /// Of all calls, in ns.
    pub fn sum(&self) -> u64 {
        self.calls.iter().map(|(nanoseconds, calls)| u64::from(*nanoseconds) * calls).sum()
    }

    /// Of how many calls.
    pub fn count(&self) -> u64 {
        self.calls.values().sum()
    }

    /// The least latency, in ns, that this part (0 to 1) of the calls does not exceed.
    ///
    /// # Panics
    /// When there are no calls.
    pub fn quantile(&self, part: f64) -> f64 {
        let wanted = ((self.count() as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        let reaches = |(_, calls): &(&u32, &u64)| {
            seen += **calls;
            seen >= wanted
        };
        let found = self.calls.iter().find(reaches).or(self.calls.last_key_value());
        f64::from(*found.expect("a latency needs calls").0)
    }

    /// The middle of the calls, in ns.
    ///
    /// # Panics
    /// When there are no calls.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The middle, in ns, of the bin of this width with the most calls.
    ///
    /// # Panics
    /// When there are no calls.
    pub fn peak(&self, width: u32) -> f64 {
        let mut bins: BTreeMap<u32, u64> = BTreeMap::new();
        for (nanoseconds, calls) in &self.calls {
            *bins.entry(nanoseconds / width).or_default() += calls;
        }
        // The first of several that are as high.
        let highest = bins.iter().rev().max_by_key(|(_, calls)| **calls);
        let (bin, _) = highest.expect("a latency needs calls");
        (f64::from(*bin) + 0.5) * f64::from(width)
    }

    /// For each bin of this width below `end`: its middle in ns, and the per cent of all calls
    /// that fell into it.
    pub fn bins(&self, width: u32, end: u32) -> Vec<(f64, f64)> {
        let all = self.count().max(1) as f64;
        let bin = |from: u32| {
            let calls: u64 = self.calls.range(from..from + width).map(|(_, calls)| calls).sum();
            (f64::from(from) + f64::from(width) / 2.0, 100.0 * calls as f64 / all)
        };
        (0..end.div_ceil(width)).map(|number| bin(number * width)).collect()
    }
}

/// Letters of the longest bar.
const BAR: usize = 28;

/// Histograms beside each other in letters, with bins of this width below `end` and one for all
/// above, under their names.
pub fn histograms(of: &[(&str, &Latencies)], width: u32, end: u32) -> String {
    let parts = |latencies: &Latencies| -> Vec<f64> {
        let below: Vec<f64> = latencies.bins(width, end).iter().map(|bin| bin.1).collect();
        let above = (100.0 - below.iter().sum::<f64>()).max(0.0);
        below.into_iter().chain([above]).collect()
    };
    let columns: Vec<Vec<f64>> = of.iter().map(|(_, latencies)| parts(latencies)).collect();
    let highest = columns.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let heads = of.iter().map(|(name, _)| format!("  {name:<0$}", BAR + 8));
    let mut lines = vec![format!("{:>9}{}", "ns", heads.collect::<String>())];
    let bins = end.div_ceil(width) as usize;
    for bin in 0..=bins {
        let from = if bin < bins { format!("{}–", bin as u32 * width) } else { "more".into() };
        let bars = columns.iter().map(|column| bar(column[bin], highest));
        lines.push(format!("{from:>9}{}", bars.collect::<String>()));
    }
    lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
}

fn bar(part: f64, highest: f64) -> String {
    let bar = "█".repeat((part / highest * BAR as f64).round() as usize);
    let part = if part < 0.005 { String::new() } else { format!("{part:.2}") };
    format!("  {part:>6} {bar:<BAR$} ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Latencies {
        [(20, 1), (31, 6), (38, 1), (95, 1), (7000, 1)].into_iter().collect()
    }

    #[test]
    fn quantiles_are_latencies_that_occurred() {
        let latencies = sample();
        assert_eq!((latencies.count(), latencies.sum()), (10, 20 + 6 * 31 + 38 + 95 + 7000));
        assert_eq!(latencies.median(), 31.0);
        assert_eq!((latencies.quantile(0.0), latencies.quantile(0.1)), (20.0, 20.0));
        assert_eq!((latencies.quantile(0.8), latencies.quantile(0.81)), (38.0, 95.0));
        assert_eq!(latencies.quantile(1.0), 7000.0);
    }

    #[test]
    fn added_calls_are_counted_together() {
        let mut sum = sample();
        sum.add(&[(31, 4), (5, 1)].into_iter().collect());
        assert_eq!((sum.count(), sum.median(), sum.quantile(0.0)), (15, 31.0, 5.0));
    }

    #[test]
    fn the_peak_is_the_first_of_the_highest_bins() {
        assert_eq!(sample().peak(10), 35.0);
        assert_eq!([(5, 2), (15, 2)].into_iter().collect::<Latencies>().peak(10), 5.0);
    }

    #[test]
    fn bins_and_what_is_above_them_hold_every_call() {
        assert_eq!(sample().bins(20, 60), vec![(10.0, 0.0), (30.0, 80.0), (50.0, 0.0)]);
        let text = histograms(&[("left", &sample()), ("right", &sample())], 20, 60);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 3 + 1);
        assert!(lines[0].contains("left") && lines[0].ends_with("right"));
        assert_eq!(lines[1].trim(), "0–");
        assert!(lines[2].trim().starts_with("20–") && lines[2].matches("80.00 ████").count() == 2);
        assert!(lines[4].trim().starts_with("more") && lines[4].contains("20.00 ███████"));
    }
}
