// SPDX-License-Identifier: MIT OR Apache-2.0
//! The strategy without row locks on the device: the whole table is locked.

use std::time::Duration;

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::error::NearDataJobError;

/// Lets short updates of a table pass, or one near-data update alone: what the paper calls
/// "exclusively locking the table ahead of TX_NDP", and impractical (ccSLT paper, section 3); for
/// comparison with row locks.
///
/// It is a gate of the host in front of the store, not a lock in the shared lock table, which knows
/// exclusive locks of rows alone. Each short update holds it shared from its begin to its end; a
/// near-data update takes it alone before it begins, and keeps it until its commit. An update that
/// waits to be alone keeps others from entering. The device still takes its row locks: nobody is in
/// their way, so that each is granted at once.
#[derive(Debug, Default)]
pub struct TableGate(RwLock<()>);

/// A short update has passed the gate.
#[derive(Debug)]
#[must_use = "dropped, it leaves"]
pub struct Passing<'g>(#[allow(dead_code)] RwLockReadGuard<'g, ()>);

/// A near-data update is alone behind the gate.
#[derive(Debug)]
#[must_use = "dropped, it leaves"]
pub struct Alone<'g>(#[allow(dead_code)] RwLockWriteGuard<'g, ()>);

impl TableGate {
    /// Passes, beside other short updates.
    ///
    /// # Errors
    /// [`NearDataJobError::TimedOut`] when another update is alone behind it for so long.
    pub fn pass(&self, bound: Duration) -> Result<Passing<'_>, NearDataJobError> {
        let waited_for = "a near-data update that has locked the whole table";
        let passing = self.0.try_read_for(bound);
        passing.map(Passing).ok_or(NearDataJobError::TimedOut { waited_for, bound })
    }

    /// Waits until all short updates have left, and keeps others out.
    ///
    /// # Errors
    /// [`NearDataJobError::TimedOut`] when they take so long.
    pub fn be_alone(&self, bound: Duration) -> Result<Alone<'_>, NearDataJobError> {
        let waited_for = "the short updates of a table to end";
        let alone = self.0.try_write_for(bound);
        alone.map(Alone).ok_or(NearDataJobError::TimedOut { waited_for, bound })
    }
}
