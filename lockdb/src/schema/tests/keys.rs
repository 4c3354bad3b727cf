// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys: in the order of their values, whatever these are.

use std::cmp::Ordering;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::ops::{Bound, RangeBounds};

use proptest::prelude::*;

use super::super::index_key::KeyBuilder;
use super::super::{IndexKey, RowBuffer, Schema, Type, Value};
use super::{bytes, int, row, table_of, types};

/// The order that keys must keep: nulls first, floats in their total order, else as Rust has it.
fn order(left: &[Value], right: &[Value]) -> Ordering {
    let one = |(left, right): (&Value, &Value)| match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Int(left), Value::Int(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => left.total_cmp(right),
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Text(left), Value::Text(right)) => left.as_bytes().cmp(right.as_bytes()),
        (Value::Bytes(left), Value::Bytes(right)) => left.cmp(right),
        (left, right) => panic!("{left:?} and {right:?} are of one column"),
    };
    left.iter().zip(right).map(one).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn hash(key: &IndexKey) -> u64 {
    BuildHasherDefault::<DefaultHasher>::new().hash_one(key)
}

/// The rows' values without the `id`, which the index is not over.
fn table_and_keys(rows: usize) -> impl Strategy<Value = (Schema, Vec<Vec<Value>>)> {
    types(1..=4).prop_flat_map(move |types| {
        let values = row(&types).prop_map(|values| values[1..].to_vec());
        (Just(table_of(&types)), prop::collection::vec(values, rows))
    })
}

