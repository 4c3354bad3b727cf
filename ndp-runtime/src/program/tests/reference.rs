// SPDX-License-Identifier: MIT OR Apache-2.0
//! SQL expressions evaluated as they are written, by a walk over their tree: independent of the
//! compiler and the machine.

use std::cmp::Ordering;

use lockdb::schema::{Schema, Value};

use crate::program::CANONICAL_NAN;

/// An expression.
#[derive(Clone, Debug)]
pub enum Tree {
    Literal(Value),
    Column(usize),
    Negative(Box<Tree>),
    Arithmetic(char, Box<Tree>, Box<Tree>),
    /// `least` (true) or `greatest`.
    Extreme(bool, Vec<Tree>),
    Compare(&'static str, Box<Tree>, Box<Tree>),
    Between(Box<Tree>, Box<Tree>, Box<Tree>),
    In(Box<Tree>, Vec<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    /// `is null`, `is true`, …
    Is(&'static str, Box<Tree>),
}

/// An integer beyond 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overflow;

type Result<T> = std::result::Result<T, Overflow>;

impl Tree {
    /// As SQL.
    pub fn text(&self, schema: &Schema) -> String {
        let text = |tree: &Tree| tree.text(schema);
        let list = |trees: &[Tree]| trees.iter().map(text).collect::<Vec<_>>().join(", ");
        match self {
            Self::Literal(value) => literal(value),
            Self::Column(column) => schema.columns()[*column].name.clone(),
            Self::Negative(a) => format!("-({})", text(a)),
            Self::Arithmetic(op, a, b) => format!("({} {op} {})", text(a), text(b)),
            Self::Extreme(true, list_of) => format!("least({})", list(list_of)),
            Self::Extreme(false, list_of) => format!("greatest({})", list(list_of)),
            Self::Compare(op, a, b) => format!("({} {op} {})", text(a), text(b)),
            Self::Between(a, low, high) => {
                format!("({} between {} and {})", text(a), text(low), text(high))
            }
            Self::In(a, all) => format!("({} in ({}))", text(a), list(all)),
            Self::And(a, b) => format!("({} and {})", text(a), text(b)),
            Self::Or(a, b) => format!("({} or {})", text(a), text(b)),
            Self::Not(a) => format!("(not {})", text(a)),
            Self::Is(what, a) => format!("({} is {what})", text(a)),
        }
    }

    /// What it is for a row of these values.
    pub fn evaluate(&self, row: &[Value]) -> Result<Value> {
        let of = |tree: &Tree| tree.evaluate(row);
        Ok(match self {
            Self::Literal(value) => value.clone(),
            Self::Column(column) => row[*column].clone(),
            Self::Negative(a) => match of(a)? {
                Value::Int(a) => Value::Int(a.checked_neg().ok_or(Overflow)?),
                Value::Float(a) => float(-a),
                _ => Value::Null,
            },
            Self::Arithmetic(op, a, b) => arithmetic(*op, of(a)?, of(b)?)?,
            Self::Extreme(least, all) => {
                let all = all.iter().map(of).collect::<Result<Vec<_>>>()?;
                let first = all[0].clone();
                all.into_iter().skip(1).fold(first, |a, b| extreme(*least, a, b))
            }
            Self::Compare(op, a, b) => compare(op, &of(a)?, &of(b)?),
            Self::Between(a, low, high) => {
                let (a, low, high) = (of(a)?, of(low)?, of(high)?);
                and(compare(">=", &a, &low), compare("<=", &a, &high))
            }
            Self::In(a, all) => {
                let a = of(a)?;
                let all = all.iter().map(of).collect::<Result<Vec<_>>>()?;
                let equal = all.iter().map(|item| compare("=", &a, item));
                not(equal.map(not).fold(Value::Bool(true), and))
            }
            Self::And(a, b) => and(of(a)?, of(b)?),
            Self::Or(a, b) => not(and(not(of(a)?), not(of(b)?))),
            Self::Not(a) => not(of(a)?),
            Self::Is(what, a) => Value::Bool(is(what, &of(a)?)),
        })
    }

    /// Whether a row qualifies: the parts of a conjunction are checked from left to right, up to
    /// the first that is not true.
    pub fn holds(&self, row: &[Value]) -> Result<bool> {
        match self {
            Self::And(a, b) => Ok(a.holds(row)? && b.holds(row)?),
            Self::Between(a, low, high) => {
                let within = |op, bound: &Tree| {
                    Ok(compare(op, &a.evaluate(row)?, &bound.evaluate(row)?) == Value::Bool(true))
                };
                Ok(within(">=", low)? && within("<=", high)?)
            }
            other => Ok(other.evaluate(row)? == Value::Bool(true)),
        }
    }

    /// Its parts.
    pub fn parts(&self) -> Vec<&Tree> {
        match self {
            Self::Literal(_) | Self::Column(_) => vec![],
            Self::Negative(a) | Self::Not(a) | Self::Is(_, a) => vec![a],
            Self::Arithmetic(_, a, b)
            | Self::Compare(_, a, b)
            | Self::And(a, b)
            | Self::Or(a, b) => vec![a, b],
            Self::Between(a, b, c) => vec![a, b, c],
            Self::Extreme(_, all) => all.iter().collect(),
            Self::In(a, all) => std::iter::once(&**a).chain(all).collect(),
        }
    }

    pub fn is_constant(&self) -> bool {
        !matches!(self, Self::Column(_)) && self.parts().iter().all(|part| part.is_constant())
    }

    /// Whether a part of it that is the same for all rows cannot be computed.
    pub fn has_constant_overflow(&self) -> bool {
        self.is_constant() && self.evaluate(&[]).is_err()
            || self.parts().iter().any(|part| part.has_constant_overflow())
    }
}

fn literal(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Int(value) => value.to_string(),
        // Always with an exponent, so that it is a float.
        Value::Float(value) => format!("{value:e}"),
        Value::Bool(value) => value.to_string(),
        Value::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Value::Bytes(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("X'{digits}'")
        }
    }
}

fn float(value: f64) -> Value {
    Value::Float(if value.is_nan() { f64::from_bits(CANONICAL_NAN) } else { value })
}

/// An integer beside a float is one, too.
fn same_type(a: Value, b: Value) -> (Value, Value) {
    match (a, b) {
        (Value::Int(a), Value::Float(b)) => (Value::Float(a as f64), Value::Float(b)),
        (Value::Float(a), Value::Int(b)) => (Value::Float(a), Value::Float(b as f64)),
        same => same,
    }
}

fn arithmetic(op: char, a: Value, b: Value) -> Result<Value> {
    Ok(match same_type(a, b) {
        (Value::Int(a), Value::Int(b)) => {
            let (a, b) = (i128::from(a), i128::from(b));
            let result = match op {
                '+' => a + b,
                '-' => a - b,
                _ => a * b,
            };
            Value::Int(i64::try_from(result).map_err(|_| Overflow)?)
        }
        (Value::Float(a), Value::Float(b)) => float(match op {
            '+' => a + b,
            '-' => a - b,
            _ => a * b,
        }),
        _ => Value::Null,
    })
}

fn extreme(least: bool, a: Value, b: Value) -> Value {
    let (a, b) = same_type(a, b);
    let Some(order) = order(&a, &b) else { return Value::Null };
    let second = if least { order == Ordering::Greater } else { order == Ordering::Less };
    match if second { b } else { a } {
        Value::Float(value) => float(value),
        other => other,
    }
}

/// `None` with a null.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => Some(match (a.is_nan(), b.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => a.partial_cmp(b).expect("both are numbers"),
        }),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        (Value::Text(a), Value::Text(b)) => Some(a.cmp(b)),
        (Value::Bytes(a), Value::Bytes(b)) => Some(a.cmp(b)),
        (Value::Null, _) | (_, Value::Null) => None,
        (a, b) => panic!("{a:?} and {b:?} are not of one type"),
    }
}

fn compare(op: &str, a: &Value, b: &Value) -> Value {
    let (a, b) = same_type(a.clone(), b.clone());
    let Some(order) = order(&a, &b) else { return Value::Null };
    Value::Bool(match op {
        "=" => order.is_eq(),
        "<>" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        other => panic!("{other} compares nothing"),
    })
}

fn and(a: Value, b: Value) -> Value {
    match (a, b) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        (Value::Bool(true), Value::Bool(true)) => Value::Bool(true),
        _ => Value::Null,
    }
}

fn not(a: Value) -> Value {
    if let Value::Bool(a) = a { Value::Bool(!a) } else { Value::Null }
}

fn is(what: &str, a: &Value) -> bool {
    match what {
        "null" | "unknown" => *a == Value::Null,
        "not null" | "not unknown" => *a != Value::Null,
        "true" => *a == Value::Bool(true),
        "not true" => *a != Value::Bool(true),
        "false" => *a == Value::Bool(false),
        "not false" => *a != Value::Bool(false),
        other => panic!("nothing is {other}"),
    }
}
