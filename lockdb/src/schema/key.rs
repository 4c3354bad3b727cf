// SPDX-License-Identifier: MIT OR Apache-2.0
//! Keys as callers give them, and how they become keys of an index.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use super::column::{PRIMARY_KEY, index_name};
use super::index_key::KeyBuilder;
use super::{Column, IndexKey, KeyError, RowRef, Schema, Type, Value, ValueRef};

/// The columns of a table's primary key or of one of its indexes: makes keys for it.
#[derive(Clone, Copy)]
pub struct KeyColumns<'a> {
    schema: &'a Schema,
    /// The number of the secondary index, or `None` for the primary key.
    index: Option<usize>,
    columns: &'a [usize],
}

impl Schema {
    /// The primary key's columns.
    #[inline]
    pub fn primary(&self) -> KeyColumns<'_> {
        KeyColumns { schema: self, index: None, columns: self.primary_key() }
    }

    /// The columns of the secondary index of this number.
    ///
    /// # Panics
    /// When there is no such index.
    #[inline]
    pub fn secondary(&self, index: usize) -> KeyColumns<'_> {
        KeyColumns { schema: self, index: Some(index), columns: &self.indexes()[index].columns }
    }
}

impl<'a> KeyColumns<'a> {
    /// The numbers of the columns, the first one most significant.
    pub fn columns(self) -> &'a [usize] {
        self.columns
    }

    /// The key of these values, one for each column.
    ///
    /// # Errors
    /// When there are more or fewer values than columns, or one is not of its column's type.
    #[inline]
    pub fn key<K: Key + ?Sized>(self, key: &K) -> Result<IndexKey, KeyError> {
        let mut encoder = KeyEncoder::new(&self);
        key.encode(&mut encoder)?;
        match encoder.used == self.columns.len() {
            true => Ok(encoder.key.finish()),
            false => Err(self.wrong_count(encoder.used, self.columns.len().to_string())),
        }
    }

    /// The key of these values, for the first columns or all of them. Its
    /// [`IndexKey::prefix_range`] holds the keys with those values in those columns.
    ///
    /// # Errors
    /// When there are more values than columns, or one is not of its column's type.
    pub fn prefix<K: Key + ?Sized>(self, key: &K) -> Result<IndexKey, KeyError> {
        let mut encoder = KeyEncoder::new(&self);
        key.encode(&mut encoder)?;
        Ok(encoder.key.finish())
    }

    /// The bounds in an index of a range whose ends give values for the first columns or all of
    /// them. An end that gives some stands for all keys that begin so: an included one includes
    /// them all, an excluded one none.
    ///
    /// # Errors
    /// As [`KeyColumns::prefix`].
    pub fn range<K: Key>(
        self,
        range: &impl RangeBounds<K>,
    ) -> Result<(Bound<IndexKey>, Bound<IndexKey>), KeyError> {
        let high = match range.end_bound() {
            Bound::Included(high) => {
                self.prefix(high)?.prefix_end().map_or(Bound::Unbounded, Bound::Excluded)
            }
            Bound::Excluded(high) => Bound::Excluded(self.prefix(high)?),
            Bound::Unbounded => Bound::Unbounded,
        };
        let low = match range.start_bound() {
            Bound::Included(low) => Bound::Included(self.prefix(low)?),
            Bound::Excluded(low) => match self.prefix(low)?.prefix_end() {
                Some(end) => Bound::Included(end),
                None => {
                    // Nothing is above all that begin so, whatever the other end.
                    let none = Bound::Excluded(IndexKey::from_bytes(&[]));
                    return Ok((none.clone(), none));
                }
            },
            Bound::Unbounded => Bound::Unbounded,
        };
        Ok((low, high))
    }

    /// The key of a row of the schema.
    #[inline]
    pub fn of_row(self, row: RowRef<'_>) -> IndexKey {
        let mut key = KeyBuilder::default();
        for &column in self.columns {
            push_value(&mut key, row.get(column), self.column(column).nullable);
        }
        key.finish()
    }

    /// Whether two rows of the schema have one key.
    pub fn is_same(self, row: RowRef<'_>, other: RowRef<'_>) -> bool {
        self.columns.iter().all(|column| same(row.get(*column), other.get(*column)))
    }

    #[inline]
    fn column(self, number: usize) -> &'a Column {
        &self.schema.columns()[number]
    }

    fn name(self) -> String {
        match self.index {
            None => PRIMARY_KEY.to_owned(),
            Some(index) => index_name(&self.schema.indexes()[index].name),
        }
    }

    #[cold]
    fn wrong_count(&self, found: usize, expected: String) -> KeyError {
        let columns: Vec<_> = self
            .columns
            .iter()
            .map(|number| format!("{} {}", self.column(*number).name, self.column(*number).kind))
            .collect();
        KeyError::ColumnCount {
            table: self.schema.name().to_owned(),
            index: self.name(),
            found,
            expected,
            columns: columns.join(", "),
        }
    }

    #[cold]
    fn wrong_type(&self, column: &Column, found: impl fmt::Display) -> KeyError {
        let null = if column.nullable { " or a null" } else { "" };
        KeyError::WrongType {
            table: self.schema.name().to_owned(),
            index: self.name(),
            column: column.name.clone(),
            found: found.to_string(),
            expected: format!("{}{null}", column.kind),
        }
    }
}

/// Whether two values of one column make one key: floats by their bits, as they are sorted.
fn same(value: ValueRef<'_>, other: ValueRef<'_>) -> bool {
    match (value, other) {
        (ValueRef::Float(value), ValueRef::Float(other)) => value.to_bits() == other.to_bits(),
        _ => value == other,
    }
}

