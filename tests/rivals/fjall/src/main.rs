// SPDX-License-Identifier: MIT OR Apache-2.0
//! fjall: a log-structured merge tree in Rust.
//!
//! It has two kinds of transactions. Each is used where it was measured to be the faster: the
//! single writer, which holds a mutex from begin to end, where a commit does not wait for the
//! device, and the optimistic kind where it does. Both are serialisable.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use common::{
    Durability, Engine, Outcome, Reads, Verdict, Writes, balance, key, locked_version, value,
};
use fjall::{
    Keyspace, KeyspaceCreateOptions, OptimisticTxDatabase, OptimisticTxKeyspace, OptimisticWriteTx,
    PersistMode, Readable, SingleWriterTxDatabase, SingleWriterTxKeyspace, SingleWriterWriteTx,
};

fn main() -> ExitCode {
    common::main::<Fjall>()
}

enum Fjall {
    SingleWriter {
        database: SingleWriterTxDatabase,
        rows: SingleWriterTxKeyspace,
        persist: Option<PersistMode>,
    },
    Optimistic {
        database: OptimisticTxDatabase,
        rows: OptimisticTxKeyspace,
    },
}

impl Engine for Fjall {
    const NAME: &'static str = "fjall";

    fn version() -> String {
        locked_version("fjall").into()
    }

    fn open(folder: &Path, durability: Durability) -> Result<Self> {
        let persist = match durability {
            Durability::Lazy => None,
            Durability::None => Some(PersistMode::Buffer),
            Durability::Group => {
                let database = OptimisticTxDatabase::builder(folder).open()?;
                let rows = database.keyspace("rows", KeyspaceCreateOptions::default)?;
                return Ok(Self::Optimistic { database, rows });
            }
        };
        let database = SingleWriterTxDatabase::builder(folder).open()?;
        let rows = database.keyspace("rows", KeyspaceCreateOptions::default)?;
        Ok(Self::SingleWriter { database, rows, persist })
    }

    fn read(&self, work: &mut dyn FnMut(&dyn Reads) -> Result<()>) -> Result<()> {
        match self {
            Self::SingleWriter { database, rows, .. } => {
                work(&Inside { rows, inner: database.read_tx() })
            }
            Self::Optimistic { database, rows } => {
                work(&Inside { rows, inner: database.read_tx() })
            }
        }
    }

    fn write(&self, work: &mut dyn FnMut(&mut dyn Writes) -> Result<Verdict>) -> Result<Outcome> {
        match self {
            Self::SingleWriter { database, rows, persist } => {
                let inner = database.write_tx().durability(*persist);
                let mut transaction = Inside { rows, inner };
                if work(&mut transaction)? == Verdict::RollBack {
                    return Ok(Outcome::RolledBack);
                }
                transaction.inner.commit()?;
            }
            Self::Optimistic { database, rows } => {
                let inner = database.write_tx()?.durability(Some(PersistMode::Buffer));
                let mut transaction = Inside { rows, inner };
                if work(&mut transaction)? == Verdict::RollBack {
                    return Ok(Outcome::RolledBack);
                }
                if transaction.inner.commit()?.is_err() {
                    return Ok(Outcome::Conflict);
                }
                // Outside of the transaction, so that a sync is good for all that have
                // committed by then. With the sync inside, each one has its own.
                database.persist(PersistMode::SyncData)?;
            }
        }
        Ok(Outcome::Committed)
    }
}

/// The rows through a snapshot or a transaction.
struct Inside<'a, K, T> {
    rows: &'a K,
    inner: T,
}

impl<K: AsRef<Keyspace>, T: Readable> Inside<'_, K, T> {
    fn balance(&self, row: u64) -> Result<i64> {
        balance(row, self.inner.get(self.rows, key(row))?.as_deref())
    }
}

impl<K: AsRef<Keyspace>> Reads for Inside<'_, K, fjall::Snapshot> {
    fn get(&self, row: u64) -> Result<i64> {
        self.balance(row)
    }
}

impl Writes for Inside<'_, SingleWriterTxKeyspace, SingleWriterWriteTx<'_>> {
    fn get(&mut self, row: u64) -> Result<i64> {
        self.balance(row)
    }

    fn put(&mut self, row: u64, balance: i64) -> Result<()> {
        self.inner.insert(self.rows, key(row), value(balance));
        Ok(())
    }
}

impl Writes for Inside<'_, OptimisticTxKeyspace, OptimisticWriteTx> {
    fn get(&mut self, row: u64) -> Result<i64> {
        self.balance(row)
    }

    fn put(&mut self, row: u64, balance: i64) -> Result<()> {
        self.inner.insert(self.rows, key(row), value(balance));
        Ok(())
    }
}
