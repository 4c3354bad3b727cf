// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RTL visibility element as an element of jobs, clocked by the engine's thread on device
//! memory, in which the job block has all addresses.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use driver::visibility_element::{JobBlock, Packet as Emitted};
use lockdb::device_reader::PhysicalPages;
use lockdb::layout::{MAP_WORDS, PAGE_BYTES, PageBuffer, RecordId};
use lockdb::shared_state::VidEntry;
use ndp_runtime::engine::{Element, ElementTask, Packet, Progress, Snapshot, Totals};
use ndp_runtime::job::Embodiment;
use ndp_runtime::program::Outputs;
use sim::bus::BusError;
use sim::visibility_element::{DeviceMemory, Element as Clocked, ElementError, Surroundings};
use visibility_pe::{Core, Model};

/// Bytes of a line.
const LINE_BYTES: usize = 64;

/// Clock cycles between two looks of the engine.
const CLOCKS_AT_ONCE: u32 = 512;

/// Clock cycles without a packet after which an element counts as stuck: longer than any walk of a
/// part in which nothing is seen.
const TIMEOUT: u64 = 1 << 32;

/// Page entries of a shared state that the element has room for.
const DELTA_PAGES: usize = 1024;

/// Where things stand in the element's memory: the job block and what it alone names, the shared
/// state, storage.
const JOB: u64 = 0;
const SHARED_STATE: u64 = 1 << 40;
const STORAGE: u64 = 1 << 44;

/// Pages of storage that are kept at hand, as memory would have them.
const KEPT_PAGES: usize = 64;

/// Hardware, if it can do this; else software, and why.
pub(super) fn embodiment(snapshot: &Snapshot, task: &ElementTask) -> Embodiment {
    if !task.program.uses_only_the_elements_part() {
        Embodiment::SoftwareForText
    } else if snapshot.reader().shared_state().pages().len() > DELTA_PAGES {
        Embodiment::SoftwareForSharedState
    } else {
        Embodiment::Hardware
    }
}

/// An element in hardware that has begun with its part.
pub(super) struct RtlElement {
    element: Clocked<Core>,
    memory: ElementMemory,
    totals: Totals,
    /// The last cycle in which a packet came.
    heard: u64,
    /// Why it could not begin.
    failed: Option<String>,
}

impl RtlElement {
    /// An element for a part of a table, on storage of so many pages.
    pub fn new(
        snapshot: Arc<Snapshot>,
        task: &ElementTask,
        part: Range<u32>,
        storage_pages: u64,
    ) -> Self {
        let mut memory = ElementMemory::new(snapshot, task, part, storage_pages);
        let mut element = Clocked::new(Model::new(), &Surroundings::smooth());
        let failed = element.start(&mut memory, JOB).err().map(|error| error.to_string());
        Self { element, memory, totals: Totals::default(), heard: 0, failed }
    }

    /// Clocks, and hands packets out; true when the last has come.
    fn clock(&mut self, emit: &mut dyn FnMut(Packet<'_>)) -> Result<bool, Stopped> {
        for _ in 0..CLOCKS_AT_ONCE {
            self.element.clock(&mut self.memory).map_err(ElementError::from)?;
            while let Some(packet) = self.element.next_packet().map_err(ElementError::from)? {
                self.heard = self.element.cycle();
                match packet {
                    Emitted::Row { vid, number, record, created, values, nulls, payload } => {
                        let mut outputs = Outputs { nulls, ..Outputs::default() };
                        outputs.values[..values.len()].copy_from_slice(&values);
                        emit(Packet {
                            vid,
                            number,
                            record: RecordId::from_word(record),
                            created,
                            code: 0,
                            payload_bytes: payload.len() as u16,
                            outputs,
                            payload: &payload,
                        });
                    }
                    Emitted::Fault { vid, code } => emit(Packet::fault(vid, code)),
                    Emitted::End(end) => {
                        let (visited, visible) = (end.visited.into(), end.visible.into());
                        self.totals = Totals { visited, visible, ..self.totals };
                        return Ok(true);
                    }
                    Emitted::Refused(refusal) => return Err(Stopped(refusal.to_string())),
                }
            }
        }
        let silent = self.element.cycle() - self.heard;
        match silent > TIMEOUT {
            true => Err(Stopped(format!("waited for a packet: none in {silent} clocks"))),
            false => Ok(false),
        }
    }
}

/// Why an element cannot continue.
struct Stopped(String);

impl From<ElementError> for Stopped {
    fn from(error: ElementError) -> Self {
        Self(error.to_string())
    }
}

impl Element for RtlElement {
    fn run(&mut self, _budget: u32, emit: &mut dyn FnMut(Packet<'_>)) -> Progress {
        if let Some(why) = &self.failed {
            return Progress::Failed(why.clone());
        }
        match self.clock(emit) {
            Ok(false) => Progress::Worked,
            Ok(true) => Progress::Done,
            Err(Stopped(why)) => {
                self.failed = Some(why.clone());
                Progress::Failed(why)
            }
        }
    }

    fn totals(&self) -> Totals {
        Totals { clocks: self.element.cycle(), ..self.totals }
    }
}

/// The input of the element.
struct ElementMemory {
    snapshot: Arc<Snapshot>,
    /// The job block, the program, and the places of the maps' chunks.
    job: Vec<u8>,
    /// By number modulo how many there are.
    kept: Vec<Option<(u64, Box<PageBuffer>)>>,
}

impl fmt::Debug for ElementMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ElementMemory({} bytes of job)", self.job.len())
    }
}

