// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checkpoints: the host's memory is written to native storage, out of place, and the log before
//! the checkpoint is no longer needed.
//!
//! The order of the steps matters (`docs/store-recovery.md` has the argument):
//! 1. The redo point: the end of the published commits.
//! 2. The VID maps, as they stand; entries may be newer than the redo point.
//! 3. The pages with new versions. After the maps, so that each RecordID in a map leads to a version.
//! 4. The L2P map and the directory, then one sync.
//! 5. The log is synced up to its present end: no commit of which the pages hold a part is lost.
//! 6. The superblock, and a sync. From now on the new checkpoint counts.
//! 7. What only the old checkpoint needed is given back: physical pages, and the log before the redo
//!    point.

mod directory;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;

pub(crate) use directory::{Directory, TableEntry};

use super::database::Shared;
use super::error::Result;
use super::layout::{
    DIRECTORY_BYTES, MAP_WORDS, Page, PageBuffer, PageHeader, PageKind, RecordId, Superblock,
    vid_page,
};
use super::log::{Durability, LogPosition};
use super::mutant::Mutant;
use super::native::NativeStorage;
use super::pages::PageState;
use super::vacuum::Vacuum;

/// What a checkpoint did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number.
    pub epoch: u64,
    /// Pages with versions that were written.
    pub data_pages: u64,
    /// Pages of maps and directory that were written.
    pub map_pages: u64,
    /// Commits up to this one need no log any more.
    pub redo_commit: u64,
}

/// Where the newest checkpoint has put what is not data.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    /// For each table, those of its VID map.
    pub(crate) vid_maps: Vec<Vec<u64>>,
    pub(crate) page_map: Vec<u64>,
    pub(crate) directory: Vec<u64>,
    /// What it has, and is not needed for anything but itself.
    pub(crate) left: Vec<u64>,
    /// What a checkpoint has taken whose superblock could not be written for certain: it may be the
    /// one that the next opening finds.
    pub(crate) doubtful: Vec<u64>,
}

impl Shared {
    /// Writes a checkpoint. Nothing is changed when that fails: transactions continue, and the next
    /// checkpoint tries again.
    pub(crate) fn checkpoint(&self) -> Result<Checkpoint> {
        self.checkpoint_alone(&mut self.maintenance.lock())
    }

    /// As [`Shared::checkpoint`]; the caller excludes vacuum and other checkpoints.
    pub(crate) fn checkpoint_alone(&self, _alone: &mut Vacuum) -> Result<Checkpoint> {
        let Some(storage) = self.pages.storage() else { return Ok(Checkpoint::default()) };
        self.check_writable("checkpoints")?;
        let standing = &mut *self.standing.lock();
        let mut flush = Flush::begin(self, storage);
        // Even a panic must not make the next checkpoint believe that this one has written something.
        match catch_unwind(AssertUnwindSafe(|| flush.write(standing))) {
            Ok(Ok(done)) => {
                flush.settle(standing);
                self.redo_lsn.store(flush.redo.lsn, Ordering::Relaxed);
                // Old log that stays does no harm, and goes with the next checkpoint.
                let _ = self.log.remove_before(flush.redo.lsn);
                Ok(done)
            }
            Ok(Err(error)) => {
                flush.undo(standing);
                Err(error)
            }
            Err(panic) => {
                flush.undo(standing);
                resume_unwind(panic)
            }
        }
    }
}

impl Shared {
    /// Whether so much log would have to be redone that a checkpoint is due.
    pub(crate) fn log_is_due(&self) -> bool {
        let redo = self.redo_lsn.load(Ordering::Relaxed);
        self.pages.storage().is_some()
            && self.log.position().lsn - redo >= self.options.checkpoint_log
    }
}

/// One checkpoint in the making.
struct Flush<'s> {
    shared: &'s Shared,
    storage: &'s NativeStorage,
    epoch: u64,
    redo: LogPosition,
    /// Places that it has taken.
    taken: Vec<u64>,
    /// Whether it has begun to write the superblock.
    decided: bool,
    /// Logical pages that had new versions.
    dirty: BTreeSet<u64>,
    /// Where it has put them.
    data: BTreeMap<u64, u64>,
    /// Logical pages that stand where devices have put them.
    unnamed: BTreeSet<u64>,
    /// Logical pages that are not in use any more, and where they stood.
    left: Vec<(u64, u64)>,
    /// Chunks of VID maps that it has put elsewhere.
    vid_maps: BTreeMap<(u32, usize), u64>,
    page_map: BTreeMap<usize, u64>,
    directory: Vec<u64>,
}

