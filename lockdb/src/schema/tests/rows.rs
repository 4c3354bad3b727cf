// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows: what goes in comes out, at the places that the layout says, and nothing else passes.

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::{MAX_PAYLOAD, RowBuffer, RowError, RowRef, Schema, Type, Value, ValueRef};
use super::{every_type, exactly, table_and_rows};

/// The layout table, by hand: hardware relies on each offset.
#[test]
fn lies_where_the_layout_says() {
    let schema = Schema::builder("layout")
        .column("a", Type::Int64)
        .nullable_column("b", Type::Text)
        .column("c", Type::Fixed(9))
        .nullable_column("d", Type::Bool)
        .column("e", Type::Bytes)
        .column("f", Type::Float64)
        .nullable_column("g", Type::Text)
        .primary_key(&["a"])
        .build()
        .unwrap();
    let values = [
        Value::from(-2),
        "héy".into(),
        "nine byte".into(),
        true.into(),
        (&[7u8, 8][..]).into(),
        1.5.into(),
        Value::Null,
    ];
    let row = RowBuffer::from_values(&schema, &values).unwrap();
    let mut expected = vec![0b100_0000, 0, 0, 0, 0, 0, 0, 0];
    expected.extend((-2i64).to_le_bytes());
    expected.extend(b"nine byte\0\0\0\0\0\0\0");
    expected.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend(1.5f64.to_le_bytes());
    expected.extend([4, 0, 6, 0, 6, 0, 0, 0]);
    expected.extend("héy".as_bytes());
    expected.extend([7, 8]);
    assert_eq!(row.bytes(), expected);
    assert_eq!(row.as_row().to_values(), values);
}

/// The 65th column has the first bit of a second word.
#[test]
fn counts_nulls_in_words_of_64() {
    let mut builder = Schema::builder("wide").column("c0", Type::Int64).primary_key(&["c0"]);
    for column in 1..65 {
        builder = builder.nullable_column(format!("c{column}"), Type::Int64);
    }
    let schema = builder.build().unwrap();
    let mut row = RowBuffer::new(&schema);
    assert_eq!(row.bytes().len(), 16 + 65 * 8);
    assert_eq!(row.bytes()[..16], [254, 255, 255, 255, 255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0]);
    row.set_int(64, 5);
    assert_eq!(row.bytes()[8], 0);
    assert!(row.as_row().is_null(63) && row.as_row().int(64) == 5);
}

#[test]
fn reads_every_type_by_its_getter() {
    let schema = every_type();
    let values = ["a\0b", "ä"].map(Value::from);
    let [fixed, text] = &values;
    let mut row = RowBuffer::new(&schema);
    assert_eq!(row.as_row().text(3), "", "a new row has empty texts");
    row.set(0, i64::MIN).unwrap();
    row.set(1, -0.0).unwrap();
    row.set(2, true).unwrap();
    row.set(3, fixed.clone()).unwrap();
    row.set(4, text.clone()).unwrap();
    row.set(5, vec![0, 255]).unwrap();
    let read = row.as_row();
    assert_eq!((read.int(0), read.float(1).to_bits(), read.bool(2)), (i64::MIN, 1 << 63, true));
    assert_eq!((read.text(3), read.text(4), read.bytes(5)), ("a\0b", "ä", &[0, 255][..]));
    assert!((6..12).all(|column| read.is_null(column) && read.get(column).is_null()));
    assert_eq!(read.get_named("text").unwrap(), *text);
    row.set_float(7, 2.5);
    row.set(6, Some(3)).unwrap();
    row.set(0, 4u32).unwrap();
    row.set(6, None::<i64>).unwrap();
    row.set_ref(11, &b"x"[..]).unwrap();
    let read = row.as_row();
    assert_eq!((read.int(0), read.float(7), read.bytes(11)), (4, 2.5, &b"x"[..]));
    assert!(read.is_null(6));
    let debug = format!("{read:?}");
    assert!(
        debug.starts_with("every { int: Int(4), float: Float(-0.0), bool: Bool(true)"),
        "{debug}"
    );
}

