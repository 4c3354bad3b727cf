// SPDX-License-Identifier: MIT OR Apache-2.0
//! CSV: headers in any order, nulls, and the line and column of what is wrong.

use std::io::{self, Read};

use proptest::prelude::*;
use proptest::sample::select;

use super::super::{CsvError, CsvRows, RowBuffer, Schema, Type, Value, csv_header, csv_line};
use super::{every_type, exactly, table_and_rows};

const HEADER: &str = "int,float,bool,fixed,text,bytes";

fn read(schema: &Schema, text: &str) -> Vec<Result<Vec<Value>, String>> {
    CsvRows::new(schema, text.as_bytes())
        .expect("the header is sound")
        .map(|row| row.map(|row| row.as_row().to_values()).map_err(|error| error.to_string()))
        .collect()
}

fn of_header(text: &str) -> String {
    CsvRows::new(&every_type(), text.as_bytes()).err().expect("the header is wrong").to_string()
}

#[test]
fn maps_columns_by_their_names() {
    let text = "text?,bool,text,int?,bytes,fixed,float,int\n\
                ,t,\"a \"\"b\"\",\r\nc\",\\N,\\x00Ff,ab,-1e3,-5\r\n\
                \\N,0,,8,,,NaN,9\n";
    let rows = read(&every_type(), text);
    let mut first = RowBuffer::new(&every_type()).as_row().to_values();
    first[..6].clone_from_slice(&[
        Value::Int(-5),
        Value::Float(-1000.0),
        true.into(),
        "ab".into(),
        "a \"b\",\r\nc".into(),
        vec![0, 255].into(),
    ]);
    first[10] = "".into();
    assert_eq!(rows[0].as_ref(), Ok(&first));
    let second = rows[1].as_ref().unwrap();
    assert_eq!((&second[4], &second[6], &second[10]), (&"".into(), &8.into(), &Value::Null));
    assert_eq!(second[5], Value::Bytes(vec![]));
    assert_eq!(rows.len(), 2);
}

#[test]
fn passes_over_bad_lines_one_by_one() {
    let text = format!(
        "{HEADER}\n1,1,1,a,b,00\nx,1,1,a,b,00\n2,1,1,a,\"two\nlines\",00\n3,,1,a,b,00\n\
         4,1,yes,a,b,00\n5,1,1,toolong,b,00\n6,1,1,a,b,0\n7,1\n8,1,1,a,b,zz\n9,1,1,a,b,00\n"
    );
    let rows = read(&every_type(), &text);
    let errors: Vec<_> = rows.iter().filter_map(|row| row.as_ref().err()).collect();
    let expected = [
        r#"line 3, column "int": found "x", expected Int64 (decimal digits)"#,
        r#"line 6, column "float": found "", expected Float64 (a decimal number)"#,
        r#"line 7, column "bool": found "yes", expected Bool (true or false)"#,
        r#"line 8: table "every", column "fixed": text "toolong" has 7 bytes, expected at most 5"#,
        r#"line 9, column "bytes": found "0", expected Bytes (hexadecimal digits in pairs)"#,
        "line 10: found 2 fields, expected 6 as in the header",
        r#"line 11, column "bytes": found "zz", expected Bytes (hexadecimal digits in pairs)"#,
    ];
    assert_eq!(errors, expected);
    let ids: Vec<_> = rows.iter().filter_map(|row| row.as_ref().ok()).map(|row| &row[0]).collect();
    assert_eq!(ids, [&Value::Int(1), &Value::Int(2), &Value::Int(9)]);
}

#[test]
fn refuses_a_last_row_whose_quotes_stay_open() {
    let schema = Schema::builder("t")
        .column("id", Type::Int64)
        .column("text", Type::Text)
        .primary_key(&["id"])
        .build()
        .expect("the schema is sound");
    let refused = "line 3: the text ends within quotes, expected them to be closed";
    for (last, sound) in [
        ("2,\"abc\n3,d\n", false),
        ("2,\"abc\"\"", false),
        ("2,\"", false),
        ("2,\"abc\"", true),
        ("2,\"a\"\"b\nc\"\n", true),
        ("2,5\" wide\n", true),
        ("2,\"a\" b\"\n", true),
    ] {
        let rows = read(&schema, &format!("id,text\n1,\"a,b\"\n{last}"));
        assert_eq!((rows.len(), rows[0].is_ok(), rows[1].is_ok()), (2, true, sound), "{last:?}");
        assert!(sound || rows[1].as_ref().is_err_and(|error| error == refused), "{last:?}");
    }
}

