// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic (Schuh, Liang, Liu, Nelson, Krishnamurthy: SOSP 2021): distributed transactions on SmartNICs.
//!
//! - [`messages`]: the bytes of messages between NICs, and over the slot between a NIC and its host.
//! - [`index`], [`displacements`]: the NIC's index, and how much its misses read of host memory.
//! - [`asked`]: what is asked of the index, for hardware that stands beside it.
//! - `warm`: what an index without memory for all entries has at the start of a run.
//! - [`log`]: the logs in host memory.
//! - [`Shared`]: what the parts of a node share: the host's memory and the NIC's.
//! - [`Application`], [`LogWorker`], [`Core`]: the machines.
//! - [`recovery`]: what recovery keeps and decides of it.
//! - [`mutant`]: planted bugs.
//!
//! `docs/xenic.md` describes all of it, with what the paper leaves open and how it is decided here.

pub mod asked;
mod core;
pub mod displacements;
mod host;
pub mod index;
pub mod log;
pub mod messages;
pub mod mutant;
pub mod recovery;
mod settings;
mod shared;
mod warm;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use self::core::{Core, Dropped};
pub use host::{Application, LogWorker};
pub use mutant::{Mutant, Planted};
pub use settings::{RECORD_OVERHEAD, Settings, SettingsError};
pub use shared::{Flow, Host, Kept, KeptState, Looks, Nic, NicCore, Own, Shared};

use crate::engine::{
    Aside, Effects, Input, Instant, Machine as Part, Node, NodeId, Protocol, Span,
};
use crate::membership::{Manager, Member, Phase, View};
use crate::placement::{Headers, Partitioning};
use crate::recovery::{self as recovering, AtRest, Mutant as RecoveryMutant, Recovery};
use crate::store::Store;
use crate::store::log::Log;
use crate::transact::Transactions;
use displacements::{Displacements, Place};
use index::Index;
use log::CoreLog;
use warm::Remembered;

/// Attempts have numbers of 32 bits, and each process of a node so many of them.
const ATTEMPTS_OF_START: u32 = 1 << 24;

/// What never changes in a run.
#[derive(Clone, Debug)]
pub(crate) struct Fixed<T> {
    settings: Settings,
    workload: T,
    layout: Arc<Partitioning>,
    displacements: Arc<Displacements>,
    /// The tables of a partition.
    places: Arc<[Place]>,
    /// The numbers that each process has for the attempts of a worker.
    attempts: u32,
    /// The entries that the index of each node has at the start of a run, where it is warm and there is no memory for all.
    remembered: Vec<Remembered>,
}

impl<T> Fixed<T> {
    /// Whether an index has memory for an entry of each segment of the node's own shard.
    fn has_entry_for_each_segment(&self) -> bool {
        let segments: u64 = self.places.iter().map(|place| u64::from(place.table.segments())).sum();
        segments <= u64::from(self.settings.index_entries)
    }
}

/// A cluster that runs Xenic.
#[derive(Clone, Debug)]
pub struct Xenic<T> {
    fixed: Arc<Fixed<T>>,
}

/// One part of a cluster that runs Xenic.
#[derive(Clone, Debug)]
pub enum Machine<T: Transactions> {
    /// An application thread of a host.
    Application(Application<T>),
    /// A log worker of a host.
    LogWorker(LogWorker<T>),
    /// A core of a NIC.
    Core(Box<Core<T>>),
    /// The configuration manager.
    Manager(Manager),
}

impl<T: Transactions> PartialEq for Machine<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Application(one), Self::Application(other)) => one == other,
            (Self::LogWorker(one), Self::LogWorker(other)) => one == other,
            (Self::Core(one), Self::Core(other)) => one == other,
            (Self::Manager(one), Self::Manager(other)) => one == other,
            _ => false,
        }
    }
}

impl<T: Transactions> Eq for Machine<T> {}

impl<T: Transactions> Hash for Machine<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Application(thread) => thread.hash(state),
            Self::LogWorker(worker) => worker.hash(state),
            Self::Core(core) => core.hash(state),
            Self::Manager(manager) => manager.hash(state),
        }
    }
}

impl<T: Transactions> Part for Machine<T> {
    type Shared = Shared<T>;

