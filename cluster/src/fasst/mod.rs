// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST (Kalia, Kaminsky, Andersen: OSDI 2016): distributed transactions by RPCs over unreliable
//! datagrams. Optimistic, with two-phase commit, primaries and backups, and the coordinator's log.
//!
//! - [`messages`]: the bytes of requests and responses.
//! - `worker` and `asks`: the coordinator as a state, and its requests, which [`rpc`](crate::rpc) packs.
//! - `server`: the handlers of requests.
//! - [`Thread`]: the master and the workers of a thread as one machine.
//! - [`mutant`]: planted bugs.
//!
//! `docs/fasst.md` describes all of it, with what the paper leaves open and how it is decided here.

mod asks;
mod context;
pub mod messages;
pub mod mutant;
mod server;
mod settings;
mod shared;
mod thread;
mod worker;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use context::Fixed;
pub use mutant::{Mutant, Planted};
pub use settings::{Settings, SettingsError};
pub use shared::Shared;
pub use thread::Thread;

use crate::engine::{Effects, Input, Instant, Machine as Part, Node, NodeId, Protocol, Span};
use crate::membership::Manager;
use crate::placement::Partitioning;
use crate::recovery::{self, Mutant as RecoveryMutant};
use crate::transact::Transactions;

/// Attempts have numbers of 32 bits, and each process of a node so many of them: one after the other, until
/// there are none left. A worker without a number ends its process.
const ATTEMPTS_OF_START: u32 = 1 << 24;

/// A cluster that runs FaSST.
#[derive(Clone, Debug)]
pub struct Fasst<T> {
    fixed: Arc<Fixed<T>>,
}

/// One part of a cluster that runs FaSST.
#[derive(Clone, Debug)]
pub enum Machine<T: Transactions> {
    /// A thread of a node.
    Thread(Thread<T>),
    /// The configuration manager.
    Manager(Manager),
}

impl<T: Transactions> PartialEq for Machine<T> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Thread(one), Self::Thread(other)) => one == other,
            (Self::Manager(one), Self::Manager(other)) => one == other,
            _ => false,
        }
    }
}

impl<T: Transactions> Eq for Machine<T> {}

impl<T: Transactions> Hash for Machine<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Thread(thread) => thread.hash(state),
            Self::Manager(manager) => manager.hash(state),
        }
    }
}

impl<T: Transactions> Machine<T> {
    /// The thread that it is, if it is one.
    pub fn thread(&self) -> Option<&Thread<T>> {
        match self {
            Self::Thread(thread) => Some(thread),
            Self::Manager(_) => None,
        }
    }

    /// The manager, if it is the one.
    pub fn manager(&self) -> Option<&Manager> {
        match self {
            Self::Thread(_) => None,
            Self::Manager(manager) => Some(manager),
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
            Self::Thread(thread) => thread.burst(shared, now, inputs, out),
            Self::Manager(manager) => manager.burst(now, inputs, out),
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self {
            Self::Thread(thread) => thread.deadline(),
            Self::Manager(manager) => manager.deadline(),
        }
    }
}

impl<T: Transactions> Fasst<T> {
    /// A cluster of these settings that runs `workload`.
    ///
    /// # Errors
    /// The first setting that cannot be.
    pub fn new(settings: Settings, workload: T) -> Result<Self, SettingsError> {
        settings.check(workload.tables())?;
        let layout = Partitioning::new(settings.nodes, settings.backups.into(), workload.tables())?;
        let (layout, attempts) = (Arc::new(layout), ATTEMPTS_OF_START);
        Ok(Self { fixed: Arc::new(Fixed { settings, workload, layout, attempts }) })
    }

    /// The same cluster with this number of buckets for each table in each partition. Tests make several
    /// keys share a header with it.
    #[must_use]
    pub fn with_buckets(self, buckets: u32) -> Self {
        let mut fixed = (*self.fixed).clone();
        fixed.layout = Arc::new((*fixed.layout).clone().with_buckets(buckets));
        Self { fixed: Arc::new(fixed) }
    }

    /// The same cluster with so many numbers for the attempts of a worker of each process, at least two.
    /// Tests make them few with it, to come to their end.
    #[must_use]
    pub fn with_attempts(self, attempts: u32) -> Self {
        let mut fixed = (*self.fixed).clone();
        fixed.attempts = attempts.max(2);
        Self { fixed: Arc::new(fixed) }
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

    pub(crate) fn shared(&self, node: NodeId) -> Shared<T> {
        let Fixed { settings, workload, layout, .. } = &*self.fixed;
        Shared::new(workload.clone(), Arc::clone(layout), settings, node)
    }

    fn threads(&self, node: NodeId, starts: u32) -> Vec<Machine<T>> {
        // The number before the first one. A process for which none is left begins at the end of all.
        let attempt = starts.saturating_sub(1).checked_mul(self.fixed.attempts);
        let attempt =
            attempt.filter(|before| before.checked_add(self.fixed.attempts - 1).is_some());
        let attempt = attempt.unwrap_or(u32::MAX);
        let threads = 0..self.fixed.settings.threads;
        let thread = |number| Thread::new(Arc::clone(&self.fixed), node, number, attempt);
        threads.map(|number| Machine::Thread(thread(number))).collect()
    }
}

impl<T: Transactions> Protocol for Fasst<T> {
    type Machine = Machine<T>;

    fn nodes(&self) -> u16 {
        self.fixed.settings.nodes
    }

    fn start(&self, node: NodeId) -> Node<Machine<T>> {
        Node { shared: self.shared(node), parts: self.threads(node, 1) }
    }

    fn restart(&self, node: NodeId, kept: Shared<T>) -> Node<Machine<T>> {
        let mut shared = kept;
        shared.starts = shared.starts.saturating_add(1);
        if self.fixed.settings.membership.is_some() {
            recovery::restart(&mut shared);
        }
        let parts = self.threads(node, shared.starts);
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
        for (node, up) in up {
            for (thread, part) in up.parts.iter().enumerate() {
                if part.thread().is_some_and(|thread| !thread.rests()) {
                    return Err(format!(
                        "node {}, thread {thread}: a worker does not rest",
                        node.0
                    ));
                }
            }
        }
        let nodes = up.iter().map(|(node, up)| recovery::AtRest {
            node: *node,
            store: &up.shared.store,
            log: &up.shared.log,
            member: &up.shared.recovery.member,
        });
        recovery::check_at_rest(&nodes.collect::<Vec<_>>())
    }
}
