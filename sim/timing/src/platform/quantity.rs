// SPDX-License-Identifier: MIT OR Apache-2.0
//! The quantities that entries of a platform give: a number and a unit in the file, a type in a model.

use crate::Time;

/// A number with a unit that a platform file can give.
pub trait Measure: Sized {
    /// The values and units that are accepted, for the message of an error.
    const EXPECTED: &'static str;

    /// Converts `value` in `unit`; `None` when either is not acceptable.
    fn convert(value: f64, unit: &str) -> Option<Self>;
}

/// `value * factor` as a whole number, if it is one and fits `u64`.
fn whole(value: f64, factor: f64) -> Option<u64> {
    let scaled = value * factor;
    // 2^53: below it every whole number is exact in an f64.
    let exact = (0.0..9_007_199_254_740_992.0).contains(&scaled);
    // Decimal fractions such as 4.2 are not exact in binary; a millionth is forgiven.
    (exact && (scaled - scaled.round()).abs() < 1e-6).then(|| scaled.round() as u64)
}

impl Measure for Time {
    const EXPECTED: &'static str = "a latency of 0 or more in whole picoseconds, unit ps, ns or us";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "ps" => 1.0,
            "ns" => 1e3,
            "us" => 1e6,
            _ => return None,
        };
        whole(value, factor).map(Time::from_ps)
    }
}

/// A data rate of more than zero, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    bytes_per_second: u64,
}

impl Bandwidth {
    /// Bytes per second.
    pub fn bytes_per_second(self) -> u64 {
        self.bytes_per_second
    }

    /// How long `bytes` occupy the wire, rounded up to a picosecond.
    pub fn time_for(self, bytes: u64) -> Time {
        time_for(bytes, self.bytes_per_second)
    }
}

/// How long `amount` takes at so many a second, rounded up to a picosecond.
fn time_for(amount: u64, per_second: u64) -> Time {
    const PICOSECONDS: u64 = 1_000_000_000_000;
    // A frame's bytes times that fit 64 bits, which are divided much faster than 128.
    if let Some(picoseconds) = amount.checked_mul(PICOSECONDS) {
        return Time::from_ps(picoseconds.div_ceil(per_second));
    }
    let picoseconds = u128::from(amount) * u128::from(PICOSECONDS);
    let time = picoseconds.div_ceil(u128::from(per_second));
    Time::from_ps(u64::try_from(time).expect("a transfer is shorter than 213 days"))
}

impl Measure for Bandwidth {
    const EXPECTED: &'static str = "a rate above 0, unit MB/s, GB/s, Mb/s or Gb/s";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "MB/s" => 1e6,
            "GB/s" => 1e9,
            "Mb/s" => 1e6 / 8.0,
            "Gb/s" => 1e9 / 8.0,
            _ => return None,
        };
        let bytes_per_second = whole(value, factor).filter(|rate| *rate > 0)?;
        Some(Bandwidth { bytes_per_second })
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Measure for Bytes {
    const EXPECTED: &'static str = "a whole number of bytes, unit B, KiB or MiB";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "B" => 1.0,
            "KiB" => 1024.0,
            "MiB" => 1024.0 * 1024.0,
            _ => return None,
        };
        whole(value, factor).map(Bytes)
    }
}

/// A number of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u32);

impl Measure for Count {
    const EXPECTED: &'static str = "a whole number from 0 to 65535, unit 1";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let count = whole(value, 1.0).filter(|count| unit == "1" && *count < 1 << 16)?;
        Some(Count(count as u32))
    }
}

/// A number of things of which there may be very many: objects of a table, keys, transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Amount(pub u64);

impl Measure for Amount {
    const EXPECTED: &'static str = "a whole number of 0 or more, unit 1, k, M or G";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "1" => 1.0,
            "k" => 1e3,
            "M" => 1e6,
            "G" => 1e9,
            _ => return None,
        };
        whole(value, factor).map(Amount)
    }
}

/// How often something happens or can be done, more than never: messages, operations, clock cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    per_second: u64,
}

impl Rate {
    /// How often in a second.
    pub fn per_second(self) -> u64 {
        self.per_second
    }

