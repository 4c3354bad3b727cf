// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rows from CSV text, and rows as CSV text.

use std::collections::VecDeque;
use std::io::Read;

use ::csv::{ByteRecord, ReaderBuilder};

use super::value::shortened;
use super::{Column, RowBuffer, RowError, Schema, Type, Value, ValueRef};

/// Why CSV text is not rows of a table.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// There is not even a header line.
    #[error("line 1: found the end, expected a header with columns of table {table:?}: {columns}")]
    NoHeader {
        /// The table.
        table: String,
        /// The table's columns.
        columns: String,
    },
    /// The header names something that is no column.
    #[error("line 1: found {found}, expected columns of table {table:?}: {columns}")]
    UnknownColumn {
        /// The table.
        table: String,
        /// The value in the header.
        found: String,
        /// The table's columns.
        columns: String,
    },
    /// The header names a column twice.
    #[error("line 1: column {column:?} stands twice, expected at most once")]
    RepeatedColumn {
        /// The column.
        column: String,
    },
    /// The header lacks a column that must have a value.
    #[error("line 1: no column {column:?}, expected it as it admits no nulls in table {table:?}")]
    MissingColumn {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
    /// A line has more or fewer fields than the header.
    #[error("line {line}: found {found} fields, expected {expected} as in the header")]
    FieldCount {
        /// The line on which the record begins, from 1.
        line: u64,
        /// How many fields it has.
        found: u64,
        /// How many the header has.
        expected: u64,
    },
    /// The text ends within quotes, so that nobody knows where its last row was to end.
    #[error("line {line}: the text ends within quotes, expected them to be closed")]
    OpenQuotes {
        /// The line on which the record begins, from 1.
        line: u64,
    },
    /// A field is not a value of its column's type.
    #[error("line {line}, column {column:?}: found {found}, expected {expected}")]
    Field {
        /// The line on which the record begins, from 1.
        line: u64,
        /// The column.
        column: String,
        /// The field's text, shortened if long.
        found: String,
        /// The values that the column allows.
        expected: String,
    },
    /// The values do not make a row.
    #[error("line {line}: {source}")]
    Row {
        /// The line on which the record begins, from 1.
        line: u64,
        /// Why not.
        source: RowError,
    },
    /// The text could not be read.
    #[error("line {line}: cannot read: {source}")]
    Read {
        /// The line, from 1.
        line: u64,
        /// The reader's reason.
        source: std::io::Error,
    },
}

/// Rows of a table from CSV text (RFC 4180) whose header line names the columns, in any order.
///
/// A column that the header lacks is null. So is a field `\N` without quotes, and an empty one unless
/// the column is text; an empty field of a nullable text column is the empty text, one in quotes of a
/// nullable column of bytes no bytes. Truth values are `true` and `false`, `t` and `f`, or `1` and `0`;
/// bytes are hexadecimal digits, with or without `\x` first. Empty lines are skipped.
///
/// What [`csv_line`] writes is read as it was, except for the bits of numbers that are none: any
/// NaN is one.
///
/// A bad line gives an error and may be skipped: the next call continues with the next line.
///
/// ```
/// use lockdb::schema::{CsvRows, Schema, Type};
///
/// let schema = Schema::builder("account")
///     .column("id", Type::Int64)
///     .nullable_column("note", Type::Text)
///     .primary_key(&["id"])
///     .build()?;
/// let rows = CsvRows::new(&schema, "note,id\n\"a, b\",1\n\\N,2\n".as_bytes())?;
/// let rows = rows.collect::<Result<Vec<_>, _>>()?;
/// assert_eq!(rows[0].as_row().text(1), "a, b");
/// assert!(rows[1].as_row().is_null(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CsvRows<R> {
    schema: Schema,
    reader: ::csv::Reader<Quotes<R>>,
    record: ByteRecord,
    /// For each column of the table, the number of its field.
    fields: Vec<Option<usize>>,
    /// The row being read.
    values: Vec<Value>,
    /// Whether reading failed, after which no more rows come.
    failed: bool,
}

