// SPDX-License-Identifier: MIT OR Apache-2.0
//! What recovery keeps and decides of Xenic: records that have the changes of some shards, and the counts of slots.
//!
//! A transaction has committed if and only if the records of all members cover all shards that it writes, or one of
//! them is of a COMMIT, or a member has served a higher count of its slot. `docs/xenic.md` says why.

use std::borrow::Cow;

use super::messages::Record;
use super::mutant::Mutant;
use super::shared::{Host, Shared};
use crate::engine::{Effects, NodeId, TransactionId};
use crate::membership::View;
use crate::placement::{PartitionId, Partitioning};
use crate::recovery::{Keeps, Partial, Parts, Records, Recovery};
use crate::store::log::Log;
use crate::store::{Item, Items, Store};
use crate::transact::{TableShape, Transactions};
use crate::wire::{Reader, WireError, Writer};

/// Records with the slot of their coordinator before them.
///
/// | bytes | |
/// |---|---|
/// | 6 | slot of the cluster 2, count 4 |
/// | | a [`Partial`] record |
#[derive(Clone, Copy, Debug)]
pub struct Slotted;

/// The bytes before the partial record.
const SLOT: usize = 6;

impl Slotted {
    fn partial(record: &[u8]) -> &[u8] {
        record.get(SLOT..).unwrap_or_default()
    }

    /// The slot of the cluster, and which of its transactions.
    fn slot(record: &[u8]) -> (u16, u32) {
        let mut reader = Reader::new(record);
        let slot = reader.u16("a slot").unwrap_or_default();
        (slot, reader.u32("a count").unwrap_or_default())
    }
}

impl Records for Slotted {
    fn check(record: &[u8], tables: &[TableShape], layout: &Partitioning) -> Result<(), WireError> {
        Reader::new(record).bytes(SLOT, "a slot and its count")?;
        Partial::check(Self::partial(record), tables, layout)
    }

    fn items<'a>(record: &'a [u8], tables: &'a [TableShape]) -> Items<'a> {
        Partial::items(Self::partial(record), tables)
    }

    fn concerns(
        record: &[u8],
        tables: &[TableShape],
        layout: &Partitioning,
        view: &View,
        node: NodeId,
    ) -> bool {
        Partial::concerns(Self::partial(record), tables, layout, view, node)
    }

    fn agree(one: &[u8], other: &[u8]) -> bool {
        Self::slot(one) == Self::slot(other)
            && Partial::agree(Self::partial(one), Self::partial(other))
    }

    fn merge(record: &mut Vec<u8>, other: &[u8]) -> bool {
        if !Self::agree(record, other) {
            return false;
        }
        let mut partial = record.split_off(SLOT.min(record.len()));
        let is_more = Partial::merge(&mut partial, Self::partial(other));
        record.extend_from_slice(&partial);
        is_more
    }

    fn decision(record: &[u8]) -> Option<bool> {
        Partial::decision(Self::partial(record))
    }

    fn decide(record: &mut [u8], committed: bool) {
        if let Some(partial) = record.get_mut(SLOT..) {
            Partial::decide(partial, committed);
        }
    }

    fn without_decision(record: &[u8]) -> Option<(Vec<u8>, bool)> {
        let (open, committed) = Partial::without_decision(Self::partial(record))?;
        Some(([&record[..SLOT], &open].concat(), committed))
    }

    fn pieces(record: &[u8], most: usize) -> Vec<Cow<'_, [u8]>> {
        if record.len() <= most {
            return vec![Cow::Borrowed(record)];
        }
        let pieces = Partial::pieces(Self::partial(record), most.saturating_sub(SLOT));
        let slotted = |piece: Cow<'_, [u8]>| Cow::Owned([&record[..SLOT], &piece[..]].concat());
        pieces.into_iter().map(slotted).collect()
    }
}

impl<T: Transactions> Shared<T> {
    /// Adds a record of the NIC to the log that is exchanged.
    fn add_record(&mut self, (owner, count): (u16, u32), record: &[u8], committed: bool) {
        let Host { store, log, .. } = &mut self.host;
        let (tables, layout) = (store.workload().tables(), store.layout());
        let Some(record) = Record::kept(record) else { return };
        let items: Vec<Item<'_>> = record.changes.iter(tables).map(Item::from).collect();
        // Who has no change of it has nothing to add.
        let Some(first) = items.first() else { return };
        let mut shards: Vec<PartitionId> = record.listed().collect();
        if shards.is_empty() {
            shards.push(layout.partition_of(first.key));
        }
        shards.sort_unstable();
        shards.dedup();
        let mut bytes = Vec::new();
        bytes.put_u16(owner);
        bytes.put_u32(count);
        Partial::encode(committed, &shards, &items, (tables, layout), &mut bytes);
        log.merge(record.transaction, &bytes, Slotted::merge);
    }

