// SPDX-License-Identifier: MIT OR Apache-2.0
//! A running job: elements find rows, and the results of processing them become entries of the
//! result set.

use std::collections::VecDeque;
use std::sync::Arc;

use lockdb::layout::MAP_WORDS;

use super::card::Card;
use super::element::{Element, ElementSet, Packet, Progress, Totals};
use super::locks::Tags;
use super::mutant::{Mutant, Planted};
use super::rows::FoundRow;
use super::snapshot::Snapshot;
use super::updating::Updating;
use crate::job::{
    ChunkHeader, ChunkWriter, FaultEntry, GroupEntry, JobError, Kind, RowHead, Span, Statistics,
    Status, TopUp,
};
use crate::program::{Aggregation, Group};

/// VIDs that an element looks at before others get their turn: a chunk of the VID map.
const ELEMENT_VIDS: u32 = MAP_WORDS as u32;
/// Rows that are taken out of the queue in one step.
const ROWS_A_STEP: usize = 256;
/// Maximum number of bytes of a chunk; a larger result buffer is not filled.
const MOST_CHUNK_BYTES: u64 = 1 << 20;

/// The processing of the qualifying rows.
pub(super) enum Doing {
    Update(Box<Updating>),
    Select {
        outputs: usize,
    },
    Aggregate(Box<Aggregation>),
    /// An aggregation's groups, which have not been given out yet.
    Groups(VecDeque<Group>),
}

/// A job that runs.
pub(super) struct Work {
    pub(super) job: u32,
    pub(super) kind: Kind,
    pub(super) doing: Doing,
    pub(super) snapshot: Arc<Snapshot>,
    /// Those that have not come to their end.
    elements: VecDeque<Box<dyn Element>>,
    /// Rows that they have found.
    found: VecDeque<FoundRow>,
    /// Of elements that came to their end.
    totals: Totals,
    pub(super) results: Results,
    /// Why the job comes to no good end; it waits until its rows are idle.
    ending: Option<Ending>,
    mutants: Planted,
}

/// The chunk that is being filled, and where it goes.
pub(super) struct Results {
    pub(super) span: Span,
    pub(super) chunk: u32,
    writer: ChunkWriter,
    pub(super) statistics: Statistics,
    /// The last entry; only a planted fault has a use for it.
    last: Option<Vec<u8>>,
}

/// How a job ends that has not done what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) status: Status,
    pub(super) detail: u64,
    /// For the result buffer, instead of a chunk.
    pub(super) text: Option<String>,
}

impl Ending {
    pub(super) fn new(status: Status, detail: u64) -> Self {
        Self { status, detail, text: None }
    }

    pub(super) fn with_text(status: Status, text: impl ToString) -> Self {
        Self { status, detail: 0, text: Some(text.to_string()) }
    }
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Something was done.
    Worked,
    /// All waits for something.
    Waits,
    /// The chunk is full, or reservations are used up.
    More { reservations: bool },
    /// The job is over.
    Ended(Ending),
}

/// There is no room: in the chunk, or in reserved pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoRoom {
    Entry,
    Page,
}

impl Results {
    pub(super) fn new(span: Span) -> Self {
        let writer = ChunkWriter::new(span.bytes.min(MOST_CHUNK_BYTES) as usize);
        Self { span, chunk: 0, writer, statistics: Statistics::default(), last: None }
    }

    pub(super) fn has_room(&self, bytes: usize) -> bool {
        self.writer.has_room(bytes)
    }

    /// Adds an entry of fixed size, if there is room.
    pub(super) fn push(&mut self, entry: &[u8]) -> Result<(), NoRoom> {
        if !self.has_room(entry.len()) {
            return Err(NoRoom::Entry);
        }
        self.writer.push(entry);
        self.last = cfg!(feature = "mutants").then(|| entry.to_vec());
        Ok(())
    }

    fn push_row(&mut self, row: &FoundRow, outputs: usize) -> Result<(), NoRoom> {
        if !self.has_room(ChunkWriter::row_bytes(outputs, row.payload.len())) {
            return Err(NoRoom::Entry);
        }
        let (vid, number, record) = (row.vid, row.number, row.record.word());
        let head = RowHead { vid, number, record, nulls: row.outputs.nulls, ..RowHead::default() };
        self.writer.push_row(head, &row.outputs.values[..outputs], &row.payload);
        Ok(())
    }

