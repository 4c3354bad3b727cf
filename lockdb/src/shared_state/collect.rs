// SPDX-License-Identifier: MIT OR Apache-2.0
//! Collection of a shared state from the host's memory.
//!
//! Collection costs a commit nothing. The changes since the checkpoint are found from two traces
//! that commits and vacuum leave anyway:
//! - Each new version stands in a page that was taken, or open, since the checkpoint: it is *dirty*.
//!   A dirty page is compared with what the checkpoint has of it. The lines beyond that are new, and
//!   say which VIDs have changed.
//! - A chunk of a VID map is marked when vacuum removes a tuple from it, or when a commit came
//!   between the checkpoint's writing of the map and of the page. It is compared with what the
//!   checkpoint has of it, entry by entry.
//!
//! All commits up to the snapshot are in their pages before the snapshot is read, so the traces,
//! which are read afterwards, are complete.

use std::sync::Arc;

use super::super::checkpoint::Directory;
use super::super::database::Shared;
use super::super::error::{Error, Result};
use super::super::layout::{
    MAP_WORDS, PAGE_BYTES, Page, PageBuffer, PageHeader, PageKind, RecordId, Superblock, vid_page,
};
use super::super::mutant::Mutant;
use super::super::native::{NativeStorage, PAGES_FILE};
use super::super::recovery::read_directory;
use super::super::table::Table;
use super::builder::{AreaBuilder, TablePart};
use super::format::{AreaHeader, PageEntry, VidEntry};

/// The size of a page in the area.
pub(super) const IMAGE_BYTES: usize = PAGE_BYTES + PageEntry::BYTES;

/// The builder of a shared state.
struct Collection<'s> {
    shared: &'s Shared,
    storage: &'s NativeStorage,
    /// The checkpoint, and what it has.
    superblock: Superblock,
    directory: Directory,
    tables: Vec<Arc<Table>>,
    snapshot: u64,
    area: AreaBuilder,
    /// Keys of tuples that have a version which the checkpoint does not have.
    changed: Vec<u64>,
    vids: Vec<VidEntry>,
}

/// Collects what has changed since the newest checkpoint. `None` when it is more than the limit.
///
/// The caller ensures that neither vacuum nor a checkpoint is running. `horizon` is the oldest
/// snapshot of which vacuum has left everything.
pub(super) fn collect(
    shared: &Shared,
    storage: &NativeStorage,
    horizon: u64,
) -> Result<Option<(AreaHeader, Vec<u8>)>> {
    let superblock = standing_superblock(storage)?;
    let (directory, _) = read_directory(storage, &superblock)?;
    // Before all else: what is committed up to here is found by all that follows.
    let snapshot = shared.log.published();
    let tables = shared.tables();
    let mut collection = Collection {
        shared,
        storage,
        superblock,
        directory,
        tables,
        snapshot,
        area: AreaBuilder::new(std::mem::take(&mut *shared.spare_area.lock())),
        changed: Vec::new(),
        vids: Vec::new(),
    };
    let limit = shared.options.shared_state_limit;
    if !collection.add_pages(limit)? {
        return Ok(None);
    }
    collection.add_changed()?;
    collection.add_marked()?;
    let bytes = collection.finish(AreaHeader {
        store: superblock.store,
        epoch: superblock.epoch,
        snapshot,
        oldest: horizon.min(snapshot),
        directory: superblock.directory,
        directory_bytes: superblock.directory_bytes,
        ..AreaHeader::default()
    });
    Ok(Some(bytes).filter(|(_, bytes)| bytes.len() <= limit))
}

/// The superblock of the newest checkpoint.
fn standing_superblock(storage: &NativeStorage) -> Result<Superblock> {
    let epoch = storage.epoch();
    let slot = epoch % 2;
    let damaged = |what| {
        let offset = slot * PAGE_BYTES as u64;
        Err(Error::Corrupt { file: PAGES_FILE.into(), offset, what })
    };
    match &storage.superblocks()?[slot as usize] {
        Ok(superblock) if superblock.epoch == epoch => Ok(*superblock),
        Ok(other) => damaged(format!("superblock: epoch {}, expected {epoch}", other.epoch)),
        Err(fault) => damaged(format!("superblock: {fault}")),
    }
}

