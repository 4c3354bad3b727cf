// SPDX-License-Identifier: MIT OR Apache-2.0
//! Processing elements, timed: each has as many walks in flight over the device's memory as
//! `hw/rtl/visibility/visibility_pe.sv`.
//!
//! The store's own machine of a walk decides what is fetched next. This module decides when: each
//! port takes one request and gives one line a clock, a page is checked as a whole when it is first
//! touched, rows leave one line a clock, and lanes execute one instruction a clock.

use std::collections::{BTreeMap, VecDeque};

use lockdb::device_reader::{Next, PageAt, PageFacts, Visible, Walk};
use lockdb::layout::{LinePointer, MAP_WORDS, PAGE_BYTES, VERSION_BYTES};
use ndp_runtime::program::{Evaluation, EvaluationError, Outputs, Program, evaluate_counting};
use timing::Time;
use timing::platform::ElementTiming;

use super::device_memory::{DeviceMemory, LINE, lines_of};
use super::image::DeviceImage;

/// VIDs whose words of the VID map are fetched at once: eight lines.
const HEADS: u32 = 64;

/// No line has this number.
const NO_LINE: u64 = u64::MAX;

/// Lines of a page.
const PAGE_LINES: u64 = PAGE_BYTES as u64 / LINE;

/// Something that will happen in an element; to be given back at its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementEvent {
    pub element: u16,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// Words of the VID map are there.
    Heads,
    /// What a chain has asked for is there.
    Chain(u16),
    /// The page that a chain has waited for is checked.
    Checked(u16),
    /// A row of a chain has left.
    Left(u16),
    /// A lane has a row that qualifies.
    Row,
}

impl ElementEvent {
    /// In 40 bits.
    pub fn encode(self) -> u64 {
        let (kind, chain) = match self.what {
            What::Heads => (0, 0),
            What::Chain(chain) => (1, chain),
            What::Checked(chain) => (2, chain),
            What::Left(chain) => (3, chain),
            What::Row => (4, 0),
        };
        u64::from(self.element) << 24 | kind << 16 | u64::from(chain)
    }

    pub fn decode(bits: u64) -> Self {
        let (element, chain) = ((bits >> 24) as u16, bits as u16);
        let what = match bits >> 16 & 0xFF {
            0 => What::Heads,
            1 => What::Chain(chain),
            2 => What::Checked(chain),
            3 => What::Left(chain),
            _ => What::Row,
        };
        Self { element, what }
    }
}

/// A row that qualifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub vid: u32,
    pub version: Visible,
    pub outputs: Outputs,
}

/// The counters of the elements in a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// VIDs with a head.
    pub visited: u64,
    /// Versions looked at.
    pub hops: u64,
    /// Rows that the snapshot sees.
    pub visible: u64,
    /// Rows that qualify.
    pub qualified: u64,
    /// Pages checked.
    pub page_checks: u64,
    /// Walks that ended at something wrong, and rows that could not be evaluated.
    pub faults: u64,
}

impl Counts {
    pub fn add(&mut self, other: Counts) {
        self.visited += other.visited;
        self.hops += other.hops;
        self.visible += other.visible;
        self.qualified += other.qualified;
        self.page_checks += other.page_checks;
        self.faults += other.faults;
    }
}

/// What the elements of a job share.
pub(crate) struct Surroundings<'a> {
    pub now: Time,
    pub image: &'a DeviceImage,
    pub program: &'a Program,
    pub memory: &'a mut DeviceMemory,
    pub schedule: &'a mut dyn FnMut(Time, ElementEvent),
}

