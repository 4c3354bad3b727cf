// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random stores as a device has them in memory: storage, page images, maps and changes. Chains lead
//! anywhere, so every line and header stands at every place of its line of memory.

use lockdb::layout::{
    LinePointer, MAP_WORDS, PAGE_BYTES, PageBuffer, PageHeader, PageKind, Place, RecordId,
    placed_bytes, vid_page,
};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::job::{Job, MOST_PAGE_ENTRIES};
use super::memory::{LINE, Memory};
use crate::values::close_values;

/// Commits of a store are numbered from 1 on, below this one; [`Scene::time`] has their timestamps.
pub const NEWEST: u64 = 1000;

/// VIDs of a chunk of the VID map.
pub const CHUNK_VIDS: u32 = MAP_WORDS as u32;

/// The timestamps of commits.
#[derive(Clone, Copy, Debug)]
struct Clock {
    first: u64,
    step: u64,
}

impl Clock {
    /// Of neighbours that differ by 1, and of such that are far apart.
    fn drawn(random: &mut ChaCha8Rng) -> Self {
        let step = 1 << random.random_range(0..54);
        Self { first: random.random_range(0..u64::MAX - (NEWEST + 1) * step), step }
    }

    fn time(self, commit: u64) -> u64 {
        self.first + commit * self.step
    }
}

/// Where the numbers and addresses of a store begin: anywhere, so that each of their bits counts. VIDs and pages also
/// begin at 0.
#[derive(Clone, Copy, Debug)]
struct Origin {
    store: u64,
    epoch: u64,
    table: u32,
    clock: Clock,
    /// A multiple of what a map page holds.
    vid: u32,
    /// The logical page before the first with data; a multiple, too.
    page: u64,
    /// The first physical page that is there.
    physical: u64,
    /// Of storage, images, and what leads to them.
    regions: [u64; 6],
}

impl Origin {
    fn drawn(random: &mut ChaCha8Rng) -> Self {
        let regions: [u64; 6] = loop {
            // Distances and what comes before an array that begins later stay in the range of addresses.
            let mut drawn = [0; 6];
            drawn.fill_with(|| random.random_range(1 << 55..u64::MAX - (1 << 55)) / LINE * LINE);
            let mut ordered = drawn;
            ordered.sort_unstable();
            if ordered.windows(2).all(|pair| pair[1] - pair[0] > 1 << 47) {
                break drawn;
            }
        };
        let words = MAP_WORDS as u64;
        // The first ones of all have cases of their own.
        let mut first = |most: u64| match random.random_ratio(1, 4) {
            true => 0,
            false => random.random_range(0..most),
        };
        Self {
            vid: first(u64::from(u32::MAX) / words - 10) as u32 * MAP_WORDS as u32,
            page: first((1 << 40) / words - 100) * words,
            physical: first((1 << 40) - (1 << 20)),
            store: random.random(),
            epoch: random.random_range(1..u64::MAX - 4),
            table: random.random_range(1..u32::MAX),
            clock: Clock::drawn(random),
            regions,
        }
    }
}

/// How large a scene is.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// VIDs of the table.
    pub vids: u32,
    /// Hops to the oldest version.
    pub longest_chain: u32,
    /// In bytes.
    pub largest_payload: usize,
    /// Of 100 pages, how many stand in the shared state.
    pub images: u32,
    /// Numbers of logical pages, from the first on.
    pub logical_pages: u64,
    /// Page entries of the shared state, where the pages that stand there are fewer. The others are of pages to which
    /// nothing leads.
    pub page_entries: usize,
}

impl Size {
    /// Any size.
    pub fn drawn(random: &mut ChaCha8Rng) -> Self {
        let most = [5, 200, 2500][random.random_range(0..3)];
        Self {
            vids: random.random_range(1..most),
            longest_chain: random.random_range(1..7),
            largest_payload: [1, 80, 300, 3000, 8000][random.random_range(0..5)],
            images: [0, 10, 50, 100][random.random_range(0..4)],
            // What the cache of the L2P map holds, or more.
            logical_pages: [3000, 30_000, 60_000][random.random_range(0..3)],
            // As many as an element takes, one less, or one more.
            page_entries: match random.random_range(0..8) {
                0 => MOST_PAGE_ENTRIES - random.random_range(0..2),
                1 => MOST_PAGE_ENTRIES + random.random_range(0..2),
                _ => 0,
            },
        }
    }
}

