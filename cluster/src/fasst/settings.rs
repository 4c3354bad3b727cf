// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a cluster that runs FaSST.

use thiserror::Error;

use super::messages::RECORD_OVERHEAD;
use super::mutant::Planted;
use crate::bounds;
use crate::engine::Span;
use crate::membership;
use crate::placement::PlacementError;
use crate::transact::TableShape;

/// How a cluster runs FaSST.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// How many nodes there are at the start.
    pub nodes: u16,
    /// Threads of a node.
    pub threads: u8,
    /// Workers of a thread beside its master (the paper: about 20).
    pub workers: u8,
    /// Backups of a partition, and remote log replicas of a coordinator (the paper: 2).
    pub backups: u8,
    /// How many messages of one thread may be on their way to one remote machine. As many as there are
    /// workers is no limit.
    pub budget: u8,
    /// The largest message, in bytes.
    pub mtu: u16,
    /// How long a worker waits without an answer until its process ends itself.
    pub loss_timeout: Span,
    /// How often in a row a transaction is tried again at once. Later attempts wait a while before.
    pub patience: u8,
    /// The unit of that while, the longest length of which doubles with each attempt. An attempt that
    /// lasted longer is the unit itself.
    pub backoff: Span,
    /// Whether the requests of a worker's batch share a doorbell.
    pub request_batching: bool,
    /// Whether the responses of a poll share a doorbell.
    pub response_batching: bool,
    /// Whether receive buffers are posted by the head pointer alone.
    pub cheap_receives: bool,
    /// How leases are kept and views are changed. `None`: the membership never changes, there is no
    /// manager, and a node that fails is missed for ever.
    pub membership: Option<membership::Settings>,
    /// Whether a new replica is sent as many bytes as its initial rows have, too. It needs none of them,
    /// as they are functions of their keys; but a real one would, and is filled the later for it.
    pub copies_initial_rows: bool,
    /// The planted bug, if there is one.
    pub planted: Planted,
}

impl Default for Settings {
    /// The paper's, for three nodes of two threads.
    fn default() -> Self {
        Self {
            nodes: 3,
            threads: 2,
            workers: 20,
            backups: 2,
            budget: 20,
            mtu: 4096,
            loss_timeout: Span::from_us(1_000_000),
            patience: 3,
            backoff: Span::from_us(1),
            request_batching: true,
            response_batching: true,
            cheap_receives: true,
            membership: None,
            copies_initial_rows: false,
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
    /// The lengths of time of leases and retries do not fit each other.
    #[error("membership: {0}")]
    Membership(#[from] membership::SettingsError),
    /// The nodes, backups and tables do not fit each other.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// Values of a table do not fit into a message.
    #[error(
        "value_bytes of table {table} = {value}: at most {most} expected, for a message has at most \
         {mtu} bytes (mtu), {RECORD_OVERHEAD} of them beside the value"
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
            ("budget", self.budget.into(), 1, 64),
            ("mtu", self.mtu.into(), 64, 4096),
            ("loss_timeout (ps)", self.loss_timeout.as_ps(), 1, u64::MAX / 4),
            ("backoff (ps)", self.backoff.as_ps(), 0, u64::MAX / 4 / 64),
            ("tables", tables.len() as u64, 1, 256),
        ];
        let reason = |field: &str| if field == "backups" { " (fewer than nodes)" } else { "" };
        bounds::check(&bounds, reason).map_err(misfit)?;
        self.check_membership()?;
        let most = usize::from(self.mtu) - RECORD_OVERHEAD;
        match bounds::first_too_long(tables, most) {
            Some(&TableShape { name: table, value_bytes: value, .. }) => {
                Err(SettingsError::Value { table, value, most, mtu: self.mtu })
            }
            None => Ok(()),
        }
    }

    fn check_membership(&self) -> Result<(), SettingsError> {
        let Some(membership) = &self.membership else { return Ok(()) };
        membership.check()?;
        let cluster = (self.nodes, self.backups);
        membership.check_cluster(cluster, self.mtu, self.loss_timeout).map_err(misfit)
    }
}

fn misfit((field, value, expected): bounds::Misfit) -> SettingsError {
    SettingsError::Bounds { field, value, expected }
}