impl Collection<'_> {
    /// Copies the pages with new versions, and notes whose versions these are. False when they are
    /// too many.
    fn add_pages(&mut self, limit: usize) -> Result<bool> {
        let mut buffer = PageBuffer::ZERO;
        for page in self.shared.pages.dirty() {
            // No reachable new version is in a page that is not in use: neither vacuum
            // nor a checkpoint is running, and commits up to the snapshot have taken their pages.
            // One that is not in memory is a device's, since after this life of it.
            if self.shared.pages.use_in_memory(page).is_none() {
                continue;
            }
            self.shared.pages.region().copy(page, &mut buffer);
            let image = Page::new(&buffer.0);
            let old = self.lines_on_storage(page, image)?;
            let header = image.header();
            let key = |vid: u32| u64::from(header.table) << 32 | u64::from(vid);
            let new = image.versions().skip(old).map(|(_, version, ..)| version);
            let committed = new.filter(|version| version.created <= self.snapshot);
            let before = self.changed.len();
            self.changed.extend(committed.map(|version| key(version.vid)));
            if self.changed.len() == before {
                continue;
            }
            if self.area.len() + IMAGE_BYTES > limit {
                return Ok(false);
            }
            let newest = image.versions().map(|(_, version, ..)| version.created).max();
            let (newest, Superblock { store, epoch, .. }) = (newest.unwrap_or(0), self.superblock);
            buffer.finalize(PageHeader { newest, store, epoch, ..header });
            self.area.push_image(page, &buffer);
        }
        Ok(true)
    }

    /// How many of a page's lines the checkpoint has. All of them, or none when another use of the
    /// page was meant, since pages only grow.
    fn lines_on_storage(&self, page: u64, now: Page<'_>) -> Result<usize> {
        let place = self.shared.pages.physical_page(page);
        if place == 0 {
            return Ok(0);
        }
        let buffer = self.storage.read(PageKind::Data, page, place)?;
        let then = Page::new(&buffer.0);
        let grown = then.header().table == now.header().table
            && then.lines() <= now.lines()
            && (0..then.lines()).all(|line| is_same(then, now, line));
        Ok(if grown { then.lines() } else { 0 })
    }

    /// Entries for the tuples that have new versions.
    fn add_changed(&mut self) -> Result<()> {
        self.changed.sort_unstable();
        self.changed.dedup();
        for &key in &self.changed {
            let (table, vid) = ((key >> 32) as u32, key as u32);
            let head = self.head(&self.tables[table as usize], vid)?;
            // Vacuum has removed the others; their chunks are marked.
            if !head.is_none() {
                self.vids.push(VidEntry { table, vid, record: head.word() });
            }
        }
        Ok(())
    }

    /// Entries for what differs in marked chunks of VID maps.
    fn add_marked(&mut self) -> Result<()> {
        let mut more = Vec::new();
        for table in &self.tables {
            let vids = table.vids() as usize;
            for chunk in (0..vids.div_ceil(MAP_WORDS)).filter(|&chunk| table.is_changed(chunk)) {
                let words = self.chunk_on_storage(table.id(), chunk)?;
                let first = chunk * MAP_WORDS;
                for vid in first..vids.min(first + MAP_WORDS) {
                    let (vid, old) = (vid as u32, words.get(vid - first).copied().unwrap_or(0));
                    // What is as the checkpoint has it is not newer than the snapshot.
                    if table.head(vid).word() == old {
                        continue;
                    }
                    let record = self.head(table, vid)?.word();
                    if record != old {
                        more.push(VidEntry { table: table.id(), vid, record });
                    }
                }
            }
        }
        join_entries(&mut self.vids, more);
        Ok(())
    }

    /// What the checkpoint has of a chunk of a VID map; nothing when it has no such chunk.
    fn chunk_on_storage(&self, table: u32, chunk: usize) -> Result<Vec<u64>> {
        let map = self.directory.tables.get(table as usize).map(|entry| &entry.vid_map);
        match map.and_then(|map| map.get(chunk)).copied().unwrap_or(0) {
            0 => Ok(Vec::new()),
            place => {
                let page = self.storage.read(PageKind::VidMap, vid_page(table, chunk), place)?;
                Ok(Page::new(&page.0).words().collect())
            }
        }
    }

    /// The newest version of a tuple at the snapshot.
    fn head(&self, table: &Table, vid: u32) -> Result<RecordId> {
        let mut record = table.head(vid);
        while !record.is_none() {
            let version = self.shared.pages.version(record)?;
            if version.created() <= self.snapshot {
                break;
            }
            record = version.predecessor();
        }
        Ok(record)
    }

    fn finish(mut self, header: AreaHeader) -> (AreaHeader, Vec<u8>) {
        if self.shared.mutants.has(Mutant::SharedStateLosesVidEntry) {
            self.vids.pop();
        }
        if self.shared.mutants.has(Mutant::SharedStateLosesPage) {
            self.area.lose_image();
        }
        let known = self.directory.tables.len();
        let parts = self.tables.iter().enumerate().map(|(number, table)| TablePart {
            vids: table.vids(),
            schema: (number >= known).then(|| table.schema().encode()),
        });
        self.area.finish(header, &parts.collect::<Vec<_>>(), &self.vids)
    }
}

/// Adds entries for marked chunks to those for new versions, in the order of their keys, one for
/// each.
///
/// Both can have the same tuple, and tell of it differently: when indexes are built beside the
/// collection, the head of a deleted tuple is its tombstone first, and none a moment later. Either is
/// right, and a device takes one entry only.
fn join_entries(vids: &mut Vec<VidEntry>, marked: Vec<VidEntry>) {
    vids.extend(marked);
    vids.sort_by_key(VidEntry::key);
    vids.dedup_by_key(|entry| entry.key());
}

/// Whether two pages have the same version at a line; its hint may differ.
fn is_same(one: Page<'_>, other: Page<'_>, line: usize) -> bool {
    let identity = |page: Page<'_>| {
        let (header, payload, tombstone) = page.version(line)?;
        let key = (header.created, header.predecessor, header.vid, header.version);
        Some((key, payload.to_owned(), tombstone))
    };
    one.line(line) == other.line(line) && identity(one) == identity(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tuple_whose_head_vanishes_amid_the_collection_has_one_entry() {
        let entry = |vid, record| VidEntry { table: 1, vid, record };
        let tombstone = RecordId::new(3, 4).word();
        let mut vids = vec![entry(7, tombstone), entry(9, 5)];
        join_entries(&mut vids, vec![entry(2, 0), entry(7, 0), entry(9, 5)]);
        assert_eq!(vids, [entry(2, 0), entry(7, tombstone), entry(9, 5)]);
    }
}
