// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the walk has to find, by the machine of lockdb, from the same bytes of memory.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use lockdb::device_reader::{Lineage, PageAt, PageFacts, Walk, WalkError, WalkMemory};
use lockdb::layout::{
    LinePointer, MAP_WORDS, PAGE_BYTES, PageKind, Place, RecordId, VERSION_BYTES, VersionHeader,
    vid_page,
};

use super::job::{Job, MOST_PAGE_ENTRIES};
use super::memory::{LINE, Memory, Unreadable};

/// The outcome of a VID that gave a row or a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// 0, or that of the fault.
    pub code: u8,
    /// The version, or where the walk was.
    pub record: u64,
    /// The number of the version.
    pub number: u32,
    /// The commit that made it.
    pub created: u64,
    /// Its payload, when it is wanted.
    pub payload: Vec<u8>,
}

impl Answer {
    fn fault(fault: WalkError, record: RecordId) -> Self {
        let (code, record) = (fault.code(), record.word());
        Self { code, record, number: 0, created: 0, payload: Vec::new() }
    }
}

type Checked = Result<PageFacts, WalkError>;

/// What the hardware has to do for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pages that are checked, of tables and of the VID map.
    pub page_checks: u64,
    /// Versions that are looked at: those whose headers can be read.
    pub hops: u64,
    /// Lines that are read, without those of page checks and of the L2P map.
    pub lines: u64,
    /// No page was checked at a physical page where another was looked for: that can take a result's place, and then
    /// there are more checks.
    pub is_certain: bool,
}

/// An element that remembers what its checks have found, as the hardware does.
#[derive(Default)]
pub struct Oracle {
    /// By physical page, logical page and the place's word.
    stored: BTreeMap<(u64, u64, u64), Checked>,
    /// Lines of the L2P map that were read, by the first of their eight pages.
    map_lines: BTreeMap<u64, Vec<u64>>,
    lineage: Option<Lineage>,
    work: Work,
}

struct Bytes<'a> {
    oracle: &'a mut Oracle,
    images: BTreeMap<u32, Checked>,
    /// The page entries, unless they cannot be read.
    delta: Result<BTreeMap<u64, u32>, WalkError>,
    memory: &'a Memory,
    job: &'a Job,
}

/// Results of checks that the hardware keeps, by the low bits of the physical page.
const PAGE_RESULTS: u64 = 1 << 16;

const BUS: WalkError = WalkError::Bus;

impl Oracle {
    /// All answers of a run, by VID.
    ///
    /// # Panics
    /// When a version that the walk has read is not where its page is, which cannot be.
    pub fn run(&mut self, memory: &Memory, job: &Job) -> BTreeMap<u32, Answer> {
        let lineage = Lineage { store: job.store, epoch: job.epoch };
        if job.forgets_pages || self.lineage.is_none_or(|last| last.store != job.store) {
            self.stored.clear();
        }
        if job.forgets_pages || self.lineage != Some(lineage) {
            self.map_lines.clear();
        }
        self.lineage = Some(lineage);
        let numbers = job.vids.0 / MAP_WORDS as u32..job.vids.1.div_ceil(MAP_WORDS as u32);
        self.work = Work { lines: lines_of_arrays(job, &numbers), ..Work::default() };
        let delta = delta_pages(memory, job);
        let (changes, known_before) = changes(memory, job);
        let mut bytes = Bytes { oracle: self, images: BTreeMap::new(), delta, memory, job };
        let mut answers = BTreeMap::new();
        // Also the chunk in which a part without VIDs begins.
        let chunks: BTreeMap<_, _> =
            numbers.map(|number| (number, bytes.vid_chunk(number))).collect();
        for vid in job.vids.0..job.vids.1 {
            let words = &chunks[&(vid / MAP_WORDS as u32)];
            let head = if u64::from(vid) >= known_before {
                Err(BUS)
            } else if let Some(&head) = changes.get(&vid) {
                Ok(head)
            } else {
                words.as_ref().map(|words| words[vid as usize % MAP_WORDS]).map_err(|&code| code)
            };
            let answer = match head {
                Err(fault) => Some(Answer::fault(fault, RecordId::NONE)),
                Ok(head) => bytes.walk(vid, RecordId::from_word(head)),
            };
            answers.extend(answer.map(|answer| (vid, answer)));
        }
        let places: BTreeSet<_> = self.stored.keys().map(|key| key.0 % PAGE_RESULTS).collect();
        self.work.is_certain = places.len() == self.stored.len();
        answers
    }

