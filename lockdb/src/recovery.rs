// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opening a store: the newest checkpoint, and what the log says happened after it.
//!
//! Redo is idempotent: a change is skipped if its tuple has a version of that commit or a later
//! one, because commits of one tuple are in the order of their timestamps. Nothing is undone, since
//! pages and log hold only committed data. Nothing on storage is changed before the log continues,
//! so a crash during recovery has no effect.

use std::sync::Arc;

use super::change::Change;
use super::checkpoint::{Directory, Standing};
use super::error::{Error, Result};
use super::files::Files;
use super::layout::{
    DIRECTORY_BYTES, MAP_WORDS, PAGE_BYTES, Page, PageBuffer, PageError, PageKind, Place, RecordId,
    Superblock, SuperblockError, VersionHeader, vid_page,
};
use super::log::{Kind, Log, LogOptions, LogPosition, Reader, Record};
use super::mutant::{Mutant, Mutants};
use super::native::{NativeStorage, PAGES_FILE};
use super::near_data::{FinalizedPage, Sections};
use super::options::Options;
use super::pages::Pages;
use super::pins::Pins;
use super::rebuild::head_version;
use super::schema::Schema;
use super::session::OpenPages;
use super::table::Table;

/// The findings when a store was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The checkpoint that it began from.
    pub epoch: u64,
    /// The last commit that the checkpoint vouches for.
    pub redo_commit: u64,
    /// The last commit that was found.
    pub commit: u64,
    /// Records of the log that were read after it.
    pub records: u64,
    /// Bytes of the log that were read.
    pub log_bytes: u64,
    /// Changes of rows that were made again.
    pub changes: u64,
    /// Whether a loss of power had left part of a record at the end of the log.
    pub torn: bool,
    /// Locks of the dead that were taken out of the lock table.
    pub locks_repaired: usize,
}

/// A store's parts, as they stand after recovery.
pub(crate) struct Recovered {
    pub(crate) pages: Pages,
    pub(crate) log: Log,
    pub(crate) tables: Vec<Table>,
    pub(crate) standing: Standing,
    pub(crate) report: Recovery,
}

/// Opens what stands in a folder, or begins a new store there, unless it is to be read only.
pub(crate) fn recover(
    files: Arc<dyn Files>,
    options: &Options,
    store: u64,
    mutants: &Mutants,
) -> Result<Recovered> {
    let names = files.list().map_err(Error::system("cannot list the store's folder"))?;
    if !names.iter().any(|name| name == PAGES_FILE) {
        if options.read_only {
            return Err(Error::NoStore { what: format!("no file {PAGES_FILE:?}") });
        }
        return begin(files, &names, options);
    }
    let file = files.open(PAGES_FILE);
    let file = file.map_err(Error::system(format!("cannot open {PAGES_FILE}")))?;
    let storage = NativeStorage::new(file);
    let Some(superblock) = newest(&storage)? else {
        refuse_pages(&storage)?;
        if options.read_only {
            return Err(Error::NoStore { what: format!("no superblock in {PAGES_FILE:?}") });
        }
        return begin(files, &names, options);
    };
    let Superblock { epoch, redo_lsn, redo_commit, redo_epoch, .. } = superblock;
    refuse_endless(PAGES_FILE, &[epoch, redo_lsn, redo_commit, redo_epoch])?;
    storage.identify(superblock.store, superblock.epoch);
    let mut recovery = Redo::from_checkpoint(&superblock, storage, options, store)?;
    let redo = LogPosition {
        store: superblock.store,
        epoch: superblock.redo_epoch,
        commit: superblock.redo_commit,
        lsn: superblock.redo_lsn,
    };
    let (end, durable) = recovery.read_log(files.clone(), redo, mutants)?;
    recovery.open.finalize_all(&recovery.pages);
    refuse_endless("the log, at its end", &[end.epoch, end.commit, end.lsn])?;
    let Redo { pages, tables, standing, report, .. } = recovery;
    let log = if options.read_only {
        Log::read_only(end)
    } else {
        let storage = pages.storage().expect("it was read from there");
        storage.write_superblock(&superblock)?;
        let at = LogPosition { epoch: end.epoch + 1, ..end };
        Log::resume(files, &log_options(options), at, durable)?
    };
    Ok(Recovered { pages, log, tables, standing, report })
}