impl<R: Read> CsvRows<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// When it cannot be read, names what is no column, or a column twice, or lacks one that must
    /// have a value.
    pub fn new(schema: &Schema, source: R) -> Result<Self, CsvError> {
        let mut reader = ReaderBuilder::new().from_reader(Quotes::new(source));
        let header = reader.byte_headers().map_err(|error| error_at(1, error))?;
        let (fields, named) = (fields_of(schema, header)?, header.len());
        reader.get_mut().quoted.drain(..named);
        let values = vec![Value::Null; fields.len()];
        let schema = schema.clone();
        Ok(Self { schema, reader, record: ByteRecord::new(), fields, values, failed: false })
    }

    /// How many bytes of the text have been turned into rows, for a progress display.
    pub fn position(&self) -> u64 {
        self.reader.position().byte()
    }

    /// The line on which the last row began, from 1.
    pub fn line(&self) -> u64 {
        self.record.position().map_or(1, ::csv::Position::line)
    }

    /// Puts the next row into `row`, or gives false at the end.
    ///
    /// # Errors
    /// When the next line cannot be read or is no row; `row` is then as it was.
    pub fn read_into(&mut self, row: &mut RowBuffer) -> Result<bool, CsvError> {
        if self.failed {
            return Ok(false);
        }
        match self.reader.read_byte_record(&mut self.record) {
            Ok(false) => return Ok(false),
            Ok(true) => {}
            Err(error) => {
                let error = error_at(self.reader.position().line(), error);
                if let CsvError::FieldCount { found, .. } = error {
                    self.reader.get_mut().quoted.drain(..found as usize);
                }
                self.failed = matches!(error, CsvError::Read { .. });
                return Err(error);
            }
        }
        let line = self.record.position().map_or(0, ::csv::Position::line);
        // The reader asks for more only when it needs it, so these are the quotes of this record.
        if self.reader.get_ref().end_open() {
            return Err(CsvError::OpenQuotes { line });
        }
        let fields = self.record.len();
        let quoted: Vec<bool> = self.reader.get_mut().quoted.drain(..fields).collect();
        for (column, field) in self.fields.iter().enumerate() {
            self.values[column] = match field {
                Some(field) => self.value(line, column, &self.record[*field], quoted[*field])?,
                None => Value::Null,
            };
        }
        row.fill(&self.values).map_err(|source| CsvError::Row { line, source })?;
        Ok(true)
    }

    fn value(
        &self,
        line: u64,
        column: usize,
        field: &[u8],
        quoted: bool,
    ) -> Result<Value, CsvError> {
        let Column { name, kind, nullable } = &self.schema.columns()[column];
        let is_null = match kind {
            Type::Fixed(_) | Type::Text => !quoted && field == NULL,
            Type::Bytes => !quoted && (field == NULL || field.is_empty()),
            Type::Int64 | Type::Float64 | Type::Bool => field == NULL || field.is_empty(),
        };
        if *nullable && is_null {
            return Ok(Value::Null);
        }
        parse(*kind, field).ok_or_else(|| CsvError::Field {
            line,
            column: name.clone(),
            found: shortened(&String::from_utf8_lossy(field)),
            expected: expected_text(*kind, *nullable),
        })
    }
}

impl<R: Read> Iterator for CsvRows<R> {
    type Item = Result<RowBuffer, CsvError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut row = RowBuffer::new(&self.schema);
        match self.read_into(&mut row) {
            Ok(true) => Some(Ok(row)),
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// A null.
const NULL: &[u8] = b"\\N";

/// A line of CSV with these values, without an end of line: [`CsvRows`] reads them as they are.
pub fn csv_line<'v>(values: impl IntoIterator<Item = ValueRef<'v>>) -> String {
    let fields: Vec<String> = values.into_iter().map(csv_field).collect();
    // An empty line is no row.
    if fields == [""] { "\"\"".into() } else { fields.join(",") }
}

/// The header of CSV text: the names of columns, or of whatever stands in its fields.
pub fn csv_header<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    csv_line(names.into_iter().map(ValueRef::Text))
}

fn csv_field(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "\\N".into(),
        ValueRef::Int(value) => value.to_string(),
        // With as many digits as tell it from its neighbours.
        ValueRef::Float(value) => format!("{value:?}"),
        ValueRef::Bool(value) => value.to_string(),
        ValueRef::Text(text) => {
            // What stands first in the text may be taken for a mark of its encoding.
            let special = text.contains([',', '"', '\n', '\r', '\u{FEFF}']);
            match special || text.as_bytes() == NULL {
                true => format!("\"{}\"", text.replace('"', "\"\"")),
                false => text.into(),
            }
        }
        ValueRef::Bytes([]) => "\\x".into(),
        ValueRef::Bytes(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}

/// A text that is passed on as it is, with a note of which of its fields are in quotes, and whether it
/// ends within them: the CSV reader tells neither, and would take all that follows open quotes for one
/// field.
struct Quotes<R> {
    text: R,
    at: At,
    ended: bool,
    /// Of each field that was begun, and that the reader has not given yet.
    quoted: VecDeque<bool>,
}

/// Where in a record a byte comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// The first field, if the line is not empty.
    Line,
    /// Another.
    Field,
    Bare,
    Quoted,
    /// After quotes within quotes: the end of the field, or the first of two.
    Closed,
}

