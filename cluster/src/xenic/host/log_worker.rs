// SPDX-License-Identifier: MIT OR Apache-2.0
//! A log worker: polls the logs of some cores, applies their records to the host's tables, and tells the cores
//! (section 4.2, step 7).

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::super::log::Task;
use super::super::messages::Record;
use super::super::messages::host::{Applied, ToNic};
use super::super::mutant::Mutant;
use super::super::shared::Shared;
use super::super::{Aside, Fixed};
use crate::engine::{Class, Effects, Endpoint, Instant, NodeId, Part, Stage, Work};
use crate::membership::Status;
use crate::store::Item;
use crate::transact::Transactions;

/// A log worker.
#[derive(Clone, Debug)]
pub struct LogWorker<T: Transactions> {
    fixed: Arc<Fixed<T>>,
    own: NodeId,
    /// Which of the node's.
    number: u8,
    /// When it has polled last. An idle poll changes no state.
    polled: Aside<Instant>,
}

impl<T: Transactions> PartialEq for LogWorker<T> {
    fn eq(&self, other: &Self) -> bool {
        self.own == other.own && self.number == other.number
    }
}

impl<T: Transactions> Eq for LogWorker<T> {}

impl<T: Transactions> Hash for LogWorker<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.own, self.number).hash(state);
    }
}

impl<T: Transactions> LogWorker<T> {
    /// Log worker `number` of `own`.
    pub(in super::super) fn new(fixed: Arc<Fixed<T>>, own: NodeId, number: u8) -> Self {
        Self { fixed, own, number, polled: Aside::default() }
    }

    /// A poll: see [`Machine::burst`](crate::engine::Machine::burst).
    pub(in super::super) fn burst(
        &mut self,
        shared: &mut Shared<T>,
        now: Instant,
        out: &mut Effects,
    ) {
        self.polled.0 = now;
        // Between two views, recovery has the logs.
        if shared.status(now) == Status::Stopped {
            return;
        }
        let settings = &self.fixed.settings;
        for core in (self.number..settings.cores).step_by(settings.log_workers.into()) {
            self.poll(shared, core, out);
        }
        out.ring_doorbell();
    }

    fn poll(&self, shared: &mut Shared<T>, core: u8, out: &mut Effects) {
        let early = self.fixed.settings.planted.is(Mutant::LogAppliedUndecided);
        let view = shared.view();
        shared.host.logs[usize::from(core)].prefetch();
        while let Some(task) = shared.host.logs[usize::from(core)].next(early) {
            if task.applies {
                self.apply(shared, core, task, out);
            }
            let to = Endpoint { node: self.own, part: Part::NicCore(core) };
            let Task { name, is_committed, .. } = task;
            let applied = Applied { view, is_committed, owner: name.owner, count: name.count };
            out.send(to, Class::Foreground, Stage::Host, |bytes| {
                ToNic::Applied(applied).encode(bytes);
            });
        }
    }

    fn apply(&self, shared: &mut Shared<T>, core: u8, task: Task, out: &mut Effects) {
        out.work(Work::Apply, 1);
        let tables = self.fixed.workload.tables();
        let host = &mut shared.host;
        let cell = host.logs[usize::from(core)].cell(task.cell);
        let Some(record) = Record::kept(&cell.record) else { return };
        for item in record.changes.iter(tables).map(Item::from) {
            host.store.count_change(&item, out);
            // A replica that the node does not have any more is no concern of it.
            let _ = host.store.apply(&item);
        }
    }

    pub(in super::super) fn deadline(&self) -> Option<Instant> {
        Some(self.polled.0 + self.fixed.settings.poll)
    }
}