    /// What the last run took.
    pub fn work(&self) -> Work {
        self.work
    }
}

/// Lines that the given bytes touch.
fn lines(address: u64, bytes: u64) -> u64 {
    match bytes {
        0 => 0,
        _ => (address + bytes).div_ceil(LINE) - address / LINE,
    }
}

/// Lines of the changes, of the page entries, and of the places of these chunks of the VID map.
fn lines_of_arrays(job: &Job, chunks: &Range<u32>) -> u64 {
    let places = match job.vid_chunks {
        0 => 0,
        at => lines(at + 8 * u64::from(chunks.start), 8 * chunks.len() as u64),
    };
    let pages = match job.delta_page_count {
        count if count as usize > MOST_PAGE_ENTRIES => 0,
        count => lines(job.delta_pages, 16 * u64::from(count)),
    };
    places + pages + lines(job.delta_vids, 16 * u64::from(job.delta_vid_count))
}

/// The changed heads, and the VID from which on they are not known.
fn changes(memory: &Memory, job: &Job) -> (BTreeMap<u32, u64>, u64) {
    let mut changes = BTreeMap::new();
    let mut known_before = u64::from(job.vids.0);
    for entry in 0..u64::from(job.delta_vid_count) {
        let at = job.delta_vids + 16 * entry;
        let (Ok(key), Ok(head)) = (memory.word(at), memory.word(at + 8)) else {
            return (changes, known_before);
        };
        if (key >> 32) as u32 == job.table {
            changes.insert(key as u32, head);
            known_before = u64::from(key as u32) + 1;
        }
    }
    (changes, u64::MAX)
}

fn delta_pages(memory: &Memory, job: &Job) -> Result<BTreeMap<u64, u32>, WalkError> {
    if job.delta_page_count as usize > MOST_PAGE_ENTRIES {
        return Err(BUS);
    }
    let entries = (0..u64::from(job.delta_page_count)).map(|entry| {
        let at = job.delta_pages + 16 * entry;
        let entry = (memory.word(at), memory.word(at + 8));
        if let (Ok(page), Ok(image)) = entry { Ok((page, image as u32)) } else { Err(BUS) }
    });
    entries.collect()
}

impl Bytes<'_> {
    fn lineage(&self) -> Lineage {
        Lineage { store: self.job.store, epoch: self.job.epoch }
    }

    /// The words of a chunk of the VID map.
    fn vid_chunk(&mut self, chunk: u32) -> Result<Vec<u64>, WalkError> {
        if self.job.vid_chunks == 0 {
            return Ok(vec![0; MAP_WORDS]);
        }
        let at = self.job.vid_chunks + 8 * u64::from(chunk);
        let place = Place::from_word(self.memory.word(at).map_err(|Unreadable| BUS)?);
        if place == Place::NONE {
            return Ok(vec![0; MAP_WORDS]);
        }
        let address = self.stored(place)?;
        self.oracle.work.page_checks += 1;
        let page = self.memory.page(address).map_err(|Unreadable| BUS)?;
        let number = vid_page(self.job.table, chunk as usize);
        self.lineage().check(&page.0, PageKind::VidMap, number, place)?;
        Ok(lockdb::layout::Page::new(&page.0).words().collect())
    }

    /// Where a page of storage stands in memory.
    fn stored(&self, place: Place) -> Result<u64, WalkError> {
        match place.physical() < self.job.storage_pages {
            true => Ok(self.job.storage_base + PAGE_BYTES as u64 * place.physical()),
            false => Err(WalkError::BeyondStorage),
        }
    }

    fn address(&self, at: PageAt) -> Result<u64, WalkError> {
        match at {
            PageAt::Image(image) => {
                Ok(self.job.delta_images + PAGE_BYTES as u64 * u64::from(image))
            }
            PageAt::Stored(place) => self.stored(place),
        }
    }

    fn check_now(&mut self, page: u64, at: PageAt) -> Checked {
        self.oracle.work.page_checks += 1;
        let bytes = self.memory.page(self.address(at)?).map_err(|Unreadable| BUS)?;
        Ok(match at {
            PageAt::Image(_) => PageFacts::of_image(&bytes.0, page)?,
            PageAt::Stored(place) => {
                let header = self.lineage().check(&bytes.0, PageKind::Data, page, place)?;
                PageFacts::of(&header)
            }
        })
    }

    fn walk(&mut self, vid: u32, head: RecordId) -> Option<Answer> {
        let mut walk = Walk::new(self.job.table, self.job.snapshot, vid, head);
        let version = match walk.run(self) {
            Ok(version) => version?,
            Err(fault) => return Some(Answer::fault(fault, walk.record())),
        };
        let wanted = self.job.wants_payloads || self.job.program != 0;
        let bytes = if wanted { version.payload } else { 0 };
        let page = self.address(version.at).expect("it has been read");
        let address = page + version.offset as u64;
        // Its first line has come with the header, unless the header ends with a line.
        let come = u64::from(bytes > 0 && !address.is_multiple_of(LINE));
        self.oracle.work.lines += lines(address, bytes as u64) - come;
        let payload = self.memory.read(address, bytes);
        let payload = match (payload, bytes) {
            (Ok(payload), _) => payload,
            (_, 0) => Vec::new(),
            (Err(Unreadable), _) => return Some(Answer::fault(BUS, version.record)),
        };
        Some(Answer {
            code: 0,
            record: version.record.word(),
            number: version.number,
            created: version.created,
            payload,
        })
    }
}

