// SPDX-License-Identifier: MIT OR Apache-2.0
//! Making and changing a row.

use std::fmt;

use super::layout::{MAX_PAYLOAD, Slot, half};
use super::value::shortened;
use super::{RowError, RowRef, Schema, Type, Value, ValueRef};

/// A row of its own, to be changed and then stored. At all times a valid row of its schema.
///
/// Making one takes an allocation and a share of the schema; to work through many rows, keep one
/// and [`RowBuffer::copy_from`] or [`RowBuffer::fill`] it.
#[derive(Clone)]
pub struct RowBuffer {
    schema: Schema,
    payload: Vec<u8>,
}

impl RowBuffer {
    /// A row of nulls, and where those are not admitted, of zeros, `false` and empty texts.
    pub fn new(schema: &Schema) -> Self {
        let mut buffer = Self { schema: schema.clone(), payload: Vec::new() };
        buffer.clear();
        buffer
    }

    /// A row of these values, one for each column.
    ///
    /// # Errors
    /// When there are more or fewer values than columns, or one does not fit its column, or all
    /// together are too long for a page.
    pub fn from_values(schema: &Schema, values: &[Value]) -> Result<Self, RowError> {
        let mut buffer = Self::new(schema);
        buffer.fill(values)?;
        Ok(buffer)
    }

    /// A copy of a row.
    pub fn from_row(row: RowRef<'_>) -> Self {
        Self { schema: row.schema().clone(), payload: row.payload().to_vec() }
    }

    /// Becomes a copy of a row, in the memory that it has.
    #[inline]
    pub fn copy_from(&mut self, row: RowRef<'_>) {
        // Taking and giving back a share of a schema would be felt by all threads.
        if !self.schema.is(row.schema()) {
            self.schema = row.schema().clone();
        }
        self.payload.clear();
        self.payload.extend_from_slice(row.payload());
    }

    /// Becomes as [`RowBuffer::new`] makes one, in the memory that it has.
    pub fn clear(&mut self) {
        let layout = self.schema.layout();
        self.payload.clear();
        self.payload.resize(layout.variable, 0);
        for (column, slot) in layout.slots.iter().enumerate() {
            if slot.nullable {
                self.payload[column / 8] |= 1 << (column % 8);
            }
        }
    }

