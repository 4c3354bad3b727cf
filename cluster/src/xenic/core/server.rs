// SPDX-License-Identifier: MIT OR Apache-2.0
//! The requests of other nodes' cores, and of the core to itself.

use super::super::messages::{Header, Request, STEPS};
use super::super::mutant::Mutant;
use super::Burst;
use crate::engine::{NodeId, Work};
use crate::transact::Transactions;

impl<T: Transactions> Burst<'_, T> {
    /// Serves a request, unless it was served already.
    pub(super) fn serve(
        &mut self,
        from: NodeId,
        header: Header,
        request: Request<'_>,
        bytes: &[u8],
    ) {
        // A node that has run the logic sends the records in the name of the coordinator.
        let coordinator = match &request {
            Request::Log { record } => record.transaction.node(),
            _ => from,
        };
        if coordinator.0 >= self.fixed.settings.nodes {
            self.dropped().malformed += 1;
            return;
        }
        let flow = self.flow_of(coordinator, header.slot);
        if !self.is_new(flow, header) {
            self.dropped().duplicates += 1;
            return;
        }
        self.out.work(Work::Handle, 1);
        let answer = header.answer();
        match request {
            Request::Execute { reads, locks } => {
                let mut fetch = self.new_fetch(from, header);
                fetch.add_keys(reads.iter(), locks.iter());
                self.begin_fetch(flow, fetch);
            }
            Request::Lock { keys } => {
                let mut fetch = self.new_fetch(from, header);
                fetch.add_keys([].into_iter(), keys.iter());
                self.begin_fetch(flow, fetch);
            }
            Request::Validate { keys } => {
                let mut fetch = self.new_fetch(from, header);
                fetch.add_versions(keys.iter());
                self.begin_fetch(flow, fetch);
            }
            Request::Log { .. }
            | Request::Commit { .. }
            | Request::CommitKept
            | Request::Ship { .. } => self.take_record(flow, from, (header, request), bytes),
            Request::Release => {
                self.release_held(flow);
                self.post(from, answer, |_| {});
            }
            Request::End => self.post(from, answer, |_| {}),
        }
    }

    /// Whether a message has not been served yet, and is not older than what was. A message of a later transaction
    /// of the slot says that all earlier ones are over.
    fn is_new(&mut self, flow: usize, header: Header) -> bool {
        let serves_twice = self.has(Mutant::NoDuplicateSuppression);
        let number = usize::from(self.core.number);
        let state = &mut self.shared.nic.cores[number].flows[flow];
        if header.count < state.count {
            return serves_twice;
        }
        if header.count > state.count {
            state.count = header.count;
            state.steps = 0;
            self.mark_over(flow);
        }
        let state = &mut self.shared.nic.cores[number].flows[flow];
        let bit = 1_u128 << header.step.min(STEPS - 1);
        let is_new = state.steps & bit == 0;
        state.steps |= bit;
        is_new || serves_twice
    }

    /// Unlocks all keys that the transaction of a flow has locked here.
    pub(super) fn release_held(&mut self, flow: usize) {
        let number = usize::from(self.core.number);
        let owner = self.owner_of_flow(flow);
        let held = std::mem::take(&mut self.shared.nic.cores[number].flows[flow].held);
        self.out.work(Work::Index, held.len() as u32);
        for key in &held {
            let partition = self.fixed.layout.partition_of(*key);
            self.shared.nic.index.unlock(partition, *key, owner);
        }
        let mut held = held;
        held.clear();
        self.shared.nic.cores[number].flows[flow].held = held;
    }

    pub(super) fn owner_of_flow(&self, flow: usize) -> u16 {
        let slots = usize::from(self.fixed.settings.slots);
        self.owner_of(NodeId((flow / slots) as u16), (flow % slots) as u16)
    }
}
