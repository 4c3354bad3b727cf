// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recovery: from the stop of one view to the begin of the next, and the filling of new replicas. After
//! FaRM (SOSP 2015, section 5), made simpler: the whole cluster stops for the change.
//!
//! 1. The manager proposes a view. Each of its members stops the one before: it serves no message of it,
//!    its attempts that have no record yet are aborted, and all locks are void.
//! 2. Members send each other their records, each to the members that replicate one of its rows. Who gets
//!    a record keeps it in its own log before it answers.
//! 3. Who has the records of all others applies them to its replicas, and tells the manager.
//! 4. When all members have told, the view begins. All transactions with a record have committed. Logs
//!    are emptied, replicas that went elsewhere are dropped, new ones are filled in the background.
//!
//! A record is written only when the transaction has locked all it writes and validated all it has read,
//! so a transaction commits if and only if a survivor has its record. That decision is the same for all
//! members, also when more nodes fail on the way: whoever has applied a record has it in its log, and
//! sends it again for the next proposal.
//!
//! Thread 0 of each node does all of this. The other threads notice the change by the state that they
//! share. `docs/recovery.md` describes it with its reasons.

mod copying;
mod exchange;
mod messages;
mod rest;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use copying::{Copying, Filling};
use exchange::Exchange;
pub use rest::{AtRest, check_at_rest};

use crate::engine::{Class, Effects, Endpoint, Instant, Moment, NodeId, Span, Stage, Work};
use crate::fasst::messages::{Kind, WireItem};
use crate::fasst::mutant::{Mutant, Planted};
use crate::fasst::{Settings, Shared};
use crate::membership::{Member, Message, View};
use crate::store::Item;
use crate::transact::{TableShape, Transactions};
use crate::wire::{Reader, WireError};

/// Whether a message is one of membership or recovery.
pub(crate) fn is_kind(message: &[u8]) -> bool {
    matches!(Kind::of(message), Some(Kind::Other(kind)) if kind >= crate::membership::kind::RENEW)
}

/// What recovery has done on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Views that began.
    pub views: u64,
    /// Records that were in the log when a view began, so that recovery committed their transactions.
    pub decided: u64,
    /// Changes of rows that recovery applied at this node.
    pub applied: u64,
    /// Replicas of this node that were filled.
    pub filled: u64,
    /// Bytes that this node sent to fill replicas of others.
    pub copied: u64,
    /// Messages that could not be read, or came from the wrong node.
    pub malformed: u64,
    /// Messages of another view.
    pub other_view: u64,
}

/// A node's state of recovery.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Recovery {
    /// The node's view and lease.
    pub member: Member,
    planted: Planted,
    /// The largest message.
    mtu: usize,
    copies_initial_rows: bool,
    exchange: Option<Exchange>,
    /// Replicas of others that this node fills.
    copying: Vec<Copying>,
    /// Replicas of this node that are being filled.
    filling: Vec<Filling>,
    counts: Counts,
}

impl Recovery {
    /// Of a node at its start.
    pub(crate) fn new(member: Member, settings: &Settings) -> Self {
        Self {
            member,
            planted: settings.planted,
            mtu: settings.mtu.into(),
            copies_initial_rows: settings.copies_initial_rows,
            exchange: None,
            copying: Vec::new(),
            filling: Vec::new(),
            counts: Counts::default(),
        }
    }

    /// Of a new process of the same node.
    fn restarted(&self) -> Self {
        Self {
            member: self.member.restarted(),
            exchange: None,
            copying: Vec::new(),
            filling: Vec::new(),
            counts: Counts::default(),
            ..*self
        }
    }

    /// What it has done.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Whether it is changing views, or fills a replica of another node.
    pub fn is_busy(&self) -> bool {
        self.exchange.is_some() || !self.copying.is_empty()
    }

    /// Whether updates leave out replicas that are being filled: a planted bug.
    #[inline]
    pub(crate) fn misses_filling(&self) -> bool {
        self.planted.is(Mutant::FillingMissesUpdates)
    }