    /// The chunk's bytes.
    pub(super) fn finish(&mut self, job: u32, kind: Kind, flags: u8) -> Vec<u8> {
        let writer = std::mem::replace(&mut self.writer, ChunkWriter::new(0));
        let header =
            ChunkHeader { kind: kind as u8, flags, job, chunk: self.chunk, ..Default::default() };
        writer.finish(header, &self.statistics)
    }

    /// Continues with another buffer.
    fn top_up(&mut self, span: Span) {
        self.span = span;
        self.chunk += 1;
        self.writer = ChunkWriter::new(span.bytes.min(MOST_CHUNK_BYTES) as usize);
    }
}

impl Work {
    pub(super) fn new(
        job: u32,
        kind: Kind,
        doing: Doing,
        snapshot: Arc<Snapshot>,
        ElementSet { embodiment, elements }: ElementSet,
        span: Span,
        mutants: Planted,
    ) -> Self {
        let mut results = Results::new(span);
        results.statistics.elements = elements.len() as u16;
        results.statistics.embodiment = embodiment as u8;
        Self {
            job,
            kind,
            doing,
            snapshot,
            elements: elements.into(),
            found: VecDeque::new(),
            totals: Totals::default(),
            results,
            ending: None,
            mutants,
        }
    }

    /// The job ends, as soon as its rows are idle. The first reason counts.
    pub(super) fn end(&mut self, ending: Ending) {
        self.ending.get_or_insert(ending);
        while let Some(element) = self.elements.pop_front() {
            self.add_totals(element.totals());
        }
        self.found.clear();
    }

    fn add_totals(&mut self, totals: Totals) {
        self.totals.add(totals);
    }

    /// Continues with room from a top-up.
    ///
    /// # Errors
    /// When the top-up is not for the next chunk, or is too small.
    pub(super) fn check_top_up(&self, top_up: &TopUp, least: u64) -> Result<(), JobError> {
        let fault = |offset, field, found, expected: String| {
            Err(JobError { what: "top-up", offset, field, found, expected })
        };
        let next = self.results.chunk + 1;
        if top_up.chunk != next {
            return fault(12, "chunk", top_up.chunk.into(), next.to_string());
        }
        if top_up.result.bytes < least {
            return fault(24, "result_bytes", top_up.result.bytes, format!("at least {least}"));
        }
        Ok(())
    }

    /// Continues with another result buffer.
    pub(super) fn top_up(&mut self, span: Span) {
        let repeated = self.results.last.take();
        self.results.top_up(span);
        if let Some(entry) = repeated.filter(|_| self.mutants.has(Mutant::EntryRepeatedInNextChunk))
        {
            let _ = self.results.push(&entry);
        }
    }

    /// One bounded step.
    pub(super) fn step(&mut self, card: &mut dyn Card, tags: &mut Tags) -> Verdict {
        let mut worked = false;
        if self.ending.is_none() {
            worked |= self.run_elements();
            match self.take_found(tags) {
                Ok(took) => worked |= took,
                Err(room) => return self.more(room),
            }
        }
        if let Doing::Update(updating) = &mut self.doing {
            let stop = self.ending.is_some();
            match updating.step(card, tags, &mut self.results, stop) {
                Ok(update) => {
                    worked |= update.worked;
                    if let Some(ending) = update.ending {
                        self.end(ending);
                    }
                }
                Err(room) => return self.more(room),
            }
        }
        match self.finish() {
            Ok(Some(ending)) => Verdict::Ended(ending),
            Ok(None) if worked => Verdict::Worked,
            Ok(None) => Verdict::Waits,
            Err(room) => self.more(room),
        }
    }

    fn more(&mut self, room: NoRoom) -> Verdict {
        if self.mutants.has(Mutant::EntryLostAtChunkEnd) && room == NoRoom::Entry {
            self.found.pop_front();
        }
        Verdict::More { reservations: room == NoRoom::Page }
    }