#[test]
fn is_as_long_as_a_page_admits_and_no_longer() {
    let schema = every_type();
    let room = MAX_PAYLOAD - RowBuffer::new(&schema).bytes().len();
    let mut row = RowBuffer::new(&schema);
    row.set(5, vec![1; room]).unwrap();
    assert_eq!(row.bytes().len(), MAX_PAYLOAD);
    schema.check(row.bytes()).unwrap();
    let full = row.clone();
    let (found, limit) = (MAX_PAYLOAD + 1, MAX_PAYLOAD);
    let too_long = RowError::TooLong { table: "every".into(), found, limit };
    assert_eq!(row.set(10, "x"), Err(too_long.clone()));
    assert_eq!(row.set(5, vec![2; room + 1]), Err(too_long.clone()));
    let mut values = full.as_row().to_values();
    values[4] = "x".into();
    assert_eq!(row.fill(&values), Err(too_long.clone()));
    assert_eq!(row, full);
    assert_eq!(RowBuffer::from_values(&schema, &values), Err(too_long));
    let mut longer = full.bytes().to_vec();
    longer.push(0);
    assert!(schema.check(&longer).is_err());
}

#[test]
fn is_copied_in_the_memory_that_there_is() {
    let schema = every_type();
    let mut row = RowBuffer::new(&schema);
    row.set(4, "long enough for the other one").unwrap();
    let before = row.bytes().as_ptr();
    let mut other = RowBuffer::new(&schema);
    other.set(4, "short").unwrap();
    row.copy_from(other.as_row());
    assert_eq!(row, other);
    row.clear();
    assert_eq!(row, RowBuffer::new(&schema));
    assert_eq!(row.bytes().as_ptr(), before);
    let elsewhere = super::table_of(&[(Type::Text, false)]);
    row.copy_from(RowBuffer::new(&elsewhere).as_row());
    assert_eq!(row.schema(), &elsewhere);
}

seeds::proptest! {
    #![cases(500)]

    #[test]
    fn gives_back_what_it_took((schema, rows) in table_and_rows(70, 2)) {
        let mut reused = RowBuffer::new(&schema);
        for values in &rows {
            let row = RowBuffer::from_values(&schema, values).unwrap();
            prop_assert_eq!(schema.check(row.bytes()), Ok(()));
            prop_assert_eq!(exactly(&row.as_row().to_values()), exactly(values));
            reused.fill(values).unwrap();
            prop_assert_eq!(&reused, &row);
            let refs: Vec<ValueRef<'_>> = row.as_row().values().collect();
            reused.fill(&refs).unwrap();
            prop_assert_eq!(&reused, &row);
        }
    }

    /// Columns set one by one, in any order, over any other row, make the row that is made at once.
    #[test]
    fn does_not_depend_on_how_it_was_made(
        (schema, rows) in table_and_rows(12, 3),
        order in prop::collection::vec(any::<Index>(), 0..20),
    ) {
        let mut row = RowBuffer::from_values(&schema, &rows[0]).unwrap();
        let mut model = rows[0].clone();
        for (step, column) in order.iter().enumerate() {
            let column = column.index(model.len());
            model[column] = rows[1 + step % 2][column].clone();
            row.set(column, model[column].clone()).unwrap();
            let made = RowBuffer::from_values(&schema, &model).unwrap();
            prop_assert_eq!(row.bytes(), made.bytes());
        }
    }

    /// Bytes from anywhere are refused, or are what the values in them make.
    #[test]
    fn takes_no_damaged_row(
        (schema, rows) in table_and_rows(12, 1),
        damage in prop::collection::vec((any::<Index>(), any::<u8>()), 0..3),
        length in prop::option::of(any::<Index>()),
    ) {
        let mut payload = RowBuffer::from_values(&schema, &rows[0]).unwrap().bytes().to_vec();
        for (place, byte) in damage {
            let place = place.index(payload.len());
            payload[place] = byte;
        }
        if let Some(length) = length {
            payload.resize(length.index(payload.len() + 20), 0);
        }
        is_refused_or_sound(&schema, &payload)?;
    }

    #[test]
    fn takes_no_random_bytes(
        (schema, _) in table_and_rows(3, 0),
        payload in prop::collection::vec(prop_oneof![3 => Just(0), 1 => any::<u8>()], 0..80),
    ) {
        is_refused_or_sound(&schema, &payload)?;
    }
}

fn is_refused_or_sound(schema: &Schema, payload: &[u8]) -> Result<(), TestCaseError> {
    match schema.check(payload) {
        Ok(()) => {
            let values = RowRef::new(schema, payload).to_values();
            let made = RowBuffer::from_values(schema, &values);
            prop_assert_eq!(made.as_ref().map(RowBuffer::bytes), Ok(payload));
        }
        Err(error) => prop_assert!(matches!(error, RowError::Damaged { .. }), "{}", error),
    }
    Ok(())
}
