// SPDX-License-Identifier: MIT OR Apache-2.0
//! DrTM+H (Wei, Dong, Chen, Chen: OSDI 2018), the rival that Xenic is compared with, and two other forms of it: each
//! phase of a transaction by one-sided verbs or by RPCs.
//!
//! - [`Form`]: which phase goes how; [`Form::DRTM_H`], [`Form::NC`] and [`Form::DRTM_R`].
//! - [`address`]: what verbs access in a host's memory; `ring`: the logs that they write.
//! - [`chains`]: how many READs a key takes whose address is not cached.
//! - [`messages`]: the bytes of requests and answers, on [`rpc`](crate::rpc).
//! - `worker` and `server`: the coordinator as a state, and what is done at a row's own node.
//! - [`mutant`]: planted bugs.
//!
//! There is no recovery: the rivals are only measured. `docs/drtm-h.md` describes all of it, with what the papers leave
//! open and how it is decided here.

pub mod address;
pub mod chains;
mod context;
pub mod messages;
pub mod mutant;
mod ring;
mod server;
mod settings;
mod shared;
mod thread;
mod worker;

use std::sync::Arc;

use chains::{Chains, Place};
use context::Fixed;
pub use mutant::{Mutant, Planted};
pub use settings::{Form, Means, Settings, SettingsError};
pub use shared::Shared;
pub use thread::Thread;

use crate::engine::{Node, NodeId, Protocol};
use crate::placement::{Headers, Partitioning};
use crate::recovery::{self, AtRest};
use crate::transact::Transactions;

/// A cluster that runs DrTM+H in one of its forms.
#[derive(Clone, Debug)]
pub struct DrtmH<T> {
    fixed: Arc<Fixed<T>>,
}

impl<T: Transactions> DrtmH<T> {
    /// A cluster of these settings that runs `workload`.
    ///
    /// # Errors
    /// The first setting that cannot be.
    pub fn new(settings: Settings, workload: T) -> Result<Self, SettingsError> {
        settings.check(workload.tables())?;
        let layout = Partitioning::new(settings.nodes, settings.backups.into(), workload.tables())?;
        // Each row has a header of its own, which one READ brings with it.
        let layout = layout.with_headers(Headers::Rows);
        let chains = Chains::new(settings.slots, settings.occupancy)
            .map_err(|error| SettingsError::Chains(error.to_string()))?;
        let places = workload.tables().iter().map(|shape| Place::new(settings.slots, shape));
        let places = places.collect();
        let fixed = Fixed { settings, workload, layout: Arc::new(layout), chains, places };
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

    /// How many READs bring a row, or say that there is none.
    pub fn reads_of(&self, key: crate::engine::Key, is_there: bool) -> u8 {
        self.fixed.reads_of(key, is_there)
    }
}

impl<T: Transactions> Protocol for DrtmH<T> {
    type Machine = Thread<T>;

    fn nodes(&self) -> u16 {
        self.fixed.settings.nodes
    }

    fn start(&self, node: NodeId) -> Node<Thread<T>> {
        let threads = 0..self.fixed.settings.threads;
        let parts = threads.map(|number| Thread::new(Arc::clone(&self.fixed), node, number));
        Node { shared: Shared::new(&self.fixed, node), parts: parts.collect() }
    }

    /// As at the start: nothing is recovered.
    fn restart(&self, node: NodeId, _: Shared<T>) -> Node<Thread<T>> {
        self.start(node)
    }

    fn manager(&self) -> Option<Node<Thread<T>>> {
        None
    }

    fn check_at_rest(&self, up: &[(NodeId, &Node<Thread<T>>)]) -> Result<(), String> {
        for (node, up) in up {
            for (thread, part) in up.parts.iter().enumerate() {
                if !part.rests() {
                    return Err(format!(
                        "node {}, thread {thread}: a worker does not rest",
                        node.0
                    ));
                }
            }
            up.shared.check_rings().map_err(|error| format!("node {}: {error}", node.0))?;
        }
        let nodes = up.iter().map(|(node, up)| AtRest {
            node: *node,
            store: &up.shared.store,
            log: &up.shared.log,
            member: &up.shared.recovery.member,
        });
        recovery::check_at_rest(&nodes.collect::<Vec<_>>())
    }
}