/// Refuses counters so large that no store gets there: going on from them would end in an overflow.
fn refuse_endless(file: &str, counters: &[u64]) -> Result<()> {
    match counters.iter().find(|&&counter| counter >> 62 != 0) {
        None => Ok(()),
        Some(counter) => {
            let what = format!("a counter stands at {counter}, expected less than 2^62");
            Err(Error::Corrupt { file: file.into(), offset: 0, what })
        }
    }
}

pub(super) fn log_options(options: &Options) -> LogOptions {
    LogOptions {
        ring_bytes: options.log_ring,
        segment_bytes: options.log_segment,
        timeout: options.commit_timeout,
        ..LogOptions::default()
    }
}

/// The newest superblock that is whole; `None` when no store was ever begun.
fn newest(storage: &NativeStorage) -> Result<Option<Superblock>> {
    let slots = storage.superblocks()?;
    if let Some(newest) = slots.iter().flatten().max_by_key(|superblock| superblock.epoch) {
        return Ok(Some(*newest));
    }
    for (slot, found) in slots.into_iter().enumerate() {
        match found {
            Err(SuperblockError::Empty) | Ok(_) => {}
            Err(fault) => {
                let offset = (slot * PAGE_BYTES) as u64;
                let what = format!("superblock: {fault}");
                return Err(Error::Corrupt { file: PAGES_FILE.into(), offset, what });
            }
        }
    }
    Ok(None)
}

/// Begins a new store, where `names` stand. Its log comes first: a log without a record and no
/// superblock is what a crash leaves on the way here. All files are rebuilt: a sync that failed on
/// the way may have lost their names.
fn begin(files: Arc<dyn Files>, names: &[String], options: &Options) -> Result<Recovered> {
    refuse_log(&*files, names)?;
    for name in names.iter().filter(|name| name.starts_with("log-") || *name == PAGES_FILE) {
        files.remove(name).map_err(Error::system(format!("cannot remove {name}")))?;
    }
    let file = files.create(PAGES_FILE);
    let what = format!("cannot create {PAGES_FILE}");
    let file = file.map_err(Error::writing(PAGES_FILE, PAGE_BYTES as u64, what))?;
    let storage = NativeStorage::new(file);
    let start = LogPosition { store: draw_identity(), ..LogPosition::default() };
    let log = Log::start(files.clone(), &log_options(options), start)?;
    let directory = Directory { logical_pages: 1, page_map: vec![0], ..Directory::default() };
    let bytes = directory.encode();
    storage.identify(start.store, 0);
    let place = storage.allocate(0);
    storage.write(place, 0, &mut PageBuffer::directory(0, 0, &bytes))?;
    storage.sync()?;
    files.sync_directory().map_err(Error::system("cannot sync the store's folder"))?;
    storage.write_superblock(&Superblock {
        store: start.store,
        epoch: 0,
        redo_lsn: 0,
        redo_commit: 0,
        redo_epoch: 0,
        directory: place,
        directory_bytes: bytes.len() as u64,
    })?;
    let pages = Pages::new(options, Some(storage));
    let pages = pages.map_err(Error::system("cannot reserve memory for pages"))?;
    let standing = Standing { directory: vec![place], ..Standing::default() };
    let report = Recovery::default();
    Ok(Recovered { pages, log, tables: Vec::new(), standing, report })
}

/// Refuses a log that is not what a crash leaves of a store that was hardly begun.
fn refuse_log(files: &dyn Files, names: &[String]) -> Result<()> {
    for name in names.iter().filter(|name| name.starts_with("log-")) {
        let file = files.open(name).map_err(Error::system(format!("cannot open {name}")))?;
        let length = file.len().map_err(Error::system(format!("cannot measure {name}")))?;
        let is_first = name.strip_prefix("log-").and_then(|at| u64::from_str_radix(at, 16).ok());
        if length > super::log::SEGMENT_HEADER_BYTES || is_first != Some(0) {
            let what = format!("no superblock was ever written, yet there is {name}");
            return Err(Error::Corrupt { file: PAGES_FILE.into(), offset: 0, what });
        }
    }
    Ok(())
}