    fn burst(
        &mut self,
        shared: &mut Shared<T>,
        now: Instant,
        inputs: &[Input<'_>],
        out: &mut Effects,
    ) {
        match self {
            Self::Application(thread) => thread.burst(shared, now, inputs, out),
            Self::LogWorker(worker) => worker.burst(shared, now, out),
            Self::Core(core) => core.burst(shared, now, inputs, out),
            Self::Manager(manager) => manager.burst(now, inputs, out),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Application(thread) => thread.deadline(),
            Self::LogWorker(worker) => worker.deadline(),
            Self::Core(core) => core.deadline(),
            Self::Manager(manager) => manager.deadline(),
        }
    }
}

impl<T: Transactions> Machine<T> {
    /// The manager, if it is the one.
    pub fn manager(&self) -> Option<&Manager> {
        match self {
            Self::Manager(manager) => Some(manager),
            _ => None,
        }
    }

    /// Whether nothing is under way in it.
    ///
    /// # Errors
    /// A sentence for the first thing that is.
    fn check_at_rest(&self) -> Result<(), String> {
        match self {
            Self::Application(thread) if !thread.rests() => Err("a worker does not rest".into()),
            Self::Core(core) => core.check_at_rest(),
            _ => Ok(()),
        }
    }
}

impl<T: Transactions> Xenic<T> {
    /// Whether all workers of a node rest, nothing is under way in its NIC, and its logs have nothing that is still
    /// needed.
    ///
    /// # Errors
    /// A sentence for the first thing that is.
    pub fn rests(node: &Node<Machine<T>>) -> Result<(), String> {
        node.parts.iter().try_for_each(Machine::check_at_rest)?;
        node.shared.check_logs()?;
        node.shared.nic.index.busy().map_or(Ok(()), Err)
    }

    /// A cluster of these settings that runs `workload`.
    ///
    /// # Errors
    /// The first setting that cannot be.
    pub fn new(settings: Settings, workload: T) -> Result<Self, SettingsError> {
        settings.check(workload.tables())?;
        let layout = Partitioning::new(settings.nodes, settings.backups.into(), workload.tables())?;
        // Each row has a header of its own.
        let layout = layout.with_headers(Headers::Rows);
        let displacements = Displacements::new(settings.displacement, settings.occupancy)
            .map_err(|error| of_tables("displacement", settings.displacement, &error))?;
        let places = workload.tables().iter().map(|shape| {
            let place = displacements.place(shape, settings.nodes, 0);
            place.map_err(|error| of_tables("value_bytes", shape.value_bytes, &error))
        });
        let places = places.collect::<Result<Vec<_>, _>>()?.into();
        let mut fixed = Fixed {
            settings,
            workload,
            layout: Arc::new(layout),
            displacements: Arc::new(displacements),
            places,
            attempts: ATTEMPTS_OF_START,
            remembered: Vec::new(),
        };
        if fixed.settings.warm_index && !fixed.has_entry_for_each_segment() {
            fixed.remembered = warm::draw(&fixed);
        }
        Ok(Self { fixed: Arc::new(fixed) })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.fixed.settings
    }

    /// The workload.
    pub fn workload(&self) -> &T {
        &self.fixed.workload
    }

    /// Where rows belong.
    pub fn layout(&self) -> &Arc<Partitioning> {
        &self.fixed.layout
    }

    fn index(&self) -> Index {
        let Fixed { settings, workload, displacements, places, .. } = &*self.fixed;
        let value_bytes = workload.tables().iter().map(|table| table.value_bytes);
        Index::new(
            Arc::clone(displacements),
            Arc::clone(places),
            value_bytes.collect(),
            settings.index_entries as usize,
            settings.planted.is(Mutant::OwnLockConflicts),
        )
    }

    /// The index of a node at the start of a run.
    fn first_index(&self, own: NodeId) -> Index {
        let is_warm = self.fixed.settings.warm_index && self.fixed.has_entry_for_each_segment();
        self.index().warm(is_warm).remembering(self.fixed.remembered.get(own.index()).cloned())
    }

