// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions of the host alone, one operation at a time.

use std::ops::ControlFlow;

use history::{Read, Scan, TransactionRecorder};
use lockdb::schema::RowRef;
use lockdb::{Error, Session, Transaction};
use ndp_runtime::host::JobOptions;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::world::{COUNTER, ID, PREVIOUS, VERSION, World, level, row};
use crate::near_data::scene::unsynced;

/// A running transaction of the host, and what it has yet to do.
pub struct Lane<'a> {
    world: &'a World,
    transaction: Transaction<'a>,
    recorder: TransactionRecorder<'a>,
    left: u32,
    /// What it has added to counters, less those that it has deleted.
    counted: i64,
    random: ChaCha8Rng,
}

/// How a transaction ended: what it has added to counters, if it was committed.
pub type Ended = Option<i64>;

impl<'a> Lane<'a> {
    pub fn begin(
        world: &'a World,
        session: &'a mut Session,
        recorder: &'a mut history::SessionRecorder,
        mut random: ChaCha8Rng,
    ) -> Self {
        let isolation = world.isolation(&mut random);
        let mut recorder = recorder.begin(level(isolation));
        let transaction = session.begin(unsynced(isolation));
        recorder.snapshot(transaction.snapshot());
        let left = random.random_range(1..6);
        Self { world, transaction, recorder, left, counted: 0, random }
    }

    /// The next operation; in the end the commit.
    pub fn step(mut self) -> Result<Self, Ended> {
        if self.left == 0 {
            return Err(self.end());
        }
        self.left -= 1;
        match self.perform() {
            Ok(()) => Ok(self),
            Err(error) => {
                assert!(error.is_conflict(), "no reason to give up: {error}");
                self.recorder.abort();
                Err(None)
            }
        }
    }

    fn end(mut self) -> Ended {
        if self.random.random_ratio(1, 10) {
            self.transaction.rollback().unwrap();
            self.recorder.abort();
            return None;
        }
        match self.transaction.commit() {
            Ok(commit) => {
                self.recorder.commit(commit);
                Some(self.counted)
            }
            Err(error) => {
                assert!(error.is_conflict(), "no reason to give up: {error}");
                self.recorder.abort();
                None
            }
        }
    }

    fn perform(&mut self) -> Result<(), Error> {
        let key = self.random.random_range(0..self.world.keys);
        match self.random.random_range(0..12) {
            0..3 => self.get(key),
            3..8 => self.update(key),
            8 => self.insert(key),
            9 => self.delete(key),
            10 => self.scan(),
            _ => self.near_scan(),
        }
    }

    fn get(&mut self, key: i64) -> Result<(), Error> {
        match self.transaction.get(&self.world.table, &key)? {
            Some(row) => self.recorder.read(key as u64, row.int(VERSION) as u64),
            None => self.recorder.absent(key as u64),
        }
        Ok(())
    }

    fn update(&mut self, key: i64) -> Result<(), Error> {
        let version = self.recorder.version();
        let seen = self.transaction.update(&self.world.table, &key, |row| {
            let (seen, counter) = (row.as_row().int(VERSION), row.as_row().int(COUNTER));
            row.set_int(VERSION, version as i64);
            row.set_int(PREVIOUS, seen);
            row.set_int(COUNTER, counter + 1);
            Ok(seen)
        })?;
        match seen {
            Some(seen) => {
                self.recorder.read(key as u64, seen as u64);
                self.recorder.write(key as u64, version);
                self.counted += 1;
            }
            None => self.recorder.absent(key as u64),
        }
        Ok(())
    }

    fn insert(&mut self, key: i64) -> Result<(), Error> {
        let version = self.recorder.version();
        match self.transaction.insert(&self.world.table, &row(key, version as i64)) {
            Ok(()) => {
                self.recorder.absent(key as u64);
                self.recorder.write(key as u64, version);
                Ok(())
            }
            Err(Error::DuplicateKey { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn delete(&mut self, key: i64) -> Result<(), Error> {
        // Its counter goes with it: look at it under its lock.
        let table = &self.world.table;
        let locked = self.transaction.get_for_update(table, &key, Default::default())?;
        let Some(counter) = locked.map(|row| row.int(COUNTER)) else {
            self.recorder.absent(key as u64);
            return Ok(());
        };
        let version = self.recorder.version();
        if self.transaction.delete(table, &key)? {
            self.recorder.delete(key as u64, version);
            self.counted -= counter;
        }
        Ok(())
    }

    fn scan(&mut self) -> Result<(), Error> {
        let mut scan = Scan::of_keys(0, u64::MAX);
        self.transaction.scan(&self.world.table, |row: RowRef<'_>| {
            scan.keys.push(Read::new(row.int(ID) as u64, row.int(VERSION) as u64));
            ControlFlow::Continue(())
        })?;
        self.recorder.scan(scan);
        Ok(())
    }

    /// A read by the device, of a table that the transaction has not written.
    fn near_scan(&mut self) -> Result<(), Error> {
        if self.recorder.writes() > 0 {
            return Ok(());
        }
        let (transaction, jobs) = (&mut self.transaction, JobOptions::default());
        let read = super::near::scan(self.world, transaction, &mut self.recorder, &jobs);
        // A read that fails leaves the transaction as it is.
        if let Err(failure) = read {
            self.world.failed(&failure);
        }
        Ok(())
    }
}
