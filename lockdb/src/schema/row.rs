// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading a row where its bytes lie.

use std::fmt;
use std::ops::Range;

use super::layout::{MAX_PAYLOAD, Slot, half, word};
use super::{Column, RowError, Schema, Type, Value, ValueRef};

/// One row of a table: its payload bytes, and the schema that says what they mean.
#[derive(Clone, Copy)]
pub struct RowRef<'a> {
    schema: &'a Schema,
    payload: &'a [u8],
}

impl<'a> RowRef<'a> {
    /// Takes these bytes for a row. They should be from a [`super::RowBuffer`] of an equal schema,
    /// or have passed [`Schema::check`]; of others, the getters panic or give values that nobody
    /// put there.
    #[inline]
    pub fn new(schema: &'a Schema, payload: &'a [u8]) -> Self {
        Self { schema, payload }
    }

    /// The schema.
    #[inline]
    pub fn schema(self) -> &'a Schema {
        self.schema
    }

    /// The payload.
    #[inline]
    pub fn payload(self) -> &'a [u8] {
        self.payload
    }

    /// The integer in this column.
    ///
    /// # Panics
    /// When there is no such column, it is not [`Type::Int64`], or it is null.
    #[inline]
    pub fn int(self, column: usize) -> i64 {
        match self.slot(column) {
            slot if slot.kind == Type::Int64 && self.has_value(column, slot) => {
                i64::from_le_bytes(self.word(slot))
            }
            _ => self.refuse(column, "Int64"),
        }
    }

    /// The floating-point number in this column.
    ///
    /// # Panics
    /// When there is no such column, it is not [`Type::Float64`], or it is null.
    #[inline]
    pub fn float(self, column: usize) -> f64 {
        match self.slot(column) {
            slot if slot.kind == Type::Float64 && self.has_value(column, slot) => {
                f64::from_le_bytes(self.word(slot))
            }
            _ => self.refuse(column, "Float64"),
        }
    }

    /// The truth value in this column.
    ///
    /// # Panics
    /// When there is no such column, it is not [`Type::Bool`], or it is null.
    #[inline]
    pub fn bool(self, column: usize) -> bool {
        match self.slot(column) {
            slot if slot.kind == Type::Bool && self.has_value(column, slot) => {
                self.word(slot) != [0; 8]
            }
            _ => self.refuse(column, "Bool"),
        }
    }

    /// The text in this column, of a `Fixed` one without its padding.
    ///
    /// # Panics
    /// When there is no such column, it is neither [`Type::Fixed`] nor [`Type::Text`], or it is
    /// null.
    #[inline]
    pub fn text(self, column: usize) -> &'a str {
        match self.slot(column) {
            slot if matches!(slot.kind, Type::Fixed(_) | Type::Text)
                && self.has_value(column, slot) =>
            {
                self.text_at(column, slot)
            }
            _ => self.refuse(column, "Fixed or Text"),
        }
    }

    /// The bytes in this column.
    ///
    /// # Panics
    /// When there is no such column, it is not [`Type::Bytes`], or it is null.
    #[inline]
    pub fn bytes(self, column: usize) -> &'a [u8] {
        match self.slot(column) {
            slot if slot.kind == Type::Bytes && self.has_value(column, slot) => self.bytes_at(slot),
            _ => self.refuse(column, "Bytes"),
        }
    }

    /// Whether this column has no value.
    ///
    /// # Panics
    /// When there is no such column.
    #[inline]
    pub fn is_null(self, column: usize) -> bool {
        !self.has_value(column, self.slot(column))
    }

    /// The value in this column.
    ///
    /// # Panics
    /// When there is no such column.
    #[inline]
    pub fn get(self, column: usize) -> ValueRef<'a> {
        self.value_at(column, self.slot(column))
    }

    /// The value in this column.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn try_get(self, column: usize) -> Result<ValueRef<'a>, RowError> {
        match self.schema.layout().slots.get(column) {
            Some(slot) => Ok(self.value_at(column, *slot)),
            None => Err(self.schema.no_such_column(column)),
        }
    }

    /// The value in the column of this name.
    ///
    /// # Errors
    /// When there is no such column.
    pub fn get_named(self, name: &str) -> Result<ValueRef<'a>, RowError> {
        match self.schema.column(name) {
            Some(column) => Ok(self.get(column)),
            None => Err(self.schema.no_such_column(format_args!("{name:?}"))),
        }
    }

    /// All values, in the order of the columns.
    pub fn values(self) -> impl ExactSizeIterator<Item = ValueRef<'a>> {
        self.schema
            .layout()
            .slots
            .iter()
            .enumerate()
            .map(move |(column, slot)| self.value_at(column, *slot))
    }

    /// All values, owned.
    pub fn to_values(self) -> Vec<Value> {
        self.values().map(ValueRef::to_value).collect()
    }

    #[inline]
    fn slot(self, column: usize) -> Slot {
        match self.schema.layout().slots.get(column) {
            Some(slot) => *slot,
            None => panic!("{}", self.schema.no_such_column(column)),
        }
    }

    /// Every column is valued that admits no nulls, so most need no look at the bitmap.
    #[inline]
    fn has_value(self, column: usize, slot: Slot) -> bool {
        !slot.nullable || self.payload[column / 8] & 1 << (column % 8) == 0
    }

    #[inline]
    fn word(self, slot: Slot) -> [u8; 8] {
        word(self.payload, slot.offset.into())
    }

    #[inline]
    fn value_at(self, column: usize, slot: Slot) -> ValueRef<'a> {
        if !self.has_value(column, slot) {
            return ValueRef::Null;
        }
        match slot.kind {
            Type::Int64 => ValueRef::Int(i64::from_le_bytes(self.word(slot))),
            Type::Float64 => ValueRef::Float(f64::from_le_bytes(self.word(slot))),
            Type::Bool => ValueRef::Bool(self.word(slot) != [0; 8]),
            Type::Fixed(_) | Type::Text => ValueRef::Text(self.text_at(column, slot)),
            Type::Bytes => ValueRef::Bytes(self.bytes_at(slot)),
        }
    }

    #[inline]
    fn text_at(self, column: usize, slot: Slot) -> &'a str {
        match std::str::from_utf8(self.bytes_at(slot)) {
            Ok(text) => text,
            Err(_) => self.refuse(column, "UTF-8, as checked rows have"),
        }
    }

    /// The bytes of a `Fixed`, `Text` or `Bytes` column.
    #[inline]
    fn bytes_at(self, slot: Slot) -> &'a [u8] {
        match slot.kind {
            Type::Fixed(bytes) => {
                let start = usize::from(slot.offset);
                trimmed(&self.payload[start..start + usize::from(bytes)])
            }
            _ => {
                let Range { start, end } = self.variable_range(slot);
                &self.payload[start..end]
            }
        }
    }

    /// Where in the payload a variable column lies.
    #[inline]
    pub(super) fn variable_range(self, slot: Slot) -> Range<usize> {
        let layout = self.schema.layout();
        let offset = usize::from(slot.offset);
        let start = if offset == layout.ends { 0 } else { half(self.payload, offset - 2) };
        layout.variable + start..layout.variable + half(self.payload, offset)
    }

    /// What a getter does that does not fit the column.
    #[cold]
    fn refuse(self, column: usize, expected: &str) -> ! {
        let slot = self.slot(column);
        let found = match self.has_value(column, slot) {
            true => slot.kind.to_string(),
            false => "a null".to_owned(),
        };
        let (table, name) = (self.schema.name(), &self.schema.columns()[column].name);
        panic!("table {table:?}, column {name:?}: found {found}, expected {expected}")
    }

    pub(super) fn check(self) -> Result<(), RowError> {
        let layout = self.schema.layout();
        let found = self.payload.len();
        if !(layout.variable..=MAX_PAYLOAD).contains(&found) {
            let expected = format!("{} to {MAX_PAYLOAD}", layout.variable);
            return Err(self.damaged("length", format!("{found} bytes"), expected));
        }
        self.check_bitmap()?;
        self.check_ends()?;
        layout
            .slots
            .iter()
            .enumerate()
            .try_for_each(|(column, slot)| self.check_column(column, *slot))
    }

    fn check_bitmap(self) -> Result<(), RowError> {
        let columns = self.schema.columns().len();
        let last = columns / 64 * 8;
        if !columns.is_multiple_of(64) {
            let bits = u64::from_le_bytes(word(self.payload, last));
            if bits >> (columns % 64) != 0 {
                let expected = format!("bits of {columns} columns");
                return Err(self.damaged(
                    "null bitmap",
                    format!("{bits:#x} at byte {last}"),
                    expected,
                ));
            }
        }
        Ok(())
    }

    /// The ends must rise to the length of the payload, so that every column lies within.
    fn check_ends(self) -> Result<(), RowError> {
        let layout = self.schema.layout();
        let ends_end = layout.ends + 2 * layout.variable_columns;
        let mut last = 0;
        for offset in (layout.ends..ends_end).step_by(2) {
            let end = half(self.payload, offset);
            if end < last {
                let place = format!("end of a variable column at byte {offset}");
                return Err(self.damaged(place, end, format!("at least {last}")));
            }
            last = end;
        }
        if layout.variable + last != self.payload.len() {
            let found = format!("{} bytes", self.payload.len() - layout.variable);
            return Err(self.damaged("variable bytes", found, format!("{last} bytes")));
        }
        if self.payload[ends_end..layout.variable].iter().any(|byte| *byte != 0) {
            return Err(self.damaged("padding after the ends", "other bytes", "zeros"));
        }
        Ok(())
    }

    fn check_column(self, column: usize, slot: Slot) -> Result<(), RowError> {
        let Column { name, kind, nullable } = &self.schema.columns()[column];
        let place = || format!("column {name:?}");
        let null = self.payload[column / 8] & 1 << (column % 8) != 0;
        if null && !nullable {
            return Err(self.damaged(place(), "a null", kind));
        }
        let offset = usize::from(slot.offset);
        let (bytes, used) = match kind.fixed_bytes() {
            Some(room) => {
                let used = if let Type::Fixed(used) = kind { usize::from(*used) } else { room };
                (&self.payload[offset..offset + room], used)
            }
            None => {
                let bytes = &self.payload[self.variable_range(slot)];
                (bytes, bytes.len())
            }
        };
        let empty = if kind.fixed_bytes().is_some() { is_zero(bytes) } else { bytes.is_empty() };
        if null && !empty {
            return Err(self.damaged(place(), "a null with a value", "a null or a value"));
        }
        match kind {
            Type::Bool if bytes[0] > 1 || !is_zero(&bytes[1..]) => {
                let number = u64::from_le_bytes(word(self.payload, offset));
                Err(self.damaged(place(), format!("{number:#x}"), "0 or 1"))
            }
            Type::Fixed(_) if !is_zero(&bytes[used..]) => {
                Err(self.damaged(place(), "other padding", "zeros"))
            }
            Type::Fixed(_) | Type::Text => match std::str::from_utf8(&bytes[..used]) {
                Ok(_) => Ok(()),
                Err(error) => Err(self.damaged(place(), error, "UTF-8")),
            },
            _ => Ok(()),
        }
    }

    #[cold]
    fn damaged(
        self,
        place: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> RowError {
        RowError::Damaged {
            table: self.schema.name().to_owned(),
            place: place.to_string(),
            found: found.to_string(),
            expected: expected.to_string(),
        }
    }
}

/// Without the zeros at the end.
#[inline]
fn trimmed(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

impl Schema {
    #[cold]
    pub(super) fn no_such_column(&self, column: impl fmt::Display) -> RowError {
        let names: Vec<_> = self.columns().iter().map(|column| column.name.as_str()).collect();
        RowError::NoSuchColumn {
            table: self.name().to_owned(),
            column: column.to_string(),
            columns: names.join(", "),
        }
    }
}

/// Rows are equal when their values are.
impl PartialEq for RowRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.payload == other.payload && self.schema == other.schema
    }
}

impl fmt::Debug for RowRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = f.debug_struct(self.schema.name());
        for (column, value) in self.schema.columns().iter().zip(self.values()) {
            row.field(&column.name, &value);
        }
        row.finish()
    }
}
