// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts, sums and extremes against plain ones.

use std::collections::BTreeMap;

use lockdb::schema::Type;
use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};

use super::random;
use crate::program::exact_sum::ExactSum;
use crate::program::{Aggregate, AggregateError, Aggregation, Group, Outputs};

fn outputs(value: Option<u64>, group: Option<u64>) -> Outputs {
    let mut outputs = Outputs::default();
    for (output, word) in [value, group].into_iter().enumerate() {
        outputs.values[output] = word.unwrap_or(0);
        outputs.nulls |= u8::from(word.is_none()) << output;
    }
    outputs
}

fn of(aggregate: Aggregate, kind: Type, rows: &[(Option<u64>, Option<u64>)]) -> Aggregation {
    let mut sums = Aggregation::new(aggregate, kind, Some(Type::Int64), 100).expect("it has one");
    for (value, group) in rows {
        sums.add(&outputs(*value, *group)).expect("there are few groups");
    }
    sums
}

const ALL: [Aggregate; 4] = [Aggregate::Count, Aggregate::Sum, Aggregate::Min, Aggregate::Max];

#[test]
fn parts_merged_in_any_order_are_as_the_whole() {
    for seed in seeds::of!(300) {
        let mut random = random(seed);
        let kind = *[Type::Int64, Type::Float64].choose(&mut random).expect("there are some");
        let mut rows: Vec<_> = (0..random.random_range(0..60))
            .map(|_| {
                let value = random.random_ratio(4, 5).then(|| match kind {
                    Type::Int64 => (random.random::<i64>() >> random.random_range(7..60)) as u64,
                    _ => random.random(),
                });
                (value, random.random_ratio(4, 5).then(|| random.random_range(0..4)))
            })
            .collect();
        for aggregate in ALL {
            let whole = of(aggregate, kind, &rows).finish().expect("no sum is so large");
            if kind == Type::Int64 {
                assert_eq!(whole, plain(aggregate, &rows), "{aggregate:?} {rows:?}");
            }
            rows.shuffle(&mut random);
            let (a, b) = rows.split_at(rows.len() / 3);
            let mut merged = of(aggregate, kind, a);
            merged.merge(&of(aggregate, kind, b)).expect("there are few groups");
            assert_eq!(merged.finish(), Ok(whole), "{aggregate:?} {rows:?}");
        }
    }
}

/// Of integers, the plainest way.
fn plain(aggregate: Aggregate, rows: &[(Option<u64>, Option<u64>)]) -> Vec<Group> {
    let mut groups = BTreeMap::<(bool, Option<u64>), Vec<i64>>::new();
    for (value, group) in rows {
        let values = groups.entry((group.is_none(), *group)).or_default();
        values.extend(value.map(u64::cast_signed));
    }
    let result = |values: Vec<i64>| match aggregate {
        Aggregate::Count => Some(values.len() as i64),
        Aggregate::Sum => (!values.is_empty()).then(|| values.iter().sum()),
        Aggregate::Min => values.iter().min().copied(),
        Aggregate::Max => values.iter().max().copied(),
    };
    let group = |((_, key), values)| Group { key, value: result(values).map(i64::cast_unsigned) };
    groups.into_iter().map(group).collect()
}

#[test]
fn no_rows_are_one_result_without_groups_and_none_with() {
    for (aggregate, value) in ALL.into_iter().zip([Some(0), None, None, None]) {
        let sums = Aggregation::new(aggregate, Type::Int64, None, 1).expect("it has one");
        assert_eq!(sums.finish(), Ok(vec![Group { key: None, value }]));
        assert_eq!(of(aggregate, Type::Int64, &[]).finish(), Ok(vec![]));
    }
}

