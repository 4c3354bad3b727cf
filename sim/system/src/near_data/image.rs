// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's data at an invocation: native storage and the delta buffer, with their addresses.

use std::sync::Arc;

use lockdb::device_reader::{DeviceError, DeviceReader, PageAt};
use lockdb::layout::{MAP_WORDS, PAGE_BYTES, Page, PageHeader, Place, RecordId};

/// Where the images of the delta buffer begin in device memory, behind all of native storage.
const DELTA: u64 = 1 << 44;

/// The bytes that elements walk through, and their addresses in device memory.
#[derive(Debug)]
pub(crate) struct DeviceImage {
    storage: Arc<Vec<u8>>,
    delta: Vec<u8>,
    table: u32,
    snapshot: u64,
    /// Of each VID of the table, the delta buffer's or the checkpoint's.
    heads: Vec<RecordId>,
    /// How many of them the delta buffer has.
    delta_heads: u64,
    /// Of each logical page.
    pages: Vec<PageAt>,
    vid_map: Vec<Place>,
    page_map: Vec<Place>,
}

impl DeviceImage {
    /// Reads the maps of a shared state and the storage that it is relative to.
    ///
    /// # Errors
    /// When they do not belong together.
    pub fn new(
        storage: Arc<Vec<u8>>,
        delta: Vec<u8>,
        (table, snapshot): (u32, u64),
    ) -> Result<Self, DeviceError> {
        let reader = DeviceReader::open(storage.as_slice(), &delta)?;
        let area = reader.shared_state();
        let entry = area.table(table).expect("the table was there at the invocation");
        let chunks = 0..(entry.vids as usize).div_ceil(MAP_WORDS);
        let vid_map: Vec<Place> = chunks.map(|chunk| reader.vid_map_chunk(table, chunk)).collect();
        let mut heads = vec![RecordId::NONE; entry.vids as usize];
        for (chunk, heads) in vid_map.iter().zip(heads.chunks_mut(MAP_WORDS)) {
            if *chunk != Place::NONE {
                let page = Page::new(page_bytes(&storage, chunk.physical()));
                let words = page.words().map(RecordId::from_word);
                heads.iter_mut().zip(words).for_each(|(head, word)| *head = word);
            }
        }
        let changed = area.vids_of(entry);
        let delta_heads = changed.len() as u64;
        changed.for_each(|entry| heads[entry.vid as usize] = RecordId::from_word(entry.record));
        // Whole chunks of the L2P map, up to the newest page that a head or an image is in.
        let newest = heads.iter().map(|head| head.page()).chain(area.pages()).max().unwrap_or(0);
        let chunks = newest as usize / MAP_WORDS + 1;
        let page_map = (0..chunks).map(|chunk| reader.page_map_chunk(chunk)).collect();
        let pages = (0..(chunks * MAP_WORDS) as u64).map(|page| reader.page_at(page)).collect();
        Ok(Self { storage, table, snapshot, heads, delta_heads, pages, vid_map, page_map, delta })
    }

    pub fn table(&self) -> u32 {
        self.table
    }

    pub fn snapshot(&self) -> u64 {
        self.snapshot
    }

    pub fn vids(&self) -> u32 {
        self.heads.len() as u32
    }

    pub fn head(&self, vid: u32) -> RecordId {
        self.heads[vid as usize]
    }

    /// Bytes of the shared state.
    pub fn delta_bytes(&self) -> u64 {
        self.delta.len() as u64
    }

    /// Bytes of VID entries for each VID of the table, on average.
    pub fn delta_entry_bytes(&self, vids: u64) -> u64 {
        (16 * self.delta_heads * vids).div_ceil(self.heads.len() as u64)
    }

    /// Bytes of the L2P map, which are checked before a job starts.
    pub fn page_map_bytes(&self) -> u64 {
        (self.page_map.len() * PAGE_BYTES) as u64
    }

    /// Where a logical page stands.
    pub fn page_at(&self, page: u64) -> PageAt {
        self.pages.get(page as usize).copied().unwrap_or(PageAt::Stored(Place::NONE))
    }

    pub fn page(&self, at: PageAt) -> Page<'_> {
        Page::new(match at {
            PageAt::Image(image) => {
                let images = &self.delta[lockdb::shared_state::AreaHeader::BYTES..];
                page_bytes(images, image.into())
            }
            PageAt::Stored(place) => page_bytes(&self.storage, place.physical()),
        })
    }

    /// The address of a page in device memory.
    pub fn address(&self, at: PageAt) -> u64 {
        match at {
            PageAt::Image(image) => DELTA + u64::from(image) * PAGE_BYTES as u64,
            PageAt::Stored(place) => place.physical() * PAGE_BYTES as u64,
        }
    }

    /// The address of a page's word in the L2P map.
    pub fn page_map_address(&self, page: u64) -> u64 {
        map_address(&self.page_map, page)
    }

    /// The address of a VID's word in the VID map.
    pub fn vid_map_address(&self, vid: u32) -> u64 {
        map_address(&self.vid_map, vid.into())
    }
}

fn map_address(chunks: &[Place], word: u64) -> u64 {
    let place = chunks[word as usize / MAP_WORDS];
    let offset = PageHeader::BYTES + 8 * (word as usize % MAP_WORDS);
    place.physical() * PAGE_BYTES as u64 + offset as u64
}

fn page_bytes(bytes: &[u8], page: u64) -> &[u8; PAGE_BYTES] {
    let start = page as usize * PAGE_BYTES;
    bytes[start..].first_chunk().expect("the maps lead to whole pages, as the reader has checked")
}