#[test]
fn names_what_admits_nulls_and_what_is_no_utf8() {
    let rows = read(&every_type(), &format!("int?,{HEADER}\n9223372036854775808,1,1,1,a,b,00\n"));
    let expected = "line 2, column \"int?\": found \"9223372036854775808\", \
                    expected Int64 (decimal digits) or \\N";
    assert_eq!(rows, [Err(expected.to_owned())]);
    let text = [HEADER.as_bytes(), b"\n1,1,1,a,\xff,00\n"].concat();
    let error = CsvRows::new(&every_type(), &text[..]).unwrap().next().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 2, column \"text\": found \"\u{fffd}\", expected Text (UTF-8)"
    );
}

#[test]
fn refuses_wrong_headers() {
    let columns =
        "int, float, bool, fixed, text, bytes, int?, float?, bool?, fixed?, text?, bytes?";
    assert_eq!(
        of_header(""),
        format!(
            "line 1: found the end, expected a header with columns of table \"every\": {columns}"
        )
    );
    assert_eq!(
        of_header("int,Float"),
        format!("line 1: found \"Float\", expected columns of table \"every\": {columns}")
    );
    assert_eq!(
        of_header("int,float,int"),
        r#"line 1: column "int" stands twice, expected at most once"#
    );
    assert_eq!(
        of_header("int,float,bool,fixed,bytes"),
        r#"line 1: no column "text", expected it as it admits no nulls in table "every""#
    );
}

#[test]
fn tells_how_far_it_is() {
    let text = format!("{HEADER}\n1,1,1,a,b,00\n2,1,1,a,b,00\n");
    let mut rows = CsvRows::new(&every_type(), text.as_bytes()).unwrap();
    let mut positions = vec![rows.position()];
    let mut row = RowBuffer::new(&every_type());
    while rows.read_into(&mut row).unwrap() {
        positions.push(rows.position());
    }
    let header = HEADER.len() as u64 + 1;
    assert_eq!(positions, [header, header + 13, text.len() as u64]);
    assert_eq!(row.as_row().int(0), 2);
}

/// Some text, and then what fails for good.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the disk is gone")),
            some => Ok(some),
        }
    }
}

#[test]
fn ends_when_reading_fails() {
    let text = format!("{HEADER}\n1,1,1,a,b,00\n2,1");
    let mut rows = CsvRows::new(&every_type(), Failing(text.as_bytes())).unwrap();
    assert!(rows.next().unwrap().is_ok());
    let error = rows.next().unwrap().unwrap_err();
    assert_eq!(error.to_string(), "line 3: cannot read: the disk is gone");
    assert!(matches!(error, CsvError::Read { line: 3, .. }));
    assert!(rows.next().is_none());
    let error = CsvRows::new(&every_type(), Failing(b"int,flo")).err().unwrap();
    assert_eq!(error.to_string(), "line 1: cannot read: the disk is gone");
}

/// Texts that mean something to CSV, or to this format, or to nobody.
fn awkward_text() -> BoxedStrategy<String> {
    let chunk = select(vec![
        "\\N", "\\x", "\\", "\"", "\"\"", ",", "\n", "\r", "\r\n", " ", "\t", "\0", "a",
        "\u{FEFF}", "ä", "NaN", "null", "#",
    ]);
    prop::collection::vec(chunk, 0..4).prop_map(|chunks| chunks.concat()).boxed()
}

/// The rows of a table, with some of their texts more awkward, bytes empty, and numbers extreme.
fn awkward_rows() -> BoxedStrategy<(Schema, Vec<Vec<Value>>)> {
    let twist = (any::<bool>(), awkward_text(), select(vec![i64::MIN, -1, 0, i64::MAX]));
    let twists = prop::collection::vec(twist, 1..8);
    (table_and_rows(6, 4), twists)
        .prop_map(|((schema, mut rows), twists)| {
            let mut twists = twists.iter().cycle();
            for row in &mut rows {
                for (value, column) in row.iter_mut().zip(schema.columns()) {
                    let (twisted, text, int) = twists.next().expect("there is one at least");
                    match value {
                        _ if !twisted => {}
                        Value::Text(value) if column.kind == Type::Text => value.clone_from(text),
                        Value::Bytes(value) => value.clear(),
                        Value::Int(value) => *value = *int,
                        Value::Float(value) => *value = if *int < 0 { -0.0 } else { f64::INFINITY },
                        _ => {}
                    }
                }
            }
            (schema, rows)
        })
        .boxed()
}

