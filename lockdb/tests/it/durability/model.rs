// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a store must hold: rows by commit, and the comparison with what a store says.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use lockdb::schema::{Schema, Type, Value};
use lockdb::{Database, Durability, Error, Isolation, Order, Table, TransactionOptions};

/// A row by table name and key.
pub type Place = (String, i64);

/// The contents of a row beside its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub balance: i64,
    pub owner: Option<String>,
}

pub type Rows = BTreeMap<Place, Row>;

/// A commit that the workload has seen through, or does not know to have failed.
#[derive(Clone, Debug)]
pub struct Commit {
    /// Its place in the order.
    pub number: u64,
    /// What each changed row is afterwards; `None`: deleted.
    pub changes: BTreeMap<Place, Option<Row>>,
}

/// All commits of a store, and which were acknowledged when.
#[derive(Clone, Debug, Default)]
pub struct History {
    pub commits: Vec<Commit>,
    /// Steps of the folder, and the commit that was acknowledged after so many of them.
    pub acknowledged: Vec<(u64, u64)>,
}

impl History {
    /// The newest commit that was acknowledged when the folder had made so many steps.
    pub fn acknowledged_by(&self, steps: u64) -> u64 {
        let by_then = self.acknowledged.iter().filter(|&&(at, _)| at <= steps);
        by_then.map(|&(_, commit)| commit).max().unwrap_or(0)
    }

    /// The rows after all commits up to `number`.
    pub fn rows_at(&self, number: u64) -> Rows {
        let mut commits: Vec<&Commit> =
            self.commits.iter().filter(|commit| commit.number <= number).collect();
        commits.sort_by_key(|commit| commit.number);
        let mut rows = Rows::new();
        for (place, row) in commits.into_iter().flat_map(|commit| &commit.changes) {
            match row {
                Some(row) => rows.insert(place.clone(), row.clone()),
                None => rows.remove(place),
            };
        }
        rows
    }
}

/// Bank accounts, with an index that is not unique, and a column that makes rows differ in length.
pub fn schema(name: &str) -> Schema {
    Schema::builder(name)
        .column("id", Type::Int64)
        .column("balance", Type::Int64)
        .nullable_column("owner", Type::Text)
        .primary_key(&["id"])
        .index("by_owner", &["owner"])
        .build()
        .expect("a schema as it should be")
}

/// A row's values.
pub fn values(id: i64, row: &Row) -> [Value; 3] {
    let owner = row.owner.clone().map_or(Value::Null, Value::from);
    [id.into(), row.balance.into(), owner]
}

/// Rows are checked as they stand in memory, even when the log can make nothing durable any more.
const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

/// Why a store is not what it must be.
pub type Verdict<T = ()> = Result<T, String>;

/// All rows of a store; an error when its indexes say otherwise than its tables.
pub fn rows(store: &Database) -> Verdict<Rows> {
    let mut rows = Rows::new();
    for table in store.tables() {
        let scanned = scanned(store, &table).map_err(|error| error.to_string())?;
        check_primary(store, &table, &scanned)?;
        check_secondary(store, &table, &scanned)?;
        rows.extend(scanned.into_iter().map(|(id, row)| ((table.name().to_string(), id), row)));
    }
    Ok(rows)
}

fn read(row: lockdb::schema::RowRef<'_>) -> (i64, Row) {
    let owner = (!row.is_null(2)).then(|| row.text(2).to_string());
    (row.int(0), Row { balance: row.int(1), owner })
}

fn scanned(store: &Database, table: &Arc<Table>) -> Result<BTreeMap<i64, Row>, Error> {
    store.transaction_with(UNSYNCED, |transaction| {
        let mut rows = BTreeMap::new();
        transaction.scan(table, |row| {
            let (id, row) = read(row);
            assert!(rows.insert(id, row).is_none(), "row {id} stands twice");
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    })
}

fn check_primary(store: &Database, table: &Arc<Table>, rows: &BTreeMap<i64, Row>) -> Verdict {
    let found = store.transaction_with(UNSYNCED, |transaction| {
        let mut found = Vec::new();
        transaction.range::<i64>(table, .., Order::Ascending, |row| {
            found.push(read(row));
            ControlFlow::Continue(())
        })?;
        Ok::<_, Error>(found)
    });
    let found = found.map_err(|error| error.to_string())?;
    if !found.iter().map(|(id, row)| (id, row)).eq(rows) {
        return Err(format!("{}: the primary index has {found:?}, rows {rows:?}", table.name()));
    }
    Ok(())
}

fn check_secondary(store: &Database, table: &Arc<Table>, rows: &BTreeMap<i64, Row>) -> Verdict {
    let found = store.transaction_with(UNSYNCED, |transaction| {
        let mut found = Vec::new();
        transaction.range_by::<&str>(table, "by_owner", .., Order::Ascending, |row| {
            found.push(read(row));
            ControlFlow::Continue(())
        })?;
        Ok::<_, Error>(found)
    });
    let found = found.map_err(|error| error.to_string())?;
    let ordered = found.is_sorted_by(|one, other| one.1.owner <= other.1.owner);
    let number = found.len();
    let found: BTreeMap<i64, Row> = found.into_iter().collect();
    if !ordered || number != rows.len() || found != *rows {
        return Err(format!("{}: the index by owner has {found:?}, rows {rows:?}", table.name()));
    }
    Ok(())
}

/// Compares a store with what a history says of the commits up to the last one that it has, which
/// must be `least` or later.
pub fn check(store: &Database, history: &History, least: u64) -> Verdict {
    let last = store.published();
    if last < least {
        return Err(format!("commits end at {last}, but {least} was acknowledged"));
    }
    let (found, expected) = (rows(store)?, history.rows_at(last));
    if found == expected {
        return Ok(());
    }
    let keys: std::collections::BTreeSet<&Place> = found.keys().chain(expected.keys()).collect();
    let differences = keys.into_iter().filter(|&key| found.get(key) != expected.get(key));
    let differences = differences.map(|key| {
        let (found, expected) = (found.get(key), expected.get(key));
        format!("\n  {key:?}: {found:?}, expected {expected:?}")
    });
    let differences: String = differences.take(5).collect();
    Err(format!("rows as of commit {last} (acknowledged: {least}):{differences}"))
}
