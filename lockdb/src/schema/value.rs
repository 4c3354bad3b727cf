// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values of columns, owned and borrowed.

use std::fmt;

use super::Type;

/// The value of one column of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Value {
    /// No value.
    #[default]
    Null,
    /// Of a column [`Type::Int64`].
    Int(i64),
    /// Of a column [`Type::Float64`].
    Float(f64),
    /// Of a column [`Type::Bool`].
    Bool(bool),
    /// Of a column [`Type::Fixed`] or [`Type::Text`].
    Text(String),
    /// Of a column [`Type::Bytes`].
    Bytes(Vec<u8>),
}

/// A [`Value`] whose text or bytes lie elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ValueRef<'a> {
    /// No value.
    #[default]
    Null,
    /// Of a column [`Type::Int64`].
    Int(i64),
    /// Of a column [`Type::Float64`].
    Float(f64),
    /// Of a column [`Type::Bool`].
    Bool(bool),
    /// Of a column [`Type::Fixed`] or [`Type::Text`].
    Text(&'a str),
    /// Of a column [`Type::Bytes`].
    Bytes(&'a [u8]),
}

impl Value {
    /// The same value, borrowed.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Int(*value),
            Self::Float(value) => ValueRef::Float(*value),
            Self::Bool(value) => ValueRef::Bool(*value),
            Self::Text(text) => ValueRef::Text(text),
            Self::Bytes(bytes) => ValueRef::Bytes(bytes),
        }
    }
}

impl ValueRef<'_> {
    /// The same value, owned.
    pub fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(value),
            Self::Float(value) => Value::Float(value),
            Self::Bool(value) => Value::Bool(value),
            Self::Text(text) => Value::Text(text.to_owned()),
            Self::Bytes(bytes) => Value::Bytes(bytes.to_owned()),
        }
    }

    /// Whether there is no value.
    pub fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether a column of this type can hold the value, nulls and lengths aside.
    pub(super) fn is_of(self, kind: Type) -> bool {
        match self {
            Self::Null => false,
            Self::Int(_) => kind == Type::Int64,
            Self::Float(_) => kind == Type::Float64,
            Self::Bool(_) => kind == Type::Bool,
            Self::Text(_) => matches!(kind, Type::Fixed(_) | Type::Text),
            Self::Bytes(_) => kind == Type::Bytes,
        }
    }
}

/// The longest part of a text or byte string that an error shows, in bytes.
const SHOWN: usize = 40;

/// As errors show it: with its type, and shortened if long.
impl fmt::Display for ValueRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("a null"),
            Self::Int(value) => write!(f, "the integer {value}"),
            Self::Float(value) => write!(f, "the float {value:?}"),
            Self::Bool(value) => write!(f, "the truth value {value}"),
            Self::Text(text) => write!(f, "the text {}", shortened(text)),
            Self::Bytes([]) => f.write_str("no bytes"),
            Self::Bytes(bytes) => {
                write!(f, "{} bytes ", bytes.len())?;
                bytes.iter().take(SHOWN / 2).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if bytes.len() > SHOWN / 2 { "…" } else { "" })
            }
        }
    }
}

/// A text in quotes, cut after some forty bytes.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().map(|(at, _)| at).find(|at| *at >= SHOWN) {
        Some(end) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

macro_rules! values_from {
    ($($source:ty, $lifetime:lifetime, $name:ident => $owned:expr, $borrowed:expr;)*) => {$(
        impl<$lifetime> From<$source> for Value {
            fn from($name: $source) -> Self {
                $owned
            }
        }

        impl<$lifetime> From<$source> for ValueRef<$lifetime> {
            fn from($name: $source) -> Self {
                $borrowed
            }
        }
    )*};
}

values_from! {
    i64, 'a, value => Value::Int(value), ValueRef::Int(value);
    i32, 'a, value => Value::Int(value.into()), ValueRef::Int(value.into());
    u32, 'a, value => Value::Int(value.into()), ValueRef::Int(value.into());
    f64, 'a, value => Value::Float(value), ValueRef::Float(value);
    bool, 'a, value => Value::Bool(value), ValueRef::Bool(value);
    &'a str, 'a, value => Value::Text(value.to_owned()), ValueRef::Text(value);
    &'a [u8], 'a, value => Value::Bytes(value.to_owned()), ValueRef::Bytes(value);
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        value.to_value()
    }
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        value.as_ref()
    }
}

impl<'a> From<&ValueRef<'a>> for ValueRef<'a> {
    fn from(value: &ValueRef<'a>) -> Self {
        *value
    }
}

impl<'a, T: Into<ValueRef<'a>>> From<Option<T>> for ValueRef<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Values compare with owned ones as they are.
impl PartialEq<Value> for ValueRef<'_> {
    fn eq(&self, other: &Value) -> bool {
        *self == other.as_ref()
    }
}
