// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a table consists of: typed columns, a primary key and secondary indexes.

use std::fmt;
use std::sync::Arc;

use super::layout::{Layout, MAX_PAYLOAD};
use super::{RowError, RowRef, SchemaError};

/// The most columns that a table may have.
pub const MAX_COLUMNS: usize = 1024;

/// The most secondary indexes that a table may have.
const MAX_INDEXES: usize = 64;

/// The longest name of a table, column or index, in bytes.
pub const MAX_NAME: usize = 255;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A 64-bit signed integer.
    Int64,
    /// A 64-bit IEEE 754 number.
    Float64,
    /// True or false.
    Bool,
    /// UTF-8 text of at most this many bytes, which every row has room for: at a fixed offset,
    /// filled up with zero bytes, so the text itself may not end in one.
    Fixed(u16),
    /// UTF-8 text of any length that fits.
    Text,
    /// Bytes, of any number that fits.
    Bytes,
}

impl Type {
    /// The bytes of such a column in the fixed area of a row, `None` if it is variable.
    pub(super) fn fixed_bytes(self) -> Option<usize> {
        match self {
            Self::Int64 | Self::Float64 | Self::Bool => Some(8),
            Self::Fixed(bytes) => Some(usize::from(bytes).next_multiple_of(8)),
            Self::Text | Self::Bytes => None,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(bytes) => write!(f, "Fixed({bytes})"),
            other => fmt::Debug::fmt(other, f),
        }
    }
}

/// One column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, of which there is one in the table.
    pub name: String,
    /// Its contents.
    pub kind: Type,
    /// Whether a row may have no value here.
    pub nullable: bool,
}

/// A secondary index of a table. Several rows may have one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its name, of which there is one in the table.
    pub name: String,
    /// The numbers of the columns that it sorts by, the first one first.
    pub columns: Vec<usize>,
}

/// The columns, keys and row layout of one table. Never changes; copies share one.
#[derive(Clone)]
pub struct Schema {
    definition: Arc<Definition>,
}

struct Definition {
    name: String,
    columns: Vec<Column>,
    primary_key: Vec<usize>,
    indexes: Vec<Index>,
    layout: Layout,
}

impl Schema {
    /// Begins a schema for a table of this name.
    pub fn builder(name: impl Into<String>) -> SchemaBuilder {
        SchemaBuilder {
            name: name.into(),
            columns: Vec::new(),
            primary_key: Vec::new(),
            indexes: Vec::new(),
        }
    }

    /// The table's name.
    pub fn name(&self) -> &str {
        &self.definition.name
    }

    /// All columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.definition.columns
    }

    /// The number of the column of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns().iter().position(|column| column.name == name)
    }

    /// The numbers of the primary key's columns, the first one first; at least one.
    pub fn primary_key(&self) -> &[usize] {
        &self.definition.primary_key
    }

    /// The secondary indexes, in order.
    pub fn indexes(&self) -> &[Index] {
        &self.definition.indexes
    }

    /// The number of the secondary index of this name.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes().iter().position(|index| index.name == name)
    }

    /// Whether `payload` is a row of this table, for bytes from a log or page that nobody has
    /// vouched for. Takes time by the number of columns and bytes only, and never panics.
    ///
    /// # Errors
    /// When it is not: with the place, what is there and what should be. Of those that pass, every
    /// [`RowRef`] can be read, and no two differ that hold the same values.
    pub fn check(&self, payload: &[u8]) -> Result<(), RowError> {
        RowRef::new(self, payload).check()
    }

    /// The bytes that the payload of every row has: up to where the variable bytes begin.
    pub fn shortest_payload(&self) -> usize {
        self.layout().variable
    }

    /// Where a column's bytes begin in the payload of every row; of a `Text` or `Bytes` column, where
    /// its end is kept.
    ///
    /// # Panics
    /// When there is no such column.
    pub fn offset_of(&self, column: usize) -> usize {
        self.layout().slots[column].offset.into()
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.definition.layout
    }

    /// Whether both are one, without looking into them.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.definition, &other.definition)
    }
}

/// Equal definitions, so equal layouts.
impl PartialEq for Schema {
    fn eq(&self, other: &Self) -> bool {
        self.is(other)
            || (self.name() == other.name()
                && self.columns() == other.columns()
                && self.primary_key() == other.primary_key()
                && self.indexes() == other.indexes())
    }
}

impl Eq for Schema {}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema")
            .field("name", &self.name())
            .field("columns", &self.columns())
            .field("primary_key", &self.primary_key())
            .field("indexes", &self.indexes())
            .finish()
    }
}

/// Collects what a [`Schema`] is to consist of; [`SchemaBuilder::build`] judges it.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is built"]
pub struct SchemaBuilder {
    name: String,
    columns: Vec<Column>,
    primary_key: Vec<String>,
    indexes: Vec<(String, Vec<String>)>,
}

impl SchemaBuilder {
    /// Adds a column in which every row has a value.
    pub fn column(self, name: impl Into<String>, kind: Type) -> Self {
        self.add(Column { name: name.into(), kind, nullable: false })
    }

    /// Adds a column in which a row may have no value.
    pub fn nullable_column(self, name: impl Into<String>, kind: Type) -> Self {
        self.add(Column { name: name.into(), kind, nullable: true })
    }

