// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table's schema as it is given on a command line.

use lockdb::schema::{Schema, Type};

const EXPECTED: &str = "int64, float64, bool, fixed(BYTES), text or bytes";

/// The schema of `id int64, note text null, …`, with the primary key `key` (`id` or `a, b`; none:
/// the first column) and indexes such as `by_region(region, id)`.
///
/// # Errors
/// Says which part is wrong, and what was expected.
pub fn parse(
    table: &str,
    columns: &str,
    key: Option<&str>,
    indexes: &[String],
) -> Result<Schema, String> {
    let mut builder = Schema::builder(table);
    let mut first = None;
    for (number, column) in split(columns).into_iter().enumerate() {
        let (name, kind, nullable) = parse_column(column)
            .map_err(|error| format!("--schema, column {}: {error}", number + 1))?;
        first.get_or_insert(name);
        builder = match nullable {
            true => builder.nullable_column(name, kind),
            false => builder.column(name, kind),
        };
    }
    let key = key.map_or_else(|| first.into_iter().collect(), split);
    builder = builder.primary_key(&key);
    for index in indexes {
        let parts = index.trim().strip_suffix(')').and_then(|index| index.split_once('('));
        let Some((name, columns)) = parts else {
            return Err(format!("--index: found {index:?}, expected NAME(COLUMN, …)"));
        };
        builder = builder.index(name.trim(), &split(columns));
    }
    builder.build().map_err(|error| error.to_string())
}

fn split(list: &str) -> Vec<&str> {
    list.split(',').map(str::trim).collect()
}

fn parse_column(text: &str) -> Result<(&str, Type, bool), String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (name, kind, nullable) = match words[..] {
        [name, kind] => (name, kind, false),
        [name, kind, null] if null.eq_ignore_ascii_case("null") => (name, kind, true),
        _ => return Err(format!("found {text:?}, expected NAME TYPE or NAME TYPE null")),
    };
    let kind = parse_type(&kind.to_ascii_lowercase())
        .ok_or_else(|| format!("found type {kind:?}, expected {EXPECTED}"))?;
    Ok((name, kind, nullable))
}

fn parse_type(text: &str) -> Option<Type> {
    Some(match text {
        "int64" | "bigint" => Type::Int64,
        "float64" | "double" => Type::Float64,
        "bool" | "boolean" => Type::Bool,
        "text" => Type::Text,
        "bytes" | "bytea" => Type::Bytes,
        other => {
            let bytes = other.strip_prefix("fixed(")?.strip_suffix(')')?;
            Type::Fixed(bytes.parse().ok()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_keys_and_indexes_are_read() {
        let indexes = ["by_b(b, a)".to_owned()];
        let schema = parse("t", "a int64, b Fixed(12), c text null", Some("a"), &indexes).unwrap();
        assert_eq!(schema.columns()[1].kind, Type::Fixed(12));
        assert!(schema.columns()[2].nullable && !schema.columns()[0].nullable);
        assert_eq!(
            (schema.primary_key(), &schema.indexes()[0].columns[..]),
            (&[0][..], &[1, 0][..])
        );
        assert_eq!(parse("t", "a bigint", None, &[]).unwrap().primary_key(), [0]);
    }

    #[test]
    fn errors_name_place_and_value() {
        for (columns, key, index, expected) in [
            ("a int32", None, None, "--schema, column 1: found type \"int32\", expected int64,"),
            ("a int64,", None, None, "--schema, column 2: found \"\", expected NAME TYPE"),
            ("a fixed(x)", None, None, "found type \"fixed(x)\""),
            ("a int64", Some("b"), None, "names column \"b\""),
            ("a int64", None, Some("by"), "--index: found \"by\", expected NAME(COLUMN, …)"),
        ] {
            let indexes: Vec<String> = index.into_iter().map(str::to_owned).collect();
            let error = parse("t", columns, key, &indexes).unwrap_err();
            assert!(error.contains(expected), "{error}, expected {expected}");
        }
    }
}