    fn shared(&self, own: NodeId) -> Shared<T> {
        let Fixed { settings, workload, layout, .. } = &*self.fixed;
        let held = layout.all().filter(|at| layout.initial_replicas(*at).contains(&own));
        let store = Store::new(workload.clone(), Arc::clone(layout), held);
        let member = Member::new(own, settings.membership, Arc::new(View::initial(layout)));
        let logs = (0..settings.cores).map(|core| CoreLog::new(core, settings)).collect();
        let of_recovery = recovering::Settings {
            mtu: settings.mtu,
            copies_initial_rows: settings.copies_initial_rows,
            planted: settings.planted.of_part(Mutant::of_recovery),
        };
        let recovery = Recovery::new(member, of_recovery);
        let host = Host { store, logs, recovery, log: Log::new(), decisions: Vec::new() };
        let nic = Nic::new(self.first_index(own), settings);
        Shared { host, nic, starts: 1, planted: settings.planted }
    }

    fn parts(&self, node: NodeId, starts: u32) -> Vec<Machine<T>> {
        let Settings { threads, log_workers, cores, .. } = self.fixed.settings;
        let fixed = || Arc::clone(&self.fixed);
        // The number before the first one. A process for which none is left begins at the end of all.
        let attempts = self.fixed.attempts;
        let attempt = starts.saturating_sub(1).checked_mul(attempts);
        let attempt = attempt.filter(|before| before.checked_add(attempts - 1).is_some());
        let attempt = attempt.unwrap_or(u32::MAX);
        let threads = (0..threads)
            .map(|number| Machine::Application(Application::new(fixed(), node, number, attempt)));
        let workers = (0..log_workers)
            .map(|number| Machine::LogWorker(LogWorker::new(fixed(), node, number)));
        let cores =
            (0..cores).map(|number| Machine::Core(Box::new(Core::new(fixed(), node, number))));
        threads.chain(workers).chain(cores).collect()
    }
}

fn of_tables(
    field: &'static str,
    value: impl Into<u64>,
    error: &dyn std::fmt::Display,
) -> SettingsError {
    SettingsError::Bounds { field, value: value.into(), expected: error.to_string() }
}

impl<T: Transactions> Protocol for Xenic<T> {
    type Machine = Machine<T>;

    fn nodes(&self) -> u16 {
        self.fixed.settings.nodes
    }

    fn start(&self, node: NodeId) -> Node<Machine<T>> {
        Node { shared: self.shared(node), parts: self.parts(node, 1) }
    }

    fn restart(&self, node: NodeId, kept: Shared<T>) -> Node<Machine<T>> {
        let mut shared = kept;
        shared.starts = shared.starts.saturating_add(1);
        if self.fixed.settings.membership.is_some() {
            recovering::restart(&mut shared);
        }
        shared.nic = Nic::new(self.index(), &self.fixed.settings);
        let parts = self.parts(node, shared.starts);
        Node { shared, parts }
    }

    fn manager(&self) -> Option<Node<Machine<T>>> {
        let mut settings = self.fixed.settings.membership?;
        if self.fixed.settings.planted.is(Mutant::Recovery(RecoveryMutant::EvictedTooEarly)) {
            settings.lease = Span::from_ps(settings.lease.as_ps() / 2);
            settings.skew = Span::default();
        }
        let manager = Manager::new(settings, &self.fixed.layout);
        let shared = self.shared(NodeId::MANAGER);
        Some(Node { shared, parts: vec![Machine::Manager(manager)] })
    }

    fn check_at_rest(&self, up: &[(NodeId, &Node<Machine<T>>)]) -> Result<(), String> {
        let epochs = up.iter().map(|(_, up)| up.shared.host.recovery.member.epoch());
        let newest = epochs.max();
        for (node, up) in up {
            let at = |error: String| format!("node {}: {error}", node.0);
            up.parts.iter().try_for_each(Machine::check_at_rest).map_err(at)?;
            // A process that is in no view, or an old one, promises nothing.
            let member = &up.shared.host.recovery.member;
            let incarnation = member.view().incarnation_of(*node);
            let is_in = *member.phase() == Phase::Installed
                && Some(member.epoch()) == newest
                && incarnation == Some(member.incarnation());
            if is_in {
                up.shared.check_logs().map_err(at)?;
                up.shared.check_index().map_err(at)?;
            }
        }
        let nodes = up.iter().map(|(node, up)| AtRest {
            node: *node,
            store: &up.shared.host.store,
            log: &up.shared.host.log,
            member: &up.shared.host.recovery.member,
        });
        recovering::check_at_rest(&nodes.collect::<Vec<_>>())
    }
}
