// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workloads on `lockdb`'s own store.

use std::ops::ControlFlow;
use std::sync::Arc;

use lockdb::schema::{Key, KeyEncoder, KeyError, RowBuffer, RowRef, Schema, Type, ValueRef};
use lockdb::{Database, Table, Transaction, TransactionOptions};

use super::schema::{ColumnKind, TableDefinition, TableId, Value};
use super::store::{Access, Body, ConsistencyError, Load, Order, Outcome, Row, RowMut, Session};

/// Rows that one transaction of a population inserts.
const BATCH: usize = 1_000;

/// Why a transaction on the store has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database is not sound.
    #[error(transparent)]
    Violation(#[from] ConsistencyError),
    /// The store's reason.
    #[error(transparent)]
    Store(#[from] lockdb::Error),
    /// A load that continues finds a table that it would have made otherwise.
    #[error("table {table:?} is there with other columns or keys, expected none, or the same")]
    OtherTable {
        /// The table.
        table: String,
    },
    /// A load that continues finds a row that it would have made otherwise.
    #[error(
        "table {table:?} has another row of key {key} than this load makes, expected none, or the \
         same"
    )]
    OtherRow {
        /// The table.
        table: String,
        /// The row's key.
        key: String,
    },
}

/// Fills a store with a population. The tables are `lockdb`'s; fixed bytes are [`Type::Bytes`]
/// there, because its fixed columns hold texts.
///
/// Rows are committed some thousand at a time: a load that is broken off leaves the first of them. One
/// that [continues](StoreLoader::going_on) with the same rows then adds the others.
#[derive(Debug)]
pub struct StoreLoader<'d> {
    database: &'d Database,
    tables: Vec<Arc<Table>>,
    /// For each table whether it had been there before.
    old: Vec<bool>,
    rows: Vec<(usize, RowBuffer)>,
    goes_on: bool,
    loaded: Loaded,
}

/// How far a load is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// Rows that it has inserted and committed.
    pub inserted: u64,
    /// Rows that had been there.
    pub kept: u64,
}

impl<'d> StoreLoader<'d> {
    /// Loads into `database`, which has no tables of the workload's names yet.
    pub fn new(database: &'d Database) -> Self {
        Self {
            database,
            tables: Vec::new(),
            old: Vec::new(),
            rows: Vec::new(),
            goes_on: false,
            loaded: Loaded::default(),
        }
    }

    /// Loads into `database`, where the same load may have been broken off: tables and rows that are
    /// there stay, if they are as this load makes them.
    pub fn going_on(database: &'d Database) -> Self {
        Self { goes_on: true, ..Self::new(database) }
    }

    /// How far it is.
    pub fn loaded(&self) -> Loaded {
        self.loaded
    }

    /// Makes a table; gives its number.
    ///
    /// # Errors
    /// When there is one of its name, which a load that continues has not made.
    pub fn add_table(&mut self, schema: Schema) -> Result<usize, StoreError> {
        let found = if self.goes_on { self.database.table(schema.name()).ok() } else { None };
        let old = found.is_some();
        let table = match found {
            Some(table) if *table.schema() == schema => table,
            Some(table) => return Err(StoreError::OtherTable { table: table.name().into() }),
            None => self.database.create_table(schema)?,
        };
        self.tables.push(table);
        self.old.push(old);
        Ok(self.tables.len() - 1)
    }

    /// Takes one row of a table that it has.
    ///
    /// # Errors
    /// As [`Load::row`]; when a row of its key is there, which this load does not make.
    pub fn add_row(&mut self, table: usize, row: RowBuffer) -> Result<(), StoreError> {
        self.rows.push((table, row));
        if self.rows.len() == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let Self { database, tables, old, rows, loaded, .. } = self;
        let kept = database.transaction(|transaction| {
            let mut kept = 0;
            for (number, row) in &*rows {
                let table = &tables[*number];
                match old[*number] && is_there(transaction, table, row)? {
                    true => kept += 1,
                    false => transaction.insert_row(table, row)?,
                }
            }
            Ok::<_, StoreError>(kept)
        })?;
        loaded.kept += kept;
        loaded.inserted += rows.len() as u64 - kept;
        rows.clear();
        Ok(())
    }
}

/// Whether a table has just this row.
fn is_there(
    transaction: &mut Transaction<'_>,
    table: &Table,
    row: &RowBuffer,
) -> Result<bool, StoreError> {
    let row = row.as_row();
    let columns = table.schema().primary_key();
    let key: Vec<_> = columns.iter().map(|&at| row.get(at).to_value()).collect();
    match transaction.get(table, &key[..])? {
        None => Ok(false),
        Some(found) if found.payload() == row.payload() => Ok(true),
        Some(_) => {
            let name = |&at: &usize| &table.schema().columns()[at].name;
            let key = columns.iter().zip(&key);
            let key: Vec<_> =
                key.map(|(at, value)| format!("{} = {}", name(at), value.as_ref())).collect();
            Err(StoreError::OtherRow { table: table.name().into(), key: key.join(", ") })
        }
    }
}

