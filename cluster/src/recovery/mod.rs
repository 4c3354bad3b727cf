// SPDX-License-Identifier: MIT OR Apache-2.0
//! Recovery: from the stop of one view to the begin of the next, and the filling of new replicas. After
//! FaRM (SOSP 2015, section 5), made simpler: the whole cluster stops for the change.
//!
//! 1. The manager proposes a view. Each of its members stops the one before: it serves no message of it,
//!    its attempts that have no record yet are aborted, and all locks are void.
//! 2. Members send each other their records, and what else decides about them. Who gets a record keeps it in its
//!    own log before it answers.
//! 3. Who has those of all others decides about each, applies what has committed to its replicas, and tells the
//!    manager.
//! 4. When all members have told, the view begins. Logs are emptied, replicas that went elsewhere are dropped,
//!    new ones are filled in the background.
//!
//! What decides is the protocol's ([`Keeps`], [`Records`]). The decision is the same for all members, also when
//! more nodes fail on the way: whoever has applied a record has it in its log with the decision, and sends it
//! again for the next proposal.
//!
//! One thread of each node does all of this. Its other parts notice the change by the state that they share.
//! `docs/recovery.md` describes it with its reasons.

mod copying;
mod exchange;
mod keeps;
mod messages;
mod mutant;
mod records;
mod rest;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use copying::{Copying, Filling};
use exchange::Exchange;
pub use keeps::{Keeps, Parts};
pub use mutant::{Mutant, Planted};
pub use records::{Partial, Records, Whole};
pub use rest::{AtRest, check_at_rest};

use crate::engine::{
    Class, Effects, Endpoint, Instant, Moment, NodeId, Span, Stage, TransactionId, Work,
};
use crate::membership::{self, Member, Message, View};
use crate::transact::Transactions;
use crate::wire::{Reader, WireError};

/// Whether a message is one of membership or recovery, among those of a protocol whose own kinds are smaller.
pub fn is_kind(message: &[u8]) -> bool {
    message.get(4).is_some_and(|kind| *kind >= membership::kind::RENEW)
}

/// How a node recovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The largest message, in bytes.
    pub mtu: u16,
    /// Whether a new replica is sent as many bytes as its initial rows have, too. It needs none of them, as they are
    /// functions of their keys; but a real one would, and is filled the later for it.
    pub copies_initial_rows: bool,
    /// The planted bug, if there is one.
    pub planted: Planted,
}

/// What recovery has done on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Counts {
    /// Views that began.
    pub views: u64,
    /// Records that were in the log when a view began and whose transactions recovery committed.
    pub decided: u64,
    /// Those whose transactions have not committed.
    pub dropped: u64,
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
    settings: Settings,
    exchange: Option<Exchange>,
    /// Replicas of others that this node fills.
    copying: Vec<Copying>,
    /// Replicas of this node that are being filled.
    filling: Vec<Filling>,
    counts: Counts,
}

