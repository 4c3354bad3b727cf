// SPDX-License-Identifier: MIT OR Apache-2.0
//! The arithmetic unit against the arithmetic of Rust: binary64 and checked i64.

use arithmetic_unit::Model;
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Pairs of each operation and kind of operands: the cases of each test.
const PAIRS: u64 = 50_000;
/// Clocks in which any operation is done.
const BOUND: u32 = 12;

const NOT_A_NUMBER: u64 = 0x7FF8_0000_0000_0000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    IntegerProduct = 0,
    Sum = 1,
    Difference = 2,
    Product = 3,
}

const FLOATS: [Operation; 3] = [Operation::Sum, Operation::Difference, Operation::Product];

impl Operation {
    /// The bits of the result, and whether it overflows.
    fn expected(self, a: u64, b: u64) -> (u64, bool) {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        let float = match self {
            Operation::IntegerProduct => {
                let (product, overflow) = (a as i64).overflowing_mul(b as i64);
                return (product as u64, overflow);
            }
            Operation::Sum => x + y,
            Operation::Difference => x - y,
            Operation::Product => x * y,
        };
        (if float.is_nan() { NOT_A_NUMBER } else { float.to_bits() }, false)
    }
}

/// One operation on the unit.
fn compute(unit: &mut Model, operation: Operation, a: u64, b: u64) -> (u64, bool) {
    let inputs = unit.inputs_mut();
    inputs.valid_i = true;
    inputs.operation_i = operation as u8;
    (inputs.a_i, inputs.b_i) = (a, b);
    unit.clock();
    unit.inputs_mut().valid_i = false;
    for _ in 0..BOUND {
        if unit.outputs().done_o {
            let found = (unit.outputs().result_o, unit.outputs().overflow_o);
            unit.clock();
            assert!(!unit.outputs().done_o, "done twice");
            return found;
        }
        unit.clock();
    }
    panic!("{operation:?} of {a:#018x} and {b:#018x}: not done after {BOUND} clocks");
}

/// Compares pairs that `draw` gives.
fn check(operations: &[Operation], mut draw: impl FnMut(&mut ChaCha8Rng) -> (u64, u64)) {
    let seeds = seeds::of!(PAIRS);
    let mut unit = Model::powered_up(seeds.first());
    unit.reset(2);
    for seed in &seeds {
        let (a, b) = draw(&mut ChaCha8Rng::seed_from_u64(seed));
        for &operation in operations {
            let (found, expected) = (compute(&mut unit, operation, a, b), operation.expected(a, b));
            assert_eq!(found, expected, "{operation:?} of {a:#018x} and {b:#018x}");
        }
    }
}

/// Operands at which something changes.
const CORNERS: [u64; 24] = [
    0,
    1,
    2,
    3,
    0x000F_FFFF_FFFF_FFFF, // the largest subnormal number
    0x000F_FFFF_FFFF_FFFE,
    0x0008_0000_0000_0000,
    0x0010_0000_0000_0000, // the smallest normal number
    0x0010_0000_0000_0001,
    0x001F_FFFF_FFFF_FFFF,
    0x0020_0000_0000_0000,
    0x3CA0_0000_0000_0000, // 2^-53: half of the last place of 1
    0x3CA0_0000_0000_0001,
    0x3CB0_0000_0000_0000,
    0x3FE0_0000_0000_0000, // 0.5
    0x3FF0_0000_0000_0000, // 1
    0x3FF0_0000_0000_0001,
    0x3FFF_FFFF_FFFF_FFFF,
    0x4340_0000_0000_0000, // 2^53
    0x7FEF_FFFF_FFFF_FFFF, // the largest number
    0x7FF0_0000_0000_0000, // infinity
    0x7FF0_0000_0000_0001, // a signalling NaN
    NOT_A_NUMBER,
    0x7FFF_FFFF_FFFF_FFFF,
];

#[test]
fn corners_meet_all_corners() {
    let mut unit = Model::new();
    unit.reset(2);
    let signed = |x: u64| [x, x | 1 << 63];
    for a in CORNERS.into_iter().flat_map(signed) {
        for b in CORNERS.into_iter().flat_map(signed) {
            for operation in FLOATS {
                let (found, expected) =
                    (compute(&mut unit, operation, a, b), operation.expected(a, b));
                assert_eq!(found, expected, "{operation:?} of {a:#018x} and {b:#018x}");
            }
        }
    }
}

#[test]
fn any_bits() {
    check(&FLOATS, |generator| (generator.next_u64(), generator.next_u64()));
}

