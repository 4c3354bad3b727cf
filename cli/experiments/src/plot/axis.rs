// SPDX-License-Identifier: MIT OR Apache-2.0
//! Axes: which values stand where, and which of them get a tick.

use terminal::text;

/// An axis is logarithmic when its largest value is more than so many times its smallest.
const WIDEST_LINEAR: f64 = 30.0;

/// What distances along an axis mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Differences; it begins at zero.
    Linear,
    /// Ratios; it has no zero.
    Logarithmic,
}

/// A range of values, and the place of each in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What distances mean.
    pub scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    /// For values above zero: with a logarithmic scale where they span more than a linear one shows.
    ///
    /// # Panics
    /// When there are no values.
    pub fn over(values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().min_by(f64::total_cmp).expect("some values");
        let most = values.max_by(f64::total_cmp).expect("some values");
        if least > 0.0 && most > WIDEST_LINEAR * least {
            let low = steps_near(least).rev().find(|step| *step <= least);
            let high = steps_near(most).find(|step| *step >= most);
            let [low, high] = [low, high].map(|end| end.expect("steps go far enough"));
            return Self { scale: Scale::Logarithmic, low, high };
        }
        Self::linear(1.05 * most)
    }

    /// From zero to `high`, or to 1 when that is nothing.
    pub fn linear(high: f64) -> Self {
        Self { scale: Scale::Linear, low: 0.0, high: if high > 0.0 { high } else { 1.0 } }
    }

    /// Where `value` stands: 0 at the beginning of the axis, 1 at its end.
    pub fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => (value / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// Round values of the axis, at most `count` (at least 2).
    pub fn ticks(&self, count: usize) -> Vec<f64> {
        let finest = match self.scale {
            Scale::Linear => steps_near(self.high / count as f64)
                .map(|step| multiples(step, self.high))
                .find(|ticks| ticks.len() <= count),
            Scale::Logarithmic => {
                let steps = |of: &[f64]| {
                    let steps = powers_of_ten(self.low, self.high);
                    let steps = steps.flat_map(|power| of.iter().map(move |part| part * power));
                    let reached =
                        |step: &f64| (self.low * 0.999..=self.high * 1.001).contains(step);
                    steps.filter(reached).collect::<Vec<_>>()
                };
                [steps(&STEPS), steps(&[1.0, 3.0]), steps(&[1.0])]
                    .into_iter()
                    .find(|ticks| ticks.len() <= count)
            }
        };
        finest.unwrap_or_else(|| vec![self.low, self.high])
    }

    /// The quantity on the axis, and its scale.
    pub fn caption(&self, shows: &str) -> String {
        match self.scale {
            Scale::Linear => shows.into(),
            Scale::Logarithmic => format!("{shows} (logarithmic axis)"),
        }
    }
}

/// Of each power of ten.
const STEPS: [f64; 3] = [1.0, 2.0, 5.0];

fn powers_of_ten(low: f64, high: f64) -> impl DoubleEndedIterator<Item = f64> {
    let exponent = |value: f64| value.log10().floor() as i32;
    (exponent(low)..=exponent(high)).map(|exponent| 10_f64.powi(exponent))
}

/// Round values around `value`, in ascending order.
fn steps_near(value: f64) -> impl DoubleEndedIterator<Item = f64> {
    let powers = powers_of_ten(value / 10.0, value * 10.0);
    powers.flat_map(|power| STEPS.into_iter().map(move |part| part * power))
}

/// Multiples of `step` from zero to `high`.
fn multiples(step: f64, high: f64) -> Vec<f64> {
    (0..=(high / step + 1e-9) as u32).map(|number| f64::from(number) * step).collect()
}

/// A value to three digits, or to its unit where that is more: `0.88`, `88.2`, `12,788`.
pub fn number(value: f64) -> String {
    match value {
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => text::count(value.round() as u64),
    }
}

/// A round value, without zeros behind the point.
pub fn tick(value: f64) -> String {
    match value < 1.0 && value > 0.0 {
        true => format!("{value:.3}").trim_end_matches('0').into(),
        false if value.fract() > 0.01 => format!("{value:.1}"),
        false => text::count(value.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_far_apart_get_a_logarithmic_axis() {
        let axis = Axis::over([88.2, 804.0, 12_788.0].into_iter());
        assert_eq!((axis.scale, axis.low, axis.high), (Scale::Logarithmic, 50.0, 20_000.0));
        let [least, most] = [88.2, 12_788.0].map(|value| axis.place(value));
        assert!(least > 0.05 && (0.9..1.0).contains(&most), "{least} {most}");
        assert_eq!(axis.caption("ns"), "ns (logarithmic axis)");
        assert_eq!(axis.ticks(4), [100.0, 1_000.0, 10_000.0]);
        assert_eq!(axis.ticks(20).len(), 9);
    }

    #[test]
    fn others_begin_at_zero() {
        let axis = Axis::over([80.0, 2_000.0].into_iter());
        assert_eq!(
            (axis.scale, axis.place(0.0), axis.caption("ns")),
            (Scale::Linear, 0.0, "ns".into())
        );
        assert_eq!(axis.ticks(5), [0.0, 500.0, 1_000.0, 1_500.0, 2_000.0]);
        assert_eq!(axis.ticks(3), [0.0, 1_000.0, 2_000.0]);
        assert_eq!(Axis::over([0.0, 90.0].into_iter()).scale, Scale::Linear);
    }

    #[test]
    fn numbers_keep_three_digits() {
        assert_eq!(
            [0.884, 88.24, 999.6, 12_788.4].map(number),
            ["0.88", "88.2", "1,000", "12,788"]
        );
        assert_eq!([0.0, 0.5, 2.5, 20_000.0].map(tick), ["0", "0.5", "2.5", "20,000"]);
    }
}
