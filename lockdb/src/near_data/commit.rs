//! The commit of near-data updates: the pages first, then the record that makes them count.

use super::super::database::Shared;
use super::super::error::{ConflictError, Result};
use super::super::fault::Fault;
use super::super::layout::MAP_WORDS;
use super::super::log::{Kind, Sync, Ticket};
use super::super::options::Isolation;
use super::super::session::Session;
use super::super::transaction::Transaction;
use super::super::transaction::Validation;
use super::super::transaction::commit::{Installed, encode, install, supersede};
use super::super::watches::Changed;
use super::operations::check_head;
use super::record::{SealedPage, Sections};
use super::{NearData, NearDataError, PageReservation, Seal, SealError};

/// Has a device stamp its pages, write them to their places, and sync them.
type Sealing<'f> = dyn FnMut(&Seal<'_>) -> Result<(), SealError> + 'f;

impl Transaction<'_> {
    /// As [`Transaction::commit`], of a transaction with versions that a device has made: `seal` has
    /// the device stamp its pages with the commit timestamp, write them to their places and sync
    /// them, and returns when they are durable. Without such versions `seal` is not called.
    ///
    /// From the moment that the commit timestamp is given until `seal` returns, later commits are not
    /// published, and neither vacuum nor checkpoints run: `seal` has to be quick, and to give up in
    /// bounded time. It must not use the store.
    ///
    /// # Errors
    /// Those of [`Transaction::commit`]. [`NearDataError::Seal`] when the pages were not sealed:
    /// nothing was changed, and the transaction keeps its reservations until it is
    /// [abandoned](Transaction::abandon) or rolled back, which the caller does when the device is at
    /// rest or fenced; dropped, it leaves them out of use. [`NearDataError::MissingLine`] and
    /// [`NearDataError::Adopt`] when the versions have a gap, or a row's newest version is no longer
    /// the one before: the transaction goes on.
    ///
    /// # Panics
    /// When `seal` does; the transaction is then rolled back as it is dropped, and its reservations stay out
    /// of use.
    pub fn commit_sealing(
        &mut self,
        seal: &mut dyn FnMut(&Seal<'_>) -> Result<(), SealError>,
    ) -> Result<u64> {
        self.check_running()?;
        let Some(near) = self.near.as_deref().filter(|near| near.rows() > 0) else {
            return self.commit();
        };
        if near.seal_failed() {
            return Err(NearDataError::SealFailed.into());
        }
        let sealed = near.sealed_pages()?;
        // If something panics on the way, nobody can tell whether the device is at rest.
        self.note_failed_seal(true);
        let near = self.near.as_deref().expect("it was there");
        let place = publish(self.session, near, &sealed, self.isolation, self.snapshot, seal);
        self.note_failed_seal(matches!(place, Ok(Published::Unsealed { .. })));
        match place {
            Ok(Published::Installed(installed)) => {
                let sealed: Vec<u64> = sealed.iter().map(|sealed| sealed.page).collect();
                self.settle(installed, &sealed)
            }
            Ok(Published::Turned(conflict)) => Err(self.fail(conflict)),
            Ok(Published::Unsealed { commit, source }) => {
                Err(NearDataError::Seal { commit, source }.into())
            }
            Err(error) => Err(error),
        }
    }

    fn note_failed_seal(&mut self, failed: bool) {
        self.near.as_deref_mut().expect("it has versions to seal").seal_failed = failed;
    }

    /// Refuses a commit without a seal of what needs one.
    #[inline]
    pub(crate) fn check_sealed(&self) -> Result<()> {
        let Some(near) = self.near.as_deref() else { return Ok(()) };
        match (near.seal_failed(), near.rows()) {
            (true, _) => Err(NearDataError::SealFailed.into()),
            (false, 0) => Ok(()),
            (false, rows) => Err(NearDataError::Unsealed { rows }.into()),
        }
    }
}

/// What became of a commit.
enum Published {
    Installed(Installed),
    /// What was read has changed.
    Turned(ConflictError),
    Unsealed {
        commit: u64,
        source: SealError,
    },
}

/// Puts a session's writes and a device's versions in the order of commits.
fn publish(
    session: &mut Session,
    near: &NearData,
    sealed: &[SealedPage],
    isolation: Isolation,
    snapshot: u64,
    seal: &mut Sealing<'_>,
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
    Sections::encode(sealed, body);
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
    let pages: Vec<PageReservation> = sealed
        .iter()
        .map(|&SealedPage { page, place, .. }| PageReservation { page, place })
        .collect();
    let order = Seal { commit, epoch, store: storage.store(), pages: &pages };
    let late = shared.faults.has(Fault::NearDataLogBeforeSeal);
    if !late && let Err(source) = seal(&order) {
        return Ok(Published::Unsealed { commit, source });
    }
    if shared.faults.has(Fault::NearDataLocksReleasedEarly) {
        let _ = locks.release_to(0, &shared.locks, statistics);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    shared.log.write(&ticket, Kind::NearData, body);
    install_sealed(shared, near, sealed, &ticket);
    open.asked += 1;
    let installed = install(shared, ticket, writes, open);
    drop(alone);
    if late {
        shared.log.make_durable(installed.end, Sync::Immediate)?;
        if let Err(source) = seal(&order) {
            return Ok(Published::Unsealed { commit, source });
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
fn install_sealed(shared: &Shared, near: &NearData, sealed: &[SealedPage], ticket: &Ticket<'_>) {
    let pages = &shared.pages;
    let before: Vec<u64> =
        sealed.iter().map(|sealed| pages.settle_reservation(sealed.page, sealed.place)).collect();
    pages.note_sealed(ticket.commit());
    // The newest checkpoint still has what stood there in an earlier life of the page.
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
            if !shared.faults.has(Fault::NearDataHeadsNotPublished) {
                table.set_head(row.vid, row.record);
            }
            // No dirty page tells the next checkpoint of it.
            if !shared.faults.has(Fault::NearDataPiecesNotMarked) {
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