impl<'s> Flush<'s> {
    fn begin(shared: &'s Shared, storage: &'s NativeStorage) -> Self {
        Self {
            shared,
            storage,
            epoch: storage.epoch() + 1,
            redo: shared.log.position(),
            taken: Vec::new(),
            decided: false,
            dirty: BTreeSet::new(),
            data: BTreeMap::new(),
            unnamed: BTreeSet::new(),
            left: Vec::new(),
            vid_maps: BTreeMap::new(),
            page_map: BTreeMap::new(),
            directory: Vec::new(),
        }
    }

    fn write(&mut self, standing: &Standing) -> Result<Checkpoint> {
        self.dirty.extend(self.shared.pages.take_dirty());
        self.unnamed.extend(self.shared.pages.take_unnamed());
        self.note_changed(0, self.dirty.iter().copied());
        let mut directory = self.write_vid_maps(standing)?;
        self.write_data()?;
        self.write_page_map(standing, &mut directory)?;
        let directory_bytes = self.write_directory(&directory)?;
        self.storage.sync()?;
        if !self.shared.mutants.has(Mutant::CheckpointBeforeLog) {
            let tail = self.shared.log.tail();
            self.shared.await_published(tail.commit)?;
            self.shared.log.make_durable(tail.lsn, Durability::Immediate)?;
        }
        self.decided = true;
        self.storage.write_superblock(&Superblock {
            store: self.redo.store,
            epoch: self.epoch,
            redo_lsn: self.redo.lsn,
            redo_commit: self.redo.commit,
            redo_epoch: self.redo.epoch,
            directory: self.directory[0],
            directory_bytes,
        })?;
        Ok(Checkpoint {
            epoch: self.epoch,
            data_pages: self.data.len() as u64,
            map_pages: (self.taken.len() - self.data.len()) as u64,
            redo_commit: self.redo.commit,
        })
    }

    /// Writes a page to a new place; `old` is where it has stood, 0 if nowhere.
    fn put(&mut self, page: &mut PageBuffer, old: u64) -> Result<u64> {
        if self.shared.mutants.has(Mutant::PageReusedBeforeCheckpoint) && old != 0 {
            self.storage.release([old]);
        }
        let place = self.storage.allocate(self.epoch);
        self.taken.push(place);
        self.storage.write(place, self.epoch, page)?;
        Ok(place)
    }

    /// Notes which chunks of VID maps lead to versions in these pages that are newer than `commit`.
    fn note_changed(&self, commit: u64, pages: impl Iterator<Item = u64>) {
        let tables = self.shared.tables();
        for page in pages {
            let region = self.shared.pages.region();
            if self.shared.pages.use_in_memory(page).is_none() {
                continue;
            }
            let table = &tables[region.table(page) as usize];
            for line in 0..region.lines(page) {
                let version = region.version(RecordId::new(page, line as u8));
                if version.created() > commit {
                    table.mark_changed(version.vid() as usize / MAP_WORDS);
                }
            }
        }
    }

    /// The chunks of all VID maps in which something has changed; says where all chunks stand.
    fn write_vid_maps(&mut self, standing: &Standing) -> Result<Directory> {
        let mut directory = Directory::default();
        for table in self.shared.tables() {
            let vids = table.vids();
            let old = standing.vid_maps.get(table.id() as usize);
            let mut vid_map = old.cloned().unwrap_or_default();
            vid_map.resize((vids as usize).div_ceil(MAP_WORDS), 0);
            for (chunk, place) in vid_map.iter_mut().enumerate() {
                if !table.take_changed(chunk) {
                    continue;
                }
                self.vid_maps.insert((table.id(), chunk), 0);
                let words = (chunk * MAP_WORDS..vids as usize).take(MAP_WORDS);
                let words = words.map(|vid| table.head(vid as u32).word());
                let number = vid_page(table.id(), chunk);
                let mut page = PageBuffer::map(PageKind::VidMap, number, words);
                *place = self.put(&mut page, *place)?;
                self.vid_maps.insert((table.id(), chunk), *place);
            }
            let schema = table.schema().clone();
            directory.tables.push(TableEntry { schema, vids, vid_map });
        }
        Ok(directory)
    }

    fn write_data(&mut self) -> Result<()> {
        let shared = self.shared;
        // Pages that were taken since: the maps may lead to them already.
        self.dirty.extend(shared.pages.take_dirty());
        let mut buffer = PageBuffer::ZERO;
        for page in self.dirty.clone() {
            // Looked at before the copy: what is appended afterwards is for the next checkpoint.
            match shared.pages.use_in_memory(page) {
                Some(PageState::Open) => shared.pages.mark_dirty([page]),
                Some(_) => {}
                None => continue,
            }
            shared.pages.region().copy(page, &mut buffer);
            let view = Page::new(&buffer.0);
            let newest = view.versions().map(|(_, version, ..)| version.created).max();
            buffer.put_header(PageHeader { newest: newest.unwrap_or(0), ..view.header() });
            let place = self.put(&mut buffer, shared.pages.physical_page(page))?;
            self.data.insert(page, place);
        }
        // What was added while the maps were written is for the next checkpoint's maps.
        self.note_changed(self.redo.commit, self.data.keys().copied());
        Ok(())
    }