    fn retry(&self) -> Span {
        self.member.settings().map_or(Span::from_us(1), |settings| settings.retry)
    }

    /// When [`tick`] has to be called.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let exchange = self.exchange.as_ref().map(|exchange| exchange.again);
        let copying = self.copying.iter().map(|copying| copying.again);
        self.member.deadline().into_iter().chain(exchange).chain(copying).min()
    }
}

/// The node's process begins anew: its rows and its log are gone, and it is no member.
pub(crate) fn restart<T: Transactions>(shared: &mut Shared<T>) {
    shared.store.drop_all();
    if !shared.recovery.planted.is(Mutant::LogOutlivesProcess) {
        shared.log.clear();
    }
    shared.recovery = shared.recovery.restarted();
}

/// Does what it is time for.
pub(crate) fn tick<T: Transactions>(shared: &mut Shared<T>, now: Instant, out: &mut Effects) {
    let recovery = &mut shared.recovery;
    if recovery.member.settings().is_none() {
        return;
    }
    recovery.member.renew(now, out);
    let retry = recovery.retry();
    if let Some(exchange) = &mut recovery.exchange
        && exchange.again <= now
    {
        exchange.send(now, retry, out);
        if exchange.is_applied {
            recovery.member.tell_recovered(out);
        }
    }
    copying::tick(shared, now, out);
}

/// Takes a message that is no RPC.
pub(crate) fn receive<T: Transactions>(
    shared: &mut Shared<T>,
    now: Instant,
    from: NodeId,
    bytes: &[u8],
    out: &mut Effects,
) {
    let is_taken = match from {
        NodeId::MANAGER => take_of_manager(shared, now, bytes, out),
        _ => take_of_node(shared, now, from, bytes, out),
    };
    if is_taken.is_err() {
        shared.recovery.counts.malformed += 1;
    }
}

fn take_of_manager<T: Transactions>(
    shared: &mut Shared<T>,
    now: Instant,
    bytes: &[u8],
    out: &mut Effects,
) -> Result<(), WireError> {
    match Message::decode(bytes)? {
        Message::Grant { epoch, incarnation, sent } => {
            shared.recovery.member.granted(incarnation, sent);
            saw(shared, epoch, now, out);
        }
        Message::Prepare { view } if fits(&view, shared) => prepare(shared, view, now, out),
        Message::Commit { epoch } => saw(shared, epoch, now, out),
        Message::Evicted { incarnation, .. } => {
            if incarnation == shared.recovery.member.incarnation() {
                out.kill();
            }
        }
        _ => shared.recovery.counts.malformed += 1,
    }
    Ok(())
}

/// Whether a view is one of this cluster.
fn fits<T: Transactions>(view: &View, shared: &Shared<T>) -> bool {
    let nodes = shared.store.layout().partitions();
    view.partitions().count() == usize::from(nodes) && view.members().all(|node| node.0 < nodes)
}

fn take_of_node<T: Transactions>(
    shared: &mut Shared<T>,
    now: Instant,
    from: NodeId,
    bytes: &[u8],
    out: &mut Effects,
) -> Result<(), WireError> {
    let reader = &mut Reader::new(bytes);
    let epoch = reader.u32("the number of a view")?;
    let kind = reader.u8("a kind of message")?;
    if matches!(kind, messages::COPY | messages::COPY_ANSWER) {
        saw(shared, epoch, now, out);
        if epoch != shared.recovery.member.epoch() || shared.recovery.exchange.is_some() {
            shared.recovery.counts.other_view += 1;
            return Ok(());
        }
    }
    match kind {
        messages::RECORDS => take_records(shared, (from, epoch), reader, out),
        messages::RECORDS_ANSWER => {
            let part = reader.u16("the number of a message")?;
            if let (Some(exchange), true) =
                (&mut shared.recovery.exchange, shared.recovery.member.proposes(epoch))
            {
                exchange.answered(from, part);
            }
            Ok(())
        }
        messages::COPY => copying::take_copy(shared, from, reader, out),
        messages::COPY_ANSWER => copying::take_answer(shared, now, from, reader, out),
        other => Err(reader.unknown("a kind of message (32 to 35)", other)),
    }
}

