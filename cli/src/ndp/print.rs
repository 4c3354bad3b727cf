// SPDX-License-Identifier: MIT OR Apache-2.0
//! Values in the syntax of SQL and JSON.

use lockdb::schema::{Type, Value, ValueRef};

/// A value as SQL has it.
pub fn value_text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".into(),
        ValueRef::Text(text) => format!("'{}'", text.replace('\'', "''")),
        ValueRef::Bytes(bytes) => format!("X'{}'", hexadecimal(bytes)),
        ValueRef::Int(value) => value.to_string(),
        ValueRef::Float(value) => format!("{value:?}"),
        ValueRef::Bool(value) => value.to_string(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value as JSON; bytes as hexadecimal digits, floats that JSON lacks as texts.
pub fn json(value: ValueRef<'_>) -> serde_json::Value {
    match value {
        ValueRef::Null => serde_json::Value::Null,
        ValueRef::Int(value) => value.into(),
        ValueRef::Float(value) if value.is_finite() => value.into(),
        ValueRef::Bool(value) => value.into(),
        ValueRef::Text(text) => text.into(),
        ValueRef::Float(value) => format!("{value:?}").into(),
        ValueRef::Bytes(bytes) => hexadecimal(bytes).into(),
    }
}

/// An output of a program as a value: that of a `Fixed` column comes as its bytes.
pub fn output(value: Value, kind: Type) -> Value {
    match (value, kind) {
        (Value::Bytes(bytes), Type::Fixed(_)) => {
            let text = String::from_utf8_lossy(&bytes);
            Value::Text(text.trim_end_matches('\0').to_owned())
        }
        (value, _) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_sql() {
        assert_eq!(value_text("it's".into()), "'it''s'");
        assert_eq!(value_text(ValueRef::Bytes(&[0, 255])), "X'00ff'");
        assert_eq!(value_text(1.0.into()), "1.0");
        assert_eq!(value_text(ValueRef::Null), "null");
    }
}
