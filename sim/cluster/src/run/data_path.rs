// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hardware in the loop of a run: what it has to know of a node, and what it tells.

use cluster::engine::{Key, NodeId, TableNumber};
use cluster::transact::Transactions;
use serde::Serialize;
use timing::platform::PlatformFile;

use super::xenic::Switch;
use super::{RunError, Settings, SettingsError, Workload};
use crate::protocols::{Cluster, ProtocolName};
use crate::world::{DataPath, Registered, Trace, World};

/// The most rows of the node whose data path is hardware: they are stored there, in its host's table.
const MOST_ROWS: u64 = 1 << 20;
/// Bytes of a word of the index.
const WORD: u16 = 8;

/// Makes the hardware of a node.
pub type MakeDataPath<'a> = dyn FnMut(Ground<'_>) -> Result<Box<dyn DataPath>, RunError> + 'a;

/// Hardware that stands for the data path of a node's NIC.
pub struct InLoop<'a> {
    /// The node.
    pub node: u16,
    /// Makes it.
    pub make: &'a mut MakeDataPath<'a>,
}

/// What hardware has to know of its node.
pub struct Ground<'a> {
    /// The rows whose primary the node is, in the order of their tables and numbers. All are there, and stay.
    pub keys: Vec<Key>,
    /// Bytes of each value, at most eight.
    pub value_bytes: u16,
    /// Whether the index has cached all of them.
    pub is_warm: bool,
    /// The largest displacement of an object in the host's table (D_m).
    pub displacement: u8,
    /// How full the host's table is, in percent.
    pub occupancy: u8,
    /// Of all draws.
    pub seed: u64,
    /// The platform of the run.
    pub platform: PlatformFile,
    /// The memory of the node's host.
    pub host: &'a mut dyn Registered,
}

/// What hardware in the loop did, in the whole run: warm-up and end included.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DataPathReport {
    /// The node.
    pub node: String,
    /// The period of its clock, in picoseconds of virtual time.
    pub clock_ps: u64,
    /// Clock cycles that it was awake.
    pub clocks: u64,
    /// Those in which an operation waited at its port.
    pub stalls: u64,
    /// Answers that were compared with those of the index.
    pub compared: u64,
    /// Look-ups that it has answered from its index.
    pub hits: Waits,
    /// Look-ups that it has answered from host memory.
    pub misses: Waits,
    /// Its other operations: updates, pins taken away, unlocks.
    pub others: Waits,
    /// What it has counted, as far as that is not 0.
    pub counters: Vec<super::CountReport>,
}

/// How long operations took, from the burst that asked for them to their answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Waits {
    /// How many.
    pub count: u64,
    /// On average, in nanoseconds of virtual time.
    pub mean_ns: f64,
    /// The longest, as well.
    pub max_ns: f64,
}

impl Settings {
    /// The node of this name, `node0` and so on, whose data path can be hardware; `flag` is what says the name.
    ///
    /// # Errors
    /// When there is none, or these settings have no data path that the hardware can be.
    pub fn node_in_loop(&self, flag: &str, name: &str) -> Result<u16, SettingsError> {
        let last = self.nodes - 1;
        let number = name.strip_prefix("node").filter(|digits| !digits.starts_with('+'));
        let node = number.and_then(|digits| digits.parse::<u16>().ok()).filter(|of| *of <= last);
        let Some(node) = node else {
            let expected = if last == 0 { "node0".into() } else { format!("node0 to node{last}") };
            return Err(SettingsError::flag(flag, name, expected));
        };
        match self.why_not_in_loop() {
            None => Ok(node),
            Some(expected) => Err(SettingsError::flag(flag, name, expected)),
        }
    }

    /// Whether there can be this hardware.
    ///
    /// # Errors
    /// As [`Settings::node_in_loop`].
    pub(super) fn check_in_loop(&self, in_loop: &InLoop<'_>) -> Result<(), SettingsError> {
        self.node_in_loop("in_loop", &format!("node{}", in_loop.node)).map(drop)
    }

    /// What would have to be otherwise.
    fn why_not_in_loop(&self) -> Option<String> {
        let Some(xenic) = self.xenic.as_ref().filter(|_| self.protocol == ProtocolName::Xenic)
        else {
            let name = self.protocol.name();
            return Some(format!("protocol xenic, as {name} has no data path in a NIC"));
        };
        let rows = match self.workload {
            Workload::SmallBank { accounts_per_thread, .. } => {
                accounts_per_thread * u64::from(self.threads)
            }
            Workload::SmallBankXenic { accounts_per_node, .. } => accounts_per_node,
            other => {
                let name = other.name();
                return Some(format!(
                    "workload smallbank or smallbank-xenic: rows of {name} come and go, or are longer than \
                     the {WORD} bytes of a word of the hardware's index"
                ));
            }
        };
        if 2 * rows > MOST_ROWS {
            let most = MOST_ROWS / 2;
            return Some(format!(
                "--keys of at most {most} accounts a node, as the host's table is stored"
            ));
        }
        if self.faults.is_some() {
            return Some("no faults: the hardware is not reset with its node".into());
        }
        let is_on_host = !xenic.on_host.is_empty() || !xenic.has(Switch::Ships);
        is_on_host.then(|| {
            "logic on the NICs (neither --on-host nor --without ships): what a host asks of its own rows does \
             not go through the hardware"
                .into()
        })
    }
}

/// The world with the hardware.
pub(super) fn with_data_path<C: Cluster, T: Trace>(
    mut world: World<C, T>,
    settings: &Settings,
    in_loop: &mut InLoop<'_>,
) -> Result<World<C, T>, RunError> {
    let node = NodeId(in_loop.node);
    let (Some(index_of), Some(memory_of)) = (C::index(), C::memory()) else {
        return Err(RunError::Impossible("the protocol has no data path in a NIC".into()));
    };
    let protocol = world.protocol().clone();
    let (workload, layout) = (protocol.workload(), protocol.layout());
    let mut lengths = workload.tables().iter().map(|table| table.value_bytes);
    let value_bytes = lengths.next().unwrap_or_default();
    if value_bytes > WORD || lengths.any(|other| other != value_bytes) {
        let expected = format!("values of one length, at most {WORD} bytes");
        return Err(RunError::Impossible(format!("hardware in the loop: expected {expected}")));
    }
    let mut value = Vec::new();
    let mut keys = Vec::new();
    for (table, shape) in (0..).zip(workload.tables()) {
        let all = (0..shape.rows).map(|row| Key { table: TableNumber(table), row });
        keys.extend(all.filter(|key| {
            value.clear();
            layout.partition_of(*key).0 == node.0 && workload.initial(*key, &mut value)
        }));
    }
    let platform = settings.platform_file()?;
    let shared = world.shared_mut(node).expect("the nodes run at the start");
    let is_warm = index_of(shared).is_warm();
    let (displacement, occupancy) = index_of(shared).shape();
    let seed = settings.seed;
    let host = memory_of(shared);
    let ground =
        Ground { keys, value_bytes, is_warm, displacement, occupancy, seed, platform, host };
    let path = (in_loop.make)(ground)?;
    Ok(world.with_data_path(node, path, index_of))
}
