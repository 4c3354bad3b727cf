// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a cluster that runs DrTM+H.

use thiserror::Error;

use super::address::MOST_TABLES;
use super::messages::CHANGE_OVERHEAD;
use super::mutant::Planted;
use crate::bounds;
use crate::engine::Span;
use crate::placement::PlacementError;
use crate::transact::TableShape;

/// By what a phase reaches other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Means {
    /// RPCs by datagrams.
    Rpc,
    /// One-sided verbs.
    Verbs,
}

/// Which phase goes how. Reads, validation and logs go by one-sided verbs in all forms, and what makes or deletes a
/// row by RPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// Whether coordinators know where each row is: one READ brings it. If not, they follow the chain of buckets.
    pub cached: bool,
    /// How rows that change are locked.
    pub lock: Means,
    /// How they get their values and are unlocked.
    pub commit: Means,
}

impl Form {
    /// DrTM+H: one-sided verbs for reads, validation and logs, RPCs for locks and commits (Xenic, sections 2.2.2
    /// and 5.1).
    pub const DRTM_H: Self = Self { cached: true, lock: Means::Rpc, commit: Means::Rpc };

    /// DrTM+H without the cache of addresses (Xenic, section 5.1: NC).
    pub const NC: Self = Self { cached: false, ..Self::DRTM_H };

    /// DrTM+R as Xenic emulates it: "one-sided RDMA, retaining DrTM+H's OCC protocol" (section 5.1).
    pub const DRTM_R: Self = Self { cached: true, lock: Means::Verbs, commit: Means::Verbs };
}

/// How a cluster runs DrTM+H.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Which phase goes how.
    pub form: Form,
    /// How many nodes there are.
    pub nodes: u16,
    /// Threads of a node.
    pub threads: u8,
    /// Workers of a thread, its coroutines.
    pub workers: u8,
    /// Backups of a partition (the paper: 2).
    pub backups: u8,
    /// The largest message of an RPC, in bytes.
    pub mtu: u16,
    /// Slots of a bucket: 4, 8 or 16 (Xenic, Table 2).
    pub slots: u8,
    /// How full the tables are, in percent of the slots of main buckets.
    pub occupancy: u8,
    /// How often in a row a transaction is tried again at once. Later attempts wait a while before.
    pub patience: u8,
    /// The unit of that while, the longest length of which doubles with each attempt. An attempt that
    /// lasted longer is the unit itself.
    pub backoff: Span,
    /// The planted bug, if there is one.
    pub planted: Planted,
}

impl Default for Settings {
    /// DrTM+H on three nodes of two threads.
    fn default() -> Self {
        Self {
            form: Form::DRTM_H,
            nodes: 3,
            threads: 2,
            workers: 20,
            backups: 2,
            mtu: 4096,
            slots: 4,
            occupancy: 90,
            patience: 3,
            backoff: Span::from_us(1),
            planted: Planted::default(),
        }
    }
}

/// A setting that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingsError {
    /// A number is outside its bounds.
    #[error("{field} = {value}: {expected} expected")]
    Bounds {
        /// The setting.
        field: &'static str,
        /// Its value.
        value: u64,
        /// What it should be.
        expected: String,
    },
    /// The nodes, backups and tables do not fit each other.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// No table of chained buckets can be like that.
    #[error("slots and occupancy: {0}")]
    Chains(String),
    /// Values of a table do not fit into a message.
    #[error(
        "value_bytes of table {table} = {value}: at most {most} expected, for a message has at most \
         {mtu} bytes (mtu), {CHANGE_OVERHEAD} of them beside the value"
    )]
    Value {
        /// The table.
        table: &'static str,
        /// The bytes of its values.
        value: u16,
        /// The most that fit.
        most: usize,
        /// The largest message.
        mtu: u16,
    },
}

impl Settings {
    /// Whether a cluster can be run by them.
    ///
    /// # Errors
    /// The first setting that cannot be.
    pub fn check(&self, tables: &[TableShape]) -> Result<(), SettingsError> {
        let bounds = [
            ("nodes", u64::from(self.nodes), 1, 1024),
            ("threads", self.threads.into(), 1, 64),
            ("workers", self.workers.into(), 1, 64),
            ("backups", self.backups.into(), 0, u64::from(self.nodes).saturating_sub(1).min(7)),
            ("mtu", self.mtu.into(), 64, 4096),
            ("occupancy", self.occupancy.into(), 1, 100),
            ("backoff (ps)", self.backoff.as_ps(), 0, u64::MAX / 4 / 64),
            ("tables", tables.len() as u64, 1, MOST_TABLES as u64),
        ];
        let reason = |field: &str| if field == "backups" { " (fewer than nodes)" } else { "" };
        bounds::check(&bounds, reason).map_err(misfit)?;
        if !matches!(self.slots, 4 | 8 | 16) {
            return Err(misfit(("slots", self.slots.into(), "4, 8 or 16".into())));
        }
        let most = usize::from(self.mtu) - CHANGE_OVERHEAD;
        match bounds::first_too_long(tables, most) {
            Some(&TableShape { name: table, value_bytes: value, .. }) => {
                Err(SettingsError::Value { table, value, most, mtu: self.mtu })
            }
            None => Ok(()),
        }
    }
}

fn misfit((field, value, expected): bounds::Misfit) -> SettingsError {
    SettingsError::Bounds { field, value, expected }
}
