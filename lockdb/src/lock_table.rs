// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of a store's row locks: its own, in a file, or in external memory.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::sync::Arc;

use locks::{Backing, Bucket, Head, LockTable, LockTableError, Ring, SharedMemory, Timestamp};
use rustix::fs::{FlockOperation, flock};

use super::error::{Error, Result};
use super::options::Options;

/// A lock table, ready for transactions.
pub(crate) struct OpenLockTable {
    pub table: LockTable,
    /// The file that it stands in, which is this store's until it is closed.
    pub file: Option<File>,
    /// How many of the dead were taken out of it.
    pub repaired: usize,
}

/// Opens or makes the one that the options ask for. Locks of the dead that a file holds are given back.
///
/// # Errors
/// When it cannot be opened, is in use, or is not a lock table.
pub(crate) fn open(options: &Options) -> Result<OpenLockTable> {
    let failed = |error: LockTableError| match error {
        LockTableError::Memory { source, .. } => Error::system("cannot map the lock table")(source),
        error => Error::system("cannot make the lock table")(io::Error::other(error)),
    };
    if let Some(memory) = &options.lock_memory {
        let table = in_memory_of(memory, options.lock_buckets)?;
        return Ok(OpenLockTable { table, file: None, repaired: 0 });
    }
    let Some(path) = &options.lock_file else {
        let table = LockTable::new(options.lock_buckets).map_err(failed)?;
        return Ok(OpenLockTable { table, file: None, repaired: 0 });
    };
    let what = || format!("cannot open lock table {}", path.display());
    let bytes = (options.lock_buckets * size_of::<Bucket>()) as u64;
    let mut open = std::fs::OpenOptions::new();
    let file = open.read(true).write(true).create(true).truncate(false).open(path);
    let file = file.map_err(Error::system(what()))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)
        .map_err(|error| Error::system(what() + " for this store alone")(error.into()))?;
    let length = file.metadata().map_err(Error::system(what()))?.len();
    if length != 0 && length != bytes {
        let found = format!("{} of {length} bytes", path.display());
        let expected = "an empty file, or one of 64 bytes for each of `lock_buckets`";
        return Err(Error::Option { option: "lock_file", found, expected });
    }
    file.set_len(bytes).map_err(Error::system(what()))?;
    let table = LockTable::in_memory(options.lock_buckets, Backing::Shared(&file));
    let table = table.map_err(failed)?;
    for (bucket, at) in table.buckets().iter().zip(0_u64..) {
        check_bucket(bucket.line()).map_err(|what| Error::Corrupt {
            file: path.display().to_string(),
            offset: at * size_of::<Bucket>() as u64,
            what: format!("no bucket of a lock table: {what}"),
        })?;
    }
    let words = table.buckets().iter().flat_map(|bucket| bucket.line());
    let dead: BTreeSet<Timestamp> = words.filter_map(Timestamp::of_word).collect();
    let dead: Vec<Timestamp> = dead.into_iter().collect();
    table.repair(&dead);
    Ok(OpenLockTable { table, file: Some(file), repaired: dead.len() })
}

/// A lock table in external memory.
fn in_memory_of(memory: &Arc<dyn SharedMemory>, buckets: usize) -> Result<LockTable> {
    let refused = |found| {
        let expected = "zeroes from a multiple of 64 bytes on, 64 for each of `lock_buckets`";
        Err(Error::Option { option: "lock_memory", found, expected })
    };
    let table = match LockTable::in_memory(buckets, Backing::Given(memory.clone())) {
        Ok(table) => table,
        Err(_) => return refused(format!("{} bytes at {:p}", memory.bytes(), memory.start())),
    };
    match table.buckets().iter().position(|bucket| bucket.line() != [0; 8]) {
        Some(used) => refused(format!("memory whose bucket {used} is in use")),
        None => Ok(table),
    }
}

/// The invariants of every bucket that is not being changed.
fn check_bucket(line: [u64; 8]) -> Result<(), &'static str> {
    let head = Head::from_word(line[0]);
    head.check(Ring::FULL)?;
    for slot in Ring::FULL.all() {
        let word = line[slot.index()];
        if word & 0xFFFF != 0 {
            return Err("a slot holds a timestamp, in its upper 48 bits");
        }
        if head.is_waiting(slot) && word == 0 {
            return Err("who waits stands in a slot");
        }
    }
    Ok(())
}