    /// Lets one element run, if there is room for what it finds.
    fn run_elements(&mut self) -> bool {
        if self.found.len() >= ROWS_A_STEP {
            return false;
        }
        let Some(mut element) = self.elements.pop_front() else { return false };
        let (found, statistics) = (&mut self.found, &mut self.results.statistics);
        let progress = element.run(ELEMENT_VIDS, &mut |packet: Packet<'_>| {
            match packet.code {
                0 => statistics.qualified += 1,
                _ => statistics.faults += 1,
            }
            found.push_back(FoundRow::of(&packet));
        });
        match progress {
            Progress::Worked => self.elements.push_back(element),
            Progress::Waiting => {
                self.elements.push_back(element);
                return false;
            }
            Progress::Done => self.add_totals(element.totals()),
            Progress::Failed(why) => {
                self.add_totals(element.totals());
                self.end(Ending::with_text(Status::Storage, why));
            }
        }
        true
    }

    /// Does with the rows found what is to be done with them.
    fn take_found(&mut self, tags: &mut Tags) -> Result<bool, NoRoom> {
        let mut worked = false;
        for _ in 0..ROWS_A_STEP {
            let Some(row) = self.found.front() else { break };
            if row.code != 0 {
                self.results.push(&fault_entry(row.vid, row.code))?;
                if matches!(self.doing, Doing::Update(_)) {
                    // The faults found with it are reported, too, as far as there is room.
                    let others: Vec<_> = self.found.drain(..).filter(|row| row.code != 0).collect();
                    for row in &others[1..] {
                        let _ = self.results.push(&fault_entry(row.vid, row.code));
                    }
                    self.end(Ending::new(Status::RowFaults, others.len() as u64));
                    return Ok(true);
                }
                self.found.pop_front();
                continue;
            }
            match &mut self.doing {
                Doing::Update(updating) => {
                    let Some(tag) = updating.free_tag(self.job, tags) else { break };
                    let row = self.found.pop_front().expect("it was just looked at");
                    updating.begin(tag, row);
                }
                Doing::Select { outputs } => {
                    self.results.push_row(row, *outputs)?;
                    self.found.pop_front();
                }
                Doing::Aggregate(aggregation) => {
                    if let Err(error) = aggregation.add(&row.outputs) {
                        self.end(Ending::with_text(Status::Aggregation, error));
                        return Ok(true);
                    }
                    self.found.pop_front();
                }
                Doing::Groups(_) => unreachable!("groups come when all rows were found"),
            }
            worked = true;
        }
        Ok(worked)
    }

    /// The end, if nothing is left to be done.
    fn finish(&mut self) -> Result<Option<Ending>, NoRoom> {
        if let Doing::Update(updating) = &self.doing
            && !updating.is_idle()
        {
            return Ok(None);
        }
        if let Some(ending) = self.ending.take() {
            return Ok(Some(ending));
        }
        if !self.elements.is_empty() || !self.found.is_empty() {
            return Ok(None);
        }
        if let Doing::Aggregate(aggregation) = &self.doing {
            match aggregation.finish() {
                Ok(groups) => self.doing = Doing::Groups(groups.into()),
                Err(error) => return Ok(Some(Ending::with_text(Status::Aggregation, error))),
            }
        }
        if let Doing::Groups(groups) = &mut self.doing {
            while let Some(group) = groups.front() {
                self.results.push(&GroupEntry::of(*group).encode())?;
                groups.pop_front();
            }
        }
        Ok(Some(Ending::new(Status::Done, 0)))
    }

    /// The statistics, brought up to date.
    pub(super) fn count(&mut self) {
        let mut totals = self.totals;
        for element in &self.elements {
            totals.add(element.totals());
        }
        let statistics = &mut self.results.statistics;
        (statistics.visited, statistics.visible) = (totals.visited, totals.visible);
        statistics.element_clocks = totals.clocks;
        statistics.storage_bytes = self.snapshot.storage_bytes();
        if let Doing::Update(updating) = &self.doing {
            statistics.pages = updating.pages() as u64;
        }
    }
}

pub(super) fn fault_entry(vid: u32, code: u8) -> [u8; FaultEntry::BYTES] {
    FaultEntry { kind: FaultEntry::KIND, code, reserved: 0, vid }.encode()
}

impl FoundRow {
    fn of(packet: &Packet<'_>) -> Self {
        Self {
            vid: packet.vid,
            number: packet.number,
            record: packet.record,
            code: packet.code,
            outputs: packet.outputs,
            payload: packet.payload.to_vec(),
        }
    }
}
