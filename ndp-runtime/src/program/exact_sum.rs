// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sums of floats without rounding on the way, so that neither the order of the summands nor how
//! they were divided among elements can be seen in the result.

use super::machine::CANONICAL_NAN;

/// Bits of one limb; the rest of its 64 takes carries.
const LIMB_BITS: usize = 32;

/// Enough for 2⁶³ summands of the greatest size: a finite float is an integer below 2²⁰⁹⁸ times
/// 2⁻¹⁰⁷⁴.
const LIMBS: usize = 2098_usize.div_ceil(LIMB_BITS) + 3;

/// How many summands the limbs take before their carries must be moved on.
const CAPACITY: u32 = 1 << 30;

/// The exact sum of floats.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ExactSum {
    /// Limb *i* counts 2^(32 *i* - 1074).
    limbs: Box<[i64; LIMBS]>,
    /// Summands since the carries were moved on.
    added: u32,
    /// Infinities and what is no number, which make the sum alone.
    special: Option<f64>,
    /// Whether there has been a summand, and all have been -0.
    negative_zero: bool,
    empty: bool,
}

impl ExactSum {
    pub fn new() -> Self {
        let limbs = Box::new([0; LIMBS]);
        Self { limbs, added: 0, special: None, negative_zero: true, empty: true }
    }

    pub fn add(&mut self, value: f64) {
        self.empty = false;
        self.negative_zero &= value.to_bits() == (-0.0_f64).to_bits();
        if !value.is_finite() {
            self.special = Some(self.special.map_or(value, |special| special + value));
            return;
        }
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as usize;
        let fraction = bits & ((1 << 52) - 1);
        // Subnormal numbers have the exponent of the least normal ones, without the leading bit.
        let mantissa = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        let shift = exponent.saturating_sub(1);
        let (limb, wide) = (shift / LIMB_BITS, u128::from(mantissa) << (shift % LIMB_BITS));
        for part in 0..3 {
            let digits = (wide >> (LIMB_BITS * part)) as u32;
            let digits = i64::from(digits);
            self.limbs[limb + part] += if value.is_sign_negative() { -digits } else { digits };
        }
        self.added += 1;
        if self.added == CAPACITY {
            self.carry();
        }
    }

    pub fn merge(&mut self, other: &Self) {
        self.carry();
        let mut other = other.clone();
        other.carry();
        self.limbs.iter_mut().zip(other.limbs.iter()).for_each(|(limb, add)| *limb += add);
        self.carry();
        self.special = match (self.special, other.special) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        self.negative_zero &= other.negative_zero;
        self.empty &= other.empty;
    }

    /// Moves carries on, so that all limbs but the last are from 0 to 2³² - 1.
    fn carry(&mut self) {
        let mut carry = 0;
        let (last, limbs) = self.limbs.split_last_mut().expect("there are limbs");
        for limb in limbs {
            let value = *limb + carry;
            carry = value >> LIMB_BITS;
            *limb = value & (u32::MAX as i64);
        }
        *last += carry;
        self.added = 0;
    }

    /// The sum, rounded to the nearest float, of two to the even one. Of no summands 0.
    pub fn value(&self) -> f64 {
        if let Some(special) = self.special {
            return if special.is_nan() { f64::from_bits(CANONICAL_NAN) } else { special };
        }
        if self.negative_zero && !self.empty {
            return -0.0;
        }
        let mut sum = self.clone();
        sum.carry();
        let negative = sum.limbs[LIMBS - 1] < 0;
        if negative {
            sum.limbs.iter_mut().for_each(|limb| *limb = -*limb);
            sum.carry();
        }
        let magnitude = sum.magnitude();
        if negative { -magnitude } else { magnitude }
    }

    /// Of a sum that is not negative and has no carries.
    fn magnitude(&self) -> f64 {
        let bit = |at: usize| self.limbs[at / LIMB_BITS] >> (at % LIMB_BITS) & 1;
        let Some(top) = (0..LIMBS * LIMB_BITS).rev().find(|at| bit(*at) != 0) else { return 0.0 };
        // The lowest bit of the result; below 2⁻¹⁰⁷⁴ there is nothing.
        let lowest = top.saturating_sub(52);
        let mut mantissa = (lowest..=top).rev().fold(0, |all, at| all << 1 | bit(at) as u64);
        if lowest > 0 && bit(lowest - 1) != 0 {
            let more = (0..lowest - 1).any(|at| bit(at) != 0);
            // It may become 2⁵³, which the exponent below takes.
            mantissa += u64::from(more || mantissa & 1 != 0);
        }
        // Without the leading bit, whose place the exponent says; a carry out of it goes there.
        let exponent = lowest as u64 + u64::from(top >= 52);
        let bits = match exponent {
            0 => mantissa,
            _ => ((exponent - 1) << 52) + mantissa,
        };
        if bits >= f64::INFINITY.to_bits() { f64::INFINITY } else { f64::from_bits(bits) }
    }
}
