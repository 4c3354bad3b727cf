// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of accounts, on which transfers and reads are timed.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use lockdb::schema::{Schema, Type};
use lockdb::{
    Database, Durability, Error, Isolation, Options, Session, Table, Transaction,
    TransactionOptions,
};

use crate::pin;

/// Accounts.
pub const ROWS: i64 = 100_000;
const INITIAL: i64 = 1_000_000;
const BALANCE: usize = 1;

/// No commit waits for the disk.
const UNSYNCED: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

pub struct Bank {
    store: Database,
    accounts: Arc<Table>,
    rows: i64,
}

impl Bank {
    pub fn in_memory(rows: i64) -> Result<Self, String> {
        Self::fill(Database::in_memory(Options::default()).map_err(text)?, rows)
    }

    pub fn in_folder(rows: i64, folder: &Path) -> Result<Self, String> {
        Self::fill(Database::open(folder, Options::default()).map_err(text)?, rows)
    }

    fn fill(store: Database, rows: i64) -> Result<Self, String> {
        let schema = Schema::builder("account")
            .column("id", Type::Int64)
            .column("balance", Type::Int64)
            .primary_key(&["id"])
            .build();
        let accounts = store.create_table(schema.map_err(|error| error.to_string())?);
        let accounts = accounts.map_err(text)?;
        let mut session = store.session().map_err(text)?;
        for first in (0..rows).step_by(1000) {
            let inserted = session.transaction(UNSYNCED, |transaction| {
                for id in first..(first + 1000).min(rows) {
                    transaction.insert(&accounts, &[id.into(), INITIAL.into()])?;
                }
                Ok::<_, Error>(())
            });
            inserted.map_err(text)?;
        }
        drop(session);
        Ok(Self { store, accounts, rows })
    }

    /// Bytes that a freshly loaded version takes, its entry in the VID map included, and those of
    /// its payload.
    pub fn bytes_of_a_version(&self) -> Result<(f64, f64), String> {
        let mut payload = 0;
        let read = self.store.transaction_with(UNSYNCED, |transaction| {
            let row = transaction.get(&self.accounts, &0)?.expect("it was inserted");
            payload = row.payload().len();
            Ok::<_, Error>(())
        });
        read.map_err(text)?;
        let pages = (self.store.pages_in_use() * 8192) as f64;
        Ok((pages / self.rows as f64 + 8.0, payload as f64))
    }

    /// Transfers between two random accounts, `count` on each thread; how many a second.
    pub fn transfers(&self, threads: usize, count: u64) -> Result<f64, String> {
        self.timed(threads, count, |session, random| {
            let (from, to) = random.two_below(self.rows);
            session.transaction(UNSYNCED, |transaction| self.transfer(transaction, from, to))
        })
    }

    fn transfer(&self, transaction: &mut Transaction<'_>, from: i64, to: i64) -> Result<(), Error> {
        for (account, cents) in [(from, -1), (to, 1)] {
            transaction.update(&self.accounts, &account, |row| {
                row.set_int(BALANCE, row.as_row().int(BALANCE) + cents);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Transactions that read one random account, `count` on each thread; how many a second.
    pub fn reads(&self, threads: usize, count: u64) -> Result<f64, String> {
        self.timed(threads, count, |session, random| {
            let id = random.below(self.rows);
            session.transaction(UNSYNCED, |transaction| {
                let row = transaction.get(&self.accounts, &id)?.expect("it was inserted");
                std::hint::black_box(row.int(BALANCE));
                Ok(())
            })
        })
    }

    fn timed(
        &self,
        threads: usize,
        count: u64,
        work: impl Fn(&mut Session, &mut Random) -> Result<(), Error> + Sync,
    ) -> Result<f64, String> {
        let start = Barrier::new(threads);
        let run = |number: usize| -> Result<Duration, String> {
            pin::to_processor(number);
            let mut session = self.store.session().map_err(text)?;
            let mut random = Random(number as u64 + 1);
            start.wait();
            let began = Instant::now();
            for _ in 0..count {
                work(&mut session, &mut random).map_err(text)?;
            }
            Ok(began.elapsed())
        };
        let times: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> =
                (0..threads).map(|number| scope.spawn(move || run(number))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        let mut longest = Duration::ZERO;
        for time in times {
            longest = longest.max(time?);
        }
        Ok((count * threads as u64) as f64 / longest.as_secs_f64())
    }

    /// Whether the sum of all balances is what it was.
    pub fn check(&self) -> Result<(), String> {
        let mut sum = 0;
        let read = self.store.transaction_with(UNSYNCED, |transaction| {
            sum = 0;
            transaction.scan(&self.accounts, |row| {
                sum += row.int(BALANCE);
                ControlFlow::Continue(())
            })
        });
        read.map_err(text)?;
        let expected = self.rows * INITIAL;
        if sum != expected {
            return Err(format!("the balances sum to {sum}, expected {expected}"));
        }
        Ok(())
    }
}

pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// A linear congruential generator: the least that visits rows at random. Source of the factor:
/// Knuth, MMIX.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(self.0) * limit as u128) >> 64) as i64
    }

    /// Two different ones.
    fn two_below(&mut self, limit: i64) -> (i64, i64) {
        let first = self.below(limit);
        (first, (first + 1 + self.below(limit - 1)) % limit)
    }
}