#[test]
fn sums_beyond_64_bits_and_too_many_groups_are_refused() {
    let most = Some(i64::MAX.cast_unsigned());
    let sums = of(Aggregate::Sum, Type::Int64, &[(most, None), (most, None), (most, Some(1))]);
    let sum = 2 * i128::from(i64::MAX);
    assert_eq!(sums.finish(), Err(AggregateError::Overflow { sum }));
    // Beyond on the way alone.
    let least = Some((i64::MIN + 1).cast_unsigned());
    let rows = [(most, None), (most, None), (least, None)];
    let sums = of(Aggregate::Sum, Type::Int64, &rows);
    assert_eq!(sums.finish(), Ok(vec![Group { key: None, value: most }]));
    let mut few = Aggregation::new(Aggregate::Count, Type::Bool, Some(Type::Int64), 2).unwrap();
    for group in [1, 2] {
        few.add(&outputs(Some(1), Some(group))).expect("there is room");
    }
    let error = few.add(&outputs(Some(1), Some(3)));
    assert_eq!(error, Err(AggregateError::TooManyGroups { limit: 2 }));
    few.add(&outputs(Some(1), Some(2))).expect("the group is there");
    let error = Aggregation::new(Aggregate::Sum, Type::Bool, None, 1).expect_err("no sum");
    assert!(error.to_string().starts_with("found Sum of Bool, expected"), "{error}");
    Aggregation::new(Aggregate::Min, Type::Int64, Some(Type::Text), 1).expect_err("no word");
}

#[test]
fn groups_are_in_the_order_of_their_type() {
    let order = |kind, groups: &[u64]| {
        let mut sums = Aggregation::new(Aggregate::Count, Type::Int64, Some(kind), 100).unwrap();
        for group in groups {
            sums.add(&outputs(Some(0), Some(*group))).expect("there are few groups");
        }
        sums.add(&outputs(Some(0), None)).expect("there are few groups");
        let groups = sums.finish().expect("counts are small");
        groups.iter().map(|group| group.key).collect::<Vec<_>>()
    };
    let minus = (-1_i64).cast_unsigned();
    assert_eq!(order(Type::Int64, &[3, minus, 0]), [Some(minus), Some(0), Some(3), None]);
    let float = |value: f64| value.to_bits();
    let zeros = order(Type::Float64, &[float(-0.0), float(1.0), float(-1.0), float(0.0)]);
    assert_eq!(zeros, [Some(float(-1.0)), Some(0), Some(float(1.0)), None]);
    let text = |text: &[u8; 8]| u64::from_le_bytes(*text);
    let (b, ab) = (text(b"b\0\0\0\0\0\0\0"), text(b"ab\0\0\0\0\0\0"));
    assert_eq!(order(Type::Fixed(8), &[b, ab]), [Some(ab), Some(b), None]);
}

fn exact(values: &[f64]) -> f64 {
    let mut sum = ExactSum::new();
    values.iter().for_each(|value| sum.add(*value));
    sum.value()
}

#[test]
fn a_sum_of_floats_is_rounded_once() {
    let tiny = 5e-324;
    for (values, expected) in [
        (&[][..], 0.0),
        (&[-0.0, -0.0], -0.0),
        (&[-0.0, 0.0], 0.0),
        (&[1.5, -1.5], 0.0),
        (&[1e308, 1e308, -1e308], 1e308),
        (&[f64::MAX, f64::MAX], f64::INFINITY),
        (&[-f64::MAX, -f64::MAX], f64::NEG_INFINITY),
        (&[f64::INFINITY, 1.0], f64::INFINITY),
        (&[1e16, 1.0, -1e16], 1.0),
        (&[1e16, 1.0, 1.0], 1e16 + 2.0),
        (&[tiny, tiny, -1.0, 1.0], 1e-323),
        (&[f64::MIN_POSITIVE, -tiny], 2.225073858507201e-308),
        // Exactly between two floats, then a little more.
        (&[9007199254740992.0, 1.0], 9007199254740992.0),
        (&[9007199254740992.0, 1.0, tiny], 9007199254740994.0),
        (&[9007199254740994.0, 1.0], 9007199254740996.0),
        (&[-9007199254740992.0, -1.0, -tiny], -9007199254740994.0),
    ] {
        let found = exact(values);
        assert_eq!(found.to_bits(), expected.to_bits(), "{values:?}: {found}, {expected}");
    }
    assert!(exact(&[f64::INFINITY, f64::NEG_INFINITY]).is_nan());
}

/// Of two floats the sum is what adding gives.
#[test]
fn a_sum_of_two_floats_is_their_sum() {
    for seed in seeds::of!(5_000) {
        let mut random = random(seed);
        let a = f64::from_bits(random.random());
        // Near in size, so that bits fall away.
        let near = a.to_bits() ^ random.random::<u64>() >> random.random_range(2..20);
        let b = f64::from_bits(if random.random() { near } else { random.random() });
        let (found, expected) = (exact(&[a, b]), a + b);
        let same = found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan();
        assert!(same, "{a:?} + {b:?}: {found:?}, expected {expected:?}");
    }
}