impl Load for StoreLoader<'_> {
    type Error = StoreError;

    fn create(&mut self, tables: &'static [TableDefinition]) -> Result<(), StoreError> {
        tables.iter().try_for_each(|table| self.add_table(schema(table)?).map(drop))
    }

    fn row(&mut self, table: TableId, row: &[Value<'_>]) -> Result<(), StoreError> {
        let mut buffer = RowBuffer::new(self.tables[table.0].schema());
        buffer.fill(row).map_err(lockdb::Error::from)?;
        self.add_row(table.0, buffer)
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        self.flush()
    }
}

fn schema(table: &TableDefinition) -> Result<Schema, lockdb::Error> {
    let mut schema = Schema::builder(table.name);
    for column in table.columns {
        let kind = match column.kind {
            ColumnKind::Int => Type::Int64,
            ColumnKind::Fixed(_) => Type::Bytes,
            ColumnKind::Text(_) => Type::Text,
        };
        schema = match column.nullable {
            true => schema.nullable_column(column.name, kind),
            false => schema.column(column.name, kind),
        };
    }
    let names = |columns: &[usize]| -> Vec<&'static str> {
        columns.iter().map(|&column| table.columns[column].name).collect()
    };
    let key: Vec<usize> = (0..table.key_columns).collect();
    schema = schema.primary_key(&names(&key));
    for index in table.indexes {
        schema = schema.index(index.name, &names(index.columns));
    }
    Ok(schema.build()?)
}

/// One thread's access to a store that holds a workload's tables.
#[derive(Debug)]
pub struct StoreSession {
    session: lockdb::Session,
    tables: Vec<Arc<Table>>,
    /// Room for a row of each table: making it again would be felt by all threads.
    rows: Vec<RowBuffer>,
    definitions: &'static [TableDefinition],
    options: TransactionOptions,
    last: SerialPlace,
    attempts: u64,
}

/// Where a transaction stands in the serial order of a SERIALIZABLE store. Places are ordered as
/// the transactions are; those of equal places have only read, and the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SerialPlace {
    /// Its commit; of a transaction that has only read, the last commit that it saw.
    pub commit: u64,
    /// Whether it has changed nothing: it comes after the transaction whose commit it saw.
    pub has_only_read: bool,
}

impl StoreSession {
    /// Transactions run with these options; read-only ones as well.
    ///
    /// # Errors
    /// When a table is not there, or there are too many sessions.
    pub fn new(
        database: &Database,
        definitions: &'static [TableDefinition],
        options: TransactionOptions,
    ) -> Result<Self, StoreError> {
        let tables = definitions.iter().map(|definition| database.table(definition.name));
        let tables = tables.collect::<Result<Vec<Arc<Table>>, _>>()?;
        let rows = tables.iter().map(|table| RowBuffer::new(table.schema())).collect();
        let session = database.session()?;
        let last = SerialPlace::default();
        Ok(Self { session, tables, rows, definitions, options, last, attempts: 0 })
    }

    /// Where the last committed transaction stands in the serial order.
    pub fn last_place(&self) -> SerialPlace {
        self.last
    }

    /// How often a transaction was begun, those included that began again after a conflict.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }
}

/// How the work of a transaction ends without a commit.
enum End<T> {
    RolledBack(T),
    Failed(StoreError),
}

impl<T> From<lockdb::Error> for End<T> {
    fn from(error: lockdb::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl Session for StoreSession {
    type Error = StoreError;

    fn transact<B: Body>(&mut self, body: &mut B) -> Result<Outcome<B::Output>, StoreError> {
        let Self { session, tables, rows, definitions, options, last, attempts } = self;
        let mut snapshot = 0;
        let ended = session.transaction(*options, |transaction| {
            *attempts += 1;
            snapshot = transaction.snapshot();
            match body.run(&mut Inside { transaction, tables, rows, definitions }) {
                Ok(Outcome::Committed(output)) => Ok(output),
                Ok(Outcome::RolledBack(output)) => Err(End::RolledBack(output)),
                Err(error) => Err(End::Failed(error)),
            }
        });
        match ended {
            Ok(output) => {
                // A commit of its own is later than all that it saw.
                let commit = session.last_commit();
                *last = SerialPlace { commit, has_only_read: commit == snapshot };
                Ok(Outcome::Committed(output))
            }
            Err(End::RolledBack(output)) => Ok(Outcome::RolledBack(output)),
            Err(End::Failed(error)) => Err(error),
        }
    }
}

struct Inside<'i, 't> {
    transaction: &'i mut Transaction<'t>,
    tables: &'i [Arc<Table>],
    rows: &'i mut [RowBuffer],
    definitions: &'static [TableDefinition],
}

/// The beginning of a key of integers, or all of it.
struct Integers<'k>(&'k [i64]);

impl Key for Integers<'_> {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        self.0.iter().try_for_each(|part| encoder.push(*part))
    }
}