impl ElementMemory {
    fn new(
        snapshot: Arc<Snapshot>,
        task: &ElementTask,
        part: Range<u32>,
        storage_pages: u64,
    ) -> Self {
        let job = job_bytes(&snapshot, task, part, storage_pages);
        Self { snapshot, job, kept: (0..KEPT_PAGES).map(|_| None).collect() }
    }

    fn stored(&mut self, offset: u64) -> Option<[u64; 8]> {
        let (physical, at) = (offset / PAGE_BYTES as u64, (offset % PAGE_BYTES as u64) as usize);
        let kept = &mut self.kept[physical as usize % KEPT_PAGES];
        if kept.as_ref().is_none_or(|(number, _)| *number != physical) {
            let mut page = kept.take().map_or(Box::new(PageBuffer::ZERO), |(_, page)| page);
            if !self.snapshot.storage().read(physical, &mut page) {
                return None;
            }
            *kept = Some((physical, page));
        }
        kept.as_ref().and_then(|(_, page)| line(&page.0, at))
    }
}

impl DeviceMemory for ElementMemory {
    fn line(&mut self, address: u64) -> Result<[u64; 8], BusError> {
        let found = match address {
            STORAGE.. => self.stored(address - STORAGE),
            SHARED_STATE.. => line(self.snapshot.shared_state(), (address - SHARED_STATE) as usize),
            _ => line(&self.job, (address - JOB) as usize),
        };
        found.ok_or(BusError::DecodeError)
    }
}

/// The line at an offset; zeros behind the end of what begins in it.
fn line(bytes: &[u8], offset: usize) -> Option<[u64; 8]> {
    let from = bytes.get(offset..).filter(|from| !from.is_empty())?;
    let mut line = [0; LINE_BYTES];
    let bytes = from.len().min(LINE_BYTES);
    line[..bytes].copy_from_slice(&from[..bytes]);
    let (words, _) = line.as_chunks();
    Some(std::array::from_fn(|word| u64::from_le_bytes(words[word])))
}

/// The job block of a part, and behind it what it alone names.
fn job_bytes(
    snapshot: &Snapshot,
    task: &ElementTask,
    part: Range<u32>,
    storage_pages: u64,
) -> Vec<u8> {
    let reader = snapshot.reader();
    let area = reader.shared_state();
    let header = area.header();
    let entry = area.table(task.table).expect("the creator of the task has checked the table");
    let map_chunks = reader.page_map_chunks();
    let vid_chunks = (entry.vids as usize).div_ceil(MAP_WORDS);

    let mut bytes = vec![0; JobBlock::BYTES];
    // Each begins with a line of its own.
    let mut append = |chunk: &[u8]| {
        let at = bytes.len().next_multiple_of(LINE_BYTES);
        bytes.resize(at, 0);
        bytes.extend_from_slice(chunk);
        JOB + at as u64
    };
    let program = append(&task.program.encode()[..]);
    let vid_places = (0..vid_chunks).map(|chunk| reader.vid_map_chunk(task.table, chunk));
    let vid_places: Vec<u8> = vid_places.flat_map(|place| place.word().to_le_bytes()).collect();
    let vid_places = append(&vid_places);
    let map_places = (0..map_chunks).map(|chunk| reader.page_map_chunk(chunk));
    let map_places: Vec<u8> = map_places.flat_map(|place| place.word().to_le_bytes()).collect();
    let map_places = append(&map_places);

    let changed = area.vids_of(entry).len();
    let before = changed - area.vids_from(entry, part.start).len();
    let behind = changed - area.vids_from(entry, part.end).len();
    let first_entry = entry.first as usize + before;
    let block = JobBlock {
        vid_first: part.start,
        vid_end: part.end,
        snapshot: task.snapshot,
        storage_base: STORAGE,
        storage_pages,
        vid_chunks: vid_places,
        page_map_chunks: map_places,
        logical_pages: (map_chunks * MAP_WORDS) as u64,
        delta_vids: SHARED_STATE
            + u64::from(header.vids_at)
            + (first_entry * VidEntry::BYTES) as u64,
        delta_vid_count: (behind - before) as u32,
        delta_page_count: area.pages().len() as u32,
        delta_pages: SHARED_STATE + u64::from(header.pages_at),
        delta_images: SHARED_STATE + u64::from(header.images_at),
        store: header.store,
        epoch: header.epoch,
        table: task.table,
        // A new element remembers none.
        forget_pages: true,
        want_payloads: task.payloads,
        program,
    };
    bytes[..JobBlock::BYTES].copy_from_slice(&block.encode());
    bytes
}
