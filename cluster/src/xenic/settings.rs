// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a cluster that runs Xenic.

use thiserror::Error;

use super::messages::{CHANGE, HEADER, MOST_TABLES};
use super::mutant::Planted;
use crate::bounds;
use crate::engine::Span;
use crate::membership;
use crate::placement::PlacementError;
use crate::transact::TableShape;

/// The bytes of a message with a record of one change, without its value: header, transaction, one shard, one
/// change.
pub const RECORD_OVERHEAD: usize = HEADER + 8 + 1 + 1 + CHANGE;

/// How a cluster runs Xenic.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// How many nodes there are at the start.
    pub nodes: u16,
    /// Application threads of a host (A).
    pub threads: u8,
    /// Workers of an application thread.
    pub workers: u8,
    /// Log workers of a host, each a thread (L).
    pub log_workers: u8,
    /// Cores of a NIC that take part (K).
    pub cores: u8,
    /// Slots of a core, each for one transaction that it coordinates.
    pub slots: u16,
    /// Backups of a shard (the paper: 2).
    pub backups: u8,
    /// The largest message, in bytes.
    pub mtu: u16,
    /// Whether objects are read and locked by one request for each node (section 5.7: "remote operations").
    pub combined: bool,
    /// Whether logic runs on NICs (4.2.2).
    pub ships: bool,
    /// Whether logic runs on other NICs (4.2.3).
    pub multi_hop: bool,
    /// The kinds of transactions whose logic stays on the host although `ships` is on, a bit for each: the
    /// annotation of section 4.3.
    pub on_host: u64,
    /// The most entries that a NIC's index has memory for.
    pub index_entries: u32,
    /// Whether the index has cached all rows of the node's shards at the start, as after a long run, if it has memory
    /// for them.
    pub warm_index: bool,
    /// The largest displacement of an object in the host's tables (D_m).
    pub displacement: u8,
    /// How full the host's tables are, in percent.
    pub occupancy: u8,
    /// How often a log worker polls.
    pub poll: Span,
    /// How long a slot idles before it says so, and how long a mark waits for a DMA write to go with.
    pub flush: Span,
    /// How long a slot waits without an answer until its process ends itself.
    pub loss_timeout: Span,
    /// How often in a row a transaction is tried again at once. Later attempts wait a while before.
    pub patience: u8,
    /// The unit of that while, the longest length of which doubles with each attempt. An attempt that
    /// lasted longer is the unit itself.
    pub backoff: Span,
    /// How leases are kept and views are changed. `None`: the membership never changes, there is no
    /// manager, and a node that fails is missed for ever.
    pub membership: Option<membership::Settings>,
    /// Whether a new replica is sent as many bytes as its initial rows have, too.
    pub copies_initial_rows: bool,
    /// The planted bug, if there is one.
    pub planted: Planted,
}

impl Default for Settings {
    /// All switches on, for three small nodes.
    fn default() -> Self {
        Self {
            nodes: 3,
            threads: 1,
            workers: 8,
            log_workers: 1,
            cores: 2,
            slots: 16,
            backups: 2,
            // An Ethernet frame without the headers of IP and UDP, and the length of a message in it.
            mtu: 1470,
            combined: true,
            ships: true,
            multi_hop: true,
            on_host: 0,
            index_entries: 1 << 16,
            warm_index: false,
            displacement: 16,
            occupancy: 90,
            poll: Span::from_ns(1_000),
            flush: Span::from_us(50),
            loss_timeout: Span::from_us(1_000_000),
            patience: 3,
            backoff: Span::from_us(1),
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
    /// A switch is on that needs another one.
    #[error("{field} = true: {needs} = true expected with it")]
    Switch {
        /// The switch.
        field: &'static str,
        /// The one that it needs.
        needs: &'static str,
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
    /// The slots of the whole cluster that one core knows: those of its peers, of all nodes.
    pub(super) fn flows(&self) -> usize {
        usize::from(self.nodes) * usize::from(self.slots)
    }

    /// The core of the own NIC that coordinates the transactions of a worker of a thread.
    pub(super) fn core_of(&self, thread: u8, worker: u8) -> u8 {
        let number = u32::from(thread) * u32::from(self.workers) + u32::from(worker);
        (number % u32::from(self.cores)) as u8
    }

    /// Whether a cluster can be run by them.
    ///
    /// # Errors
    /// The first setting that cannot be.
    pub fn check(&self, tables: &[TableShape]) -> Result<(), SettingsError> {
        let nodes = u64::from(self.nodes);
        // An owner in an index has 16 bits.
        let most_slots = 65_535 / nodes.max(1) / u64::from(self.cores.max(1));
        let host_threads = u64::from(self.threads) + u64::from(self.log_workers);
        let bounds = [
            ("nodes", nodes, 1, 1024),
            ("threads", self.threads.into(), 1, 64),
            ("workers", self.workers.into(), 1, 255),
            ("log_workers", self.log_workers.into(), 1, 64),
            ("threads and log_workers together", host_threads, 2, 128),
            ("cores", self.cores.into(), 1, 64),
            ("slots", self.slots.into(), 1, most_slots.min(4096)),
            ("backups", self.backups.into(), 0, nodes.saturating_sub(1).min(7)),
            ("mtu", self.mtu.into(), 64, 65_000),
            ("index_entries", self.index_entries.into(), 8, 1 << 30),
            ("displacement", self.displacement.into(), 1, 63),
            ("occupancy", self.occupancy.into(), 1, 95),
            ("poll (ps)", self.poll.as_ps(), 1, u64::MAX / 4),
            ("flush (ps)", self.flush.as_ps(), 1, u64::MAX / 4),
            ("loss_timeout (ps)", self.loss_timeout.as_ps(), 1, u64::MAX / 4),
            ("backoff (ps)", self.backoff.as_ps(), 0, u64::MAX / 4 / 64),
            ("tables", tables.len() as u64, 1, MOST_TABLES as u64),
        ];
        let reason = |field: &str| match field {
            "backups" => " (fewer than nodes)",
            "slots" => " (nodes × cores × slots is at most 65,535)",
            _ => "",
        };
        bounds::check(&bounds, reason).map_err(misfit)?;
        self.check_switches()?;
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

    fn check_switches(&self) -> Result<(), SettingsError> {
        if self.multi_hop && !self.ships {
            return Err(SettingsError::Switch { field: "multi_hop", needs: "ships" });
        }
        if self.multi_hop && !self.combined {
            return Err(SettingsError::Switch { field: "multi_hop", needs: "combined" });
        }
        Ok(())
    }
}

fn misfit((field, value, expected): bounds::Misfit) -> SettingsError {
    SettingsError::Bounds { field, value, expected }
}
