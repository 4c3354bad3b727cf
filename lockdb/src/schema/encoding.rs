// SPDX-License-Identifier: MIT OR Apache-2.0
//! A schema as bytes, for the catalog and the log.
//!
//! | part | bytes |
//! |---|---|
//! | version | 1: the number 1 |
//! | table name | 1 length, then UTF-8 |
//! | number of columns | 2 |
//! | each column | 1 kind (0 Int64, 1 Float64, 2 Bool, 3 Fixed, 4 Text, 5 Bytes), 1 nullable (0 or 1), 2 bytes of Fixed or 0, name |
//! | primary key | 2 number of columns, then 2 each |
//! | number of indexes | 2 |
//! | each index | name, then columns as in the primary key |
//!
//! Numbers are little-endian; all names are as the table's.

use super::column::Parts;
use super::{Column, Index, Schema, SchemaError, Type};

/// The version of the encoding.
const VERSION: u8 = 1;

impl Schema {
    /// The schema as bytes, for [`Schema::decode`].
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = vec![VERSION];
        put_name(&mut bytes, self.name());
        put_number(&mut bytes, self.columns().len());
        for Column { name, kind, nullable } in self.columns() {
            let (code, length) = match kind {
                Type::Int64 => (0, 0),
                Type::Float64 => (1, 0),
                Type::Bool => (2, 0),
                Type::Fixed(length) => (3, *length),
                Type::Text => (4, 0),
                Type::Bytes => (5, 0),
            };
            bytes.extend([code, u8::from(*nullable)]);
            bytes.extend(length.to_le_bytes());
            put_name(&mut bytes, name);
        }
        put_numbers(&mut bytes, self.primary_key());
        put_number(&mut bytes, self.indexes().len());
        for Index { name, columns } in self.indexes() {
            put_name(&mut bytes, name);
            put_numbers(&mut bytes, columns);
        }
        bytes
    }

    /// The schema that [`Schema::encode`] made these bytes of. Any bytes may be given.
    ///
    /// # Errors
    /// When they are of another version, end early, continue, or make no schema.
    pub fn decode(bytes: &[u8]) -> Result<Self, SchemaError> {
        let mut bytes = Decoder { bytes, offset: 0 };
        let version = bytes.byte("a version")?;
        if version != VERSION {
            return Err(bytes.wrong(0, version, "version 1"));
        }
        let name = bytes.name()?;
        let columns = bytes.list(Decoder::column)?;
        let primary_key = bytes.list(Decoder::number)?;
        let indexes = bytes.list(|bytes| {
            Ok(Index { name: bytes.name()?, columns: bytes.list(Decoder::number)? })
        })?;
        if bytes.offset != bytes.bytes.len() {
            let found = format!("{} more bytes", bytes.bytes.len() - bytes.offset);
            return Err(bytes.wrong(bytes.offset, found, "the end"));
        }
        Parts { name, columns, primary_key, indexes }.judge()
    }
}

fn put_name(bytes: &mut Vec<u8>, name: &str) {
    bytes.push(u8::try_from(name.len()).expect("names have at most 255 bytes"));
    bytes.extend(name.as_bytes());
}

fn put_number(bytes: &mut Vec<u8>, number: usize) {
    let number = u16::try_from(number).expect("a table has fewer columns and indexes than 65,536");
    bytes.extend(number.to_le_bytes());
}

fn put_numbers(bytes: &mut Vec<u8>, numbers: &[usize]) {
    put_number(bytes, numbers.len());
    numbers.iter().for_each(|number| put_number(bytes, *number));
}

/// Bytes from the outside, and how far they have been read.
struct Decoder<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Decoder<'a> {
    fn wrong(
        &self,
        offset: usize,
        found: impl std::fmt::Display,
        expected: &'static str,
    ) -> SchemaError {
        SchemaError::Encoding { offset, found: found.to_string(), expected }
    }

    fn take(&mut self, count: usize, expected: &'static str) -> Result<&'a [u8], SchemaError> {
        let rest = &self.bytes[self.offset..];
        match rest.get(..count) {
            Some(taken) => {
                self.offset += count;
                Ok(taken)
            }
            None => {
                Err(self.wrong(self.offset, format!("{} bytes to the end", rest.len()), expected))
            }
        }
    }

    fn byte(&mut self, expected: &'static str) -> Result<u8, SchemaError> {
        Ok(self.take(1, expected)?[0])
    }

    fn number(&mut self) -> Result<usize, SchemaError> {
        let bytes = self.take(2, "a number of 2 bytes")?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]).into())
    }

    /// A number, and so many items. Memory grows with what is really there only.
    fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, SchemaError>,
    ) -> Result<Vec<T>, SchemaError> {
        let count = self.number()?;
        (0..count).map(|_| item(self)).collect()
    }

    fn name(&mut self) -> Result<String, SchemaError> {
        let length = self.byte("the length of a name")?;
        let offset = self.offset;
        let bytes = self.take(length.into(), "a name of this length")?;
        match std::str::from_utf8(bytes) {
            Ok(name) => Ok(name.to_owned()),
            Err(error) => Err(self.wrong(offset + error.valid_up_to(), error, "a name in UTF-8")),
        }
    }

    fn column(&mut self) -> Result<Column, SchemaError> {
        let offset = self.offset;
        let [code, nullable, low, high] =
            self.take(4, "a column of 4 bytes and a name")?.try_into().expect("4 were taken");
        let length = u16::from_le_bytes([low, high]);
        let kind = match (code, length) {
            (0, 0) => Type::Int64,
            (1, 0) => Type::Float64,
            (2, 0) => Type::Bool,
            (3, length) => Type::Fixed(length),
            (4, 0) => Type::Text,
            (5, 0) => Type::Bytes,
            (0..=5, _) => {
                return Err(self.wrong(offset + 2, length, "0 for a type without length"));
            }
            _ => return Err(self.wrong(offset, code, "a type from 0 to 5")),
        };
        if nullable > 1 {
            return Err(self.wrong(offset + 1, nullable, "0 or 1 for nullable"));
        }
        Ok(Column { name: self.name()?, kind, nullable: nullable == 1 })
    }
}
