// SPDX-License-Identifier: MIT OR Apache-2.0
//! Schemas: their encoding, and what decoding makes of other bytes.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{Schema, SchemaError, Type};
use super::{every_type, table_and_rows};

#[test]
fn knows_its_columns_and_keys() {
    let schema = every_type();
    assert_eq!(schema.name(), "every");
    assert_eq!((schema.column("text?"), schema.column("none")), (Some(10), None));
    assert_eq!((schema.index("by_text"), schema.index("none")), (Some(0), None));
    assert_eq!(schema.primary_key(), [0]);
    assert_eq!(schema.indexes()[0].columns, [10, 0]);
    assert_eq!(schema.columns()[9].kind.to_string(), "Fixed(5)");
    assert!(schema.columns()[9].nullable && !schema.columns()[3].nullable);
}

/// The table in `encoding.rs`, by hand: stores that exist rely on it.
#[test]
fn is_encoded_as_the_format_says() {
    let schema = Schema::builder("t")
        .column("id", Type::Int64)
        .nullable_column("n", Type::Fixed(300))
        .primary_key(&["id"])
        .index("i", &["n", "id"])
        .build()
        .unwrap();
    let mut expected = vec![1, 1, b't', 2, 0];
    expected.extend([0, 0, 0, 0, 2, b'i', b'd']);
    expected.extend([3, 1, 44, 1, 1, b'n']);
    expected.extend([1, 0, 0, 0]);
    expected.extend([1, 0, 1, b'i', 2, 0, 1, 0, 0, 0]);
    assert_eq!(schema.encode(), expected);
    assert_eq!(Schema::decode(&expected), Ok(schema));
}

#[test]
fn says_where_an_encoding_is_wrong() {
    let sound = every_type().encode();
    let with = |place: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[place] = byte;
        Schema::decode(&bytes).unwrap_err().to_string()
    };
    assert_eq!(with(0, 2), "schema encoding, byte 0: found 2, expected version 1");
    assert_eq!(with(9, 9), "schema encoding, byte 9: found 9, expected a type from 0 to 5");
    assert_eq!(with(10, 2), "schema encoding, byte 10: found 2, expected 0 or 1 for nullable");
    assert_eq!(
        with(11, 7),
        "schema encoding, byte 11: found 7, expected 0 for a type without length"
    );
    assert_eq!(
        with(2, 255),
        "schema encoding, byte 2: found invalid utf-8 sequence of 1 bytes from index 0, \
         expected a name in UTF-8"
    );
    let message = |bytes: &[u8]| Schema::decode(bytes).unwrap_err().to_string();
    assert_eq!(
        message(&[]),
        "schema encoding, byte 0: found 0 bytes to the end, expected a version"
    );
    assert_eq!(
        message(&sound[..4]),
        "schema encoding, byte 2: found 2 bytes to the end, expected a name of this length"
    );
    let longer = [&sound[..], &[0]].concat();
    assert_eq!(
        message(&longer),
        format!("schema encoding, byte {}: found 1 more bytes, expected the end", sound.len())
    );
    let by_no_column = [&sound[..sound.len() - 2], &[99, 0]].concat();
    assert_eq!(
        message(&by_no_column),
        "table \"every\": index \"by_text\" names column \"99\", which the table does not have"
    );
    for length in 0..sound.len() {
        let error = Schema::decode(&sound[..length]).unwrap_err();
        assert!(matches!(error, SchemaError::Encoding { offset, .. } if offset <= length));
    }
}

seeds::proptest! {
    #![cases(500)]

    #[test]
    fn comes_back_from_its_encoding((schema, _) in table_and_rows(80, 0)) {
        prop_assert_eq!(Schema::decode(&schema.encode()), Ok(schema));
    }

    #[test]
    fn takes_no_other_bytes(
        (schema, _) in table_and_rows(5, 0),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let mut bytes = schema.encode();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(schema) = Schema::decode(&bytes) {
            prop_assert_eq!(schema.encode(), bytes);
        }
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(prop_oneof![0u8..6, any::<u8>()], 0..60)) {
        if let Ok(schema) = Schema::decode(&bytes) {
            prop_assert_eq!(schema.encode(), bytes);
        }
    }
}
