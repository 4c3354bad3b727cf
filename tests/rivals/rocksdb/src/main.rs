// SPDX-License-Identifier: MIT OR Apache-2.0
//! RocksDB: a log-structured merge tree in C++.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use common::{
    Durability, Engine, Outcome, Reads, Verdict, Writes, balance, key, locked_version, value,
};
use rocksdb::{
    ErrorKind, OptimisticTransactionDB, OptimisticTransactionOptions, Options, WriteOptions,
};

fn main() -> ExitCode {
    common::main::<RocksDb>()
}

type Database = OptimisticTransactionDB;

struct RocksDb {
    database: Database,
    durability: Durability,
}

impl Engine for RocksDb {
    const NAME: &'static str = "rocksdb";

    /// The binding's version carries the engine's, as in `0.19.0+11.8.1`.
    fn version() -> String {
        let binding = locked_version("librocksdb-sys");
        binding.split_once('+').map_or(binding, |(_, engine)| engine).into()
    }

    fn open(folder: &Path, durability: Durability) -> Result<Self> {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_manual_wal_flush(durability == Durability::Lazy);
        Ok(Self { database: Database::open(&options, folder)?, durability })
    }

    fn read(&self, work: &mut dyn FnMut(&dyn Reads) -> Result<()>) -> Result<()> {
        work(&Snapshot(self.database.snapshot()))
    }

    /// Every row that is read is validated at the commit, so that transactions are
    /// serialisable.
    fn write(&self, work: &mut dyn FnMut(&mut dyn Writes) -> Result<Verdict>) -> Result<Outcome> {
        let mut options = WriteOptions::default();
        options.set_sync(self.durability == Durability::Group);
        let begin = OptimisticTransactionOptions::default();
        let mut transaction = Transaction(self.database.transaction_opt(&options, &begin));
        let ended = work(&mut transaction).and_then(|verdict| match verdict {
            Verdict::Commit => Ok(transaction.0.commit().map(|()| Outcome::Committed)?),
            Verdict::RollBack => Ok(Outcome::RolledBack),
        });
        match ended {
            Ok(outcome) => Ok(outcome),
            Err(error) if is_conflict(&error) => Ok(Outcome::Conflict),
            Err(error) => Err(error),
        }
    }
}

fn is_conflict(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<rocksdb::Error>().map(rocksdb::Error::kind);
    matches!(kind, Some(ErrorKind::Busy | ErrorKind::TryAgain | ErrorKind::TimedOut))
}

struct Snapshot<'a>(rocksdb::SnapshotWithThreadMode<'a, Database>);

impl Reads for Snapshot<'_> {
    fn get(&self, row: u64) -> Result<i64> {
        balance(row, self.0.get_pinned(key(row))?.as_deref())
    }
}

struct Transaction<'a>(rocksdb::Transaction<'a, Database>);

impl Writes for Transaction<'_> {
    fn get(&mut self, row: u64) -> Result<i64> {
        balance(row, self.0.get_pinned_for_update(key(row), true)?.as_deref())
    }

    fn put(&mut self, row: u64, balance: i64) -> Result<()> {
        Ok(self.0.put(key(row), value(balance))?)
    }
}