/// A number whose exponent is near another's, with few bits set now and then: such sums and
/// products are often half-way between two numbers.
fn near(generator: &mut ChaCha8Rng, exponent: i64, spread: i64) -> u64 {
    let exponent = (exponent + generator.random_range(-spread..=spread)).clamp(0, 2046) as u64;
    let fraction = match generator.random_range(0..4u8) {
        0 => generator.next_u64(),
        1 => 1u64.wrapping_shl(generator.random_range(0..52)) | generator.random_range(0..4u64),
        2 => u64::MAX << generator.random_range(0..52u32),
        _ => generator.next_u64() & generator.next_u64() & generator.next_u64(),
    };
    generator.random_range(0..2u64) << 63 | exponent << 52 | fraction & ((1 << 52) - 1)
}

#[test]
fn sums_cancel_and_round() {
    check(&[Operation::Sum, Operation::Difference], |generator| {
        let exponent = generator.random_range(0..2047);
        let spread = [1, 3, 60][generator.random_range(0..3usize)];
        let a = near(generator, exponent, 0);
        (a, near(generator, exponent, spread))
    });
}

#[test]
fn products_round_also_to_subnormal_numbers() {
    check(&[Operation::Product], |generator| {
        // The exponent of the product, from far below the smallest number to beyond the largest.
        let sum = [1023, 1000, 2046, 3069][generator.random_range(0..4usize)];
        let first = generator.random_range(0..=2046i64.min(sum));
        let a = near(generator, first, 0);
        (a, near(generator, sum - first, 60))
    });
}

/// Exact products of 54 bits, of which a subnormal number keeps the upper ones. What it loses is half of its last place,
/// or one unit of the product more or less.
#[test]
fn products_are_near_the_middle_of_subnormal_numbers() {
    check(&[Operation::Product], |generator| {
        let lost = generator.random_range(2..=53i32);
        let half = 1u64 << (lost - 1);
        let low = [half - 1, half, half + 1][generator.random_range(0..3usize)];
        let divisor = [3u64, 5, 7, 9, 11, 13][generator.random_range(0..6usize)];
        let top = 1u64 << (53 - lost);
        let kept = top | generator.random_range(0..top);
        // Divisors are odd, so one of these is a multiple.
        let product = (0..divisor)
            .map(|more| ((kept + more) << lost) + low)
            .find(|product| product.is_multiple_of(divisor))
            .expect("a multiple");
        // The subnormal number's last place is 2^-1074.
        let exponent = generator.random_range(-700..-400);
        let a = (product / divisor) as f64 * 2f64.powi(exponent);
        let b = divisor as f64 * 2f64.powi(-1074 - lost - exponent);
        (a.to_bits(), b.to_bits())
    });
}

#[test]
fn products_of_integers_overflow_where_they_must() {
    let operations = [Operation::IntegerProduct];
    check(&operations, |generator| {
        let bits = generator.random_range(1..=64u32);
        let (a, b) = (generator.next_u64(), generator.next_u64());
        match generator.random_range(0..4u8) {
            // Of all sizes, around where the product has 63 bits.
            0 | 1 => {
                let b = (b as i64) >> (bits - 1);
                ((a as i64 >> (65 - bits).min(63)) as u64, b as u64)
            }
            // The two sides of the bound.
            2 => {
                let divisor = (b as i64 >> (bits - 1)).max(1);
                let bound = if a & 1 == 0 { i64::MAX } else { i64::MIN };
                let near = (bound / divisor).saturating_add((a >> 1 & 3) as i64 - 1);
                (near as u64, divisor as u64)
            }
            _ => {
                let powers = [i64::MIN as u64, u64::MAX, 1, 0, i64::MAX as u64, 1 << 32, 1 << 31];
                (powers[(a % 7) as usize], powers[(b % 7) as usize])
            }
        }
    });
}

/// Each pair of one bit in either factor, so that each bit of the partial products decides alone whether the product
/// overflows.
#[test]
fn products_of_powers_of_two_overflow_from_63_bits_on() {
    let mut unit = Model::new();
    unit.reset(2);
    for a in (0..63).map(|bit| 1u64 << bit) {
        for b in (0..63).map(|bit| 1u64 << bit) {
            for (a, b) in [(a, b), (a.wrapping_neg(), b)] {
                let found = compute(&mut unit, Operation::IntegerProduct, a, b);
                let expected = Operation::IntegerProduct.expected(a, b);
                assert_eq!(found, expected, "{a:#018x} by {b:#018x}");
            }
        }
    }
}

/// The parts take a pair in each clock, though the unit has one operation at a time.
#[test]
fn an_operation_follows_another_in_the_next_clock() {
    let mut unit = Model::new();
    unit.reset(2);
    for n in 0..100u64 {
        let (a, b) = ((n as f64 * 0.1).to_bits(), 3.0f64.to_bits());
        assert_eq!(compute(&mut unit, Operation::Sum, a, b), Operation::Sum.expected(a, b));
        let product = compute(&mut unit, Operation::IntegerProduct, n, n);
        assert_eq!(product, (n * n, false));
    }
}
