// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the parts of a node share: the host's memory, which survives a process, and the NIC's, which does not.

use std::hash::{Hash, Hasher};

use super::index::{Cached, Index, Owner};
use super::log::{Address, CoreLog, Write};
use super::messages::{MOST_VERSIONS, Version};
use super::mutant::{Mutant, Planted};
use super::settings::Settings;
use crate::engine::{Aside, Instant, Key, NodeId, TransactionId};
use crate::membership::Status;
use crate::placement::PartitionId;
use crate::recovery::Recovery;
use crate::store::Store;
use crate::store::log::Log;
use crate::transact::Transactions;

/// The memory of a host.
#[derive(Clone, Debug)]
pub struct Host<T> {
    /// The rows.
    pub store: Store<T>,
    /// The logs of the NIC's cores.
    pub logs: Vec<CoreLog>,
    /// The view, the lease, and what is done for the next view.
    pub recovery: Recovery,
    /// The records of the view before, while the next one is prepared.
    pub log: Log,
    /// What changes of views have decided of this node's transactions, until the cores have seen it.
    pub decisions: Vec<(TransactionId, bool)>,
}

/// What a core of a NIC knows of a transaction of a peer's slot whose record it has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Kept {
    /// Which transaction of the slot; 0 if there was none.
    pub count: u32,
    /// What has become of the record.
    pub state: KeptState,
    /// Whether the host has applied it, so that its cell may be used again.
    pub is_applied: bool,
    /// Whether its transaction is known to have committed.
    pub is_committed: bool,
    /// Whether its objects are pinned until the host has applied the commit.
    pub is_pinned: bool,
    /// Whether a mark for it is on its way to the host.
    pub is_marked: bool,
    /// All changes that are known here.
    pub record: Vec<u8>,
}

/// Where a record is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeptState {
    /// In NIC memory only.
    #[default]
    Here,
    /// On its way to the log.
    Writing,
    /// In the log.
    Written,
}

/// What a core knows of a slot of a peer core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flow {
    /// The transaction of the slot that was served last.
    pub count: u32,
    /// Which of its messages were served: a bit for each step.
    pub steps: u128,
    /// The keys that the transaction has locked here.
    pub held: Vec<Key>,
    /// The records of an even and an odd transaction, as there are two cells.
    pub kept: [Kept; 2],
}

/// A transaction that this core coordinates, once it is validated: what recovery has to know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Own {
    /// Which transaction of the slot.
    pub count: u32,
    /// The record of all changes that are known here; empty if there is none.
    pub record: Vec<u8>,
}

/// The memory of one core of a NIC.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NicCore {
    /// The slots of the peer cores, of all nodes.
    pub flows: Vec<Flow>,
    /// The slots of the core.
    pub own: Vec<Own>,
}

/// The memory of a NIC.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nic {
    /// The index of the host's tables.
    pub index: Index,
    /// Its cores.
    pub cores: Vec<NicCore>,
    /// How often rows were looked up.
    pub looks: Aside<Looks>,
}

/// Look-ups of rows in an index, to be read, locked or validated, which did not refuse their request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Looks {
    /// How many.
    pub rows: u64,
    /// Those of rows that were cached.
    pub cached: u64,
}

impl Nic {
    /// As it is at the start of a process.
    pub fn new(index: Index, settings: &Settings) -> Self {
        let core = NicCore {
            flows: vec![Flow::default(); settings.flows()],
            own: vec![Own::default(); settings.slots.into()],
        };
        Self { index, cores: vec![core; settings.cores.into()], looks: Aside::default() }
    }

    /// Forgets all of a view that is over.
    pub fn clear(&mut self) {
        self.index.clear();
        for core in &mut self.cores {
            core.flows.fill(Flow::default());
            core.own.fill(Own::default());
        }
    }
}

/// What the parts of a node share.
#[derive(Clone, Debug)]
pub struct Shared<T> {
    /// The host's memory.
    pub host: Host<T>,
    /// The NIC's memory.
    pub nic: Nic,
    /// How often the node's process has begun.
    pub(super) starts: u32,
    pub(super) planted: Planted,
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        let (ours, theirs) = (&self.host, &other.host);
        ours.store == theirs.store
            && ours.logs == theirs.logs
            && ours.recovery == theirs.recovery
            && ours.log == theirs.log
            && ours.decisions == theirs.decisions
            && self.nic == other.nic
            && self.starts == other.starts
    }
}

impl<T> Eq for Shared<T> {}

impl<T> Hash for Shared<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.host.store.hash(state);
        self.host.logs.hash(state);
        self.host.recovery.hash(state);
        self.host.log.hash(state);
        self.host.decisions.hash(state);
        self.nic.hash(state);
        self.starts.hash(state);
    }
}

