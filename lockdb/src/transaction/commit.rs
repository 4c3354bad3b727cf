// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commit: from private writes to published versions.

use super::super::change::Change;
use super::super::database::Shared;
use super::super::error::{ConflictError, Ending, Result};
use super::super::layout::{RecordId, VersionHeader};
use super::super::log::{Kind, LogError, Ticket};
use super::super::mutant::Mutant;
use super::super::options::Isolation;
use super::super::schema::RowRef;
use super::super::session::{OpenPages, Session};
use super::super::watches::Changed;
use super::validation::Validation;
use super::write_set::MadeEntry;
use super::{State, Transaction, WriteSet};

impl Transaction<'_> {
    /// Makes the transaction's changes stand, and returns when they are as durable as its options
    /// ask for. Gives its place in the order of commits; for a transaction that has changed nothing,
    /// that of its snapshot.
    ///
    /// # Errors
    /// A conflict, at SERIALIZABLE, when what it has read was changed meanwhile; the transaction has
    /// then changed nothing. When the log cannot be written: if the error is one of durability, the
    /// changes may or may not stand after the store is opened again.
    /// [`LogError::Stalled`](super::super::log::LogError::Stalled) when the commits before it are not
    /// published within [`Options::commit_timeout`](super::super::Options::commit_timeout): unless
    /// the transaction can still be rolled back, its changes stand as soon as those are.
    pub fn commit(&mut self) -> Result<u64> {
        self.check_running()?;
        self.check_finalized()?;
        if self.session.writes.is_empty() {
            self.end(State::Ended(Ending::Committed));
            self.session.last_commit = self.snapshot;
            // What it has read must be as durable as what it would have written.
            self.session.shared.await_durable(self.snapshot, self.durability)?;
            return Ok(self.snapshot);
        }
        match publish(self.session, self.isolation, self.snapshot)? {
            Ok(installed) => self.settle(installed, &[]),
            Err(conflict) => Err(self.fail(conflict)),
        }
    }

    /// Ends the transaction after its commit was installed. `finalized`: the logical pages that a
    /// device has written for it.
    pub(crate) fn settle(&mut self, installed: Installed, finalized: &[u64]) -> Result<u64> {
        let Installed { commit, end, published } = installed;
        self.leave_near_data(finalized);
        let Session { shared, locks, statistics, writes, pin, last_commit, in_transaction, .. } =
            &mut *self.session;
        (*last_commit, *in_transaction) = (commit, false);
        remove_passing_entries(shared, writes);
        writes.clear();
        // A lock that a repair took away no longer matters.
        let _ = locks.release_to(0, &shared.locks, statistics);
        shared.pins.unpin(*pin);
        self.state = State::Ended(Ending::Committed);
        published?;
        if !shared.mutants.has(Mutant::AcknowledgedBeforeDurable) {
            shared.log.make_durable(end, self.durability)?;
        }
        Ok(commit)
    }
}

/// A commit whose versions stand in pages and maps.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) commit: u64,
    /// Where its record in the log ends.
    pub(crate) end: u64,
    /// Whether it is published; if not, it is as soon as those before it are done.
    pub(crate) published: Result<(), LogError>,
}

/// No version has the keys of writes that were written over, so nobody else would ever remove their
/// entries. The rows are locked still.
fn remove_passing_entries(shared: &Shared, writes: &WriteSet) {
    let key = |entry: &MadeEntry, payload: &[u8]| {
        let table = shared.table_by_id(entry.table);
        table.entry(entry.which, entry.vid, RowRef::new(table.schema(), payload))
    };
    for entry in writes.passing_entries(key) {
        shared.table_by_id(entry.table).remove_entry(entry.which, &entry.key, entry.vid);
    }
}

/// Puts a session's writes into the log and into pages; or, at SERIALIZABLE, tells what was changed
/// of that which it has read.
fn publish(
    session: &mut Session,
    isolation: Isolation,
    snapshot: u64,
) -> Result<Result<Installed, ConflictError>> {
    let Session { shared, locks, statistics, writes, reads, open, body, .. } = session;
    let shared = &**shared;
    let mut validation = (isolation == Isolation::Serializable)
        .then(|| Validation::new(shared, reads, writes, snapshot));
    if let Some(validation) = &mut validation
        && let Some(conflict) = validation.look_ahead()?
    {
        return Ok(Err(conflict));
    }
    let versions = writes.last_writes();
    let sizes = versions.map(|(write, payload)| (write.table, payload.len()));
    let provided = open.provide(&shared.pages, &shared.pins, sizes);
    provided.inspect_err(|_| shared.note_refusal(None))?;
    body.clear();
    encode(writes, body, shared);
    let ticket = match &mut validation {
        None => shared.log.begin(body.len())?,
        Some(validation) => match validation.place(body.len())? {
            Ok(ticket) => ticket,
            Err(conflict) => return Ok(Err(conflict)),
        },
    };
    if shared.mutants.has(Mutant::LockReleasedBeforeInstall) {
        let _ = locks.release_to(0, &shared.locks, statistics);
        std::thread::yield_now();
    }
    shared.log.write(&ticket, Kind::Commit, body);
    Ok(Ok(install(shared, ticket, writes, open)))
}

/// Puts the changes into the body of the log record.
pub(crate) fn encode(writes: &WriteSet, body: &mut Vec<u8>, shared: &Shared) {
    let omitted = shared.mutants.has(Mutant::LogOmitsAChange);
    let count = writes.last_writes().count();
    for (at, (write, payload)) in writes.last_writes().enumerate() {
        if omitted && at + 1 == count && at > 0 {
            break;
        }
        let (table, vid, number) = (write.table, write.vid, write.number);
        Change { table, vid, number, tombstone: write.tombstone, payload }.encode(body);
    }
}

/// Writes the versions, and publishes them.
#[inline]
pub(crate) fn install(
    shared: &Shared,
    ticket: Ticket<'_>,
    writes: &WriteSet,
    open: &mut OpenPages,
) -> Installed {
    let (commit, end) = (ticket.commit(), ticket.end());
    let (mut ticket, mut published) = (Some(ticket), Ok(()));
    if shared.mutants.has(Mutant::PublishedBeforeInstall) {
        published = shared.log.finish(ticket.take().expect("not finished yet"));
        std::thread::yield_now();
    }
    let mut changes = Vec::new();
    for (write, payload) in writes.last_writes() {
        let header = VersionHeader {
            created: commit,
            invalidated: 0,
            predecessor: write.head.word(),
            vid: write.vid,
            version: write.number,
        };
        let record = open.append(&shared.pages, write.table, &header, payload, write.tombstone);
        shared.table_by_id(write.table).set_head(write.vid, record);
        if shared.watches.any() {
            let (table, vid, before) = (write.table, write.vid, write.head);
            changes.push(Changed { commit, table, vid, before, now: record });
        }
        if !write.head.is_none() {
            supersede(shared, write.head, commit);
        }
        if write.tombstone {
            shared.pages.note_dead(shared.pages.region().version(record));
        }
    }
    if !changes.is_empty() && !shared.mutants.has(Mutant::ChangesNotTold) {
        shared.watches.tell(&changes);
    }
    if let Some(ticket) = ticket {
        published = shared.log.finish(ticket);
    }
    Installed { commit, end, published }
}

/// Notes what has happened to the version before, which is in memory.
#[inline]
pub(crate) fn supersede(shared: &Shared, old: RecordId, commit: u64) {
    let old = shared.pages.region().version(old);
    old.invalidate(commit);
    if !old.is_tombstone() {
        shared.pages.note_dead(old);
    }
}
