// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of the host that a NIC searches, and the rules that keep its index right.

use std::collections::BTreeSet;
use std::fmt;
use std::thread;
use std::time::Duration;

use driver::{LookUpOperation, LookUpStatus};
use parking_lot::Mutex;
use tables::memory::AtomicMemory;
use tables::robin_hood::RobinHoodTable;
use tables::{RemoteTable, TableError};

use super::error::LookUpError;
use super::port::{LookUpPort, Reply};

/// How often an eviction is tried while somebody has the object, and how long to wait between.
const EVICTIONS: u32 = 50;
const PAUSE: Duration = Duration::from_micros(100);

/// Who locks: a transaction, by a number that no other one has at the time.
pub type Owner = u16;

/// An object as the NIC has found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// Its version.
    pub version: u32,
    /// The first word of its value, or the value's address in the table's heap.
    pub word: u64,
    /// Whether the value lies out of line.
    pub is_out_of_line: bool,
}

/// A table in memory that the host's threads and a look-up unit share.
///
/// The unit caches objects. What is cached is right as long as each change of the table is known to it, so
/// the table is changed only here: by [`LookedUp::update`] under the object's lock, whose new value the index
/// has before the table; or by [`LookedUp::insert`], [`LookedUp::overwrite`] and [`LookedUp::remove`], after which the
/// object is evicted. Host threads read with [`LookedUp::get`].
pub struct LookedUp<P> {
    table: RobinHoodTable<AtomicMemory>,
    port: Mutex<P>,
    /// Keys that have changed and could not be evicted.
    owed: Mutex<BTreeSet<u64>>,
}

impl<P> fmt::Debug for LookedUp<P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let objects = self.table.statistics().objects;
        write!(formatter, "LookedUp({objects} objects, {} owed)", self.owed.lock().len())
    }
}

impl<P: LookUpPort> LookedUp<P> {
    /// A table that is changed here alone, and who searches it with an index that is empty.
    pub fn new(table: RobinHoodTable<AtomicMemory>, port: P) -> Self {
        LookedUp { table, port: Mutex::new(port), owed: Mutex::default() }
    }

    /// Does something with the port.
    pub fn with_port<T>(&self, act: impl FnOnce(&mut P) -> T) -> T {
        act(&mut self.port.lock())
    }

    /// Copies the value of a key as the host's table has it, and says its version. The NIC is not asked.
    pub fn get(&self, key: u64, value: &mut Vec<u8>) -> Option<u64> {
        self.table.get(key, value)
    }

    /// What is in the table.
    pub fn statistics(&self) -> tables::Statistics {
        self.table.statistics()
    }

    /// Looks a key up by the NIC: in its index, or else in the table.
    ///
    /// # Errors
    /// [`LookUpError::Ended`] when another owner has the lock, or the look-up did not come to its end.
    pub fn look_up(&self, key: u64) -> Result<Option<Object>, LookUpError> {
        let reply = self.ask(key, LookUpOperation::LookUp)?;
        object(key, "look-up", reply)
    }

    /// Locks a key for an owner, and looks it up. The owner has the lock whenever this is no error, also when
    /// there is no such object, and gives it back by [`LookedUp::unlock`].
    ///
    /// # Errors
    /// [`LookUpError::Ended`] when another owner has the lock, or there is no place for one. When the look-up
    /// did not come to its end the lock has been given back.
    pub fn lock(&self, key: u64, owner: Owner) -> Result<Option<Object>, LookUpError> {
        let reply = self.ask(key, LookUpOperation::LockAndRead { owner })?;
        if matches!(reply.status, LookUpStatus::GaveUp | LookUpStatus::NotRead) {
            self.unlock(key, owner)?;
        }
        object(key, "lock-and-read", reply)
    }

    /// Gives a lock back.
    ///
    /// # Errors
    /// [`LookUpError::Ended`] when the owner has none.
    pub fn unlock(&self, key: u64, owner: Owner) -> Result<(), LookUpError> {
        self.must(key, "unlock", LookUpOperation::Unlock { owner })
    }

    /// Says whether an object that is cached still has a version and is not locked by another owner. What is not
    /// cached is looked up first.
    ///
    /// # Errors
    /// As [`LookedUp::look_up`].
    pub fn validate(&self, key: u64, owner: Owner, version: u32) -> Result<bool, LookUpError> {
        let reply = self.ask(key, LookUpOperation::Validate { owner, version })?;
        match reply.status {
            LookUpStatus::Done => Ok(true),
            LookUpStatus::Changed | LookUpStatus::Locked => Ok(false),
            LookUpStatus::Miss => {
                let found = self.look_up(key)?;
                Ok(found.is_some_and(|object| object.version == version))
            }
            status => Err(LookUpError::Ended { operation: "validate", key, status }),
        }
    }