/// Stops the view, and begins the exchange for the next one.
fn prepare<T: Transactions>(shared: &mut Shared<T>, view: View, now: Instant, out: &mut Effects) {
    if !shared.recovery.member.accepts(&view) {
        return;
    }
    let (view, me) = (Arc::new(view), shared.recovery.member.me());
    if !shared.recovery.planted.is(Mutant::LockKeptAfterRecovery) {
        shared.store.unlock_all();
    }
    for (partition, replicas) in view.partitions() {
        if replicas.filling().contains(&me) {
            shared.store.begin_filling(partition);
        }
    }
    let recovery = &mut shared.recovery;
    recovery.copying.clear();
    recovery.filling.clear();
    if recovery.planted.is(Mutant::ReceivedRecordsForgotten) {
        shared.log.retain(|transaction| transaction.node() == me);
    }
    recovery.member.change_to(Arc::clone(&view));
    let mut records = shared.log.records();
    if recovery.planted.is(Mutant::RecoveryCommitsNothing) {
        records.clear();
    }
    if recovery.planted.is(Mutant::RecoveryForgetsDeadCoordinators) {
        records.retain(|(transaction, _)| view.contains(transaction.node()));
    }
    let mut exchange = Exchange::new(me, &view);
    let (layout, workload) = (shared.store.layout(), shared.store.workload());
    exchange.pack(view.epoch(), recovery.mtu, &records, |record, node| {
        items(record, workload.tables())
            .any(|item| view.replicas(layout.partition_of(item.key)).nodes().contains(&node))
    });
    exchange.send(now, recovery.retry(), out);
    recovery.exchange = Some(exchange);
    if recovery.planted.is(Mutant::RecoveredTooEarly) {
        recovery.member.tell_recovered(out);
    }
    apply_if_complete(shared, out);
}

/// The items of a record of the log, which were all read before it was taken.
fn items<'a>(record: &'a [u8], tables: &'a [TableShape]) -> impl Iterator<Item = Item<'a>> {
    let mut reader = Reader::new(record);
    std::iter::from_fn(move || match reader.is_at_end() {
        true => None,
        false => Item::decode(&mut reader, tables).ok(),
    })
}

/// Takes records of another member into the log.
fn take_records<T: Transactions>(
    shared: &mut Shared<T>,
    (from, epoch): (NodeId, u32),
    reader: &mut Reader<'_>,
    out: &mut Effects,
) -> Result<(), WireError> {
    let (part, is_last) = messages::part(reader)?;
    let member = &shared.recovery.member;
    let is_late = epoch == member.epoch() && shared.recovery.exchange.is_none();
    if !is_late && !member.proposes(epoch) {
        shared.recovery.counts.other_view += 1;
        return Ok(());
    }
    let view = member.proposed().filter(|_| !is_late).unwrap_or(member.view());
    let may_come = |exchange: &Exchange| exchange.may_come(from, part, is_last);
    if !view.contains(from) || !shared.recovery.exchange.as_ref().is_none_or(may_come) {
        shared.recovery.counts.malformed += 1;
        return Ok(());
    }
    // All of them can be read with all of their items, or none is taken: recovery commits what is in a log.
    let (mut check, nodes) = (*reader, shared.store.layout().partitions());
    while !check.is_at_end() {
        messages::check_record(&mut check, shared.store.workload().tables(), nodes)?;
    }
    if !is_late && let Some(exchange) = &mut shared.recovery.exchange {
        while !reader.is_at_end() {
            let (transaction, items) = messages::record(reader)?;
            if shared.log.append(transaction, items) {
                out.work(Work::Log, 1);
                out.work(Work::CopyLine, items.len().div_ceil(64) as u32);
            }
        }
        exchange.came(from, part, is_last);
    }
    let to = Endpoint::host(from, 0);
    out.send(to, Class::Control, Stage::Membership, |bytes| {
        messages::answer_records(epoch, part, bytes);
    });
    out.ring_doorbell();
    apply_if_complete(shared, out);
    Ok(())
}