impl Recovery {
    /// Of a node at its start.
    pub fn new(member: Member, settings: Settings) -> Self {
        Self {
            member,
            settings,
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
    pub fn misses_filling(&self) -> bool {
        self.has(Mutant::FillingMissesUpdates)
    }

    /// Whether this bug is planted.
    fn has(&self, mutant: Mutant) -> bool {
        self.settings.planted.is(mutant)
    }

    /// Whether a planted bug makes recovery forget the record of a transaction.
    fn forgets(&self, transaction: TransactionId, view: &View) -> bool {
        self.has(Mutant::NothingCommitted)
            || self.has(Mutant::DeadCoordinatorsForgotten) && !view.contains(transaction.node())
    }

    fn retry(&self) -> Span {
        self.member.settings().map_or(Span::from_us(1), |settings| settings.retry)
    }

    /// When [`tick`] has to be called.
    pub fn deadline(&self) -> Option<Instant> {
        let exchange = self.exchange.as_ref().map(|exchange| exchange.again);
        let copying = self.copying.iter().map(|copying| copying.again);
        self.member.deadline().into_iter().chain(exchange).chain(copying).min()
    }
}

/// The node's process begins anew: its rows and its log are gone, and it is no member.
pub fn restart<S: Keeps>(shared: &mut S) {
    let Parts { recovery, store, log } = shared.parts();
    store.drop_all();
    if !recovery.has(Mutant::LogOutlivesProcess) {
        log.clear();
    }
    *recovery = recovery.restarted();
    shared.restart();
}

/// Does what it is time for.
pub fn tick<S: Keeps>(shared: &mut S, now: Instant, out: &mut Effects) {
    let recovery = shared.parts().recovery;
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

/// Takes a message [of membership or recovery](is_kind).
pub fn receive<S: Keeps>(
    shared: &mut S,
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
        shared.parts().recovery.counts.malformed += 1;
    }
}

fn take_of_manager<S: Keeps>(
    shared: &mut S,
    now: Instant,
    bytes: &[u8],
    out: &mut Effects,
) -> Result<(), WireError> {
    match Message::decode(bytes)? {
        Message::Grant { epoch, incarnation, sent } => {
            shared.parts().recovery.member.granted(incarnation, sent);
            saw(shared, epoch, now, out);
        }
        Message::Prepare { view } if fits(&view, shared) => prepare(shared, view, now, out),
        Message::Commit { epoch } => saw(shared, epoch, now, out),
        Message::Evicted { incarnation, .. } => {
            if incarnation == shared.recovery().member.incarnation() {
                out.kill();
            }
        }
        _ => shared.parts().recovery.counts.malformed += 1,
    }
    Ok(())
}

/// Whether a view is one of this cluster.
fn fits<S: Keeps>(view: &View, shared: &S) -> bool {
    let nodes = shared.store().layout().partitions();
    view.partitions().count() == usize::from(nodes) && view.members().all(|node| node.0 < nodes)
}

fn take_of_node<S: Keeps>(
    shared: &mut S,
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
        let recovery = shared.parts().recovery;
        if epoch != recovery.member.epoch() || recovery.exchange.is_some() {
            recovery.counts.other_view += 1;
            return Ok(());
        }
    }
    match kind {
        messages::RECORDS => take_part(shared, (from, epoch), reader, out, take_records),
        messages::TABLE => take_part(shared, (from, epoch), reader, out, take_table),
        messages::RECORDS_ANSWER => {
            let part = reader.u16("the number of a message")?;
            let recovery = shared.parts().recovery;
            if let (Some(exchange), true) =
                (&mut recovery.exchange, recovery.member.proposes(epoch))
            {
                exchange.answered(from, part);
            }
            Ok(())
        }
        messages::COPY => copying::take_copy(shared, from, reader, out),
        messages::COPY_ANSWER => copying::take_answer(shared, now, from, reader, out),
        other => Err(reader.unknown("a kind of message (32 to 36)", other)),
    }
}

/// Stops the view, and begins the exchange for the next one.
fn prepare<S: Keeps>(shared: &mut S, view: View, now: Instant, out: &mut Effects) {
    if !shared.recovery().member.accepts(&view) {
        return;
    }
    let (view, me) = (Arc::new(view), shared.recovery().member.me());
    let Parts { recovery, store, log } = shared.parts();
    if !recovery.has(Mutant::LocksKept) {
        store.unlock_all();
    }
    for (partition, replicas) in view.partitions() {
        if replicas.filling().contains(&me) {
            store.begin_filling(partition);
        }
    }
    recovery.copying.clear();
    recovery.filling.clear();
    if recovery.has(Mutant::ReceivedRecordsForgotten) {
        log.retain(|transaction| transaction.node() == me);
    }
    recovery.member.change_to(Arc::clone(&view));
    shared.stop(out);
    let mut exchange = exchange_of(shared, &view);
    let recovery = shared.parts().recovery;
    exchange.send(now, recovery.retry(), out);
    recovery.exchange = Some(exchange);
    if recovery.has(Mutant::RecoveredTooEarly) {
        recovery.member.tell_recovered(out);
    }
    apply_if_complete(shared, out);
}

/// The exchange for a view, with all that this node has to tell the other members.
fn exchange_of<S: Keeps>(shared: &S, view: &View) -> Exchange {
    let (recovery, store) = (shared.recovery(), shared.store());
    let mtu = usize::from(recovery.settings.mtu);
    let mut table = Vec::new();
    shared.put_table(&mut table);
    let mut exchange = Exchange::new(recovery.member.me(), view, table);
    let records = shared.log().records().into_iter();
    let records = records.filter(|(transaction, _)| !recovery.forgets(*transaction, view));
    let pieces = records.flat_map(|(transaction, record)| {
        let pieces = S::Records::pieces(record, Exchange::room(mtu));
        pieces.into_iter().map(move |piece| (transaction, piece))
    });
    let (layout, tables) = (store.layout(), store.workload().tables());
    exchange.pack(
        (view.epoch(), mtu),
        |reader| shared.check_entry(reader),
        &pieces.collect::<Vec<_>>(),
        |record, node| S::Records::concerns(record, tables, layout, view, node),
    );
    exchange
}

/// Takes what follows the number of a message of the exchange, and is in order as a whole or not taken. What it
/// holds of a table is given back.
type Take<'a, S> =
    fn(&mut S, &mut Reader<'a>, is_late: bool, out: &mut Effects) -> Result<&'a [u8], WireError>;

/// Takes a message of the exchange from another member, and answers it.
fn take_part<'a, S: Keeps>(
    shared: &mut S,
    (from, epoch): (NodeId, u32),
    reader: &mut Reader<'a>,
    out: &mut Effects,
    take: Take<'a, S>,
) -> Result<(), WireError> {
    let (part, is_last) = messages::part(reader)?;
    let recovery = shared.parts().recovery;
    let member = &recovery.member;
    let is_late = epoch == member.epoch() && recovery.exchange.is_none();
    if !is_late && !member.proposes(epoch) {
        recovery.counts.other_view += 1;
        return Ok(());
    }
    let view = member.proposed().filter(|_| !is_late).unwrap_or(member.view());
    let may_come = |exchange: &Exchange| exchange.may_come(from, part, is_last);
    if !view.contains(from) || !recovery.exchange.as_ref().is_none_or(may_come) {
        recovery.counts.malformed += 1;
        return Ok(());
    }
    let table = take(shared, reader, is_late, out)?;
    if !is_late && let Some(exchange) = &mut shared.parts().recovery.exchange {
        exchange.came(from, (part, is_last), table);
    }
    let to = Endpoint::host(from, 0);
    out.send(to, Class::Control, Stage::Membership, |bytes| {
        messages::answer_records(epoch, part, bytes);
    });
    out.ring_doorbell();
    apply_if_complete(shared, out);
    Ok(())
}

/// Takes records of another member into the log, where those of one transaction are merged.
fn take_records<'a, S: Keeps>(
    shared: &mut S,
    reader: &mut Reader<'a>,
    is_late: bool,
    out: &mut Effects,
) -> Result<&'a [u8], WireError> {
    let Parts { recovery, store, log } = shared.parts();
    // All of them can be read with all of their items, or none is taken: recovery decides by what is in a log.
    let (mut check, nodes) = (*reader, store.layout().partitions());
    while !check.is_at_end() {
        let at = check.position();
        let (transaction, record) = messages::record(&mut check, nodes)?;
        S::Records::check(record, store.workload().tables(), store.layout())?;
        if log.record(transaction).is_some_and(|own| !S::Records::agree(own, record)) {
            let (expected, found) = ("a record that agrees with the own one", transaction.0);
            return Err(WireError::Unknown { expected, found, at });
        }
    }
    while !is_late && !reader.is_at_end() {
        let (transaction, record) = messages::record(reader, nodes)?;
        let counts_later = !recovery.has(Mutant::DecisionsCountAtOnce);
        let open = S::Records::without_decision(record).filter(|_| counts_later);
        if let (Some((_, committed)), Some(exchange)) = (&open, &mut recovery.exchange) {
            exchange.says(transaction, *committed);
        }
        let record = open.as_ref().map_or(record, |(record, _)| record);
        let is_more = match recovery.has(Mutant::RecordsNotMerged) {
            true => log.append(transaction, record),
            false => log.merge(transaction, record, S::Records::merge),
        };
        if is_more {
            out.work(Work::Log, 1);
            out.work(Work::CopyLine, record.len().div_ceil(64) as u32);
        }
    }
    Ok(&[])
}