/// The beginning of a secondary index's key.
struct Prefix<'k>(&'k [Value<'k>]);

impl Key for Prefix<'_> {
    fn encode(&self, encoder: &mut KeyEncoder<'_>) -> Result<(), KeyError> {
        self.0.iter().try_for_each(|value| encoder.push(ValueRef::from(value)))
    }
}

impl<'v> From<&'v Value<'_>> for ValueRef<'v> {
    fn from(value: &'v Value<'_>) -> Self {
        match *value {
            Value::Null => ValueRef::Null,
            Value::Int(value) => ValueRef::Int(value),
            Value::Fixed(value) => ValueRef::Bytes(value),
            Value::Text(value) => ValueRef::Text(value),
        }
    }
}

impl From<Order> for lockdb::Order {
    fn from(order: Order) -> Self {
        match order {
            Order::Ascending => Self::Ascending,
            Order::Descending => Self::Descending,
        }
    }
}

impl Access for Inside<'_, '_> {
    type Error = StoreError;
    type Row<'r> = RowRef<'r>;
    type RowMut<'r> = RowBuffer;

    #[inline]
    fn get<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        read: impl FnOnce(&RowRef<'_>) -> T,
    ) -> Result<Option<T>, StoreError> {
        let row = self.transaction.get(&self.tables[table.0], &Integers(key))?;
        Ok(row.as_ref().map(read))
    }

    #[inline]
    fn update<T>(
        &mut self,
        table: TableId,
        key: &[i64],
        change: impl FnOnce(&mut RowBuffer) -> T,
    ) -> Result<Option<T>, StoreError> {
        let table = &self.tables[table.0];
        Ok(self.transaction.update(table, &Integers(key), |row| Ok(change(row)))?)
    }

    fn insert(&mut self, table: TableId, row: &[Value<'_>]) -> Result<bool, StoreError> {
        let (table, buffer) = (&self.tables[table.0], &mut self.rows[table.0]);
        buffer.fill(row).map_err(lockdb::Error::from)?;
        match self.transaction.insert_row(table, buffer) {
            Ok(()) => Ok(true),
            Err(lockdb::Error::DuplicateKey { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn delete(&mut self, table: TableId, key: &[i64]) -> Result<bool, StoreError> {
        Ok(self.transaction.delete(&self.tables[table.0], &Integers(key))?)
    }

    fn scan(
        &mut self,
        table: TableId,
        from: &[i64],
        to: &[i64],
        order: Order,
        mut visit: impl FnMut(&RowRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let range = Integers(from)..=Integers(to);
        let table = &self.tables[table.0];
        Ok(self.transaction.range(table, range, order.into(), |row| visit(&row))?)
    }

    fn scan_index(
        &mut self,
        table: TableId,
        index: usize,
        prefix: &[Value<'_>],
        order: Order,
        mut visit: impl FnMut(&RowRef<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let name = self.definitions[table.0].indexes[index].name;
        let range = Prefix(prefix)..=Prefix(prefix);
        let table = &self.tables[table.0];
        Ok(self.transaction.range_by(table, name, range, order.into(), |row| visit(&row))?)
    }
}

impl Row for RowRef<'_> {
    #[inline]
    fn is_null(&self, column: usize) -> bool {
        RowRef::is_null(*self, column)
    }

    #[inline]
    fn int(&self, column: usize) -> i64 {
        RowRef::int(*self, column)
    }

    #[inline]
    fn fixed(&self, column: usize) -> &[u8] {
        RowRef::bytes(*self, column)
    }

    #[inline]
    fn text(&self, column: usize) -> &str {
        RowRef::text(*self, column)
    }
}

impl Row for RowBuffer {
    #[inline]
    fn is_null(&self, column: usize) -> bool {
        self.as_row().is_null(column)
    }

    #[inline]
    fn int(&self, column: usize) -> i64 {
        self.as_row().int(column)
    }

    #[inline]
    fn fixed(&self, column: usize) -> &[u8] {
        self.as_row().bytes(column)
    }

    #[inline]
    fn text(&self, column: usize) -> &str {
        self.as_row().text(column)
    }
}

impl RowMut for RowBuffer {
    #[inline]
    fn set_int(&mut self, column: usize, value: i64) {
        RowBuffer::set_int(self, column, value);
    }

    fn set_fixed(&mut self, column: usize, value: &[u8]) {
        let set = self.set_ref(column, ValueRef::Bytes(value));
        set.unwrap_or_else(|error| panic!("{error}"));
    }

    fn set_text(&mut self, column: usize, value: &str) {
        let set = self.set_ref(column, ValueRef::Text(value));
        set.unwrap_or_else(|error| panic!("{error}"));
    }
}