    /// Gives an object that the owner has locked, and found with `object`, a new value: first in the index, which
    /// keeps it until the host's table has it too. The new version is the next one.
    ///
    /// # Errors
    /// [`LookUpError::Ended`] when the owner does not have the lock; [`LookUpError::Table`] when the host's table
    /// refuses; [`LookUpError::Version`] when it was changed by another way than these. After the last two the
    /// index has forgotten the update, or owes that ([`LookUpError::NotEvicted`]); so has the owner the lock.
    pub fn update(
        &self,
        key: u64,
        owner: Owner,
        object: Object,
        value: u64,
    ) -> Result<u32, LookUpError> {
        let version = object.version.wrapping_add(1);
        let update = LookUpOperation::UpdateAndPin { owner, version, value };
        self.must(key, "update-and-pin", update)?;
        let applied = self.table.update(key, &value.to_le_bytes());
        self.must(key, "unpin", LookUpOperation::Unpin)?;
        match applied {
            Ok(found) if found == u64::from(version) => Ok(version),
            other => {
                self.unlock(key, owner)?;
                self.evict(key)?;
                let found = other?;
                Err(LookUpError::Version { key, found, expected: version })
            }
        }
    }

    /// Adds an object to the host's table.
    ///
    /// # Errors
    /// [`LookUpError::Table`]: nothing has changed. [`LookUpError::NotEvicted`]: it has.
    pub fn insert(&self, key: u64, value: &[u8]) -> Result<(), LookUpError> {
        self.change(key, |table| table.insert(key, value))
    }

    /// Replaces a value in the host's table without the NIC's lock: whoever has the object locked does not learn
    /// of it. Says the new version.
    ///
    /// # Errors
    /// As [`LookedUp::insert`].
    pub fn overwrite(&self, key: u64, value: &[u8]) -> Result<u64, LookUpError> {
        self.change(key, |table| table.update(key, value))
    }

    /// Takes an object out of the host's table.
    ///
    /// # Errors
    /// As [`LookedUp::insert`].
    pub fn remove(&self, key: u64) -> Result<(), LookUpError> {
        self.change(key, |table| table.delete(key))
    }

    /// Evicts what could not be evicted before.
    ///
    /// # Errors
    /// [`LookUpError::NotEvicted`] with the first key that still cannot be.
    pub fn settle(&self) -> Result<(), LookUpError> {
        let owed: Vec<u64> = self.owed.lock().iter().copied().collect();
        owed.into_iter().try_for_each(|key| self.evict(key))
    }

    /// Changes the host's table, and has the index forget the object.
    fn change<T>(
        &self,
        key: u64,
        change: impl FnOnce(&RobinHoodTable<AtomicMemory>) -> Result<T, TableError>,
    ) -> Result<T, LookUpError> {
        self.settle()?;
        let changed = change(&self.table)?;
        self.evict(key)?;
        Ok(changed)
    }

    /// Has the index forget an object, which somebody may have for a while.
    fn evict(&self, key: u64) -> Result<(), LookUpError> {
        // Noted first, so that it is owed whatever happens.
        self.owed.lock().insert(key);
        let mut status = LookUpStatus::Done;
        for tries in 0..EVICTIONS {
            if tries > 0 {
                thread::sleep(PAUSE);
            }
            status = self.ask(key, LookUpOperation::Evict)?.status;
            match status {
                LookUpStatus::Done | LookUpStatus::Unknown => {
                    self.owed.lock().remove(&key);
                    return Ok(());
                }
                LookUpStatus::Locked | LookUpStatus::Pinned => {}
                status => return Err(LookUpError::Ended { operation: "evict", key, status }),
            }
        }
        // Another thread's eviction may have crossed it out.
        self.owed.lock().insert(key);
        Err(LookUpError::NotEvicted { key, status })
    }

    /// A request that has to be carried out.
    fn must(
        &self,
        key: u64,
        name: &'static str,
        operation: LookUpOperation,
    ) -> Result<(), LookUpError> {
        match self.ask(key, operation)?.status {
            LookUpStatus::Done => Ok(()),
            status => Err(LookUpError::Ended { operation: name, key, status }),
        }
    }

    fn ask(&self, key: u64, operation: LookUpOperation) -> Result<Reply, LookUpError> {
        self.port.lock().ask(key, operation)
    }
}

/// What a look-up has found.
fn object(key: u64, operation: &'static str, reply: Reply) -> Result<Option<Object>, LookUpError> {
    let Reply { status, version, value: word } = reply;
    match status {
        LookUpStatus::Done => Ok(Some(Object { version, word, is_out_of_line: false })),
        LookUpStatus::OutOfLine => Ok(Some(Object { version, word, is_out_of_line: true })),
        LookUpStatus::Absent => Ok(None),
        status => Err(LookUpError::Ended { operation, key, status }),
    }
}