/// A page being filled, from the end down.
struct Open {
    page: u64,
    buffer: PageBuffer,
    lines: u16,
    upper: usize,
}

/// Pages of storage: what stands where, and the map that leads there.
pub struct Scene {
    /// All of it.
    pub memory: Memory,
    /// The request to the element.
    pub job: Job,
    /// Logical pages with data, and where in memory they stand.
    pub data: Vec<(u64, u64)>,
    /// Chunks of the table's VID map, in memory.
    pub vid_chunks: Vec<u64>,
    /// Addresses of the words of the L2P map that lead to data.
    pub map_words: Vec<u64>,
    /// Heads in the VID map, from its first page that is there.
    pub heads: Vec<u64>,
    /// The first VID of the table that is there, a multiple of what a map page holds.
    pub first_vid: u32,
    /// Logical pages with data come behind it.
    pub before_pages: u64,
    clock: Clock,
}

/// Collects what is put into memory in the end.
struct Builder {
    random: ChaCha8Rng,
    origin: Origin,
    size: Size,
    open: Vec<Open>,
    done: Vec<(u64, PageBuffer)>,
    unused: Vec<u64>,
    payload: Payloads,
}

/// Draws the payload of a version.
pub type Payloads = Box<dyn FnMut(&mut ChaCha8Rng) -> Vec<u8>>;

/// Payloads of any bytes, so many at most.
fn any_bytes(most: usize) -> Payloads {
    Box::new(move |random| {
        let mut payload = vec![0; random.random_range(0..=most)];
        random.fill(&mut payload[..]);
        payload
    })
}

impl Builder {
    fn new(
        random: ChaCha8Rng,
        origin: Origin,
        size: Size,
        unused: Vec<u64>,
        payload: Payloads,
    ) -> Self {
        Self { random, origin, size, open: Vec::new(), done: Vec::new(), unused, payload }
    }

    fn page(&mut self) -> Open {
        let page = self.unused.pop().expect("there are enough logical pages");
        Open { page, buffer: PageBuffer::ZERO, lines: 0, upper: PAGE_BYTES }
    }

    /// Puts a version into one of the open pages.
    fn version(&mut self, vid: u32, number: u32, created: u64, before: u64, dead: bool) -> u64 {
        let payload = (self.payload)(&mut self.random);
        let at = self.random.random_range(0..self.open.len());
        let placed = placed_bytes(payload.len());
        let full = |open: &Open| {
            open.lines == 255 || open.upper < placed + LinePointer::at(usize::from(open.lines) + 1)
        };
        if full(&self.open[at]) {
            let next = self.page();
            let full = std::mem::replace(&mut self.open[at], next);
            self.close(full);
        }
        let hint: u64 = self.random.random();
        let open = &mut self.open[at];
        open.upper -= placed;
        let (upper, bytes) = (open.upper, &mut open.buffer.0);
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        let pointer = LinePointer::new(upper, payload.len(), dead);
        put(LinePointer::at(open.lines.into()), &pointer.0.to_le_bytes());
        put(upper, &created.to_le_bytes());
        put(upper + 8, &hint.to_le_bytes());
        put(upper + 16, &before.to_le_bytes());
        put(upper + 24, &vid.to_le_bytes());
        put(upper + 28, &number.to_le_bytes());
        put(upper + 32, &payload);
        open.lines += 1;
        RecordId::new(open.page, (open.lines - 1) as u8).word()
    }

    fn close(&mut self, open: Open) {
        let Open { page, mut buffer, lines, upper } = open;
        // Sometimes an older checkpoint has written it.
        let Origin { store, epoch, table, .. } = self.origin;
        let epoch = epoch - u64::from(self.random.random_ratio(1, 4));
        buffer.finalize(PageHeader {
            lines,
            upper: upper as u16,
            epoch,
            store,
            ..PageHeader::new(PageKind::Data, page, table)
        });
        self.done.push((page, buffer));
    }