/// Adds a value that is of its column's type.
#[inline]
fn push_value(key: &mut KeyBuilder, value: ValueRef<'_>, nullable: bool) {
    if value.is_null() {
        return key.null();
    }
    if nullable {
        key.not_null();
    }
    match value {
        ValueRef::Null => unreachable!("nulls have returned"),
        ValueRef::Int(value) => key.int(value),
        ValueRef::Float(value) => key.float(value),
        ValueRef::Bool(value) => key.bool(value),
        ValueRef::Text(text) => key.variable(text.as_bytes()),
        ValueRef::Bytes(bytes) => key.variable(bytes),
    }
}

/// Takes the values of a [`Key`], one after the other, for the columns of an index.
pub struct KeyEncoder<'a> {
    columns: &'a KeyColumns<'a>,
    used: usize,
    key: KeyBuilder,
}

impl<'a> KeyEncoder<'a> {
    #[inline]
    fn new(columns: &'a KeyColumns<'a>) -> Self {
        Self { columns, used: 0, key: KeyBuilder::default() }
    }

    /// Takes the value of the next column.
    ///
    /// # Errors
    /// When it is not of the column's type, or there is no further column.
    #[inline]
    pub fn push<'v>(&mut self, value: impl Into<ValueRef<'v>>) -> Result<(), KeyError> {
        let value = value.into();
        let Some(&number) = self.columns.columns.get(self.used) else {
            let expected = format!("at most {}", self.columns.columns.len());
            return Err(self.columns.wrong_count(self.used + 1, expected));
        };
        let column = self.columns.column(number);
        if !(value.is_of(column.kind) || value.is_null() && column.nullable) {
            return Err(self.columns.wrong_type(column, value));
        }
        push_value(&mut self.key, value, column.nullable);
        self.used += 1;
        Ok(())
    }

    /// Takes an integer that may be beyond what any column holds.
    #[inline]
    fn push_unsigned(&mut self, value: u64) -> Result<(), KeyError> {
        match i64::try_from(value) {
            Ok(value) => self.push(value),
            Err(_) => Err(self.too_large(value)),
        }
    }

    #[cold]
    fn too_large(&self, value: u64) -> KeyError {
        let found = format!("the integer {value}");
        match self.columns.columns.get(self.used) {
            None => self
                .columns
                .wrong_count(self.used + 1, format!("at most {}", self.columns.columns.len())),
            Some(number) => {
                let column = self.columns.column(*number);
                let mut error = self.columns.wrong_type(column, found);
                if let (Type::Int64, KeyError::WrongType { expected, .. }) =
                    (column.kind, &mut error)
                {
                    expected.push_str(&format!(", at most {}", i64::MAX));
                }
                error
            }
        }
    }
}

/// What callers give for a key of an index, or for its first columns: one value for each column.
///
/// ```
/// use lockdb::schema::{Schema, Type};
///
/// let schema = Schema::builder("district")
///     .column("warehouse", Type::Int64)
///     .column("district", Type::Int64)
///     .column("name", Type::Text)
///     .primary_key(&["warehouse", "district"])
///     .index("by_name", &["name"])
///     .build()?;
/// let key = schema.primary().key(&(3, 10))?;
/// let of_warehouse_3 = schema.primary().prefix(&3)?.prefix_range();
/// assert!(std::ops::RangeBounds::contains(&of_warehouse_3, &key));
/// assert!(schema.secondary(0).key("Ulm").is_ok());
/// assert_eq!(
///     schema.primary().key(&(3, "ten")).unwrap_err().to_string(),
///     r#"table "district", the primary key, column "district": found the text "ten", expected Int64"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Key {
    /// Gives the values to the encoder, in the order of the index's columns.
    ///
    /// # Errors
    /// As [`KeyEncoder::push`].
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError>;
}

macro_rules! keys_of_values {
    ($($key:ty, $name:ident => $value:expr;)*) => {$(
        impl Key for $key {
            #[inline]
            fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
                let $name = self;
                encoder.push($value)
            }
        }
    )*};
}

keys_of_values! {
    i64, value => *value;
    i32, value => *value;
    u32, value => *value;
    f64, value => *value;
    bool, value => *value;
    str, value => value;
    String, value => value.as_str();
    Value, value => value;
    ValueRef<'_>, value => *value;
}

impl Key for u64 {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        encoder.push_unsigned(*self)
    }
}

/// The values of some columns, of which there may be none: before all keys.
impl Key for [Value] {
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        self.iter().try_for_each(|value| value.encode(encoder))
    }
}

impl<const COUNT: usize> Key for [Value; COUNT] {
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        self[..].encode(encoder)
    }
}

impl Key for Vec<Value> {
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        self[..].encode(encoder)
    }
}

impl<K: Key + ?Sized> Key for &K {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        (*self).encode(encoder)
    }
}

/// `None` is a null.
impl<K: Key> Key for Option<K> {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        match self {
            Some(key) => key.encode(encoder),
            None => encoder.push(ValueRef::Null),
        }
    }
}

/// No column at all: the prefix that all keys have.
impl Key for () {
    fn encode(&self, _: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        Ok(())
    }
}

macro_rules! keys_of_tuples {
    ($($($name:ident)+;)*) => {$(
        impl<$($name: Key),+> Key for ($($name,)+) {
            #[inline]
            fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
                #[allow(non_snake_case, reason = "a value is named as its type")]
                let ($($name,)+) = self;
                $($name.encode(encoder)?;)+
                Ok(())
            }
        }
    )*};
}

keys_of_tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
}