/// One processing element.
pub(crate) struct Element {
    number: u16,
    timing: ElementTiming,
    step: Time,
    ports: Vec<Port>,
    lanes: Vec<Time>,
    /// The stream of rows into the lanes.
    output: Time,
    chains: Vec<Option<Walk>>,
    free: Vec<u16>,
    vids: Vids,
    pages: BTreeMap<u64, Check>,
    /// Lines of the L2P map, each where its number says.
    page_map_lines: Vec<u64>,
    rows: VecDeque<Found>,
    counts: Counts,
    /// When the last row was evaluated.
    busy_until: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Port {
    address: Time,
    data: Time,
}

/// The stream of VIDs: those below `ready` have their heads on the chip.
#[derive(Clone, Copy, Debug, Default)]
struct Vids {
    next: u32,
    ready: u32,
    asked: u32,
    end: u32,
    issue: Time,
    /// Fetches of words that are under way.
    open: u32,
}

/// The known properties of a page.
enum Check {
    UnderWay(Vec<u16>),
    Done(Result<PageFacts, lockdb::device_reader::WalkError>),
}

impl Element {
    pub fn new(number: u16, timing: &ElementTiming) -> Self {
        let chains = timing.chains.get().0 as u16;
        Self {
            number,
            step: clocks(timing, timing.step.get().0.into()),
            ports: vec![Port::default(); timing.ports.get().0 as usize],
            lanes: vec![Time::ZERO; timing.lanes.get().0 as usize],
            output: Time::ZERO,
            chains: vec![None; chains.into()],
            free: (0..chains).rev().collect(),
            vids: Vids::default(),
            pages: BTreeMap::new(),
            page_map_lines: vec![NO_LINE; timing.page_map_lines.get().0 as usize],
            rows: VecDeque::new(),
            counts: Counts::default(),
            busy_until: Time::ZERO,
            timing: timing.clone(),
        }
    }

    /// Starts with a part of the VID map. `verified`: it has checked all pages in an earlier job.
    pub fn start(&mut self, part: std::ops::Range<u32>, verified: bool, around: &mut Surroundings) {
        assert!(self.is_done(), "element {} is at work", self.number);
        self.counts = Counts::default();
        self.pages.clear();
        self.page_map_lines.fill(NO_LINE);
        if verified {
            self.verify_all(part.clone(), around);
        }
        self.busy_until = around.now;
        self.vids = Vids {
            next: part.start,
            ready: part.start,
            asked: part.start,
            end: part.end,
            issue: around.now,
            open: 0,
        };
        self.ask_for_heads(around);
    }

    /// Whether nothing is left of its part but rows that lanes still have.
    pub fn is_done(&self) -> bool {
        let Vids { next, end, open, .. } = self.vids;
        next == end && open == 0 && self.free.len() == self.chains.len()
    }

    /// Whether rows that qualify are still to be taken.
    pub fn has_rows(&self) -> bool {
        !self.rows.is_empty()
    }

