// SPDX-License-Identifier: MIT OR Apache-2.0
//! A device after an invocation: the maps that it needs, checked.

use super::super::checkpoint::Directory;
use super::super::layout::{
    DIRECTORY_BYTES, MAP_WORDS, Page, PageBuffer, PageError, PageHeader, PageKind, Place,
    Superblock, vid_page,
};
use super::super::schema::Schema;
use super::super::shared_state::{Area, AreaHeader, TableEntry};
use super::element::ProcessingElement;
use super::error::DeviceError;
use super::native::PhysicalPages;
use super::walk::{Lineage, PageAt};

/// A device that was handed a shared state.
#[derive(Debug)]
pub struct DeviceReader<'a, P: PhysicalPages + ?Sized> {
    storage: Storage<'a, P>,
    area: Area<'a>,
    tables: Vec<DeviceTable>,
    /// The L2P map of the checkpoint, by chunks; `None`: all zero.
    page_map: Vec<Option<Box<[u64]>>>,
    /// Where those chunks stand; 0: all zero.
    page_map_places: Vec<u64>,
}

/// A table, as a device knows it.
#[derive(Debug)]
pub struct DeviceTable {
    schema: Schema,
    pub(super) entry: TableEntry,
    /// Where the checkpoint has the chunks of its VID map; 0: all zero.
    pub(super) vid_map: Vec<u64>,
}

impl DeviceTable {
    /// Its schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// VIDs below this one have been used.
    pub fn vids(&self) -> u32 {
        self.entry.vids
    }
}

/// Pages on native storage, of which those of one checkpoint are meant.
#[derive(Debug)]
pub(super) struct Storage<'a, P: ?Sized> {
    pages: &'a P,
    lineage: Lineage,
}

impl<P: PhysicalPages + ?Sized> Storage<'_, P> {
    /// Reads a page from its place, and checks that it is the page that it should be.
    pub(super) fn read(
        &self,
        kind: PageKind,
        page: u64,
        place: Place,
        into: &mut PageBuffer,
    ) -> Result<PageHeader, DeviceError> {
        let physical = place.physical();
        let checked = match self.pages.read(physical, into) {
            true => self.lineage.check(&into.0, kind, page, place),
            false => Err(PageError::BeyondEnd),
        };
        checked.map_err(|fault| DeviceError::Page { physical, page, fault })
    }
}

impl<'a, P: PhysicalPages + ?Sized> DeviceReader<'a, P> {
    /// Takes over a shared state. All of it is checked, and that the pages are those that it is
    /// relative to; each page of storage is checked when it is first read.
    ///
    /// # Errors
    /// When anything is damaged, or shared state and pages do not belong together.
    pub fn open(pages: &'a P, shared_state: &'a [u8]) -> Result<Self, DeviceError> {
        let area = Area::verified(shared_state)?;
        let AreaHeader { store, epoch, .. } = *area.header();
        check_superblocks(pages, store, epoch)?;
        let storage = Storage { pages, lineage: Lineage { store, epoch } };
        let directory = read_directory(&storage, area.header())?;
        let mut buffer = Box::new(PageBuffer::ZERO);
        let mut page_map = Vec::new();
        for (chunk, &place) in (0..).zip(&directory.page_map) {
            page_map.push(match place {
                0 => None,
                _ => {
                    let place = Place::from_word(place);
                    storage.read(PageKind::PageMap, chunk, place, &mut buffer)?;
                    Some(Page::new(&buffer.0).words().collect())
                }
            });
        }
        let page_map_places = directory.page_map.clone();
        let tables = tables(&area, directory)?;
        Ok(Self { storage, area, tables, page_map, page_map_places })
    }

