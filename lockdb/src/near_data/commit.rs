// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commit of near-data updates: the pages first, then the record that makes them count.

use super::super::database::Shared;
use super::super::error::{ConflictError, Result};
use super::super::layout::MAP_WORDS;
use super::super::log::{Durability, Kind, Ticket};
use super::super::mutant::Mutant;
use super::super::options::Isolation;
use super::super::session::Session;
use super::super::transaction::Transaction;
use super::super::transaction::Validation;
use super::super::transaction::commit::{Installed, encode, install, supersede};
use super::super::watches::Changed;
use super::operations::check_head;
use super::record::{FinalizedPage, Sections};
use super::{Finalize, FinalizeError, NearData, NearDataError, PageReservation};

/// Has a device stamp its pages, write them to their places, and sync them.
type Finalizing<'f> = dyn FnMut(&Finalize<'_>) -> Result<(), FinalizeError> + 'f;

impl Transaction<'_> {
    /// As [`Transaction::commit`], of a transaction with versions that a device has made:
    /// `finalize` has the device stamp its pages with the commit timestamp, write them to their
    /// places and sync them, and returns when they are durable. Without such versions `finalize` is
    /// not called.
    ///
    /// From the moment that the commit timestamp is given until `finalize` returns, later commits
    /// are not published, and neither vacuum nor checkpoints run: `finalize` has to be quick, and
    /// to give up in bounded time. It must not use the store.
    ///
    /// # Errors
    /// Those of [`Transaction::commit`]. [`NearDataError::Finalize`] when the pages were not
    /// finalized: nothing was changed, and the transaction keeps its reservations until it is
    /// [abandoned](Transaction::abandon_fenced) or rolled back, which the caller does when the
    /// device is idle or fenced; dropped, it leaves them out of use. [`NearDataError::MissingLine`]
    /// and
    /// [`NearDataError::Adopt`] when the versions have a gap, or a row's newest version is no longer
    /// the one before: the transaction continues.
    ///
    /// # Panics
    /// When `finalize` does; the transaction is then rolled back as it is dropped, and its
    /// reservations stay out of use.
    pub fn commit_finalizing(
        &mut self,
        finalize: &mut dyn FnMut(&Finalize<'_>) -> Result<(), FinalizeError>,
    ) -> Result<u64> {
        self.check_running()?;
        let Some(near) = self.near.as_deref().filter(|near| near.rows() > 0) else {
            return self.commit();
        };
        if near.finalize_failed() {
            return Err(NearDataError::FinalizeFailed.into());
        }
        let finalized = near.finalized_pages()?;
        // If something panics on the way, it is unknown whether the device is idle.
        self.note_failed_finalize(true);
        let near = self.near.as_deref().expect("it was there");
        let place =
            publish(self.session, near, &finalized, self.isolation, self.snapshot, finalize);
        self.note_failed_finalize(matches!(place, Ok(Published::NotFinalized { .. })));
        match place {
            Ok(Published::Installed(installed)) => {
                let finalized: Vec<u64> =
                    finalized.iter().map(|finalized| finalized.page).collect();
                self.settle(installed, &finalized)
            }
            Ok(Published::Turned(conflict)) => Err(self.fail(conflict)),
            Ok(Published::NotFinalized { commit, source }) => {
                Err(NearDataError::Finalize { commit, source }.into())
            }
            Err(error) => Err(error),
        }
    }

    fn note_failed_finalize(&mut self, failed: bool) {
        self.near.as_deref_mut().expect("it has versions to finalize").finalize_failed = failed;
    }

    /// Refuses a commit without a finalization of what needs one.
    #[inline]
    pub(crate) fn check_finalized(&self) -> Result<()> {
        let Some(near) = self.near.as_deref() else { return Ok(()) };
        match (near.finalize_failed(), near.rows()) {
            (true, _) => Err(NearDataError::FinalizeFailed.into()),
            (false, 0) => Ok(()),
            (false, rows) => Err(NearDataError::NotFinalized { rows }.into()),
        }
    }
}

/// The outcome of a commit.
enum Published {
    Installed(Installed),
    /// What was read has changed.
    Turned(ConflictError),
    NotFinalized {
        commit: u64,
        source: FinalizeError,
    },
}