/// Applies all records to the own replicas, when those of all members are there.
fn apply_if_complete<T: Transactions>(shared: &mut Shared<T>, out: &mut Effects) {
    let Shared { recovery, store, log, .. } = shared;
    let (Some(exchange), Some(view)) = (&mut recovery.exchange, recovery.member.proposed()) else {
        return;
    };
    if exchange.is_applied || !exchange.is_complete() {
        return;
    }
    exchange.is_applied = true;
    let me = recovery.member.me();
    let workload = store.workload().clone();
    let records = log.records();
    let mut changes = Vec::new();
    for (transaction, record) in &records {
        let is_forgotten = match recovery.planted {
            planted if planted.is(Mutant::RecoveryCommitsNothing) => true,
            planted if planted.is(Mutant::RecoveryForgetsDeadCoordinators) => {
                !view.contains(transaction.node())
            }
            _ => false,
        };
        if is_forgotten {
            continue;
        }
        for item in items(record, workload.tables()) {
            let header = store.header_of(item.key);
            if view.replicas(header.partition).nodes().contains(&me) {
                changes.push((header, item.fetched, *transaction, item));
            }
        }
    }
    // By versions: what one transaction wrote under a header, the next one may have written again.
    changes.sort_by_key(|(header, fetched, transaction, _)| (*header, *fetched, *transaction));
    for (_, _, _, item) in &changes {
        out.work(Work::Look, store.looks(item.key));
        if store.apply(item) == Ok(true) {
            out.work(Work::Write, 1);
            recovery.counts.applied += 1;
        }
    }
    recovery.member.tell_recovered(out);
}

/// The node hears that a view has begun: from the manager, or since another member is in it already. If
/// it is prepared for it, it begins here, too.
pub(crate) fn saw<T: Transactions>(
    shared: &mut Shared<T>,
    epoch: u32,
    now: Instant,
    out: &mut Effects,
) {
    let recovery = &shared.recovery;
    let is_ready = recovery.exchange.as_ref().is_some_and(|exchange| exchange.is_applied)
        || recovery.planted.is(Mutant::RecoveredTooEarly);
    if is_ready && recovery.member.proposes(epoch) {
        install(shared, now, out);
    }
}

fn install<T: Transactions>(shared: &mut Shared<T>, now: Instant, out: &mut Effects) {
    let Shared { recovery, store, log, .. } = shared;
    let is_forgotten = recovery.planted.is(Mutant::RecoveryCommitsNothing);
    let forgets_dead = recovery.planted.is(Mutant::RecoveryForgetsDeadCoordinators);
    if !recovery.member.install() {
        return;
    }
    recovery.exchange = None;
    recovery.counts.views += 1;
    let (view, me) = (Arc::clone(recovery.member.view()), recovery.member.me());
    // Also of coordinators that live: they may fail before they can say it.
    for (transaction, _) in log.records() {
        if !is_forgotten && (!forgets_dead || view.contains(transaction.node())) {
            recovery.counts.decided += 1;
            out.tell(Moment::Decided { transaction, committed: true });
        }
    }
    log.clear();
    for (partition, replicas) in view.partitions() {
        if !replicas.nodes().contains(&me) {
            store.drop_replica(partition);
        } else if replicas.filling().contains(&me) {
            recovery.filling.push(Filling::new(partition));
        } else if replicas.nodes().first() == Some(&me) {
            let initial = recovery.copies_initial_rows;
            recovery.copying.extend(Copying::of(partition, replicas.filling(), store, initial));
        }
    }
    copying::tick(shared, now, out);
}