    /// The shared state.
    pub fn shared_state(&self) -> &Area<'a> {
        &self.area
    }

    /// Where a logical page stands: an image of the shared state, or else a place on storage.
    pub fn page_at(&self, page: u64) -> PageAt {
        match self.area.image_of(page) {
            Some(image) => PageAt::Image(image),
            None => PageAt::Stored(self.place(page)),
        }
    }

    /// How many chunks the checkpoint's L2P map has.
    pub fn page_map_chunks(&self) -> usize {
        self.page_map_places.len()
    }

    /// Where the checkpoint has a chunk of the L2P map; [`Place::NONE`] when it is all zero.
    pub fn page_map_chunk(&self, chunk: usize) -> Place {
        self.page_map_places.get(chunk).map_or(Place::NONE, |&place| Place::from_word(place))
    }

    /// Where the checkpoint has a chunk of a table's VID map; [`Place::NONE`] when it is all zero.
    ///
    /// # Panics
    /// When there is no such table.
    pub fn vid_map_chunk(&self, table: u32, chunk: usize) -> Place {
        let places = &self.table(table).vid_map;
        places.get(chunk).map_or(Place::NONE, |&place| Place::from_word(place))
    }

    /// The oldest and the newest snapshot that can be asked for.
    pub fn snapshots(&self) -> (u64, u64) {
        (self.area.header().oldest, self.area.header().snapshot)
    }

    /// Identity of the store.
    pub fn store(&self) -> u64 {
        self.area.header().store
    }

    /// All tables, by their numbers.
    pub fn tables(&self) -> &[DeviceTable] {
        &self.tables
    }

    /// Parts a table's VID map among processing elements. Together they give each row once.
    ///
    /// # Errors
    /// When there is no such table, or the snapshot cannot be asked for.
    ///
    /// # Panics
    /// When there are to be no elements.
    pub fn elements(
        &self,
        table: u32,
        snapshot: u64,
        elements: u32,
    ) -> Result<Vec<ProcessingElement<'_, 'a, P>>, DeviceError> {
        assert!(elements > 0, "a table needs a processing element");
        let tables = self.tables.len() as u32;
        let of = self.tables.get(table as usize);
        let of = of.ok_or(DeviceError::NoSuchTable { table, tables })?;
        let (oldest, newest) = self.snapshots();
        if !(oldest..=newest).contains(&snapshot) {
            return Err(DeviceError::NoSuchSnapshot { asked: snapshot, oldest, newest });
        }
        let start =
            |part: u32| (u64::from(of.entry.vids) * u64::from(part) / u64::from(elements)) as u32;
        let parts = (0..elements).map(|part| start(part)..start(part + 1));
        Ok(parts.map(|vids| ProcessingElement::new(self, table, snapshot, vids)).collect())
    }

    /// One element for a whole table.
    ///
    /// # Errors
    /// As [`DeviceReader::elements`].
    pub fn element(
        &self,
        table: u32,
        snapshot: u64,
    ) -> Result<ProcessingElement<'_, 'a, P>, DeviceError> {
        let mut all = self.elements(table, snapshot, 1)?;
        Ok(all.pop().expect("one was asked for"))
    }

    pub(super) fn storage(&self) -> &Storage<'a, P> {
        &self.storage
    }

    pub(super) fn area(&self) -> &Area<'a> {
        &self.area
    }

    pub(super) fn table(&self, table: u32) -> &DeviceTable {
        &self.tables[table as usize]
    }

    /// Where the checkpoint has a logical page.
    pub(super) fn place(&self, page: u64) -> Place {
        let chunk = usize::try_from(page / MAP_WORDS as u64).ok();
        let chunk = chunk.and_then(|chunk| self.page_map.get(chunk)?.as_ref());
        chunk.map_or(Place::NONE, |words| {
            Place::from_word(words[(page % MAP_WORDS as u64) as usize])
        })
    }

    /// A chunk of a table's VID map, as the checkpoint has it; false: all zero.
    pub(super) fn read_vids(
        &self,
        table: u32,
        chunk: usize,
        into: &mut PageBuffer,
    ) -> Result<bool, DeviceError> {
        match self.table(table).vid_map.get(chunk) {
            None | Some(0) => Ok(false),
            Some(&place) => {
                let place = Place::from_word(place);
                self.storage.read(PageKind::VidMap, vid_page(table, chunk), place, into)?;
                Ok(true)
            }
        }
    }
}

/// The pages must be of the same store, and of the checkpoint or a later one.
fn check_superblocks<P: PhysicalPages + ?Sized>(
    pages: &P,
    store: u64,
    epoch: u64,
) -> Result<(), DeviceError> {
    let mut buffer = Box::new(PageBuffer::ZERO);
    let slots = [0, 1].map(|slot| {
        if !pages.read(slot, &mut buffer) {
            return Err(PageError::BeyondEnd.to_string());
        }
        let bytes = buffer.0.first_chunk().expect("a page is longer");
        Superblock::decode(bytes).map_err(|fault| fault.to_string())
    });
    let newest = slots.iter().flatten().max_by_key(|superblock| superblock.epoch).copied();
    let Some(newest) = newest else {
        let slots = slots.map(|slot| slot.expect_err("none was found"));
        return Err(DeviceError::NoSuperblock { slots });
    };
    if newest.store != store {
        return Err(DeviceError::OtherStore { area: store, storage: newest.store });
    }
    match newest.epoch < epoch {
        true => Err(DeviceError::StorageBehind { area: epoch, storage: newest.epoch }),
        false => Ok(()),
    }
}

fn read_directory<P: PhysicalPages + ?Sized>(
    storage: &Storage<'_, P>,
    header: &AreaHeader,
) -> Result<Directory, DeviceError> {
    let mut bytes = Vec::new();
    let (mut next, mut buffer) = (header.directory, Box::new(PageBuffer::ZERO));
    // Each page is another one, by its number; so this ends with the file at the latest.
    for number in 0.. {
        let left = header.directory_bytes - bytes.len() as u64;
        if left == 0 {
            break;
        }
        storage.read(PageKind::Directory, number, Place::from_word(next), &mut buffer)?;
        let (following, chunk) = Page::new(&buffer.0).directory_bytes();
        bytes.extend_from_slice(&chunk[..left.min(DIRECTORY_BYTES as u64) as usize]);
        next = following;
    }
    Directory::decode(&bytes)
        .map_err(|(offset, what)| DeviceError::Directory { offset: offset as u64, what })
}

/// The tables of the checkpoint, and those that were created since.
fn tables(area: &Area<'_>, directory: Directory) -> Result<Vec<DeviceTable>, DeviceError> {
    let (known, count) = (directory.tables.len(), area.header().tables);
    let impossible = |table, what: String| Err(DeviceError::Table { table, what });
    if known > count as usize {
        return impossible(count, format!("there are {count}, the directory has {known}"));
    }
    let mut old = directory.tables.into_iter();
    let mut tables = Vec::new();
    for number in 0..count {
        let entry = area.table(number).expect("the header says how many there are");
        let (schema, vid_map) = match (old.next(), area.schema(entry)) {
            (Some(old), None) if old.vids <= entry.vids => (old.schema, old.vid_map),
            (Some(old), None) => {
                let what = format!("{} VIDs, the directory has {}", entry.vids, old.vids);
                return impossible(number, what);
            }
            (None, Some(schema)) => match Schema::decode(schema) {
                Ok(schema) => (schema, Vec::new()),
                Err(error) => return impossible(number, error.to_string()),
            },
            (Some(_), Some(_)) => return impossible(number, "it has two schemas".into()),
            (None, None) => return impossible(number, "it has no schema".into()),
        };
        tables.push(DeviceTable { schema, entry, vid_map });
    }
    Ok(tables)
}