impl<T: Transactions> Shared<T> {
    /// The view, as far as two bytes tell.
    pub fn view(&self) -> u16 {
        self.host.recovery.member.epoch() as u16
    }

    /// Whether the node serves: its lease runs, and its view is not about to change.
    pub fn status(&self, now: Instant) -> Status {
        self.host.recovery.member.status(now)
    }

    /// Whether the node serves, and begins and ends transactions.
    pub fn serves(&self, now: Instant) -> bool {
        match self.status(now) {
            Status::Serving => true,
            Status::WithoutLease => self.planted.is(Mutant::LeaseNotChecked),
            Status::Stopped => false,
        }
    }

    /// The primary of a partition; `None` if no replica is left.
    #[inline]
    pub fn primary_of(&self, partition: PartitionId) -> Option<NodeId> {
        self.host.recovery.member.view().primary(partition)
    }

    /// Whether `node` replicates a partition.
    #[inline]
    pub fn replicates(&self, node: NodeId, partition: PartitionId) -> bool {
        self.host.recovery.member.view().replicas(partition).nodes().contains(&node)
    }

    /// Appends what a NIC reads of host memory, and says whether there is such memory: of a row, its version and
    /// value, and zeros.
    pub fn read_host(&self, at: u64, length: u32, to: &mut Vec<u8>) -> bool {
        let Address::Row(key) = Address::of(at) else { return false };
        let start = to.len();
        to.extend_from_slice(&[0; 4]);
        let Ok(found) = self.host.store.read(key, to) else {
            to.truncate(start);
            return false;
        };
        let number = found.version.min(u64::from(MOST_VERSIONS - 1)) as u32;
        let version = Version { number, present: found.present, to_write: false };
        to[start..start + 4].copy_from_slice(&version.word().to_le_bytes());
        to.resize(start + length as usize, 0);
        true
    }

    /// What a NIC writes to host memory lands there. Says whether there is such memory.
    pub fn write_host(&mut self, at: u64, bytes: &[u8]) -> bool {
        let core = match Address::of(at) {
            Address::Row(_) => return false,
            Address::Cell { core, .. } | Address::Marks { core } => core,
        };
        let view = self.view();
        let Host { store, logs, .. } = &mut self.host;
        let Some(log) = logs.get_mut(usize::from(core)) else { return false };
        let mut marks = Vec::new();
        let tables = store.workload().tables();
        let write =
            Write::decode(bytes, tables, store.layout().partitions(), |mark| marks.push(mark));
        let Ok(write) = write else { return false };
        // A write of a view that is over has come too late.
        if write.view == view {
            log.land(&write.entry, &marks);
        }
        true
    }

    /// Whether no record of this node's logs is still needed: all have been applied, and are known to be over.
    ///
    /// # Errors
    /// A sentence for the first record that is.
    pub(super) fn check_logs(&self) -> Result<(), String> {
        for (core, log) in self.host.logs.iter().enumerate() {
            let flows = &self.nic.cores[core].flows;
            for (name, cell) in log.records() {
                let flow = log.cell_of(name).map(|cell| &flows[cell as usize / 2]);
                let is_over = flow.is_some_and(|flow| flow.count > name.count);
                if !cell.is_applied || !is_over {
                    return Err(format!(
                        "the log of core {core} has a record of slot {} at rest, transaction {} of it: \
                         applied {}, over {is_over}",
                        name.owner, name.count, cell.is_applied
                    ));
                }
            }
        }
        Ok(())
    }

    /// Whether what the NIC has cached is what the host's tables have, with nothing locked or pinned.
    ///
    /// # Errors
    /// A sentence for the first object for which that is not so.
    pub(super) fn check_index(&self) -> Result<(), String> {
        if let Some(busy) = self.nic.index.busy() {
            return Err(format!("{busy} at rest"));
        }
        let mut value = Vec::new();
        let is_right = |key: Key, cached: Cached<'_>| {
            value.clear();
            let Ok(found) = self.host.store.read(key, &mut value) else { return false };
            found.version == u64::from(cached.version)
                && cached.value == found.present.then_some(&value[..])
        };
        match self.nic.index.wrong(is_right) {
            Some(wrong) => Err(format!("the index has another row than the host: {wrong}")),
            None => Ok(()),
        }
    }
}

/// The number of a slot in the cluster.
pub(super) fn owner_of(settings: &Settings, node: NodeId, core: u8, slot: u16) -> Owner {
    (node.0 * u16::from(settings.cores) + u16::from(core)) * settings.slots + slot
}

/// What [`owner_of`] has numbered: the node, the core and the slot.
pub(super) fn place_of(settings: &Settings, owner: Owner) -> (NodeId, u16, u16) {
    let (core, slot) = (owner / settings.slots, owner % settings.slots);
    let cores = u16::from(settings.cores);
    (NodeId(core / cores), core % cores, slot)
}