#[test]
fn encodes_as_the_table_says() {
    let encoded = |kind, nullable, value: Value| {
        let schema = table_of(&[(kind, nullable)]);
        let key = schema.secondary(0).key(&value).unwrap();
        key.to_bytes()
    };
    let int = |value: i64| encoded(Type::Int64, false, value.into());
    assert_eq!(int(0), [128]);
    assert_eq!(int(1), [129, 1]);
    assert_eq!(int(256), [130, 1, 0]);
    assert_eq!(int(i64::MAX), [136, 127, 255, 255, 255, 255, 255, 255, 255]);
    assert_eq!(int(-1), [127]);
    assert_eq!(int(-2), [126, 254]);
    assert_eq!(int(-257), [125, 254, 255]);
    assert_eq!(int(i64::MIN), [119, 128, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(encoded(Type::Int64, true, 1.into()), [1, 129, 1]);
    assert_eq!(encoded(Type::Int64, true, Value::Null), [0]);
    assert_eq!(encoded(Type::Bool, false, true.into()), [1]);
    assert_eq!(encoded(Type::Float64, false, 1.0.into()), [191, 240, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        encoded(Type::Float64, false, (-1.0).into()),
        [64, 15, 255, 255, 255, 255, 255, 255]
    );
    assert_eq!(encoded(Type::Text, false, "a\0\u{1}\u{2}".into()), [97, 1, 1, 1, 2, 2, 0]);
    assert_eq!(encoded(Type::Fixed(9), true, "a".into()), [1, 97, 0]);
}

/// All integers near powers of two, each against the next.
#[test]
fn sorts_integers_of_all_lengths() {
    let schema = table_of(&[]);
    let mut values: Vec<i64> = (0..63)
        .flat_map(|bit| [-2, -1, 0, 1, 2].map(|offset| (1i64 << bit) + offset))
        .flat_map(|value| [value, -value])
        .chain([i64::MIN, i64::MIN + 1, i64::MAX, i64::MAX - 1])
        .collect();
    values.sort_unstable();
    values.dedup();
    let keys: Vec<_> = values.iter().map(|value| schema.primary().key(value).unwrap()).collect();
    assert!(keys.is_sorted_by(|key, next| key < next));
}

#[test]
fn takes_keys_in_all_forms() {
    let kinds = [(Type::Int64, false), (Type::Text, true), (Type::Bool, false)];
    let schema = table_of(&kinds);
    let columns = schema.secondary(0);
    let values = [Value::Int(7), "x".into(), true.into()];
    let key = columns.key(&values).unwrap();
    let text = String::from("x");
    assert_eq!(columns.key(&(7, "x", true)).unwrap(), key);
    assert_eq!(columns.key(&(7i64, &text, &true)).unwrap(), key);
    assert_eq!(columns.key(&(7u32, (Some(text), true))).unwrap(), key);
    assert_eq!(columns.key(&(7u64, Some("x"), values[2].as_ref())).unwrap(), key);
    assert_eq!(columns.key(&values[..]).unwrap(), key);
    assert_eq!(columns.key(&values.to_vec()).unwrap(), key);
    let null = columns.key(&(7, None::<&str>, true)).unwrap();
    assert_eq!(null, columns.key(&[Value::Int(7), Value::Null, true.into()]).unwrap());
    assert!(null < key);
    let row = RowBuffer::from_values(&schema, &[1.into(), 7.into(), "x".into(), true.into()]);
    assert_eq!(columns.of_row(row.unwrap().as_row()), key);
    assert_eq!(columns.prefix(&()).unwrap(), IndexKey::from_bytes(&[]));
    assert!(columns.prefix(&()).unwrap().is_empty());
    let six = table_of(&[(Type::Int64, false); 6]);
    assert!(six.secondary(0).key(&(1, 2, 3, 4, 5, 6)).is_ok());
    assert_eq!(columns.columns(), [1, 2, 3]);
}

#[test]
fn says_whether_rows_have_one_key() {
    let schema = table_of(&[(Type::Float64, true)]);
    let row = |id: i64, value: Value| RowBuffer::from_values(&schema, &[id.into(), value]).unwrap();
    let same = |left: Value, right: Value| {
        let (left, right) = (row(1, left), row(2, right));
        schema.secondary(0).is_same(left.as_row(), right.as_row())
    };
    assert!(same(f64::NAN.into(), f64::NAN.into()) && same(Value::Null, Value::Null));
    assert!(!same(0.0.into(), (-0.0).into()) && !same(Value::Null, 0.0.into()));
    assert!(!schema.primary().is_same(row(1, Value::Null).as_row(), row(2, Value::Null).as_row()));
}

/// The index crate, too, must find what the bounds mean, also when nothing can lie between.
#[test]
fn are_found_in_a_tree_by_their_ranges() {
    let schema = table_of(&[(Type::Int64, false), (Type::Text, false)]);
    let columns = schema.secondary(0);
    let tree = scc::TreeIndex::new();
    for number in -50..50 {
        for text in ["", "a", "a longer text, with more bytes than a short key has"] {
            for vid in [0, u32::MAX] {
                let key = columns.key(&(number, text)).unwrap().with_vid(vid);
                tree.insert_sync(key, number).unwrap();
            }
        }
    }
    let guard = scc::Guard::new();
    let found = |range| tree.range(range, &guard).map(|(_, number)| *number).collect::<Vec<_>>();
    assert_eq!(found(columns.prefix(&-7).unwrap().prefix_range()), [-7; 6]);
    assert_eq!(found(columns.prefix(&(-7, "a")).unwrap().prefix_range()), [-7; 2]);
    assert_eq!(found(columns.range(&(-7..=7)).unwrap()).len(), 15 * 6);
    assert_eq!(
        found(columns.range(&((-1, "a")..(1, ""))).unwrap()),
        [-1, -1, -1, -1, 0, 0, 0, 0, 0, 0]
    );
    assert_eq!(found(columns.range::<()>(&..).unwrap()).len(), 600);
    let none = (Bound::Excluded(()), Bound::Unbounded);
    assert_eq!(found(columns.range(&none).unwrap()), []);
}

#[test]
fn has_no_end_above_the_highest_bytes() {
    let highest = IndexKey::from_bytes(&[255; 40]);
    assert_eq!(highest.prefix_end(), None);
    assert_eq!(highest.prefix_range(), (Bound::Included(highest.clone()), Bound::Unbounded));
    let end = IndexKey::from_bytes(&[7, 255, 255]).prefix_end();
    assert_eq!(end, Some(IndexKey::from_bytes(&[8])));
    assert_eq!(format!("{:?}", end.unwrap()), "IndexKey(08)");
}

seeds::proptest! {
    #![cases(2000)]

    #[test]
    fn compare_as_their_bytes(left in bytes(40), right in bytes(40), shared in bytes(30)) {
        for (left, right) in [(&left, &right), (&left, &left)] {
            for shared in [&shared[..], &[]] {
                let (left, right) = ([shared, left].concat(), [shared, right].concat());
                let keys = (IndexKey::from_bytes(&left), IndexKey::from_bytes(&right));
                prop_assert_eq!(keys.0.cmp(&keys.1), left.cmp(&right));
                prop_assert_eq!(keys.0 == keys.1, left == right);
                prop_assert_eq!(hash(&keys.0) == hash(&keys.1), left == right);
                prop_assert_eq!(keys.0.to_bytes(), left.clone());
                prop_assert_eq!(keys.0.len(), left.len());
            }
        }
    }

    /// Wherever a chunk begins, also within a word.
    #[test]
    fn are_made_of_chunks(chunks in prop::collection::vec(bytes(9), 0..8)) {
        let mut builder = KeyBuilder::default();
        chunks.iter().for_each(|chunk| builder.push_bytes(chunk));
        prop_assert_eq!(builder.finish().to_bytes(), chunks.concat());
    }

    #[test]
    fn sort_as_their_values((schema, keys) in table_and_keys(2)) {
        let encoded = [0, 1].map(|key| schema.secondary(0).key(&keys[key]).unwrap());
        prop_assert_eq!(encoded[0].cmp(&encoded[1]), order(&keys[0], &keys[1]));
        let row = [vec![Value::Int(0)], keys[0].clone()].concat();
        let row = RowBuffer::from_values(&schema, &row).unwrap();
        prop_assert_eq!(&schema.secondary(0).of_row(row.as_row()), &encoded[0]);
    }

    #[test]
    fn sort_as_tuples_of_integers(
        left in (int(), int(), int(), int()),
        right in (int(), int(), int(), int()),
    ) {
        let schema = table_of(&[(Type::Int64, false); 4]);
        let key = |values| schema.secondary(0).key(&values).unwrap();
        prop_assert_eq!(key(left).cmp(&key(right)), left.cmp(&right));
    }

    /// The keys with given first values, with and without a VID, are those in the range.
    #[test]
    fn lie_in_the_range_of_their_prefix(
        (schema, keys) in table_and_keys(2),
        length in 0usize..=4,
        vid in prop_oneof![Just(0), Just(u32::MAX), any::<u32>()],
    ) {
        let length = length.min(keys[0].len());
        let range = schema.secondary(0).prefix(&keys[0][..length]).unwrap().prefix_range();
        for key in &keys {
            let encoded = schema.secondary(0).key(key).unwrap();
            let begins_so = order(&key[..length], &keys[0][..length]).is_eq();
            prop_assert_eq!(range.contains(&encoded), begins_so);
            prop_assert_eq!(range.contains(&encoded.with_vid(vid)), begins_so);
            prop_assert_eq!(encoded.with_vid(vid).vid(), vid);
            prop_assert_eq!(encoded.with_vid(vid).len(), encoded.len() + 4);
        }
    }

    #[test]
    fn sort_by_vid_when_the_values_are_one(
        (schema, keys) in table_and_keys(2),
        vids in any::<(u32, u32)>(),
    ) {
        let key = |key: usize, vid| schema.secondary(0).key(&keys[key]).unwrap().with_vid(vid);
        prop_assert_eq!(key(0, vids.0).cmp(&key(0, vids.1)), vids.0.cmp(&vids.1));
        let expected = order(&keys[0], &keys[1]).then(vids.0.cmp(&vids.1));
        prop_assert_eq!(key(0, vids.0).cmp(&key(1, vids.1)), expected);
    }

    /// Each kind of bounds, with ends that give some columns or all.
    #[test]
    fn lie_in_ranges_as_their_values_do(
        (schema, keys) in table_and_keys(3),
        lengths in (0usize..=4, 0usize..=4),
        kinds in (0..3, 0..3),
        vid in prop::option::of(any::<u32>()),
    ) {
        let bound = |values: &[Value], length: usize, kind| {
            let values = values[..length.min(values.len())].to_vec();
            match kind {
                0 => Bound::Included(values),
                1 => Bound::Excluded(values),
                _ => Bound::Unbounded,
            }
        };
        let low = bound(&keys[0], lengths.0, kinds.0);
        let high = bound(&keys[1], lengths.1, kinds.1);
        let range = schema.secondary(0).range(&(low.clone(), high.clone())).unwrap();
        for key in &keys {
            let against = |end: &Vec<Value>| order(&key[..end.len()], end);
            let above = match &low {
                Bound::Included(low) => against(low).is_ge(),
                Bound::Excluded(low) => against(low).is_gt(),
                Bound::Unbounded => true,
            };
            let below = match &high {
                Bound::Included(high) => against(high).is_le(),
                Bound::Excluded(high) => against(high).is_lt(),
                Bound::Unbounded => true,
            };
            let encoded = schema.secondary(0).key(key).unwrap();
            let encoded = vid.map_or(encoded.clone(), |vid| encoded.with_vid(vid));
            prop_assert_eq!(range.contains(&encoded), above && below);
        }
    }
}