    /// How long `count` of them take, rounded up to a picosecond.
    pub fn time_for(self, count: u64) -> Time {
        time_for(count, self.per_second)
    }
}

impl Measure for Rate {
    const EXPECTED: &'static str = "a rate above 0, unit 1/s, k/s, M/s, G/s, MHz or GHz";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "1/s" => 1.0,
            "k/s" => 1e3,
            "M/s" | "MHz" => 1e6,
            "G/s" | "GHz" => 1e9,
            _ => return None,
        };
        let per_second = whole(value, factor).filter(|rate| *rate > 0)?;
        Some(Rate { per_second })
    }
}

/// A share, or a factor, in whole millionths: integers, so that runs do not hang on rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    millionths: u64,
}

impl Ratio {
    const ONE: u64 = 1_000_000;

    /// How many millionths it is.
    pub fn millionths(self) -> u64 {
        self.millionths
    }

    /// So much of a length of time, rounded to a picosecond.
    pub fn of(self, time: Time) -> Time {
        let exact = u128::from(time.as_ps()) * u128::from(self.millionths);
        let rounded = (exact + u128::from(Self::ONE / 2)) / u128::from(Self::ONE);
        Time::from_ps(
            u64::try_from(rounded).expect("virtual time does not fit 64 bits of picoseconds"),
        )
    }
}

impl Measure for Ratio {
    const EXPECTED: &'static str = "a ratio of 0 or more with at most six decimals, unit x or %";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "x" => Self::ONE as f64,
            "%" => Self::ONE as f64 / 100.0,
            _ => return None,
        };
        whole(value, factor).map(|millionths| Ratio { millionths })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_ratios_are_converted_exactly() {
        let wire = Bandwidth::convert(100.0, "Gb/s").expect("a rate");
        assert_eq!(wire.bytes_per_second(), 12_500_000_000);
        assert_eq!(wire.time_for(1500), Time::from_ns(120));
        let verbs = Rate::convert(26.3, "M/s").expect("a rate");
        assert_eq!(verbs.per_second(), 26_300_000);
        assert_eq!(verbs.time_for(1), Time::from_ps(38_023));
        assert_eq!(Rate::convert(2.6, "GHz").expect("a rate").time_for(26), Time::from_ns(10));
        assert_eq!(Rate::convert(0.5, "G/s"), Rate::convert(500.0, "MHz"));
        assert_eq!(Amount::convert(28.8, "M"), Some(Amount(28_800_000)));
        assert_eq!(Amount::convert(65_536.0, "1"), Some(Amount(65_536)));
        let share = Ratio::convert(12.5, "%").expect("a ratio");
        assert_eq!((share.millionths(), share), (125_000, Ratio::convert(0.125, "x").unwrap()));
        assert_eq!(share.of(Time::from_ps(20)), Time::from_ps(3), "2.5 is rounded up");
    }

    /// Up to 18,446,744 a product fits 64 bits.
    #[test]
    fn long_transfers_take_what_short_ones_take_together() {
        for amount in 18_446_740..18_446_750 {
            assert_eq!(time_for(amount, 1_000_000), Time::from_us(amount));
            let rounded = u64::try_from((u128::from(amount) * 1_000_000_000_000).div_ceil(7));
            assert_eq!(time_for(amount, 7), Time::from_ps(rounded.expect("it fits")));
        }
    }

    #[test]
    fn what_is_no_such_quantity_is_refused() {
        assert_eq!(Rate::convert(0.0, "M/s"), None);
        assert_eq!(Rate::convert(1.0, "Gb/s"), None);
        assert_eq!(Bandwidth::convert(1.0, "M/s"), None);
        assert_eq!(Amount::convert(1.5, "1"), None);
        assert_eq!(Amount::convert(1.0, "M/s"), None, "that is a rate");
        assert_eq!(Ratio::convert(-0.1, "x"), None);
        assert_eq!(Ratio::convert(2.0, "1"), None, "that is a count");
        assert_eq!(Ratio::convert(0.12345678, "x"), None, "more than six decimals");
    }
}