    fn add(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// Makes these columns the primary key, the first one most significant.
    pub fn primary_key(mut self, columns: &[&str]) -> Self {
        self.primary_key = columns.iter().map(|name| (*name).to_owned()).collect();
        self
    }

    /// Adds a secondary index over these columns, the first one most significant.
    pub fn index(mut self, name: impl Into<String>, columns: &[&str]) -> Self {
        self.indexes.push((name.into(), columns.iter().map(|name| (*name).to_owned()).collect()));
        self
    }

    /// The schema.
    ///
    /// # Errors
    /// When a name is empty, too long or taken, a key names no column or one that is not there or
    /// one twice, the primary key is missing or admits nulls, or a row could not fit in a page.
    pub fn build(self) -> Result<Schema, SchemaError> {
        let number_of = |key: &str, name: &String| {
            self.columns.iter().position(|column| column.name == *name).ok_or_else(|| {
                SchemaError::NoSuchColumn {
                    table: self.name.clone(),
                    key: key.to_owned(),
                    column: name.clone(),
                }
            })
        };
        let numbers = |key: &str, names: &[String]| {
            names.iter().map(|name| number_of(key, name)).collect::<Result<Vec<_>, _>>()
        };
        let primary_key = numbers(PRIMARY_KEY, &self.primary_key)?;
        let indexes = self
            .indexes
            .iter()
            .map(|(name, columns)| {
                let columns = numbers(&index_name(name), columns)?;
                Ok(Index { name: name.clone(), columns })
            })
            .collect::<Result<_, _>>()?;
        Parts { name: self.name, columns: self.columns, primary_key, indexes }.judge()
    }
}

/// How errors call the primary key.
pub(super) const PRIMARY_KEY: &str = "the primary key";

/// How errors call a secondary index.
pub(super) fn index_name(name: &str) -> String {
    format!("index {name:?}")
}

/// All that defines a schema, not yet judged.
pub(super) struct Parts {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) primary_key: Vec<usize>,
    pub(super) indexes: Vec<Index>,
}

impl Parts {
    /// The schema of these parts, if they make one.
    pub(super) fn judge(self) -> Result<Schema, SchemaError> {
        self.judge_names("table", [&self.name].into_iter())?;
        self.judge_names("column", self.columns.iter().map(|column| &column.name))?;
        self.judge_names("index", self.indexes.iter().map(|index| &index.name))?;
        self.judge_count("columns", self.columns.len(), 1, MAX_COLUMNS)?;
        self.judge_count("indexes", self.indexes.len(), 0, MAX_INDEXES)?;
        self.judge_key(PRIMARY_KEY, &self.primary_key)?;
        for index in &self.indexes {
            self.judge_key(&index_name(&index.name), &index.columns)?;
        }
        for &number in &self.primary_key {
            if self.columns[number].nullable {
                let (table, column) = (self.name.clone(), self.columns[number].name.clone());
                return Err(SchemaError::NullableKey { table, column });
            }
        }
        let layout = self.judge_layout()?;
        let Self { name, columns, primary_key, indexes } = self;
        let definition = Definition { name, columns, primary_key, indexes, layout };
        Ok(Schema { definition: Arc::new(definition) })
    }

    fn judge_names<'a>(
        &self,
        what: &'static str,
        names: impl Iterator<Item = &'a String>,
    ) -> Result<(), SchemaError> {
        let mut seen = std::collections::HashSet::new();
        for name in names {
            let (table, name) = (self.name.clone(), name.clone());
            if name.is_empty() || name.len() > MAX_NAME {
                return Err(SchemaError::Name { table, what, name, limit: MAX_NAME });
            }
            if !seen.insert(name.clone()) {
                let what = if what == "index" { "indexes" } else { "columns" };
                return Err(SchemaError::Duplicate { table, what, name });
            }
        }
        Ok(())
    }

    fn judge_count(
        &self,
        what: impl Into<String>,
        found: usize,
        least: usize,
        most: usize,
    ) -> Result<(), SchemaError> {
        if (least..=most).contains(&found) {
            return Ok(());
        }
        Err(SchemaError::Count { table: self.name.clone(), what: what.into(), found, least, most })
    }

    fn judge_key(&self, key: &str, columns: &[usize]) -> Result<(), SchemaError> {
        self.judge_count(format!("columns in {key}"), columns.len(), 1, MAX_COLUMNS)?;
        let (table, key) = (self.name.clone(), key.to_owned());
        for (position, number) in columns.iter().enumerate() {
            let Some(column) = self.columns.get(*number) else {
                return Err(SchemaError::NoSuchColumn { table, key, column: number.to_string() });
            };
            if columns[..position].contains(number) {
                let column = column.name.clone();
                return Err(SchemaError::RepeatedColumn { table, key, column });
            }
        }
        Ok(())
    }

    fn judge_layout(&self) -> Result<Layout, SchemaError> {
        for column in &self.columns {
            if let Type::Fixed(found) = column.kind
                && !(1..=MAX_PAYLOAD).contains(&usize::from(found))
            {
                return Err(SchemaError::FixedLength {
                    table: self.name.clone(),
                    column: column.name.clone(),
                    found: found.into(),
                    most: MAX_PAYLOAD,
                });
            }
        }
        Layout::of(&self.columns).map_err(|found| SchemaError::TooLong {
            table: self.name.clone(),
            found,
            limit: MAX_PAYLOAD,
        })
    }
}
