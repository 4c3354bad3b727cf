// SPDX-License-Identifier: MIT OR Apache-2.0
//! A lock table in memory that host and device share, and the host's side of it.

use std::fs::File;
use std::time::{Duration, Instant};

use driver::map::lock_unit;
use locks::machine::{Bounds, Machine, Outcome, Request, Rule};
use locks::{Backing, LockTable, Timestamp, TupleKey};

use crate::context::{CheckError, Context, Mapped, expect};
use crate::map;

/// A table that the device's lock unit works on, too.
pub(crate) struct HostTable {
    memory: Mapped,
    table: LockTable,
    log2_buckets: u32,
    timeout: Duration,
}

impl HostTable {
    /// An empty table of `1 << log2_buckets` buckets, and the lock unit enabled on it.
    pub fn start(context: &Context<'_>, log2_buckets: u32) -> Result<Self, CheckError> {
        let memory = context.memory(64 << log2_buckets)?;
        // The same pages once more, as the table wants them.
        let file = memory.memory.file().try_clone_to_owned().map(File::from);
        let file =
            file.map_err(|error| CheckError::wrong(format!("the table's memory: {error}")))?;
        let table = LockTable::in_memory(1 << log2_buckets, Backing::Shared(&file))
            .map_err(|error| CheckError::wrong(error.to_string()))?;
        let table = Self { memory, table, log2_buckets, timeout: context.options.timeout };
        table.start_again(context)?;
        Ok(table)
    }

    /// Tells the lock unit of the table once more, after a reset.
    pub fn start_again(&self, context: &Context<'_>) -> Result<(), CheckError> {
        let base = self.memory.address;
        let write =
            |register: u32, value| context.write(map::LOCK_UNIT + u64::from(register), value);
        write(lock_unit::CONTROL.offset(), 0)?;
        write(lock_unit::TABLE_BASE.offset(), base as u32)?;
        write(lock_unit::TABLE_BASE.offset() + 4, (base >> 32) as u32)?;
        write(lock_unit::TABLE_LOG2_BUCKETS.offset(), self.log2_buckets)?;
        write(lock_unit::CONTROL.offset(), 1)?;
        let control = context.read(map::LOCK_UNIT + u64::from(lock_unit::CONTROL.offset()))?;
        expect(|| "CONTROL of the lock unit".into(), control, 1)
    }

    pub fn table(&self) -> &LockTable {
        &self.table
    }

    /// Takes the memory away from the device.
    pub fn unmap(&mut self) -> Result<(), CheckError> {
        Ok(self.memory.unmap()?)
    }

    /// Runs a request of the host.
    pub fn run(
        &self,
        transaction: Timestamp,
        key: TupleKey,
        request: Request,
    ) -> Result<Outcome, CheckError> {
        run(&self.table, transaction, key, request, self.timeout)
    }

    /// Takes a free lock.
    pub fn acquire(&self, transaction: Timestamp, key: TupleKey) -> Result<(), CheckError> {
        match self.run(transaction, key, Request::Acquire(Rule::Queue))? {
            Outcome::Granted { again: false } => Ok(()),
            other => Err(CheckError::wrong(format!("the host asked for a free lock: {other:?}"))),
        }
    }

    /// Releases a lock that the host holds; returns the next holder.
    pub fn release(
        &self,
        transaction: Timestamp,
        key: TupleKey,
    ) -> Result<Option<Timestamp>, CheckError> {
        match self.run(transaction, key, Request::Release)? {
            Outcome::Released { next } => Ok(next),
            other => {
                Err(CheckError::wrong(format!("the host released a lock that it holds: {other:?}")))
            }
        }
    }

    /// Forgets all locks.
    pub fn clear(&self) {
        self.memory.fill(0);
    }

    /// No request holds or waits for anything.
    pub fn expect_empty(&self) -> Result<(), CheckError> {
        for (index, bucket) in self.table.buckets().iter().enumerate() {
            let line = bucket.line();
            if line != [0; 8] {
                return Err(CheckError::wrong(format!(
                    "bucket {index} is {line:x?} when all is over, expected zeroes"
                )));
            }
        }
        Ok(())
    }
}

/// Runs a request of the host on a table that a device shares, which may have damaged it: there a
/// machine may find no end.
pub(crate) fn run(
    table: &LockTable,
    transaction: Timestamp,
    key: TupleKey,
    request: Request,
    bound: Duration,
) -> Result<Outcome, CheckError> {
    let bucket = &table.buckets()[table.bucket_of(key)];
    let mut machine = Machine::new(transaction, request, Bounds::BUCKET);
    let begun = Instant::now();
    loop {
        if let Some(outcome) = machine.resume(bucket.perform(machine.access())) {
            return Ok(outcome);
        }
        if begun.elapsed() > bound {
            let line = bucket.line();
            let wrong = format!("{request:?} of the host finds no end in {bound:?}: {line:x?}");
            return Err(CheckError::Wrong(wrong));
        }
    }
}