/// Refuses pages without a superblock that are more than a crash leaves of a store that was hardly
/// begun.
fn refuse_pages(storage: &NativeStorage) -> Result<()> {
    let (length, most) = (storage.length()?, 3 * PAGE_BYTES as u64);
    if length <= most {
        return Ok(());
    }
    let what = format!("no superblock was ever written, yet the file has {length} bytes");
    Err(Error::Corrupt { file: PAGES_FILE.into(), offset: 0, what })
}

/// A number that no other store has, as far as chance goes.
fn draw_identity() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::hash::RandomState::new().build_hasher().finish().max(1)
}

/// A store on its way to where it stood.
struct Redo {
    pages: Pages,
    tables: Vec<Table>,
    standing: Standing,
    report: Recovery,
    open: OpenPages,
    /// For each table, VIDs below this one are known to it.
    vids: Vec<u32>,
    store: u64,
    options: Options,
}

impl Redo {
    fn from_checkpoint(
        superblock: &Superblock,
        storage: NativeStorage,
        options: &Options,
        store: u64,
    ) -> Result<Self> {
        let (directory, places) = read_directory(&storage, superblock)?;
        let mut used = places.clone();
        let mut tables = Vec::new();
        let mut standing = Standing { directory: places, ..Standing::default() };
        for (id, entry) in directory.tables.into_iter().enumerate() {
            if entry.vids > options.tuples {
                return Err(Error::full("tuples", options.tuples.into()));
            }
            let table = Table::new(store, id as u32, entry.schema, options)?;
            read_map(&storage, PageKind::VidMap, &entry.vid_map, |chunk| {
                vid_page(id as u32, chunk)
            })?
            .take(entry.vids as usize)
            .enumerate()
            .filter(|&(_, word)| word != 0)
            .for_each(|(vid, word)| table.set_head(vid as u32, RecordId::from_word(word)));
            table.adopt_vids(entry.vids, []);
            used.extend(&entry.vid_map);
            standing.vid_maps.push(entry.vid_map);
            tables.push(table);
        }
        let map = read_map(&storage, PageKind::PageMap, &directory.page_map, |chunk| chunk as u64)?;
        let map: Vec<u64> = map.take(directory.logical_pages as usize).collect();
        used.extend(directory.page_map.iter().chain(&map));
        used.retain(|&place| place != 0);
        storage.adopt(&used)?;
        standing.page_map = directory.page_map;
        let pages = Pages::new(options, Some(storage));
        let pages = pages.map_err(Error::system("cannot reserve memory for pages"))?;
        pages.adopt(&map)?;
        let report = Recovery {
            epoch: superblock.epoch,
            redo_commit: superblock.redo_commit,
            ..Recovery::default()
        };
        let (open, options) = (OpenPages::default(), options.clone());
        let vids = tables.iter().map(Table::vids).collect();
        Ok(Self { pages, tables, standing, report, open, vids, store, options })
    }

    /// Does again what the log says. Gives the place where the log continues, and up to where it is
    /// known to be durable.
    fn read_log(
        &mut self,
        files: Arc<dyn Files>,
        redo: LogPosition,
        mutants: &Mutants,
    ) -> Result<(LogPosition, u64)> {
        let mut reader = Reader::open(files, redo)?;
        while let Some(record) = reader.read()? {
            self.report.records += 1;
            match record.kind {
                Kind::Commit => self.redo_changes(&record, record.body, mutants)?,
                Kind::NearData => self.redo_near_data(&record, mutants)?,
                Kind::Schema => self.redo_schema(&record)?,
                Kind::Void if mutants.has(Mutant::VoidRecordReplayed) => {
                    self.redo_changes(&record, record.body, mutants)?;
                }
                Kind::Void | Kind::Mark => {}
            }
        }
        self.report.torn = reader.torn().is_some();
        self.report.commit = reader.position().commit;
        self.report.log_bytes = reader.position().lsn - redo.lsn;
        Ok((reader.position(), reader.durable()))
    }