/// Any number that is none, as one.
fn one_nan(values: &[Value]) -> Vec<Value> {
    let one = |value: &Value| match value {
        Value::Float(value) if value.is_nan() => Value::Float(f64::NAN),
        other => other.clone(),
    };
    values.iter().map(one).collect()
}

fn lines(schema: &Schema, rows: &[Vec<Value>], end: &str) -> String {
    let header = csv_header(schema.columns().iter().map(|column| column.name.as_str()));
    let rows = rows.iter().map(|row| csv_line(row.iter().map(Value::as_ref)));
    std::iter::once(header).chain(rows).map(|line| line + end).collect()
}

/// Each kind of value alone in its table, where an empty line is no row.
#[test]
fn gives_back_rows_of_one_column() {
    let cases: [(Type, Vec<Value>); 4] = [
        (Type::Text, ["", "\\N", " ", "\"", "\r", "\u{FEFF}", "a\n\nb"].map(Value::from).into()),
        (Type::Fixed(4), ["", "\\N", "\n", ",", " a "].map(Value::from).into()),
        (Type::Bytes, vec![vec![].into(), vec![0].into(), vec![0x5C, 0x4E].into()]),
        (
            Type::Float64,
            [-0.0, 0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::NEG_INFINITY, 0.1 + 0.2]
                .map(Value::from)
                .into(),
        ),
    ];
    for (kind, values) in cases {
        for end in ["\n", "\r\n"] {
            let schema = Schema::builder("t").column("v", kind).primary_key(&["v"]);
            let schema = schema.build().expect("the schema is sound");
            let rows: Vec<Vec<Value>> = values.iter().map(|value| vec![value.clone()]).collect();
            let read = read(&schema, &lines(&schema, &rows, end));
            let read: Vec<_> = read.into_iter().map(|row| exactly(&row.expect("a row"))).collect();
            let rows: Vec<_> = rows.iter().map(|row| exactly(row)).collect();
            assert_eq!(read, rows, "{kind:?}");
        }
    }
}

seeds::proptest! {
    #![cases(200)]

    #[test]
    fn gives_back_what_was_written((schema, rows) in awkward_rows(), end in select(vec!["\n", "\r\n"])) {
        let text = lines(&schema, &rows, end);
        let read = CsvRows::new(&schema, text.as_bytes()).unwrap();
        let read = read.collect::<Result<Vec<_>, _>>().unwrap();
        prop_assert_eq!(read.len(), rows.len(), "{}", text);
        for (read, row) in read.iter().zip(&rows) {
            let (read, row) = (one_nan(&read.as_row().to_values()), one_nan(row));
            prop_assert_eq!(exactly(&read), exactly(&row), "{}", text);
        }
    }

    /// Whether a field is in quotes is told of the right one, whatever stands around it.
    #[test]
    fn knows_which_fields_are_in_quotes(
        lines in prop::collection::vec(prop::collection::vec(0..6usize, 1..4), 0..8),
        end in select(vec!["\n", "\r\n", "\r", "\n\n"]),
    ) {
        let schema = Schema::builder("t")
            .column("id", Type::Int64)
            .nullable_column("a", Type::Text)
            .nullable_column("b", Type::Text)
            .primary_key(&["id"])
            .build()
            .unwrap();
        // As they are written, and what they are.
        let fields = [
            ("\\N", None), ("\"\\N\"", Some("\\N")), ("", Some("")), ("\"\"", Some("")),
            ("x\"y", Some("x\"y")), ("\"a,\nb\"", Some("a,\nb")),
        ];
        let mut text = format!("id,a,b{end}");
        let mut expected = Vec::new();
        for (id, line) in lines.iter().enumerate() {
            // A line of two fields or four is wrong, and skipped.
            let written: Vec<_> = line.iter().map(|field| fields[*field].0).collect();
            text += &format!("{id},{}{end}", written.join(","));
            if let [a, b] = line[..] {
                let value = |field: usize| fields[field].1.map_or(Value::Null, Value::from);
                expected.push(vec![Value::Int(id as i64), value(a), value(b)]);
            }
        }
        let read: Vec<_> = read(&schema, &text).into_iter().filter_map(Result::ok).collect();
        prop_assert_eq!(read, expected, "{}", text);
    }

    #[test]
    fn never_panics(text in "[a-z0-9,\"\\\\\n\r-]{0,80}") {
        let text = format!("{HEADER}\n{text}");
        let rows = CsvRows::new(&every_type(), text.as_bytes()).unwrap();
        prop_assert!(rows.count() <= text.len());
    }
}