    /// Begins no other VID; the walks that are under way come to their ends.
    pub fn stop(&mut self) {
        self.vids.end = self.vids.next;
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// When its last row was evaluated, if it is done.
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Lets something happen. Gives the row that qualifies, if it is one.
    pub fn handle(&mut self, event: ElementEvent, around: &mut Surroundings) -> Option<Found> {
        match event.what {
            What::Heads => {
                self.vids.open -= 1;
                self.vids.ready = (self.vids.ready + HEADS).min(self.vids.end).max(self.vids.next);
                self.ask_for_heads(around);
                self.fill(around);
            }
            What::Chain(chain) => self.fetched(chain, around),
            What::Checked(chain) => {
                self.page_checked(chain, around);
            }
            What::Left(chain) => self.leave(chain, around),
            What::Row => return self.rows.pop_front(),
        }
        None
    }

    /// Two blocks of heads are on the chip or on their way.
    fn ask_for_heads(&mut self, around: &mut Surroundings) {
        while self.vids.asked < self.vids.end && self.vids.asked - self.vids.next < 2 * HEADS {
            let vid = self.vids.asked;
            let count = HEADS.min(self.vids.end - vid);
            self.vids.asked += count;
            self.vids.open += 1;
            let entries = around.image.delta_entry_bytes(count.into());
            let lines = u64::from(count).div_ceil(LINE / 8) + entries.div_ceil(LINE);
            let address = around.image.vid_map_address(vid);
            // Chunks of the map are checked as data pages are, but in each job.
            if vid as usize % MAP_WORDS < HEADS as usize {
                self.counts.page_checks += 1;
                self.read(around.now, address, PAGE_LINES, around);
            }
            let at = self.read(around.now, address, lines, around);
            self.after(at, What::Heads, around);
        }
    }

    /// Starts walks where there are heads and chains.
    fn fill(&mut self, around: &mut Surroundings) {
        while self.vids.next < self.vids.ready {
            let head = around.image.head(self.vids.next);
            let at = around.now.max(self.vids.issue);
            if head.is_none() {
                self.vids.next += 1;
                self.vids.issue = at + self.timing.clock.get();
                continue;
            }
            let Some(chain) = self.free.pop() else { break };
            let vid = self.vids.next;
            self.vids.next += 1;
            self.vids.issue = at + self.timing.clock.get();
            self.counts.visited += 1;
            let image = around.image;
            let walk = Walk::new(image.table(), image.snapshot(), vid, head);
            self.chains[usize::from(chain)] = Some(walk);
            self.advance(chain, at, around);
        }
        self.ask_for_heads(around);
    }

    fn walk(&mut self, chain: u16) -> &mut Walk {
        self.chains[usize::from(chain)].as_mut().expect("the chain has a walk")
    }

    /// What the chain has waited for is there.
    fn fetched(&mut self, chain: u16, around: &mut Surroundings) {
        let image = around.image;
        let walk = self.walk(chain);
        match walk.next() {
            Next::Place { page } => {
                walk.placed(image.page_at(page));
                let line = image.page_map_address(page) / LINE;
                *self.page_map_line(line) = line;
            }
            Next::Line { at, line, .. } => walk.line(image.page(at).line(line.into())),
            Next::Version { at, offset, .. } => {
                walk.version(image.page(at).version_at(offset));
                self.counts.hops += 1;
            }
            Next::Visible(version) => return self.row(chain, version, around.now, around),
            next => unreachable!("a chain does not fetch anything for {next:?}"),
        }
        self.advance(chain, around.now, around);
    }

    /// Continues with a walk, from `at` on, up to the next fetch or its end.
    fn advance(&mut self, chain: u16, at: Time, around: &mut Surroundings) {
        let (image, mut at) = (around.image, at);
        let (address, lines) = loop {
            at += self.step;
            match self.walk(chain).next() {
                Next::Place { page } => {
                    let place = image.page_at(page);
                    let address = image.page_map_address(page);
                    let known = matches!(place, PageAt::Image(_))
                        || *self.page_map_line(address / LINE) == address / LINE;
                    if !known {
                        break (address, 1);
                    }
                    self.walk(chain).placed(place);
                }
                Next::Check { at: page, .. } => match self.check(chain, page, at, around) {
                    None => return,
                    Some(Ok(facts)) => self.walk(chain).checked(facts),
                    Some(Err(fault)) => self.walk(chain).failed(fault),
                },
                Next::Line { at: page, line, .. } => {
                    break (image.address(page) + LinePointer::at(line.into()) as u64, 1);
                }
                Next::Version { at: page, offset, .. } => {
                    let address = image.address(page) + offset as u64;
                    break (address, lines_of(address, VERSION_BYTES as u64));
                }
                Next::Visible(version) => {
                    // The header's line is at hand, with what it has of the payload.
                    let header =
                        image.address(version.at) + (version.offset - VERSION_BYTES) as u64;
                    let bytes = (VERSION_BYTES + version.payload) as u64;
                    let have = lines_of(header, VERSION_BYTES as u64);
                    let lines = lines_of(header, bytes) - have;
                    if lines == 0 {
                        return self.row(chain, version, at, around);
                    }
                    break (header + LINE * have, lines);
                }
                Next::Absent => return self.leave(chain, around),
                Next::Fault(_) => {
                    self.counts.faults += 1;
                    return self.leave(chain, around);
                }
            }
        };
        let there = self.read(at, address, lines, around);
        self.after(there, What::Chain(chain), around);
    }

    /// What is known of a page; `None`: the chain waits for its check.
    fn check(
        &mut self,
        chain: u16,
        page: PageAt,
        at: Time,
        around: &mut Surroundings,
    ) -> Option<Result<PageFacts, lockdb::device_reader::WalkError>> {
        let address = around.image.address(page);
        match self.pages.get_mut(&address) {
            Some(Check::Done(known)) => return Some(*known),
            Some(Check::UnderWay(waiting)) => waiting.push(chain),
            None => {
                self.counts.page_checks += 1;
                self.pages.insert(address, Check::UnderWay(vec![chain]));
                let there = self.read(at, address, PAGE_LINES, around);
                self.after(there, What::Checked(chain), around);
            }
        }
        None
    }

    /// The page that `chain` was the first to touch is checked.
    fn page_checked(&mut self, chain: u16, around: &mut Surroundings) {
        let Next::Check { at, .. } = self.walk(chain).next() else {
            unreachable!("a chain waits for the check of its page");
        };
        // Storage and delta buffer are whole here: faults are the subject of other tests.
        let facts = PageFacts::of(&around.image.page(at).header());
        let known = Check::Done(Ok(facts));
        let before = self.pages.insert(around.image.address(at), known);
        let Some(Check::UnderWay(waiting)) = before else {
            unreachable!("a check that ends was under way");
        };
        for chain in waiting {
            self.advance(chain, around.now, around);
        }
    }

    /// The row is on the chip: it goes to a lane, which evaluates it.
    fn row(&mut self, chain: u16, version: Visible, at: Time, around: &mut Surroundings) {
        self.counts.visible += 1;
        let beats = 1 + (version.payload as u64).div_ceil(LINE);
        let lane = (0..self.lanes.len()).min_by_key(|&lane| self.lanes[lane]);
        let lane = lane.expect("a platform has lanes");
        let begin = at.max(self.output).max(self.lanes[lane]);
        self.output = begin + clocks(&self.timing, beats);
        let bytes = around.image.page(version.at).bytes();
        let payload = &bytes[version.offset..version.offset + version.payload];
        let mut outputs = Outputs::default();
        let evaluated: Result<(Evaluation, u64), EvaluationError> =
            evaluate_counting(around.program, payload, &mut outputs);
        // Of one that faults all count, as nobody has counted them.
        let all = around.program.instructions().len() as u64;
        let instructions = evaluated.map_or(all, |(_, instructions)| instructions);
        self.lanes[lane] = self.output + clocks(&self.timing, instructions);
        self.busy_until = self.busy_until.max(self.lanes[lane]);
        self.after(self.output, What::Left(chain), around);
        match evaluated {
            Ok((Evaluation::Fails, _)) => {}
            Ok((Evaluation::Passes, _)) => {
                self.counts.qualified += 1;
                let vid = self.walk(chain).vid();
                self.rows.push_back(Found { vid, version, outputs });
                // Lanes may overtake each other; rows are handed on in the order of the stream.
                self.after(self.lanes[lane], What::Row, around);
            }
            Err(_) => self.counts.faults += 1,
        }
    }

    fn leave(&mut self, chain: u16, around: &mut Surroundings) {
        self.chains[usize::from(chain)] = None;
        self.free.push(chain);
        self.busy_until = self.busy_until.max(around.now);
        self.fill(around);
    }

    /// Reads lines through the port that is free first; when the last one is there.
    fn read(&mut self, at: Time, address: u64, lines: u64, around: &mut Surroundings) -> Time {
        let clock = self.timing.clock.get();
        let port = self.ports.iter_mut().min_by_key(|port| (port.address, port.data));
        let port = port.expect("a platform has ports");
        let issued = at.max(port.address);
        port.address = issued + clock;
        let there = around.memory.access(issued, address, lines);
        let first = issued + around.memory.latency();
        port.data = port.data.max(first) + clocks(&self.timing, lines);
        there.max(port.data)
    }

    /// Where the cache has a line of the L2P map, if it has it.
    fn page_map_line(&mut self, line: u64) -> &mut u64 {
        let lines = self.page_map_lines.len() as u64;
        &mut self.page_map_lines[(line % lines) as usize]
    }

    /// What it has checked in an earlier job: every page that its part leads to.
    fn verify_all(&mut self, part: std::ops::Range<u32>, around: &Surroundings) {
        let image = around.image;
        for vid in part {
            let mut record = image.head(vid);
            while !record.is_none() {
                let at = image.page_at(record.page());
                let page = image.page(at);
                self.pages
                    .insert(image.address(at), Check::Done(Ok(PageFacts::of(&page.header()))));
                let version = page.version(record.line().into());
                record = version.map_or(lockdb::layout::RecordId::NONE, |(version, ..)| {
                    lockdb::layout::RecordId::from_word(version.predecessor)
                });
            }
        }
    }

    fn after(&self, time: Time, what: What, around: &mut Surroundings) {
        (around.schedule)(time, ElementEvent { element: self.number, what });
    }
}

fn clocks(timing: &ElementTiming, clocks: u64) -> Time {
    timing.clock.get() * clocks
}
