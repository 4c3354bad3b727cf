// SPDX-License-Identifier: MIT OR Apache-2.0
//! Refused input, and the error messages.

use super::super::{
    KeyError, MAX_PAYLOAD, RowBuffer, RowError, RowRef, Schema, SchemaBuilder, Type, Value,
};
use super::{every_type, table_of};

fn begun() -> SchemaBuilder {
    Schema::builder("t").column("id", Type::Int64).primary_key(&["id"])
}

fn refusal(builder: SchemaBuilder) -> String {
    builder.build().unwrap_err().to_string()
}

#[test]
fn of_schemas() {
    let of_no_name = Schema::builder("").column("id", Type::Int64).primary_key(&["id"]);
    assert_eq!(
        refusal(of_no_name),
        r#"table "": the table name "" has 0 bytes: expected 1 to 255"#
    );
    let long = "x".repeat(256);
    assert_eq!(
        refusal(begun().column(&long, Type::Bool)),
        format!(r#"table "t": the column name "{long}" has 256 bytes: expected 1 to 255"#)
    );
    assert!(begun().column(&long[1..], Type::Bool).build().is_ok());
    assert_eq!(
        refusal(begun().index("", &["id"])),
        r#"table "t": the index name "" has 0 bytes: expected 1 to 255"#
    );
    assert_eq!(
        refusal(begun().column("id", Type::Text)),
        r#"table "t": there are two columns named "id""#
    );
    assert_eq!(
        refusal(begun().index("i", &["id"]).index("i", &["id"])),
        r#"table "t": there are two indexes named "i""#
    );
    assert_eq!(refusal(Schema::builder("t")), r#"table "t": 0 columns: expected 1 to 1024"#);
    assert_eq!(
        refusal(Schema::builder("t").column("id", Type::Int64)),
        r#"table "t": 0 columns in the primary key: expected 1 to 1024"#
    );
    let indexes = (0..65).fold(begun(), |begun, i| begun.index(format!("i{i}"), &["id"]));
    assert_eq!(refusal(indexes), r#"table "t": 65 indexes: expected 0 to 64"#);
    assert_eq!(
        refusal(begun().primary_key(&["key"])),
        r#"table "t": the primary key names column "key", which the table does not have"#
    );
    assert_eq!(
        refusal(begun().index("i", &["id", "none"])),
        r#"table "t": index "i" names column "none", which the table does not have"#
    );
    assert_eq!(
        refusal(begun().index("i", &["id", "id"])),
        r#"table "t": index "i" names column "id" twice"#
    );
    assert_eq!(
        refusal(begun().nullable_column("key", Type::Text).primary_key(&["key"])),
        r#"table "t": column "key" of the primary key must not admit nulls"#
    );
    assert_eq!(
        refusal(begun().column("f", Type::Fixed(0))),
        r#"table "t": column "f" has 0 bytes: expected 1 to 8088"#
    );
}

#[test]
fn of_schemas_whose_rows_fit_in_no_page() {
    let with = |columns: usize| {
        (0..columns).fold(begun(), |begun, column| begun.column(format!("c{column}"), Type::Int64))
    };
    // 16 words of nulls, and 8 bytes a column, are 8,088 bytes.
    assert!(with(994).build().is_ok());
    assert_eq!(
        refusal(with(995)),
        r#"table "t": the shortest row has 8096 bytes: expected at most 8088"#
    );
    assert_eq!(refusal(with(1024)), r#"table "t": 1025 columns: expected 1 to 1024"#);
    assert_eq!(
        refusal(begun().column("f", Type::Fixed(8093))),
        r#"table "t": column "f" has 8093 bytes: expected 1 to 8088"#
    );
}

#[test]
fn of_values() {
    let schema = every_type();
    let mut row = RowBuffer::new(&schema);
    row.set(4, "as it was").unwrap();
    let before = row.clone();
    let mut refusal = |column: usize, value: Value| {
        let message = row.set(column, value).unwrap_err().to_string();
        assert_eq!(row, before);
        message
    };
    let wrong = |column: &str, found: &str, expected: &str| {
        format!(r#"table "every", column "{column}": found {found}, expected {expected}"#)
    };
    assert_eq!(refusal(0, "7".into()), wrong("int", r#"the text "7""#, "Int64"));
    assert_eq!(refusal(0, Value::Null), wrong("int", "a null", "Int64"));
    assert_eq!(refusal(1, 7.into()), wrong("float", "the integer 7", "Float64"));
    assert_eq!(refusal(2, 0.0.into()), wrong("bool", "the float 0.0", "Bool"));
    assert_eq!(refusal(3, true.into()), wrong("fixed", "the truth value true", "Fixed(5)"));
    assert_eq!(refusal(4, vec![1, 171].into()), wrong("text", "2 bytes 01ab", "Text"));
    let long = "ä".repeat(30);
    let shown = format!(r#"the text "{}"…"#, "ä".repeat(20));
    assert_eq!(refusal(5, long.into()), wrong("bytes", &shown, "Bytes"));
    let shown = format!("21 bytes {}…", "07".repeat(20));
    assert_eq!(refusal(10, vec![7; 21].into()), wrong("text?", &shown, "Text"));
    assert_eq!(
        refusal(3, "sixtyx".into()),
        r#"table "every", column "fixed": text "sixtyx" has 6 bytes, expected at most 5"#
    );
    assert_eq!(
        refusal(9, "ab\0".into()),
        r#"table "every", column "fixed?": text "ab\0" ends in a zero byte, expected another end"#
    );
    assert_eq!(
        refusal(4, "x".repeat(MAX_PAYLOAD).into()),
        r#"table "every": the row has 8168 bytes, expected at most 8088"#
    );
    let columns =
        "int, float, bool, fixed, text, bytes, int?, float?, bool?, fixed?, text?, bytes?";
    assert_eq!(
        refusal(12, 1.into()),
        format!(r#"table "every": no column 12, expected one of {columns}"#)
    );
    let named = before.as_row().get_named("none").unwrap_err().to_string();
    assert_eq!(named, format!(r#"table "every": no column "none", expected one of {columns}"#));
    assert!(matches!(before.as_row().try_get(12), Err(RowError::NoSuchColumn { .. })));
    assert_eq!(before.as_row().try_get(4).unwrap(), Value::from("as it was"));
}

#[test]
fn of_rows_and_nothing_is_changed() {
    let schema = every_type();
    let mut row = RowBuffer::new(&schema);
    row.set(4, "as it was").unwrap();
    let before = row.clone();
    let mut values = row.as_row().to_values();
    assert_eq!(
        row.fill(&values[..11]).unwrap_err().to_string(),
        r#"table "every": 11 values given, expected one for each of 12 columns"#
    );
    values[0] = 9.into();
    values[11] = 1.into();
    assert!(matches!(row.fill(&values), Err(RowError::WrongType { .. })));
    assert_eq!(row, before);
}

#[test]
fn of_bytes_that_are_no_row() {
    let schema = every_type();
    let mut row = RowBuffer::new(&schema);
    row.set(4, "text").unwrap();
    row.set(5, vec![1, 2]).unwrap();
    let sound = row.bytes().to_vec();
    // 8 of nulls, 8 fixed columns of 8, 4 ends of 2; then 6 variable bytes.
    assert_eq!(sound.len(), 8 + 8 * 8 + 8 + 6);
    let with = |place: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[place] = byte;
        schema.check(&bytes).unwrap_err().to_string()
    };
    let damaged = |rest: &str| format!(r#"table "every", {rest}"#);
    let (text_end, variable) = (72, 80);
    assert_eq!(with(0, 0xc1), damaged(r#"column "int": found a null, expected Int64"#));
    assert_eq!(
        with(1, 0x1f),
        damaged("null bitmap: found 0x1fc0 at byte 0, expected bits of 12 columns")
    );
    assert_eq!(with(8 + 16, 2), damaged(r#"column "bool": found 0x2, expected 0 or 1"#));
    assert_eq!(with(8 + 31, 1), damaged(r#"column "fixed": found other padding, expected zeros"#));
    assert_eq!(
        with(8 + 24, 0xff),
        damaged(
            r#"column "fixed": found invalid utf-8 sequence of 1 bytes from index 0, expected UTF-8"#
        )
    );
    assert_eq!(
        with(variable + 3, 0xc3),
        damaged(
            r#"column "text": found incomplete utf-8 byte sequence from index 3, expected UTF-8"#
        )
    );
    assert_eq!(
        with(8 + 32, 1),
        damaged(r#"column "int?": found a null with a value, expected a null or a value"#)
    );
    assert_eq!(
        with(text_end, 7),
        damaged("end of a variable column at byte 74: found 6, expected at least 7")
    );
    assert_eq!(with(text_end + 6, 7), damaged("variable bytes: found 6 bytes, expected 7 bytes"));
    let short = schema.check(&sound[..79]).unwrap_err().to_string();
    assert_eq!(short, damaged("length: found 79 bytes, expected 80 to 8088"));
    let schema = table_of(&[(Type::Text, false)]);
    let mut bytes = RowBuffer::new(&schema).bytes().to_vec();
    bytes[23] = 1;
    assert_eq!(
        schema.check(&bytes).unwrap_err().to_string(),
        r#"table "drawn", padding after the ends: found other bytes, expected zeros"#
    );
}

#[test]
fn of_keys() {
    let schema = Schema::builder("line")
        .column("order", Type::Int64)
        .column("number", Type::Int64)
        .nullable_column("item", Type::Fixed(8))
        .column("price", Type::Float64)
        .primary_key(&["order", "number"])
        .index("by_item", &["item", "price"])
        .build()
        .unwrap();
    let primary = schema.primary();
    let message = |error: Result<_, KeyError>| error.unwrap_err().to_string();
    assert_eq!(
        message(primary.key(&(1, true))),
        r#"table "line", the primary key, column "number": found the truth value true, expected Int64"#
    );
    assert_eq!(
        message(primary.key(&(u64::MAX, 1))),
        "table \"line\", the primary key, column \"order\": found the integer 18446744073709551615, \
         expected Int64, at most 9223372036854775807"
    );
    assert_eq!(
        message(primary.key(&(1, None::<i64>))),
        r#"table "line", the primary key, column "number": found a null, expected Int64"#
    );
    let columns = "(order Int64, number Int64)";
    assert_eq!(
        message(primary.key(&1)),
        format!(r#"table "line", the primary key: found 1 values, expected 2 {columns}"#)
    );
    for too_many in [message(primary.prefix(&(1, 2, 3))), message(primary.key(&(1, 2, u64::MAX)))] {
        assert_eq!(
            too_many,
            format!(
                r#"table "line", the primary key: found 3 values, expected at most 2 {columns}"#
            )
        );
    }
    let by_item = schema.secondary(0);
    assert_eq!(
        message(by_item.prefix(&7)),
        "table \"line\", index \"by_item\", column \"item\": found the integer 7, \
         expected Fixed(8) or a null"
    );
    assert_eq!(
        message(by_item.prefix(&u64::MAX)),
        "table \"line\", index \"by_item\", column \"item\": found the integer \
         18446744073709551615, expected Fixed(8) or a null"
    );
    assert!(primary.range(&((1, 2)..=(3, 4))).is_ok());
    let half_open =
        (std::ops::Bound::Excluded(Value::Int(1)), std::ops::Bound::Included("x".into()));
    assert!(matches!(primary.range(&half_open), Err(KeyError::WrongType { .. })));
}

#[test]
#[should_panic = r#"table "every", column "text": found Text, expected Int64"#]
fn of_reading_another_type() {
    RowBuffer::new(&every_type()).as_row().int(4);
}

#[test]
#[should_panic = r#"table "every", column "float?": found a null, expected Float64"#]
fn of_reading_a_null() {
    RowBuffer::new(&every_type()).as_row().float(7);
}

#[test]
#[should_panic = r#"table "every": no column 12, expected one of int, float"#]
fn of_reading_beyond_the_columns() {
    RowBuffer::new(&every_type()).as_row().bool(12);
}

#[test]
#[should_panic = r#"table "every", column "text": found the integer 5, expected Text"#]
fn of_writing_another_type() {
    RowBuffer::new(&every_type()).set_int(4, 5);
}

#[test]
#[should_panic = r#"table "every": no column 99"#]
fn of_writing_beyond_the_columns() {
    RowBuffer::new(&every_type()).set_float(99, 0.5);
}

#[test]
#[should_panic = r#"table "drawn", column "c0": found Text, expected UTF-8, as checked rows have"#]
fn of_reading_what_was_not_checked() {
    let schema = table_of(&[(Type::Text, false)]);
    let mut row = RowBuffer::new(&schema);
    row.set(1, "x").unwrap();
    let mut bytes = row.bytes().to_vec();
    *bytes.last_mut().unwrap() = 0xff;
    RowRef::new(&schema, &bytes).text(1);
}
