// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table of a store as it stands in device memory.

use lockdb::layout::{
    LinePointer, MAP_WORDS, PAGE_BYTES, PageBuffer, PageHeader, PageKind, Place, RecordId,
    placed_bytes, vid_page,
};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::visibility_element::SparseMemory;

use driver::visibility_element::JobBlock;

/// Where job blocks go.
pub const JOBS: u64 = 0x1000;
/// From one to the next.
pub const JOB_STRIDE: u64 = 0x1000;

const VID_PLACES: u64 = 0x10_0000;
const MAP_PLACES: u64 = 0x20_0000;
const STORAGE: u64 = 0x1_0000_0000;

const STORE: u64 = 0x10C5;
const EPOCH: u64 = 1;
const TABLE: u32 = 0;
const PAYLOAD: usize = 64;

pub struct ElementTable {
    pub memory: SparseMemory,
    /// A job over it, whose part and snapshot are left to be said.
    pub job: JobBlock,
    /// The commit that loaded it; one in the middle of its updates; the last.
    pub oldest: u64,
    pub middle: u64,
    pub newest: u64,
}

/// Logical pages 1 and on, and the one that is being filled.
struct Pages {
    done: Vec<PageBuffer>,
    page: PageBuffer,
    lines: u16,
    upper: usize,
}

impl Pages {
    fn new() -> Self {
        Pages { done: Vec::new(), page: PageBuffer::ZERO, lines: 0, upper: PAGE_BYTES }
    }

    fn version(&mut self, vid: u32, created: u64, before: u64) -> u64 {
        let placed = placed_bytes(PAYLOAD);
        if self.upper < placed + LinePointer::at(usize::from(self.lines) + 1) {
            self.close();
        }
        self.upper -= placed;
        let (line, upper) = (self.lines, self.upper);
        let pointer = LinePointer::new(upper, PAYLOAD, false);
        let bytes = &mut self.page.0;
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(LinePointer::at(line.into()), &pointer.0.to_le_bytes());
        put(upper, &created.to_le_bytes());
        put(upper + 16, &before.to_le_bytes());
        put(upper + 24, &vid.to_le_bytes());
        put(upper + 28, &1_u32.to_le_bytes());
        self.lines += 1;
        RecordId::new(self.done.len() as u64 + 1, line as u8).word()
    }

    fn close(&mut self) {
        let mut page = std::mem::replace(&mut self.page, PageBuffer::ZERO);
        let lines = std::mem::replace(&mut self.lines, 0);
        let upper = std::mem::replace(&mut self.upper, PAGE_BYTES);
        page.finalize(PageHeader {
            lines,
            upper: upper as u16,
            epoch: EPOCH,
            store: STORE,
            ..PageHeader::new(PageKind::Data, self.done.len() as u64 + 1, TABLE)
        });
        self.done.push(page);
    }
}

impl ElementTable {
    /// Loaded in the order of its VIDs, then updated in a random order until each chain has 1 to 4
    /// versions.
    pub fn updated(vids: u32) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let mut updates: Vec<u32> =
            (0..vids).flat_map(|vid| vec![vid; random.random_range(0..4)]).collect();
        updates.shuffle(&mut random);
        let mut pages = Pages::new();
        let mut heads: Vec<u64> = (0..vids).map(|vid| pages.version(vid, 1, 0)).collect();
        for (created, &vid) in (2..).zip(&updates) {
            let head = &mut heads[vid as usize];
            *head = pages.version(vid, created, *head);
        }
        pages.close();
        let (memory, job) = lay_out(&pages.done, &heads);
        let newest = updates.len() as u64 + 1;
        ElementTable { memory, job, oldest: 1, middle: newest / 2 + 1, newest }
    }
}

fn lay_out(pages: &[PageBuffer], heads: &[u64]) -> (SparseMemory, JobBlock) {
    // Two superblocks, then logical page n at physical page n + 1.
    let mut storage = vec![0; 2 * PAGE_BYTES];
    let place = |storage: &Vec<u8>| Place::new((storage.len() / PAGE_BYTES) as u64, EPOCH).word();
    let mut places = vec![0];
    for page in pages {
        places.push(place(&storage));
        storage.extend(page.0);
    }
    let mut map = |kind, words: &[u64], number: &dyn Fn(usize) -> u64| -> Vec<u8> {
        let chunks = words.chunks(MAP_WORDS).enumerate();
        let places = chunks.map(|(chunk, words)| {
            let place = place(&storage);
            let number = number(chunk);
            let mut page = PageBuffer::map(kind, number, words.iter().copied());
            let header = PageHeader::new(kind, number, 0);
            page.finalize(PageHeader { epoch: EPOCH, store: STORE, ..header });
            storage.extend(page.0);
            place.to_le_bytes()
        });
        places.flatten().collect()
    };
    let vid_places = map(PageKind::VidMap, heads, &|chunk| vid_page(TABLE, chunk));
    let map_places = map(PageKind::PageMap, &places, &|chunk| chunk as u64);
    let mut memory = SparseMemory::default();
    memory.place(VID_PLACES, &vid_places);
    memory.place(MAP_PLACES, &map_places);
    for part in 0..super::MOST_ELEMENTS {
        memory.place(JOBS + part * JOB_STRIDE, &[0; JobBlock::BYTES]);
    }
    let job = JobBlock {
        storage_base: STORAGE,
        storage_pages: (storage.len() / PAGE_BYTES) as u64,
        vid_chunks: VID_PLACES,
        page_map_chunks: MAP_PLACES,
        logical_pages: places.len() as u64,
        store: STORE,
        epoch: EPOCH,
        table: TABLE,
        want_payloads: true,
        ..JobBlock::default()
    };
    memory.place(STORAGE, &storage);
    (memory, job)
}