impl<R> Quotes<R> {
    fn new(text: R) -> Self {
        Self { text, at: At::Line, ended: false, quoted: VecDeque::new() }
    }

    fn end_open(&self) -> bool {
        self.ended && self.at == At::Quoted
    }
}

impl<R: Read> Read for Quotes<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let bytes = self.text.read(buffer)?;
        self.ended = bytes == 0;
        for &byte in &buffer[..bytes] {
            let ends_line = matches!(byte, b'\n' | b'\r');
            if self.at == At::Line && !ends_line {
                self.quoted.push_back(false);
                self.at = At::Field;
            }
            self.at = match (self.at, byte) {
                (At::Quoted, b'"') => At::Closed,
                (At::Field, b'"') => {
                    self.quoted.pop_back();
                    self.quoted.push_back(true);
                    At::Quoted
                }
                (At::Quoted, _) | (At::Closed, b'"') => At::Quoted,
                (_, b',') => {
                    self.quoted.push_back(false);
                    At::Field
                }
                _ if ends_line => At::Line,
                _ => At::Bare,
            };
        }
        Ok(bytes)
    }
}

/// For each column of the table, the number of its field.
fn fields_of(schema: &Schema, header: &ByteRecord) -> Result<Vec<Option<usize>>, CsvError> {
    let table = || schema.name().to_owned();
    let columns = || {
        let names: Vec<_> = schema.columns().iter().map(|column| column.name.as_str()).collect();
        names.join(", ")
    };
    if header.is_empty() {
        return Err(CsvError::NoHeader { table: table(), columns: columns() });
    }
    let mut fields = vec![None; schema.columns().len()];
    for (field, name) in header.iter().enumerate() {
        let name = String::from_utf8_lossy(name);
        let Some(column) = schema.column(&name) else {
            let found = shortened(&name);
            return Err(CsvError::UnknownColumn { table: table(), found, columns: columns() });
        };
        if fields[column].replace(field).is_some() {
            return Err(CsvError::RepeatedColumn { column: name.into_owned() });
        }
    }
    match schema
        .columns()
        .iter()
        .zip(&fields)
        .find(|(column, field)| field.is_none() && !column.nullable)
    {
        Some((column, _)) => {
            Err(CsvError::MissingColumn { table: table(), column: column.name.clone() })
        }
        None => Ok(fields),
    }
}

fn parse(kind: Type, field: &[u8]) -> Option<Value> {
    if kind == Type::Bytes {
        return parse_hexadecimal(field).map(Value::Bytes);
    }
    let text = std::str::from_utf8(field).ok()?;
    match kind {
        Type::Int64 => text.parse().ok().map(Value::Int),
        Type::Float64 => text.parse().ok().map(Value::Float),
        Type::Bool => match text {
            "true" | "t" | "1" => Some(Value::Bool(true)),
            "false" | "f" | "0" => Some(Value::Bool(false)),
            _ => None,
        },
        Type::Fixed(_) | Type::Text => Some(Value::Text(text.to_owned())),
        Type::Bytes => unreachable!("bytes have returned"),
    }
}

fn parse_hexadecimal(field: &[u8]) -> Option<Vec<u8>> {
    let digits = field.strip_prefix(b"\\x").unwrap_or(field);
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    pairs.iter().map(|[high, low]| Some((digit(*high)? << 4 | digit(*low)?) as u8)).collect()
}

fn expected_text(kind: Type, nullable: bool) -> String {
    let form = match kind {
        Type::Int64 => " (decimal digits)",
        Type::Float64 => " (a decimal number)",
        Type::Bool => " (true or false)",
        Type::Fixed(_) | Type::Text => " (UTF-8)",
        Type::Bytes => " (hexadecimal digits in pairs)",
    };
    format!("{kind}{form}{}", if nullable { r" or \N" } else { "" })
}

/// What the CSV reader says, with the line on which it happened if it knows none itself.
fn error_at(line: u64, error: ::csv::Error) -> CsvError {
    let line = error.position().map_or(line, ::csv::Position::line);
    match error.into_kind() {
        ::csv::ErrorKind::Io(source) => CsvError::Read { line, source },
        ::csv::ErrorKind::UnequalLengths { expected_len: expected, len: found, .. } => {
            CsvError::FieldCount { line, found, expected }
        }
        other => CsvError::Read { line, source: std::io::Error::other(format!("{other:?}")) },
    }
}
