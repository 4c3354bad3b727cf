// SPDX-License-Identifier: MIT OR Apache-2.0
//! redb: a copy-on-write B-tree in one file, with one writer at a time.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use common::{
    Durability, Engine, Outcome, Reads, Value, Verdict, Writes, balance, locked_version, value,
};
use redb::{Database, ReadOnlyTable, ReadableDatabase, ReadableTable, Table, TableDefinition};

const ROWS: TableDefinition<u64, Value> = TableDefinition::new("rows");

fn main() -> ExitCode {
    common::main::<Redb>()
}

struct Redb {
    database: Database,
    durability: redb::Durability,
}

impl Engine for Redb {
    const NAME: &'static str = "redb";

    fn version() -> String {
        locked_version("redb").into()
    }

    fn open(folder: &Path, durability: Durability) -> Result<Self> {
        let database = Database::create(folder.join("redb"))?;
        let durability = match durability {
            // It writes nothing before it syncs, so there is nothing between.
            Durability::Lazy | Durability::None => redb::Durability::None,
            Durability::Group => redb::Durability::Immediate,
        };
        Ok(Self { database, durability })
    }

    fn read(&self, work: &mut dyn FnMut(&dyn Reads) -> Result<()>) -> Result<()> {
        work(&Snapshot(self.database.begin_read()?.open_table(ROWS)?))
    }

    fn write(&self, work: &mut dyn FnMut(&mut dyn Writes) -> Result<Verdict>) -> Result<Outcome> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(self.durability)?;
        if work(&mut Transaction(transaction.open_table(ROWS)?))? == Verdict::RollBack {
            return Ok(Outcome::RolledBack);
        }
        transaction.commit()?;
        Ok(Outcome::Committed)
    }
}

struct Snapshot(ReadOnlyTable<u64, Value>);

impl Reads for Snapshot {
    fn get(&self, row: u64) -> Result<i64> {
        let found = self.0.get(row)?.map(|guard| guard.value());
        balance(row, found.as_ref().map(|value| &value[..]))
    }
}

struct Transaction<'a>(Table<'a, u64, Value>);

impl Writes for Transaction<'_> {
    fn get(&mut self, row: u64) -> Result<i64> {
        let found = self.0.get(row)?.map(|guard| guard.value());
        balance(row, found.as_ref().map(|value| &value[..]))
    }

    fn put(&mut self, row: u64, balance: i64) -> Result<()> {
        self.0.insert(row, value(balance))?;
        Ok(())
    }
}
