// SPDX-License-Identifier: MIT OR Apache-2.0
//! The steps of scenarios, as words: what a session does with the store.
//!
//! | step | what |
//! |---|---|
//! | `begin` | begins; so does any other first step |
//! | `get K`, `keys A..B` | reads a row by key, or a range of keys |
//! | `value V`, `value A..B` | reads by the secondary index |
//! | `scan`, `scan %N` | reads all rows, or those whose value N divides |
//! | `lock K`, `lock K nowait`, `lock K skip` | reads a row for update |
//! | `first`, `first nowait`, `first skip` | the row of the lowest key that can be locked |
//! | `insert K V`, `set K V`, `add K N`, `delete K` | changes a row |
//! | `add all N`, `delete value V` | changes all rows that satisfy a predicate |
//! | `savepoint`, `back N` | sets a savepoint, goes back to the Nth |
//! | `commit`, `rollback` | ends |

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use lockdb::schema::{RowRef, Schema, Type};
use lockdb::{ConflictError, Error, LockWait, Order, Result, Savepoint, Table, Transaction};
use locks::LockError;

/// A table of keys and values, with an index of the values.
pub fn schema() -> Schema {
    Schema::builder("test")
        .column("id", Type::Int64)
        .column("value", Type::Int64)
        .primary_key(&["id"])
        .index("by_value", &["value"])
        .build()
        .expect("the schema is sound")
}

/// A transaction and what its steps need.
#[derive(Debug)]
pub struct Actor<'t, 's> {
    pub transaction: Transaction<'s>,
    pub table: &'t Table,
    savepoints: Vec<Savepoint>,
}

/// Rows as a step found them.
type Found = BTreeMap<i64, i64>;

impl<'t, 's> Actor<'t, 's> {
    pub fn new(transaction: Transaction<'s>, table: &'t Table) -> Self {
        Self { transaction, table, savepoints: Vec::new() }
    }

    /// Takes the steps of one cell, and returns their outcomes.
    pub fn take(&mut self, steps: &str) -> String {
        let outcomes = steps.split("; ").map(|step| self.take_one(step)).collect::<Vec<_>>();
        let telling = outcomes.iter().filter(|outcome| *outcome != "ok").cloned();
        let telling: Vec<String> = telling.collect();
        if telling.is_empty() { "ok".into() } else { telling.join("; ") }
    }

    fn take_one(&mut self, step: &str) -> String {
        self.try_one(step).unwrap_or_else(|error| told(&error))
    }

    fn try_one(&mut self, step: &str) -> Result<String> {
        let words: Vec<&str> = step.split(' ').collect();
        let number = |at: usize| words[at].parse::<i64>().unwrap_or_else(|_| panic!("{step}"));
        let (transaction, table) = (&mut self.transaction, self.table);
        match words[0] {
            "begin" => Ok("ok".into()),
            "get" => Ok(shown(&one(transaction.get(table, &number(1))?))),
            "keys" => {
                let (low, high) = bounds(words[1]);
                let mut found = Found::new();
                transaction.range(table, low..=high, Order::Ascending, collect(&mut found))?;
                Ok(shown(&found))
            }
            "value" => Ok(shown(&self.by_value(bounds(words[1]))?)),
            "scan" => {
                let divisor = words.get(1).map_or(1, |word| {
                    word.trim_start_matches('%').parse().unwrap_or_else(|_| panic!("{step}"))
                });
                let mut found = self.all()?;
                found.retain(|_, value| *value % divisor == 0);
                Ok(shown(&found))
            }
            "lock" => {
                let wait = wait(words.get(2));
                Ok(shown(&one(transaction.get_for_update(table, &number(1), wait)?)))
            }
            "first" => self.first(wait(words.get(1))),
            "insert" => {
                transaction.insert(table, &[number(1).into(), number(2).into()])?;
                Ok("ok".into())
            }
            "set" => self.change(number(1), |_| number(2)),
            "add" if words[1] == "all" => {
                for key in self.all()?.into_keys() {
                    self.change(key, |value| value + number(2))?;
                }
                Ok("ok".into())
            }
            "add" => self.change(number(1), |value| value + number(2)),
            "delete" if words[1] == "value" => self.delete_value(number(2)),
            "delete" => {
                let deleted = transaction.delete(table, &number(1))?;
                Ok(if deleted { "ok" } else { "nothing" }.into())
            }
            "savepoint" => {
                self.savepoints.push(transaction.savepoint()?);
                Ok("ok".into())
            }
            "back" => {
                transaction.rollback_to(self.savepoints[number(1) as usize - 1])?;
                Ok("ok".into())
            }
            "commit" => transaction.commit().map(|_| "ok".into()),
            "rollback" => transaction.rollback().map(|()| "ok".into()),
            _ => panic!("no step {step:?}"),
        }
    }

