// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drawn rows and expressions.

use lockdb::schema::{Column, Schema, Type, Value};
use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::reference::Tree;

/// A value for a column.
pub fn value(random: &mut ChaCha8Rng, column: &Column) -> Value {
    if column.nullable && random.random_ratio(1, 4) {
        return Value::Null;
    }
    match column.kind {
        Type::Int64 => Value::Int(int(random)),
        Type::Float64 => Value::Float(float(random)),
        Type::Bool => Value::Bool(random.random()),
        Type::Fixed(limit) => {
            let mut text = text(random);
            while text.len() > limit.into() || text.ends_with('\0') {
                text.pop();
            }
            Value::Text(text)
        }
        Type::Text => Value::Text(text(random)),
        Type::Bytes => Value::Bytes(text(random).into_bytes()),
    }
}

pub fn row(random: &mut ChaCha8Rng, schema: &Schema) -> Vec<Value> {
    schema.columns().iter().map(|column| value(random, column)).collect()
}

fn int(random: &mut ChaCha8Rng) -> i64 {
    match random.random_range(0..8) {
        0 => *[i64::MIN, i64::MAX, i64::MIN + 1, 1 << 62].choose(random).expect("there are some"),
        1 => random.random(),
        2 => random.random::<i64>() >> random.random_range(0..63),
        _ => random.random_range(-3..4),
    }
}

fn float(random: &mut ChaCha8Rng) -> f64 {
    const CHOSEN: [f64; 10] = [
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        1.5,
        9_007_199_254_740_993.0,
    ];
    match random.random_range(0..4) {
        0 => *CHOSEN.choose(random).expect("there are some"),
        1 => f64::from_bits(random.random()),
        _ => f64::from(random.random_range(-6..7)) / 2.0,
    }
}

fn text(random: &mut ChaCha8Rng) -> String {
    let length = random.random_range(0..13);
    (0..length).map(|_| *['a', 'a', 'a', 'b', '\0', 'é'].choose(random).expect("some")).collect()
}

/// Types that a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int,
    Float,
    Bool,
}

fn columns(schema: &Schema, of: impl Fn(Type) -> bool) -> Vec<usize> {
    let all = schema.columns().iter().enumerate();
    all.filter(|(_, column)| of(column.kind)).map(|(number, _)| number).collect()
}

/// An expression of a type.
pub fn tree(random: &mut ChaCha8Rng, schema: &Schema, kind: Kind, depth: u32) -> Tree {
    if depth == 0 || random.random_ratio(1, 6) {
        return leaf(random, schema, kind);
    }
    if kind == Kind::Bool {
        return truth(random, schema, depth - 1);
    }
    let sub = |random: &mut ChaCha8Rng| tree(random, schema, kind, depth - 1);
    let first = sub(random);
    match random.random_range(0..6) {
        0 => Tree::Negative(first.into()),
        1 => {
            let mut all = vec![first];
            (0..random.random_range(0..3)).for_each(|_| all.push(sub(random)));
            Tree::Extreme(random.random(), all)
        }
        _ => {
            let op = *['+', '-', '*'].choose(random).expect("there are some");
            let second = if kind == Kind::Float && random.random_ratio(1, 4) {
                Tree::Literal(Value::Int(int(random)))
            } else {
                sub(random)
            };
            Tree::Arithmetic(op, first.into(), second.into())
        }
    }
}

fn leaf(random: &mut ChaCha8Rng, schema: &Schema, kind: Kind) -> Tree {
    if random.random_ratio(1, 12) {
        return Tree::Literal(Value::Null);
    }
    let of = match kind {
        Kind::Int => Type::Int64,
        Kind::Float => Type::Float64,
        Kind::Bool => Type::Bool,
    };
    if random.random_ratio(2, 3) {
        let columns = columns(schema, |kind| kind == of);
        return Tree::Column(*columns.choose(random).expect("there are columns of each type"));
    }
    Tree::Literal(match kind {
        Kind::Int => Value::Int(int(random)),
        // There is no literal for others.
        Kind::Float => Value::Float(Some(float(random)).filter(|f| f.is_finite()).unwrap_or(0.5)),
        Kind::Bool => Value::Bool(random.random()),
    })
}

const COMPARISONS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];

fn truth(random: &mut ChaCha8Rng, schema: &Schema, depth: u32) -> Tree {
    let kind = *[Kind::Int, Kind::Float, Kind::Bool].choose(random).expect("there are some");
    let sub = |random: &mut ChaCha8Rng, kind| tree(random, schema, kind, depth);
    match random.random_range(0..10) {
        0..3 => {
            let op = COMPARISONS.choose(random).expect("there are some");
            Tree::Compare(op, sub(random, kind).into(), sub(random, kind).into())
        }
        3 => compare_text(random, schema),
        4 => {
            let low = sub(random, kind);
            Tree::Between(sub(random, kind).into(), low.into(), sub(random, kind).into())
        }
        5 => {
            let count = random.random_range(1..4);
            let all = (0..count).map(|_| leaf(random, schema, kind)).collect();
            Tree::In(sub(random, kind).into(), all)
        }
        6 => Tree::And(sub(random, Kind::Bool).into(), sub(random, Kind::Bool).into()),
        7 => Tree::Or(sub(random, Kind::Bool).into(), sub(random, Kind::Bool).into()),
        8 => Tree::Not(sub(random, Kind::Bool).into()),
        _ => match random.random_range(0..3) {
            0 => {
                let what = *["null", "not null"].choose(random).expect("there are some");
                let any = random.random_range(0..schema.columns().len());
                let tree = if random.random() { Tree::Column(any) } else { sub(random, kind) };
                Tree::Is(what, tree.into())
            }
            _ => {
                const WHAT: [&str; 6] =
                    ["true", "not true", "false", "not false", "unknown", "not unknown"];
                let what = WHAT.choose(random).expect("there are some");
                Tree::Is(what, sub(random, Kind::Bool).into())
            }
        },
    }
}

/// A column of text or bytes with a literal, on either side.
fn compare_text(random: &mut ChaCha8Rng, schema: &Schema) -> Tree {
    let is_text = |kind| !matches!(kind, Type::Int64 | Type::Float64 | Type::Bool);
    let columns = columns(schema, is_text);
    let column = *columns.choose(random).expect("there are such columns");
    let literal = match schema.columns()[column].kind {
        _ if random.random_ratio(1, 10) => Value::Null,
        Type::Bytes => Value::Bytes(text(random).into_bytes()),
        _ => Value::Text(text(random)),
    };
    let sides = [Tree::Column(column), Tree::Literal(literal)];
    let [a, b] = if random.random() { sides } else { [sides[1].clone(), sides[0].clone()] };
    let op = COMPARISONS.choose(random).expect("there are some");
    Tree::Compare(op, a.into(), b.into())
}
