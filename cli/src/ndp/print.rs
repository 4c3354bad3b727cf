//! Values as CSV and JSON have them.

use lockdb::store::schema::{Type, Value, ValueRef};

/// A value as a field of CSV that `lockstep ndp load` would take.
pub fn field(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "\\N".into(),
        ValueRef::Int(value) => value.to_string(),
        ValueRef::Float(value) => format!("{value:?}"),
        ValueRef::Bool(value) => value.to_string(),
        ValueRef::Text(text) => quoted(text),
        ValueRef::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// A text in quotes if it would be something else without.
pub fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) || text == "\\N" {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}

/// A value as SQL has it.
pub fn value_text(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "null".into(),
        ValueRef::Text(text) => format!("'{}'", text.replace('\'', "''")),
        ValueRef::Bytes(_) => format!("X'{}'", field(value)),
        value => field(value),
    }
}

/// A value as JSON; bytes as hexadecimal digits, floats that JSON lacks as texts.
pub fn json(value: ValueRef<'_>) -> serde_json::Value {
    match value {
        ValueRef::Null => serde_json::Value::Null,
        ValueRef::Int(value) => value.into(),
        ValueRef::Float(value) if value.is_finite() => value.into(),
        ValueRef::Bool(value) => value.into(),
        ValueRef::Text(text) => text.into(),
        ValueRef::Float(_) | ValueRef::Bytes(_) => field(value).into(),
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
    fn fields_are_quoted_when_they_must_be() {
        assert_eq!(field("plain".into()), "plain");
        assert_eq!(field("a, \"b\"".into()), "\"a, \"\"b\"\"\"");
        assert_eq!(field(ValueRef::Null), "\\N");
        assert_eq!(field("\\N".into()), "\"\\N\"");
        assert_eq!(field(ValueRef::Bytes(&[0, 255])), "00ff");
        assert_eq!(value_text("it's".into()), "'it''s'");
        assert_eq!(field(1.0.into()), "1.0");
    }
}
