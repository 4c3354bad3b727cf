// SPDX-License-Identifier: MIT OR Apache-2.0
//! Properties of rows, schemas, keys and CSV, on random and on chosen cases.

mod csv;
mod errors;
mod keys;
mod rows;
mod schemas;

use proptest::prelude::*;
use proptest::sample::select;

use super::{Schema, Type, Value};

/// A table with a column of each type, of which those whose names end in `?` admit nulls.
fn every_type() -> Schema {
    Schema::builder("every")
        .column("int", Type::Int64)
        .column("float", Type::Float64)
        .column("bool", Type::Bool)
        .column("fixed", Type::Fixed(5))
        .column("text", Type::Text)
        .column("bytes", Type::Bytes)
        .nullable_column("int?", Type::Int64)
        .nullable_column("float?", Type::Float64)
        .nullable_column("bool?", Type::Bool)
        .nullable_column("fixed?", Type::Fixed(5))
        .nullable_column("text?", Type::Text)
        .nullable_column("bytes?", Type::Bytes)
        .primary_key(&["int"])
        .index("by_text", &["text?", "int"])
        .build()
        .expect("the schema is sound")
}

/// Types, some of which admit nulls.
fn types(count: impl Into<prop::collection::SizeRange>) -> BoxedStrategy<Vec<(Type, bool)>> {
    let kind = prop_oneof![
        Just(Type::Int64),
        Just(Type::Float64),
        Just(Type::Bool),
        (1u16..20).prop_map(Type::Fixed),
        Just(Type::Text),
        Just(Type::Bytes),
    ];
    prop::collection::vec((kind, any::<bool>()), count).boxed()
}

/// A table of these columns behind a first one `id`, the primary key; indexed by all others.
fn table_of(types: &[(Type, bool)]) -> Schema {
    let mut builder = Schema::builder("drawn").column("id", Type::Int64).primary_key(&["id"]);
    let names: Vec<_> = (0..types.len()).map(|column| format!("c{column}")).collect();
    for ((kind, nullable), name) in types.iter().zip(&names) {
        builder = match nullable {
            true => builder.nullable_column(name, *kind),
            false => builder.column(name, *kind),
        };
    }
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    if !names.is_empty() {
        builder = builder.index("by_all", &names);
    }
    builder.build().expect("the schema is sound")
}

/// Integers, many of which are alike or differ in few bits.
fn int() -> BoxedStrategy<i64> {
    let power = (0u32..64, -2i64..=2, any::<bool>()).prop_map(|(bit, offset, negative)| {
        let value = (1u64 << bit).cast_signed().wrapping_add(offset);
        if negative { value.wrapping_neg() } else { value }
    });
    prop_oneof![power, -3i64..=3, any::<i64>()].boxed()
}

fn float() -> BoxedStrategy<f64> {
    // The last one has the highest key.
    let special = vec![0.0, -0.0, 1.0, f64::MIN, f64::NEG_INFINITY, f64::from_bits(u64::MAX >> 1)];
    let special = select(special);
    prop_oneof![special, any::<f64>(), any::<u64>().prop_map(f64::from_bits)].boxed()
}

/// Texts, many of which begin alike or hold the bytes that keys treat on their own.
fn text(most: usize) -> BoxedStrategy<String> {
    let character = select(vec!['\0', '\u{1}', '\u{2}', 'a', 'b', 'ä', '\u{10ffff}']);
    prop::collection::vec(character, 0..=most).prop_map(String::from_iter).boxed()
}

fn bytes(most: usize) -> BoxedStrategy<Vec<u8>> {
    prop::collection::vec(select(vec![0, 1, 2, 3, 127, 254, 255]), 0..=most).boxed()
}

/// A value that a column admits.
fn value(kind: Type, nullable: bool) -> BoxedStrategy<Value> {
    let value = match kind {
        Type::Int64 => int().prop_map(Value::Int).boxed(),
        Type::Float64 => float().prop_map(Value::Float).boxed(),
        Type::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        Type::Fixed(limit) => text(6)
            .prop_map(move |mut text| {
                while text.len() > limit.into() {
                    text.pop();
                }
                Value::Text(text.trim_end_matches('\0').to_owned())
            })
            .boxed(),
        Type::Text => text(12).prop_map(Value::Text).boxed(),
        Type::Bytes => bytes(12).prop_map(Value::Bytes).boxed(),
    };
    if nullable { prop_oneof![1 => Just(Value::Null), 3 => value].boxed() } else { value }
}

/// A row of values that a table admits.
fn row(types: &[(Type, bool)]) -> BoxedStrategy<Vec<Value>> {
    let id = std::iter::once(value(Type::Int64, false));
    let others = types.iter().map(|(kind, nullable)| value(*kind, *nullable));
    id.chain(others).collect::<Vec<_>>().boxed()
}

/// A table and some rows of it.
fn table_and_rows(columns: usize, rows: usize) -> BoxedStrategy<(Schema, Vec<Vec<Value>>)> {
    types(0..=columns)
        .prop_flat_map(move |types| {
            (Just(table_of(&types)), prop::collection::vec(row(&types), rows))
        })
        .boxed()
}

/// So that values compare to the bit: no number equals itself otherwise.
fn exactly(values: &[Value]) -> Vec<Value> {
    let exact = |value: &Value| match value {
        Value::Float(number) => Value::Bytes(number.to_bits().to_be_bytes().to_vec()),
        other => other.clone(),
    };
    values.iter().map(exact).collect()
}
