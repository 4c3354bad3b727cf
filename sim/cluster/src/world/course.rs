// SPDX-License-Identifier: MIT OR Apache-2.0
//! The course of transactions: what machines tell of it, and where it is counted and recorded.

use cluster::engine::{Committing, Effects, Ending, Moment, Protocol, TransactionId};
use timing::Time;

use super::core::OpenAttempt;
use super::recorder::AttemptIndex;
use super::{Trace, World};

/// Attempts have no place when they are not recorded.
const UNRECORDED: AttemptIndex = AttemptIndex::MAX;

/// Bits for the place of a moment in its burst.
const PLACE_BITS: u32 = 16;

impl<P: Protocol, T: Trace> World<P, T> {
    /// All that a burst told, which ends at `now`.
    pub(super) fn course(&mut self, now: Time, node: usize, part: usize, effects: &Effects) {
        let (begun, burst) = {
            let core = &self.nodes[node].cores[part];
            (core.begun, core.burst)
        };
        for (place, moment) in effects.moments().iter().enumerate() {
            match *moment {
                Moment::Begun { transaction, kind, again } => {
                    self.begins(now, begun, (node, part), transaction, (kind, again));
                }
                Moment::Committing(ref committing) => {
                    let order = burst << PLACE_BITS | place as u64;
                    self.commits((begun, order), committing, effects);
                }
                Moment::Ended { transaction, ending } => self.ends(now, transaction, ending),
                Moment::Decided { transaction, committed } => {
                    self.decided(now, transaction, committed);
                }
                Moment::Rests { worker } => {
                    let worker = self.nodes[node].cores[part].worker(worker);
                    self.running -= u32::from(std::mem::take(&mut worker.runs));
                }
            }
        }
    }

    /// What a burst told of serialization points, whose node died within it: its clients were told
    /// nothing, but the memory has what it did.
    pub(super) fn course_cut_short(&mut self, node: usize, part: usize, effects: &Effects) {
        let core = &self.nodes[node].cores[part];
        let (begun, burst) = (core.begun, core.burst);
        for (place, moment) in effects.moments().iter().enumerate() {
            match *moment {
                Moment::Begun { transaction, kind, again } => {
                    self.begins(begun, begun, (node, part), transaction, (kind, again));
                }
                Moment::Committing(ref committing) => {
                    let order = burst << PLACE_BITS | place as u64;
                    self.commits((begun, order), committing, effects);
                }
                Moment::Decided { transaction, committed } => {
                    self.decided(begun, transaction, committed);
                }
                Moment::Ended { .. } | Moment::Rests { .. } => {}
            }
        }
    }

    fn begins(
        &mut self,
        now: Time,
        begun: Time,
        (node, part): (usize, usize),
        transaction: TransactionId,
        (kind, again): (u8, bool),
    ) {
        let index = match self.options.record {
            true => self.recorder.begin(transaction, kind, begun),
            false => UNRECORDED,
        };
        self.trace.begun(now, transaction, kind, again);
        let worker = self.nodes[node].cores[part].worker(transaction.worker());
        if !again {
            worker.first_begin = now;
        }
        let before = worker.open.replace(OpenAttempt { transaction, kind, index });
        if let Some(before) = before {
            self.orphan(before);
        }
    }

    /// Nobody but recovery can end this attempt any more.
    pub(super) fn orphan(&mut self, attempt: OpenAttempt) {
        if attempt.index != UNRECORDED {
            self.undecided.insert(attempt.transaction.0, attempt.index);
        }
    }

    fn commits(&mut self, at: (Time, u64), committing: &Committing, effects: &Effects) {
        let transaction = committing.transaction;
        self.trace.committing(at.0, transaction, committing.point);
        let Some(index) = self.recorded(transaction) else { return };
        self.recorder.tell(index, committing.point, at, effects.accesses_of(committing));
    }

    fn ends(&mut self, now: Time, transaction: TransactionId, ending: Ending) {
        self.trace.ended(now, transaction, ending);
        if self.options.digest {
            self.happened.add([now.as_ps(), transaction.0, ending as u64], &[]);
        }
        let Some(worker) = self.coordinator(transaction) else { return };
        let first_begin = worker.first_begin;
        let Some(open) = worker.open.take_if(|open| open.transaction == transaction) else {
            return;
        };
        let counts = self.ledger.kind(open.kind);
        counts.endings[ending as usize] += 1;
        let latencies = match ending {
            Ending::Committed => Some(&mut counts.latency),
            Ending::RolledBack => Some(&mut counts.rolled_back),
            _ => None,
        };
        if let Some(latencies) = latencies {
            latencies.saturating_record(now.saturating_sub(first_begin).as_ns());
        }
        if open.index != UNRECORDED {
            self.recorder.end(open.index, ending, now);
        }
    }

    fn decided(&mut self, now: Time, transaction: TransactionId, committed: bool) {
        if let Some(index) = self.recorded(transaction) {
            self.recorder.decide(index, committed, now);
        }
    }

    /// The worker that coordinates a transaction.
    fn coordinator(&mut self, transaction: TransactionId) -> Option<&mut super::core::Worker> {
        let node = super::index_of(transaction.node(), self.nodes.len())?;
        let core =
            self.nodes[usize::from(node)].cores.get_mut(usize::from(transaction.thread()))?;
        core.workers.get_mut(usize::from(transaction.worker()))
    }

    /// Where an attempt is recorded that has not ended.
    fn recorded(&mut self, transaction: TransactionId) -> Option<AttemptIndex> {
        let open = self.coordinator(transaction).and_then(|worker| worker.open);
        let open = open.filter(|open| open.transaction == transaction).map(|open| open.index);
        let index = open.or_else(|| self.undecided.get(&transaction.0).copied())?;
        (index != UNRECORDED).then_some(index)
    }
}