/// Puts a session's writes and a device's versions in the order of commits.
fn publish(
    session: &mut Session,
    near: &NearData,
    finalized: &[FinalizedPage],
    isolation: Isolation,
    snapshot: u64,
    finalize: &mut Finalizing<'_>,
) -> Result<Published> {
    let Session { shared, locks, statistics, writes, reads, open, body, .. } = session;
    let shared = &**shared;
    let storage = shared.pages.storage().expect("pages were reserved on it");
    let mut validation = (isolation == Isolation::Serializable)
        .then(|| Validation::new(shared, reads, writes, snapshot));
    if let Some(validation) = &mut validation
        && let Some(conflict) = validation.look_ahead()?
    {
        return Ok(Published::Turned(conflict));
    }
    let versions = writes.last_writes();
    let sizes = versions.map(|(write, payload)| (write.table, payload.len()));
    let provided = open.provide(&shared.pages, &shared.pins, sizes);
    provided.inspect_err(|_| shared.note_refusal(None))?;
    body.clear();
    Sections::encode(finalized, body);
    encode(writes, body, shared);
    // Before the ticket, as a checkpoint waits for the tickets before it. A checkpoint so has all of
    // this commit or nothing of it, and vacuum finds its pages in their places.
    let (alone, _held_off) = loop {
        let alone = shared.maintenance.lock();
        match shared.indexes.hold_off() {
            Some(held_off) => break (alone, held_off),
            // They are being built, by what the VID maps lead to.
            None => drop(alone),
        }
        shared.need_indexes()?;
    };
    check_heads(shared, near)?;
    let ticket = match &mut validation {
        None => shared.log.begin(body.len())?,
        Some(validation) => match validation.place(body.len())? {
            Ok(ticket) => ticket,
            Err(conflict) => return Ok(Published::Turned(conflict)),
        },
    };
    let commit = ticket.commit();
    let epoch = near.epoch.expect("set with the first reservation");
    assert!(epoch <= storage.epoch(), "epochs only grow");
    let pages: Vec<PageReservation> = finalized
        .iter()
        .map(|&FinalizedPage { page, place, .. }| PageReservation { page, place })
        .collect();
    let order = Finalize { commit, epoch, store: storage.store(), pages: &pages };
    let late = shared.mutants.has(Mutant::NearDataLogBeforeFinalize);
    if !late && let Err(source) = finalize(&order) {
        return Ok(Published::NotFinalized { commit, source });
    }
    if shared.mutants.has(Mutant::NearDataLocksReleasedEarly) {
        let _ = locks.release_to(0, &shared.locks, statistics);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    shared.log.write(&ticket, Kind::NearData, body);
    install_finalized(shared, near, finalized, &ticket);
    open.asked += 1;
    let installed = install(shared, ticket, writes, open);
    drop(alone);
    if late {
        shared.log.make_durable(installed.end, Durability::Immediate)?;
        if let Err(source) = finalize(&order) {
            return Ok(Published::NotFinalized { commit, source });
        }
    }
    Ok(Published::Installed(installed))
}

/// Each row's newest version is still the one before its new one: that is what its lock is for.
fn check_heads(shared: &Shared, near: &NearData) -> Result<()> {
    for near in near.tables() {
        let table = shared.table_by_id(near.table);
        for row in near.rows() {
            check_head(table, row).map_err(|fault| {
                let (table, vid) = (table.name().into(), row.vid);
                NearDataError::Adopt { table, vid, fault }
            })?;
        }
    }
    Ok(())
}

/// Makes the pages' places known, then the versions in them. The caller holds the mutex of
/// maintenance.
fn install_finalized(
    shared: &Shared,
    near: &NearData,
    finalized: &[FinalizedPage],
    ticket: &Ticket<'_>,
) {
    let pages = &shared.pages;
    let before: Vec<u64> = finalized
        .iter()
        .map(|finalized| pages.settle_reservation(finalized.page, finalized.place))
        .collect();
    pages.note_finalized(ticket.commit());
    // The newest checkpoint still has what stood there in an earlier generation of the page.
    shared.standing.lock().left.extend(before.into_iter().filter(|&place| place != 0));
    let mut changes = Vec::new();
    for near in near.tables() {
        let table = shared.table_by_id(near.table);
        for row in near.rows() {
            if shared.watches.any() {
                let (commit, table) = (ticket.commit(), near.table);
                let (vid, before, now) = (row.vid, row.predecessor, row.record);
                changes.push(Changed { commit, table, vid, before, now });
            }
            if !shared.mutants.has(Mutant::NearDataHeadsNotPublished) {
                table.set_head(row.vid, row.record);
            }
            // No dirty page tells the next checkpoint of it.
            if !shared.mutants.has(Mutant::NearDataChunksNotMarked) {
                table.mark_changed(row.vid as usize / MAP_WORDS);
            }
            match pages.is_in_memory(row.predecessor.page()) {
                true => supersede(shared, row.predecessor, ticket.commit()),
                false => pages.note_dead_bytes(row.predecessor.page(), row.superseded_bytes),
            }
        }
    }
    if !changes.is_empty() {
        shared.watches.tell(&changes);
    }
}