    /// What a device has written for a commit, and what the host has. The device's versions are
    /// taken out of its pages like changes out of the log: logical pages are reassigned by
    /// recovery, and what these pages have been called may be another's.
    fn redo_near_data(&mut self, record: &Record<'_>, mutants: &Mutants) -> Result<()> {
        let sections = Sections::decode(record.body);
        let (sections, changes) =
            sections.ok_or_else(|| corrupt_record(record, "its list of pages is cut off"))?;
        for finalized in sections.pages() {
            self.redo_page(record, finalized, mutants)?;
        }
        self.redo_changes(record, changes, mutants)
    }

    fn redo_page(
        &mut self,
        record: &Record<'_>,
        finalized: FinalizedPage,
        mutants: &Mutants,
    ) -> Result<()> {
        let storage = self.pages.storage().expect("recovery reads a store with files");
        let FinalizedPage { page, place, .. } = finalized;
        if page == 0 || page >> (64 - RecordId::LINE_BITS) != 0 {
            return Err(corrupt_record(record, format!("its list has logical page {page}")));
        }
        let buffer = storage.read(PageKind::Data, page, place)?;
        let view = Page::new(&buffer.0);
        let physical = Place::from_word(place).physical();
        check_finalized(record.commit, view, finalized).map_err(|fault| Error::CorruptPage {
            file: PAGES_FILE.into(),
            physical,
            page,
            fault,
        })?;
        // It is needed until a checkpoint has these versions elsewhere.
        if !mutants.has(Mutant::NearDataPlacesNotClaimed) {
            if !storage.claim(place) {
                let what = format!("physical page {physical} of its list is used for another page");
                return Err(corrupt_record(record, what));
            }
            self.standing.left.push(place);
        }
        for (_, version, payload, tombstone) in view.versions() {
            let (table, vid, number) = (finalized.table, version.vid, version.version);
            let change = Change { table, vid, number, tombstone, payload };
            self.redo_change(record, &change, mutants)?;
        }
        Ok(())
    }

    fn redo_changes(
        &mut self,
        record: &Record<'_>,
        changes: &[u8],
        mutants: &Mutants,
    ) -> Result<()> {
        let mut rest = changes;
        while !rest.is_empty() {
            let impossible = || corrupt_record(record, "a change is cut off");
            let (change, behind) = Change::decode(rest).ok_or_else(impossible)?;
            self.redo_change(record, &change, mutants)?;
            rest = behind;
        }
        Ok(())
    }

    fn redo_change(
        &mut self,
        record: &Record<'_>,
        change: &Change<'_>,
        mutants: &Mutants,
    ) -> Result<()> {
        let tables = self.tables.len();
        let Some(table) = self.tables.get(change.table as usize) else {
            let what = format!("a change of table {}, of {tables} tables", change.table);
            return Err(corrupt_record(record, what));
        };
        let checked = table.schema().check(change.payload);
        checked.map_err(|error| corrupt_record(record, error.to_string()))?;
        if change.vid >= self.vids[change.table as usize] {
            table.use_vid(change.vid)?;
            self.vids[change.table as usize] = change.vid + 1;
        }
        let header = VersionHeader {
            created: record.commit,
            invalidated: 0,
            // No snapshot is left that could see an older one.
            predecessor: RecordId::NONE.word(),
            vid: change.vid,
            version: change.number,
        };
        self.report.changes += 1;
        let head = table.head(change.vid);
        if let Some(version) = head_version(&self.pages, table, change.vid)? {
            if version.created() >= record.commit || mutants.has(Mutant::ReplayIgnoresOrder) {
                self.report.changes -= 1;
                return Ok(());
            }
            // What only recovery has seen need not stay.
            let fresh = self.pages.physical_page(head.page()) == 0;
            let region = self.pages.region();
            if fresh && region.replace(head, &header, change.payload, change.tombstone) {
                return Ok(());
            }
            version.invalidate(record.commit);
            self.pages.note_dead(version);
        }
        let size = (change.table, change.payload.len());
        // No transaction reads yet.
        self.open.provide(&self.pages, &Pins::new(0), std::iter::once(size))?;
        let placed =
            self.open.append(&self.pages, change.table, &header, change.payload, change.tombstone);
        table.set_head(change.vid, placed);
        Ok(())
    }