    fn write_page_map(&mut self, standing: &Standing, directory: &mut Directory) -> Result<()> {
        let pages = &self.shared.pages;
        let end = pages.end();
        self.left = pages.left_behind(end);
        let mut changed: Vec<u64> = self.data.keys().copied().collect();
        changed.extend(self.left.iter().map(|&(page, _)| page));
        if !self.shared.mutants.has(Mutant::NearDataPageMapForgotten) {
            changed.extend(&self.unnamed);
        }
        let changed: BTreeSet<usize> =
            changed.iter().map(|&page| page as usize / MAP_WORDS).collect();
        let lost = self.shared.mutants.has(Mutant::CheckpointLosesPageMapEntry);
        let lost = self.data.keys().next_back().copied().filter(|_| lost);
        let left: BTreeSet<u64> = self.left.iter().map(|&(page, _)| page).collect();
        directory.logical_pages = end;
        directory.page_map = standing.page_map.clone();
        directory.page_map.resize((end as usize).div_ceil(MAP_WORDS), 0);
        for chunk in changed {
            let first = (chunk * MAP_WORDS) as u64;
            let place = |page: u64| match self.data.get(&page) {
                _ if lost == Some(page) || left.contains(&page) => 0,
                Some(&place) => place,
                None => pages.physical_page(page),
            };
            let words: Vec<u64> = (first..end).take(MAP_WORDS).map(place).collect();
            let mut page = PageBuffer::map(PageKind::PageMap, chunk as u64, words.into_iter());
            let place = self.put(&mut page, directory.page_map[chunk])?;
            self.page_map.insert(chunk, place);
            directory.page_map[chunk] = place;
        }
        Ok(())
    }

    fn write_directory(&mut self, directory: &Directory) -> Result<u64> {
        let bytes = directory.encode();
        let chunks: Vec<&[u8]> = bytes.chunks(DIRECTORY_BYTES).collect();
        self.directory = chunks.iter().map(|_| self.storage.allocate(self.epoch)).collect();
        self.taken.extend(&self.directory);
        for (at, chunk) in chunks.iter().enumerate() {
            let next = self.directory.get(at + 1).copied().unwrap_or(0);
            let mut page = PageBuffer::directory(at as u64, next, chunk);
            self.storage.write(self.directory[at], self.epoch, &mut page)?;
        }
        Ok(bytes.len() as u64)
    }

    /// The new checkpoint counts: notes where things stand, and gives the old places back.
    fn settle(&mut self, standing: &mut Standing) {
        let mut released = std::mem::replace(&mut standing.directory, self.directory.clone());
        for (&(table, chunk), &physical) in &self.vid_maps {
            released.push(replace(at(&mut standing.vid_maps, table as usize), chunk, physical));
        }
        for (&chunk, &physical) in &self.page_map {
            released.push(replace(&mut standing.page_map, chunk, physical));
        }
        for (&page, &physical) in &self.data {
            released.push(self.shared.pages.set_physical_page(page, physical));
        }
        for &(page, physical) in &self.left {
            self.shared.pages.forget_physical_page(page, physical);
            released.push(physical);
        }
        released.append(&mut standing.left);
        released.append(&mut standing.doubtful);
        self.storage.release(released.into_iter().filter(|&place| place != 0));
    }

    /// As if it had not been tried.
    fn undo(&mut self, standing: &mut Standing) {
        match self.decided {
            false => self.storage.release(self.taken.drain(..)),
            // Until another superblock has taken the place of this one, both checkpoints must stand.
            true => standing.doubtful.append(&mut self.taken),
        }
        self.shared.pages.mark_dirty(std::mem::take(&mut self.dirty));
        self.shared.pages.mark_unnamed(std::mem::take(&mut self.unnamed));
        let tables = self.shared.tables();
        for &(table, chunk) in self.vid_maps.keys() {
            tables[table as usize].mark_changed(chunk);
        }
    }
}

fn at(all: &mut Vec<Vec<u64>>, index: usize) -> &mut Vec<u64> {
    if all.len() <= index {
        all.resize_with(index + 1, Vec::new);
    }
    &mut all[index]
}

fn replace(places: &mut Vec<u64>, chunk: usize, physical: u64) -> u64 {
    if places.len() <= chunk {
        places.resize(chunk + 1, 0);
    }
    std::mem::replace(&mut places[chunk], physical)
}