    /// Becomes a row of these values, in the memory that it has.
    ///
    /// # Errors
    /// As [`RowBuffer::from_values`]; the row is then as it was.
    pub fn fill<'v, V>(&mut self, values: &'v [V]) -> Result<(), RowError>
    where
        ValueRef<'v>: From<&'v V>,
    {
        let layout = self.schema.layout();
        if values.len() != layout.slots.len() {
            return Err(RowError::ColumnCount {
                table: self.schema.name().to_owned(),
                found: values.len(),
                expected: layout.slots.len(),
            });
        }
        let mut length = layout.variable;
        for (column, value) in values.iter().enumerate() {
            length += self.admit(column, layout.slots[column], value.into())?;
        }
        self.limit(length)?;
        self.clear();
        let Self { schema, payload } = self;
        let layout = schema.layout();
        for (column, (slot, value)) in layout.slots.iter().zip(values).enumerate() {
            match slot.kind.fixed_bytes() {
                Some(_) => write_fixed(payload, *slot, value.into()),
                None => {
                    payload.extend_from_slice(variable_bytes(value.into()));
                    let end = payload.len() - layout.variable;
                    write_half(payload, slot.offset.into(), end);
                }
            }
            write_null(payload, column, ValueRef::from(value).is_null());
        }
        Ok(())
    }

    /// Puts an integer into a column, at its place.
    ///
    /// # Panics
    /// When there is no such column or it is not [`Type::Int64`].
    #[inline]
    pub fn set_int(&mut self, column: usize, value: i64) {
        match self.schema.layout().slots.get(column) {
            Some(slot) if slot.kind == Type::Int64 => {
                let offset = usize::from(slot.offset);
                self.payload[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
                write_null(&mut self.payload, column, false);
            }
            _ => self.refuse(column, ValueRef::Int(value)),
        }
    }

    /// Puts a floating-point number into a column, at its place.
    ///
    /// # Panics
    /// When there is no such column or it is not [`Type::Float64`].
    #[inline]
    pub fn set_float(&mut self, column: usize, value: f64) {
        match self.schema.layout().slots.get(column) {
            Some(slot) if slot.kind == Type::Float64 => {
                let offset = usize::from(slot.offset);
                self.payload[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
                write_null(&mut self.payload, column, false);
            }
            _ => self.refuse(column, ValueRef::Float(value)),
        }
    }

    /// Puts a value into a column.
    ///
    /// # Errors
    /// When there is no such column, the value does not fit it, or the row would be too long; the
    /// row is then as it was.
    pub fn set(&mut self, column: usize, value: impl Into<Value>) -> Result<(), RowError> {
        self.set_ref(column, value.into().as_ref())
    }

    /// Puts a value into a column, as [`RowBuffer::set`], from where it lies.
    ///
    /// # Errors
    /// As [`RowBuffer::set`].
    pub fn set_ref<'v>(
        &mut self,
        column: usize,
        value: impl Into<ValueRef<'v>>,
    ) -> Result<(), RowError> {
        let value = value.into();
        let Some(&slot) = self.schema.layout().slots.get(column) else {
            return Err(self.schema.no_such_column(column));
        };
        let length = self.admit(column, slot, value)?;
        if slot.kind.fixed_bytes().is_some() {
            write_fixed(&mut self.payload, slot, value);
        } else {
            let range = self.as_row().variable_range(slot);
            let (old, new) = (range.len(), length);
            self.limit(self.payload.len() - old + new)?;
            self.payload.splice(range, variable_bytes(value).iter().copied());
            self.move_ends(slot, old, new);
        }
        write_null(&mut self.payload, column, value.is_null());
        Ok(())
    }

    /// After a variable column went from `old` to `new` bytes.
    fn move_ends(&mut self, slot: Slot, old: usize, new: usize) {
        let layout = self.schema.layout();
        let first = usize::from(slot.offset);
        for offset in (first..layout.ends + 2 * layout.variable_columns).step_by(2) {
            let end = half(&self.payload, offset) - old + new;
            write_half(&mut self.payload, offset, end);
        }
    }

    /// The row, to be read.
    #[inline]
    pub fn as_row(&self) -> RowRef<'_> {
        RowRef::new(&self.schema, &self.payload)
    }

    /// The payload, to be stored.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.payload
    }

    /// The schema.
    #[inline]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Whether a column can hold a value, and how many variable bytes it takes.
    fn admit(&self, column: usize, slot: Slot, value: ValueRef<'_>) -> Result<usize, RowError> {
        let expected = slot.kind;
        let table = || self.schema.name().to_owned();
        let name = || self.schema.columns()[column].name.clone();
        match (value, expected) {
            (ValueRef::Null, _) if slot.nullable => Ok(0),
            (ValueRef::Null, _) => Err(RowError::Null { table: table(), column: name(), expected }),
            (value, kind) if !value.is_of(kind) => {
                let found = value.to_string();
                Err(RowError::WrongType { table: table(), column: name(), found, expected })
            }
            (ValueRef::Text(text), Type::Fixed(limit)) if text.len() > usize::from(limit) => {
                Err(RowError::TextTooLong {
                    table: table(),
                    column: name(),
                    text: shortened(text),
                    found: text.len(),
                    limit: limit.into(),
                })
            }
            (ValueRef::Text(text), Type::Fixed(_)) if text.ends_with('\0') => {
                let text = shortened(text);
                Err(RowError::TextEndsInZero { table: table(), column: name(), text })
            }
            (_, Type::Fixed(_)) => Ok(0),
            (value, _) => Ok(variable_bytes(value).len()),
        }
    }

    fn limit(&self, found: usize) -> Result<(), RowError> {
        if found <= MAX_PAYLOAD {
            return Ok(());
        }
        Err(RowError::TooLong { table: self.schema.name().to_owned(), found, limit: MAX_PAYLOAD })
    }

    /// What a setter does that does not fit the column.
    #[cold]
    fn refuse(&self, column: usize, value: ValueRef<'_>) -> ! {
        match self.schema.layout().slots.get(column) {
            None => panic!("{}", self.schema.no_such_column(column)),
            Some(slot) => {
                let error = self.admit(column, *slot, value);
                panic!("{}", error.expect_err("the setter found the column of another type"))
            }
        }
    }
}

/// The bytes of a text or byte string.
#[inline]
fn variable_bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(text) => text.as_bytes(),
        ValueRef::Bytes(bytes) => bytes,
        _ => &[],
    }
}

/// Writes a fixed column whose value was admitted, all of its bytes.
fn write_fixed(payload: &mut [u8], slot: Slot, value: ValueRef<'_>) {
    let start = usize::from(slot.offset);
    let room = slot.kind.fixed_bytes().expect("the caller has a fixed column");
    let bytes = &mut payload[start..start + room];
    bytes.fill(0);
    match value {
        ValueRef::Int(value) => bytes.copy_from_slice(&value.to_le_bytes()),
        ValueRef::Float(value) => bytes.copy_from_slice(&value.to_le_bytes()),
        ValueRef::Bool(value) => bytes[0] = value.into(),
        ValueRef::Text(text) => bytes[..text.len()].copy_from_slice(text.as_bytes()),
        ValueRef::Null | ValueRef::Bytes(_) => {}
    }
}

#[inline]
fn write_half(payload: &mut [u8], offset: usize, value: usize) {
    let value = u16::try_from(value).expect("a row is shorter than 64 KiB");
    payload[offset..offset + 2].copy_from_slice(&value.to_le_bytes());
}

#[inline]
fn write_null(payload: &mut [u8], column: usize, null: bool) {
    let byte = &mut payload[column / 8];
    *byte = *byte & !(1 << (column % 8)) | u8::from(null) << (column % 8);
}

/// Rows are equal when their values are.
impl PartialEq for RowBuffer {
    fn eq(&self, other: &Self) -> bool {
        self.as_row() == other.as_row()
    }
}

impl fmt::Debug for RowBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_row().fmt(f)
    }
}