    fn redo_schema(&mut self, record: &Record<'_>) -> Result<()> {
        let schema = Schema::decode(record.body);
        let schema = schema.map_err(|error| corrupt_record(record, error.to_string()))?;
        // The checkpoint may have it already.
        if self.tables.iter().all(|table| table.name() != schema.name()) {
            let id = self.tables.len() as u32;
            self.tables.push(Table::new(self.store, id, schema, &self.options)?);
            self.vids.push(0);
        }
        Ok(())
    }
}

/// Whether a page is what a device has finalized for this commit.
fn check_finalized(commit: u64, page: Page<'_>, finalized: FinalizedPage) -> Result<(), PageError> {
    let header = page.header();
    let of_header = [
        ("table", u64::from(header.table), u64::from(finalized.table)),
        ("lines", u64::from(header.lines), u64::from(finalized.lines)),
        ("newest commit", header.newest, commit),
    ];
    let created = page.versions().map(|(_, version, ..)| ("creating commit", version.created));
    let of_versions = created.map(|(field, created)| (field, created, commit));
    let mut all = of_header.into_iter().chain(of_versions);
    match all.find(|(_, found, expected)| found != expected) {
        None => Ok(()),
        Some((field, found, expected)) => Err(PageError::Stranger { field, found, expected }),
    }
}

fn corrupt_record(record: &Record<'_>, what: impl Into<String>) -> Error {
    let what = format!("record of commit {}: {}", record.commit, what.into());
    Error::Corrupt { file: "the log, by LSN".into(), offset: record.lsn, what }
}

/// The directory of a checkpoint, and the places of its pages.
pub(crate) fn read_directory(
    storage: &NativeStorage,
    superblock: &Superblock,
) -> Result<(Directory, Vec<u64>)> {
    let mut bytes = Vec::new();
    let mut places = Vec::new();
    let length = superblock.directory_bytes as usize;
    let mut next = superblock.directory;
    while bytes.len() < length {
        let page = storage.read(PageKind::Directory, places.len() as u64, next)?;
        places.push(next);
        let (following, chunk) = Page::new(&page.0).directory_bytes();
        bytes.extend_from_slice(&chunk[..DIRECTORY_BYTES.min(length - bytes.len())]);
        next = following;
    }
    let directory = Directory::decode(&bytes);
    let directory = directory.map_err(|(at, what)| {
        // The end of the last page is where something is missing; none at all was to be read.
        let page = at.min(length.saturating_sub(1)) / DIRECTORY_BYTES;
        let place = places.get(page).copied().unwrap_or(superblock.directory);
        let offset = Place::from_word(place).physical() * PAGE_BYTES as u64;
        Error::Corrupt { file: PAGES_FILE.into(), offset, what: format!("directory: {what}") }
    })?;
    Ok((directory, places))
}

/// All words of a map, of which each chunk stands at a place; at place 0 it is all zero.
fn read_map(
    storage: &NativeStorage,
    kind: PageKind,
    places: &[u64],
    number: impl Fn(usize) -> u64,
) -> Result<impl Iterator<Item = u64>> {
    let mut words = Vec::with_capacity(places.len() * MAP_WORDS);
    for (chunk, &place) in places.iter().enumerate() {
        match place {
            0 => words.resize(words.len() + MAP_WORDS, 0),
            _ => words.extend(Page::new(&storage.read(kind, number(chunk), place)?.0).words()),
        }
    }
    Ok(words.into_iter())
}