    /// Changes of tables whose numbers differ from the own in one bit.
    fn changes_of_others(&mut self, heads: &[u64]) -> Vec<[u64; 2]> {
        let many = self.random.random_range(0..8);
        let mut other = || {
            let table = self.origin.table ^ 1 << self.random.random_range(0..32);
            let number = self.random.random_range(0..heads.len());
            let vid = self.origin.vid + number as u32;
            [
                u64::from(table) << 32 | u64::from(vid),
                heads[self.random.random_range(0..heads.len())],
            ]
        };
        (0..many).map(|_| other()).collect()
    }

    /// The chain of a VID: the records of its versions, newest first.
    fn chain(&mut self, vid: u32) -> Vec<u64> {
        let versions = self.random.random_range(1..=self.size.longest_chain);
        let mut created: Vec<u64> =
            (0..versions).map(|_| self.random.random_range(1..NEWEST)).collect();
        created.sort_unstable();
        created.dedup();
        let mut chain = vec![0];
        for (number, &created) in (1..).zip(&created) {
            let dead = self.random.random_ratio(1, 12);
            let created = self.origin.clock.time(created);
            chain.insert(0, self.version(vid, number, created, chain[0], dead));
        }
        chain
    }
}

/// Numbers for all images that there may be: one behind the other, or any.
fn numbers_of_images(random: &mut ChaCha8Rng) -> Vec<u32> {
    let most = MOST_PAGE_ENTRIES as u32;
    match random.random() {
        true => (0..most).rev().collect(),
        false => close_values(random, most as usize, 32)
            .into_iter()
            .map(|number| number as u32)
            .collect(),
    }
}

/// About so many VIDs, the last of which are in the last chunk of a VID map that can be as large as VIDs are. Only some of that
/// chunk are VIDs.
fn last_vids(random: &mut ChaCha8Rng, vids: u32) -> (u32, u32) {
    let chunk = MAP_WORDS as u32;
    let last = u32::MAX / chunk * chunk;
    let first = last - vids / chunk * chunk;
    (first, random.random_range(last..u32::MAX) + 1 - first)
}