    /// The number of a slot of the cluster that a core knows as this flow, or as its own slot.
    fn owner_of_flow(&self, core: usize, flow: usize) -> u16 {
        let (cores, slots) = (self.nic.cores.len(), self.nic.cores[core].own.len());
        let (node, slot) = (flow / slots, flow % slots);
        ((node * cores + core) * slots + slot) as u16
    }

    /// What recovery has decided of a transaction that this node coordinates.
    pub(super) fn decision(&self, transaction: TransactionId) -> Option<bool> {
        let decisions = &self.host.decisions;
        decisions.iter().find(|(it, _)| *it == transaction).map(|(_, committed)| *committed)
    }
}

impl<T: Transactions> Keeps for Shared<T> {
    type Workload = T;
    type Records = Slotted;

    fn recovery(&self) -> &Recovery {
        &self.host.recovery
    }

    fn store(&self) -> &Store<T> {
        &self.host.store
    }

    fn log(&self) -> &Log {
        &self.host.log
    }

    fn parts(&mut self) -> Parts<'_, T> {
        let Host { recovery, store, log, .. } = &mut self.host;
        Parts { recovery, store, log }
    }

    /// The NIC's memory is made anew with the process.
    fn restart(&mut self) {
        self.host.logs.iter_mut().for_each(super::log::CoreLog::clear);
        self.host.decisions.clear();
        self.nic.clear();
    }

    /// The records of the NIC are those of the logs, those that have yet to land there, and those of transactions
    /// that were validated here and have yet to be logged.
    fn stop(&mut self, _: &mut Effects) {
        let me = self.host.recovery.member.me();
        for core in 0..self.nic.cores.len() {
            let state = std::mem::take(&mut self.nic.cores[core].flows);
            for (flow, state) in state.iter().enumerate() {
                let owner = self.owner_of_flow(core, flow);
                for kept in &state.kept {
                    let is_over = kept.is_applied && state.count > kept.count;
                    if kept.count > 0 && !is_over {
                        let name = (owner, kept.count);
                        self.add_record(name, &kept.record, kept.is_committed);
                    }
                }
            }
            self.nic.cores[core].flows = state;
            let first = self.owner_of_flow(core, me.index() * self.nic.cores[core].own.len());
            let own = std::mem::take(&mut self.nic.cores[core].own);
            for (owner, own) in (first..).zip(&own).filter(|(_, own)| !own.record.is_empty()) {
                self.add_record((owner, own.count), &own.record, false);
            }
            self.nic.cores[core].own = own;
        }
    }

    /// The count of each slot that was served: slot of the cluster 2, count 4.
    fn put_table(&self, out: &mut Vec<u8>) {
        for (core, state) in self.nic.cores.iter().enumerate() {
            for (flow, state) in state.flows.iter().enumerate().filter(|(_, it)| it.count > 0) {
                out.put_u16(self.owner_of_flow(core, flow));
                out.put_u32(state.count);
            }
        }
    }

    fn check_entry(&self, reader: &mut Reader<'_>) -> Result<(), WireError> {
        reader.u16("a slot")?;
        reader.u32("a count").map(drop)
    }

    fn decides(&self, records: &[(TransactionId, &[u8])], tables: &[(NodeId, &[u8])]) -> Vec<bool> {
        let planted = self.planted;
        let served = |(owner, count): (u16, u32)| {
            tables.iter().any(|(_, table)| {
                let of = |entry: &[u8]| Slotted::slot(entry);
                table.chunks_exact(SLOT).map(of).any(|(slot, last)| slot == owner && last > count)
            })
        };
        let decides = |(_, record): &(TransactionId, &[u8])| {
            Partial::is_whole(Slotted::partial(record))
                || served(Slotted::slot(record)) && !planted.is(Mutant::CountsNotCompared)
                || planted.is(Mutant::PartialRecordsCommit)
        };
        records.iter().map(decides).collect()
    }

    fn decided(&mut self, transaction: TransactionId, committed: bool) {
        if transaction.node() == self.host.recovery.member.me() {
            self.host.decisions.push((transaction, committed));
        }
    }

    /// Nothing is left of the old view in the NIC: locks are void, slots count anew, and what was cached may be
    /// older than what recovery has applied.
    fn begin(&mut self, _: &mut Effects) {
        self.host.logs.iter_mut().for_each(super::log::CoreLog::clear);
        self.nic.clear();
    }
}
