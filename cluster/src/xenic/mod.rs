// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic (Schuh, Liang, Liu, Nelson, Krishnamurthy: SOSP 2021): distributed transactions on SmartNICs.
//!
//! - [`messages`]: the bytes of messages between NICs, and over the slot between a NIC and its host.
//! - [`index`], [`displacements`]: the NIC's index, and how much its misses read of host memory.
//! - [`log`]: the logs in host memory.
//! - [`Shared`]: what the parts of a node share: the host's memory and the NIC's.
//! - [`Application`], [`LogWorker`], [`Core`]: the machines.
//! - [`mutant`]: planted bugs.
//!
//! `docs/xenic.md` describes all of it, with what the paper leaves open and how it is decided here.

mod core;
pub mod displacements;
mod host;
pub mod index;
pub mod log;
pub mod messages;
pub mod mutant;
mod settings;
mod shared;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

pub use self::core::{Core, Dropped};
pub use host::{Application, LogWorker};
pub use mutant::{Mutant, Planted};
pub use settings::{RECORD_OVERHEAD, Settings, SettingsError};
pub use shared::{Flow, Host, Kept, KeptState, Nic, NicCore, Own, Shared};

use crate::engine::{Aside, Effects, Input, Instant, Machine as Part, Node, NodeId, Protocol};
use crate::membership::{Member, View};
use crate::placement::{Headers, Partitioning};
use crate::store::Store;
use crate::transact::Transactions;
use displacements::{Displacements, Place};
use index::Index;
use log::CoreLog;

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
}

impl<T: Transactions> PartialEq for Machine<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Application(one), Self::Application(other)) => one == other,
            (Self::LogWorker(one), Self::LogWorker(other)) => one == other,
            (Self::Core(one), Self::Core(other)) => one == other,
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
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Application(thread) => thread.deadline(),
            Self::LogWorker(worker) => worker.deadline(),
            Self::Core(core) => core.deadline(),
        }
    }
}

impl<T: Transactions> Xenic<T> {
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
        let fixed = Fixed {
            settings,
            workload,
            layout: Arc::new(layout),
            displacements: Arc::new(displacements),
            places,
            attempts: ATTEMPTS_OF_START,
        };
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

    fn shared(&self, own: NodeId) -> Shared<T> {
        let Fixed { settings, workload, layout, .. } = &*self.fixed;
        let held = layout.all().filter(|at| layout.initial_replicas(*at).contains(&own));
        let store = Store::new(workload.clone(), Arc::clone(layout), held);
        let member = Member::new(own, settings.membership, Arc::new(View::initial(layout)));
        let logs = (0..settings.cores).map(|core| CoreLog::new(core, settings)).collect();
        let host = Host { store, logs, member };
        Shared { host, nic: Nic::new(self.index(), settings), starts: 1 }
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
        shared.nic = Nic::new(self.index(), &self.fixed.settings);
        let parts = self.parts(node, shared.starts);
        Node { shared, parts }
    }

    fn manager(&self) -> Option<Node<Machine<T>>> {
        None
    }

    fn check_at_rest(&self, up: &[(NodeId, &Node<Machine<T>>)]) -> Result<(), String> {
        for (node, up) in up {
            let at = |error: String| format!("node {}: {error}", node.0);
            for part in &up.parts {
                match part {
                    Machine::Application(thread) if !thread.rests() => {
                        return Err(at("a worker does not rest".into()));
                    }
                    Machine::Core(core) => core.check_at_rest().map_err(at)?,
                    _ => {}
                }
            }
            up.shared.check_logs().map_err(at)?;
            up.shared.check_index().map_err(at)?;
        }
        for (one, primary) in up {
            for partition in self.layout().all() {
                if primary.shared.primary_of(partition) != Some(*one) {
                    continue;
                }
                for (other, backup) in up {
                    let (ours, theirs) = (&primary.shared.host.store, &backup.shared.host.store);
                    if let Some(difference) = ours.difference(theirs, partition) {
                        return Err(format!(
                            "partition {}: node {} and node {} differ: {difference}",
                            partition.0, one.0, other.0
                        ));
                    }
                }
            }
        }
        Ok(())
    }
}