fn finalized(origin: &Origin, kind: PageKind, page: u64, words: &[u64]) -> PageBuffer {
    let &Origin { epoch, store, .. } = origin;
    let mut buffer = PageBuffer::map(kind, page, words.iter().copied());
    buffer.finalize(PageHeader { epoch, store, ..PageHeader::new(kind, page, 0) });
    buffer
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl Scene {
    /// A store in order, of which the newest snapshot is asked for.
    pub fn drawn(seed: u64, size: Size) -> Self {
        Self::with_payloads(seed, size, any_bytes(size.largest_payload))
    }

    /// The same, with these payloads.
    pub fn with_payloads(seed: u64, size: Size, payload: Payloads) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut origin, mut size) = (Origin::drawn(&mut random), size);
        if random.random_ratio(1, 8) {
            (origin.vid, size.vids) = last_vids(&mut random, size.vids);
        }
        let mut unused: Vec<u64> = (origin.page + 1..origin.page + size.logical_pages).collect();
        unused.shuffle(&mut random);
        let mut builder = Builder::new(random, origin, size, unused, payload);
        for _ in 0..builder.random.random_range(1..9) {
            let open = builder.page();
            builder.open.push(open);
        }
        // Heads of the checkpoint's map, and changes of it.
        let (mut heads, mut changes) = (Vec::new(), Vec::new());
        for vid in origin.vid..origin.vid + size.vids {
            let chain = match builder.random.random_ratio(1, 10) {
                true => vec![0],
                false => builder.chain(vid),
            };
            let old = builder.random.random_range(0..chain.len());
            heads.push(chain[old]);
            if old > 0 || builder.random.random_ratio(1, 8) {
                changes.push([u64::from(origin.table) << 32 | u64::from(vid), chain[0]]);
            }
        }
        changes.extend(builder.changes_of_others(&heads));
        changes.sort_unstable();
        while let Some(open) = builder.open.pop() {
            builder.close(open);
        }
        Self::lay_out(builder, heads, changes.concat())
    }

    /// A table that was loaded in the order of its VIDs, at commit 1, and then updated in a random
    /// order until each chain has 1 to 4 versions; with the commit of the update in the middle.
    ///
    /// # Panics
    /// When the rows do not fit into the logical pages.
    pub fn updated(seed: u64, vids: u32, payload: usize) -> (Self, u64) {
        let size = Size {
            vids,
            longest_chain: 4,
            largest_payload: payload,
            images: 0,
            logical_pages: 8000,
            page_entries: 0,
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut updates: Vec<u32> =
            (0..vids).flat_map(|vid| vec![vid; random.random_range(0..4)]).collect();
        updates.shuffle(&mut random);
        let clock = Clock { first: 0, step: 1 };
        let origin = Origin { clock, vid: 0, page: 0, ..Origin::drawn(&mut random) };
        let unused = (1..size.logical_pages).rev().collect();
        let payloads: Payloads = Box::new(move |_| vec![0x5A; payload]);
        let mut builder = Builder::new(random, origin, size, unused, payloads);
        let open = builder.page();
        builder.open.push(open);
        let mut heads = Vec::new();
        for vid in 0..vids {
            heads.push(builder.version(vid, 1, 1, 0, false));
        }
        for (created, &vid) in (2..).zip(&updates) {
            let head = &mut heads[vid as usize];
            *head = builder.version(vid, 2, created, *head, false);
        }
        let open = builder.open.pop().expect("it was put there");
        builder.close(open);
        (Self::lay_out(builder, heads, Vec::new()), updates.len() as u64 / 2 + 2)
    }

    fn lay_out(builder: Builder, heads: Vec<u64>, changes: Vec<u64>) -> Self {
        let Builder { mut random, origin, size, mut done, .. } = builder;
        done.sort_by_key(|page| page.0);
        // All of storage, in a random order behind two pages of anything.
        let mut images = Vec::new();
        let mut numbers = numbers_of_images(&mut random);
        let mut stored: Vec<(Stands, PageBuffer)> = Vec::new();
        let mut entries = Vec::new();
        for (page, buffer) in done {
            if images.len() < MOST_PAGE_ENTRIES && random.random_ratio(size.images, 100) {
                let number = numbers.pop().expect("a number for each image");
                entries.extend([page, u64::from(number) | u64::from(random.random::<u32>()) << 32]);
                images.push((page, number, buffer));
            } else {
                stored.push((Stands::Data(page), buffer));
            }
        }
        // Entries are sorted, so these are behind all others or before them.
        let missing = size.page_entries.saturating_sub(images.len());
        let is_before = random.random() && origin.page >= missing as u64;
        let first =
            if is_before { origin.page - missing as u64 } else { origin.page + size.logical_pages };
        let nowhere = (first..).take(missing).flat_map(|page| [page, random.random()]).collect();
        let entries = if is_before { [nowhere, entries] } else { [entries, nowhere] }.concat();
        let first_vids = origin.vid as usize / MAP_WORDS;
        let first_pages = origin.page / MAP_WORDS as u64;
        for (chunk, words) in heads.chunks(MAP_WORDS).enumerate() {
            if words.iter().any(|&word| word != 0) {
                let number = vid_page(origin.table, first_vids + chunk);
                let buffer = finalized(&origin, PageKind::VidMap, number, words);
                stored.push((Stands::VidChunk(chunk), buffer));
            }
        }
        let map_chunks = size.logical_pages.div_ceil(MAP_WORDS as u64) as usize;
        for chunk in 0..map_chunks {
            stored.push((Stands::MapChunk(chunk), PageBuffer::ZERO));
        }
        stored.shuffle(&mut random);
        let physical = |at: usize| origin.physical + at as u64 + 2;
        let mut page_map = vec![vec![0; MAP_WORDS]; map_chunks];
        for (at, (stands, buffer)) in stored.iter().enumerate() {
            if let Stands::Data(page) = *stands {
                let epoch = lockdb::layout::Page::new(&buffer.0).header().epoch;
                let page = (page - origin.page) as usize;
                let (chunk, word) = (page / MAP_WORDS, page % MAP_WORDS);
                page_map[chunk][word] = Place::new(physical(at), epoch).word();
            }
        }
        let mut vid_places = vec![0; heads.len().div_ceil(MAP_WORDS)];
        let mut map_places = vec![0; map_chunks];
        let (mut data, mut vid_chunks, mut map_words) = (Vec::new(), Vec::new(), Vec::new());
        let [at_storage, at_images, at_vids, at_pages, at_changes, at_entries] = origin.regions;
        let mut storage = vec![0; 2 * PAGE_BYTES];
        for (at, (stands, buffer)) in stored.into_iter().enumerate() {
            let (address, place) =
                (at_storage + storage.len() as u64, Place::new(physical(at), origin.epoch).word());
            let mut buffer = buffer;
            match stands {
                Stands::Data(page) => data.push((page, address)),
                Stands::VidChunk(chunk) => {
                    vid_places[chunk] = place;
                    vid_chunks.push(address);
                }
                Stands::MapChunk(chunk) => {
                    let words = &page_map[chunk];
                    let used = words.iter().enumerate().filter(|word| *word.1 != 0);
                    map_words.extend(used.map(|(word, _)| address + 64 + 8 * word as u64));
                    if words.iter().any(|&word| word != 0) {
                        map_places[chunk] = place;
                    }
                    let number = first_pages + chunk as u64;
                    buffer = finalized(&origin, PageKind::PageMap, number, words);
                }
            }
            storage.extend(buffer.0);
        }
        let storage_pages = origin.physical + (storage.len() / PAGE_BYTES) as u64;
        let mut memory = Memory::default();
        for (page, number, buffer) in &images {
            let address = at_images + u64::from(*number) * PAGE_BYTES as u64;
            data.push((*page, address));
            memory.add(address, buffer.0.to_vec());
        }
        // The arrays begin anywhere in a line.
        let skip = |words: &[u64], by: u64| [vec![0x0BAD; by as usize], words.to_vec()].concat();
        let (by, pairs) = (random.random_range(0..8), 2 * random.random_range(0..4));
        memory.add(at_storage, storage);
        memory.add(at_vids, bytes_of(&skip(&vid_places, by)));
        memory.add(at_pages, bytes_of(&skip(&map_places, by)));
        memory.add(at_changes, bytes_of(&skip(&changes, pairs)));
        memory.add(at_entries, bytes_of(&skip(&entries, pairs)));
        let job = Job {
            vids: (origin.vid, origin.vid + size.vids),
            snapshot: origin.clock.time(NEWEST),
            storage_base: at_storage - origin.physical * PAGE_BYTES as u64,
            storage_pages,
            vid_chunks: at_vids + 8 * by - 8 * first_vids as u64,
            page_map_chunks: at_pages + 8 * by - 8 * first_pages,
            logical_pages: origin.page + size.logical_pages,
            delta_vids: at_changes + 8 * pairs,
            delta_vid_count: (changes.len() / 2) as u32,
            delta_page_count: (entries.len() / 2) as u32,
            delta_pages: at_entries + 8 * pairs,
            delta_images: at_images,
            store: origin.store,
            epoch: origin.epoch,
            table: origin.table,
            forgets_pages: true,
            wants_payloads: true,
            program: 0,
        };
        data.sort_unstable();
        let Origin { vid: first_vid, page: before_pages, clock, .. } = origin;
        Self { memory, job, data, vid_chunks, map_words, heads, first_vid, before_pages, clock }
    }

    /// The timestamp of a commit: of 0, one before all; of [`NEWEST`], one behind all.
    pub fn time(&self, commit: u64) -> u64 {
        self.clock.time(commit)
    }

    /// Gives the element a part of the table, from `first` to before `end`.
    ///
    /// # Panics
    /// When an entry of the changes cannot be read.
    pub fn narrow(&mut self, first: u32, end: u32) {
        let job = &mut self.job;
        job.vids = (first, end);
        let of_table = u64::from(job.table) << 32;
        let key = |at: u64, memory: &Memory| memory.word(at).expect("an entry");
        while job.delta_vid_count > 0
            && key(job.delta_vids, &self.memory) < of_table | u64::from(first)
        {
            job.delta_vids += 16;
            job.delta_vid_count -= 1;
        }
        let last = |job: &Job| job.delta_vids + 16 * (u64::from(job.delta_vid_count) - 1);
        while job.delta_vid_count > 0 && key(last(job), &self.memory) >= of_table | u64::from(end) {
            job.delta_vid_count -= 1;
        }
    }
}

/// The kind of a page of storage.
enum Stands {
    Data(u64),
    VidChunk(usize),
    MapChunk(usize),
}