    fn all(&mut self) -> Result<Found> {
        let mut found = Found::new();
        self.transaction.scan(self.table, collect(&mut found))?;
        Ok(found)
    }

    fn by_value(&mut self, (low, high): (i64, i64)) -> Result<Found> {
        let mut found = Found::new();
        let visit = collect(&mut found);
        let order = Order::Ascending;
        self.transaction.range_by(self.table, "by_value", low..=high, order, visit)?;
        Ok(found)
    }

    fn change(&mut self, key: i64, to: impl FnOnce(i64) -> i64) -> Result<String> {
        let change = |row: &mut lockdb::schema::RowBuffer| {
            let value = row.as_row().int(1);
            row.set_int(1, to(value));
            Ok(())
        };
        let changed = self.transaction.update(self.table, &key, change)?;
        Ok(if changed.is_some() { "ok" } else { "nothing" }.into())
    }

    /// As SQL does it: finds rows, locks each, and looks again whether it still is one.
    fn delete_value(&mut self, value: i64) -> Result<String> {
        let mut deleted = false;
        for key in self.by_value((value, value))?.into_keys() {
            let row = self.transaction.get_for_update(self.table, &key, LockWait::Wait)?;
            if row.is_some_and(|row| row.int(1) == value) {
                deleted |= self.transaction.delete(self.table, &key)?;
            }
        }
        Ok(if deleted { "ok" } else { "nothing" }.into())
    }

    fn first(&mut self, wait: LockWait) -> Result<String> {
        for key in self.all()?.into_keys() {
            let row = self.transaction.get_for_update(self.table, &key, wait)?;
            if row.is_some() {
                return Ok(shown(&one(row)));
            }
        }
        Ok("nothing".into())
    }
}

fn wait(word: Option<&&str>) -> LockWait {
    match word {
        None => LockWait::Wait,
        Some(&"nowait") => LockWait::Fail,
        Some(&"skip") => LockWait::Skip,
        Some(other) => panic!("no way to wait: {other:?}"),
    }
}

fn bounds(words: &str) -> (i64, i64) {
    let (low, high) = words.split_once("..").unwrap_or((words, words));
    let number = |word: &str| word.parse().unwrap_or_else(|_| panic!("no range: {words}"));
    (number(low), number(high))
}

fn one(row: Option<RowRef<'_>>) -> Found {
    row.map(|row| (row.int(0), row.int(1))).into_iter().collect()
}

fn collect(found: &mut Found) -> impl FnMut(RowRef<'_>) -> ControlFlow<()> + '_ {
    |row| {
        let twice = found.insert(row.int(0), row.int(1));
        assert_eq!(twice, None, "a scan visits a row once");
        ControlFlow::Continue(())
    }
}

fn shown(found: &Found) -> String {
    let rows: Vec<String> = found.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if rows.is_empty() { "nothing".into() } else { rows.join(" ") }
}

/// An error in the words of the tables.
fn told(error: &Error) -> String {
    let words = match error {
        Error::Conflict(ConflictError::Write { .. }) => "write conflict",
        Error::Conflict(ConflictError::Read { .. }) => "read conflict",
        Error::Conflict(ConflictError::Lock { source, .. }) => return refusal(source),
        Error::DuplicateKey { .. } => "duplicate",
        Error::Ended { .. } => "ended",
        other => return other.to_string(),
    };
    words.into()
}

/// Why a lock was not had, in the words of the tables.
pub fn refusal(error: &LockError) -> String {
    let words = match error {
        LockError::Busy { .. } => "busy",
        LockError::Deadlock { .. } => "deadlock",
        LockError::Died { .. } => "died",
        other => return other.to_string(),
    };
    words.into()
}