impl WalkMemory for Bytes<'_> {
    fn place(&mut self, page: u64) -> Result<PageAt, WalkError> {
        if let Some(&image) = self.delta.as_ref().map_err(|&fault| fault)?.get(&page) {
            return Ok(PageAt::Image(image));
        }
        if page >= self.job.logical_pages || self.job.page_map_chunks == 0 {
            return Ok(PageAt::Stored(Place::NONE));
        }
        let (line, word) = (page / 8, (page % 8) as usize);
        if let Some(words) = self.oracle.map_lines.get(&line) {
            return Ok(PageAt::Stored(Place::from_word(words[word])));
        }
        let chunk = page / MAP_WORDS as u64;
        let chunk =
            self.memory.word(self.job.page_map_chunks + 8 * chunk).map_err(|Unreadable| BUS)?;
        let chunk = Place::from_word(chunk);
        if chunk == Place::NONE {
            return Ok(PageAt::Stored(Place::NONE));
        }
        let at = self.stored(chunk)? + 64 + 64 * (line % (MAP_WORDS as u64 / 8));
        let words = self.memory.line(at).map_err(|Unreadable| BUS)?.to_vec();
        let place = Place::from_word(words[word]);
        self.oracle.map_lines.insert(line, words);
        Ok(PageAt::Stored(place))
    }

    fn check(&mut self, page: u64, at: PageAt) -> Checked {
        match at {
            PageAt::Image(image) => {
                if let Some(&known) = self.images.get(&image) {
                    return known;
                }
                let checked = self.check_now(page, at);
                self.images.insert(image, checked);
                checked
            }
            PageAt::Stored(place) => {
                self.stored(place)?;
                let key = (place.physical(), page, place.word());
                if let Some(&known) = self.oracle.stored.get(&key) {
                    return known;
                }
                let checked = self.check_now(page, at);
                self.oracle.stored.insert(key, checked);
                checked
            }
        }
    }

    fn line(&mut self, _: u64, at: PageAt, line: u8) -> Result<LinePointer, WalkError> {
        let address = self.address(at)? + LinePointer::at(line.into()) as u64;
        self.oracle.work.lines += 1;
        let bytes = self.memory.read(address, LinePointer::BYTES).map_err(|Unreadable| BUS)?;
        Ok(LinePointer(u32::from_le_bytes(bytes.try_into().expect("four bytes"))))
    }

    fn version(&mut self, _: u64, at: PageAt, offset: usize) -> Result<VersionHeader, WalkError> {
        let address = self.address(at)? + offset as u64;
        self.oracle.work.lines += lines(address, VERSION_BYTES as u64);
        let bytes = self.memory.read(address, VERSION_BYTES).map_err(|Unreadable| BUS)?;
        self.oracle.work.hops += 1;
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"));
        let (vid, version) = (word(24) as u32, (word(24) >> 32) as u32);
        let (created, invalidated, predecessor) = (word(0), word(8), word(16));
        Ok(VersionHeader { created, invalidated, predecessor, vid, version })
    }
}