/// Reads entries of another member's table.
fn take_table<'a, S: Keeps>(
    shared: &mut S,
    reader: &mut Reader<'a>,
    _: bool,
    _: &mut Effects,
) -> Result<&'a [u8], WireError> {
    let mut check = *reader;
    while !check.is_at_end() {
        let at = check.position();
        shared.check_entry(&mut check)?;
        assert!(check.position() > at, "an entry of no bytes");
    }
    Ok(reader.rest())
}

/// Decides about all records, when those of all members are there, and applies to the own replicas what has
/// committed.
fn apply_if_complete<S: Keeps>(shared: &mut S, out: &mut Effects) {
    match &mut shared.parts().recovery.exchange {
        Some(exchange) if !exchange.is_applied && exchange.is_complete() => {
            exchange.is_applied = true;
        }
        _ => return,
    }
    let decisions = decisions(shared);
    let Parts { recovery, store, log } = shared.parts();
    let Some(view) = recovery.member.proposed().cloned() else { return };
    for (transaction, committed) in decisions {
        log.change(transaction, |record| S::Records::decide(record, committed));
    }
    let (me, workload) = (recovery.member.me(), store.workload().clone());
    let mut changes = Vec::new();
    for (transaction, record) in log.records() {
        let has_committed = S::Records::decision(record) == Some(true);
        if !has_committed || recovery.forgets(transaction, &view) {
            continue;
        }
        for item in S::Records::items(record, workload.tables()) {
            let header = store.header_of(item.key);
            if view.replicas(header.partition).nodes().contains(&me) {
                changes.push((header, item.fetched, transaction, item));
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

/// Whether the transactions of the log have committed whose records do not say it yet.
fn decisions<S: Keeps>(shared: &S) -> Vec<(TransactionId, bool)> {
    let recovery = shared.recovery();
    let Some(exchange) = &recovery.exchange else { return Vec::new() };
    let (mut said, mut open) = (Vec::new(), Vec::new());
    for (transaction, record) in shared.log().records() {
        match (S::Records::decision(record), exchange.said(transaction)) {
            (Some(_), _) => {}
            (None, Some(committed)) => said.push((transaction, committed)),
            (None, None) => open.push((transaction, record)),
        }
    }
    if open.is_empty() {
        return said;
    }
    let tables = exchange.tables(recovery.member.me());
    let tables: Vec<_> = tables.iter().map(|(node, table)| (*node, &table[..])).collect();
    let decisions = shared.decides(&open, &tables);
    assert_eq!(decisions.len(), open.len(), "a decision for each record");
    said.extend(open.iter().map(|(transaction, _)| *transaction).zip(decisions));
    said
}

/// The node hears that a view has begun: from the manager, or since another member is in it already. If
/// it is prepared for it, it begins here, too.
pub fn saw<S: Keeps>(shared: &mut S, epoch: u32, now: Instant, out: &mut Effects) {
    let recovery = shared.recovery();
    let is_ready = recovery.exchange.as_ref().is_some_and(|exchange| exchange.is_applied)
        || recovery.has(Mutant::RecoveredTooEarly);
    if is_ready && recovery.member.proposes(epoch) {
        install(shared, now, out);
    }
}

fn install<S: Keeps>(shared: &mut S, now: Instant, out: &mut Effects) {
    let recovery = shared.parts().recovery;
    if !recovery.member.install() {
        return;
    }
    recovery.exchange = None;
    recovery.counts.views += 1;
    let (view, me) = (Arc::clone(recovery.member.view()), recovery.member.me());
    tell_decisions(shared, &view, out);
    let Parts { recovery, store, log } = shared.parts();
    log.clear();
    for (partition, replicas) in view.partitions() {
        if !replicas.nodes().contains(&me) {
            store.drop_replica(partition);
        } else if replicas.filling().contains(&me) {
            recovery.filling.push(Filling::new(partition));
        } else if replicas.nodes().first() == Some(&me) {
            let initial = recovery.settings.copies_initial_rows;
            recovery.copying.extend(Copying::of(partition, replicas.filling(), store, initial));
        }
    }
    shared.begin(out);
    copying::tick(shared, now, out);
}

/// Tells what was decided about each record: also of coordinators that live, as they may fail before they can
/// say it.
fn tell_decisions<S: Keeps>(shared: &mut S, view: &View, out: &mut Effects) {
    let records = shared.log().records().into_iter();
    // One of which nothing is known is there only by a planted bug.
    let decision = |(transaction, record): (TransactionId, &[u8])| {
        (transaction, S::Records::decision(record) == Some(true))
    };
    for (transaction, committed) in records.map(decision).collect::<Vec<_>>() {
        let recovery = shared.parts().recovery;
        if recovery.forgets(transaction, view) {
            continue;
        }
        let count = match committed {
            true => &mut recovery.counts.decided,
            false => &mut recovery.counts.dropped,
        };
        *count += 1;
        out.tell(Moment::Decided { transaction, committed });
        shared.decided(transaction, committed);
    }
}
