// SPDX-License-Identifier: MIT OR Apache-2.0
//! Software that carries requests out: over an index, and over host memory line by line.

use std::collections::VecDeque;

use tables::memory::RemoteMemory;
use tables::slot::{LINE_BYTES, LINE_WORDS};
use thiserror::Error;

use crate::index::Index;
use crate::scan::{Line, ProbeScan};

use super::counters::Counters;
use super::geometry::Geometry;
use super::machine::{Action, Event, LookUp, Read};
use super::request::{Answer, Request};

/// A line that could not be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("no line could be read at {0:#x}")]
pub struct ReadError(pub u64);

/// Host memory, as a NIC reads it.
pub trait HostLines {
    /// Reads the line at an address, a multiple of 64, as it is at one instant.
    ///
    /// # Errors
    /// When it cannot be read: nothing is at the address, or the bus says so.
    fn line(&self, address: u64) -> Result<[u64; LINE_WORDS], ReadError>;
}

/// The memory of a table at an address of the host. What lies outside cannot be read.
#[derive(Clone, Copy, Debug)]
pub struct At<'a, M> {
    base: u64,
    lines: u64,
    memory: &'a M,
}

impl<'a, M: RemoteMemory> At<'a, M> {
    /// A memory of so many words, in whole lines, at the address `base`, a multiple of 64.
    pub const fn new(base: u64, words: usize, memory: &'a M) -> Self {
        At { base, lines: (words / LINE_WORDS) as u64, memory }
    }
}

impl<M: RemoteMemory> HostLines for At<'_, M> {
    fn line(&self, address: u64) -> Result<[u64; LINE_WORDS], ReadError> {
        let number = address.checked_sub(self.base).map(|offset| offset / LINE_BYTES as u64);
        match number {
            Some(number) if number < self.lines => Ok(self.memory.read_line(number as usize)),
            _ => Err(ReadError(address)),
        }
    }
}

/// A read of which lines have come, in ascending order: scans them, or takes the word out.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Reader {
    read: Read,
    scan: Option<ProbeScan>,
    /// Of the next line, and of that behind the last.
    next: u64,
    end: u64,
}

impl Reader {
    /// Begins a read of a look-up with this geometry.
    pub fn new<const WORDS: usize>(geometry: &Geometry<WORDS>, read: Read) -> Self {
        let scan = read.scan.map(|scan| {
            ProbeScan::new(geometry.shape(), scan).expect("look-ups make scans that can be")
        });
        let line = LINE_BYTES as u64;
        let end = read.address + u64::from(read.bytes);
        let next = read.address - read.address % line;
        Reader { read, scan, next, end: end.next_multiple_of(line) }
    }

    /// Address of the line that is awaited.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Takes that line; the last one gives what the look-up is told.
    pub fn take<const WORDS: usize>(
        &mut self,
        line: Result<[u64; LINE_WORDS], ReadError>,
    ) -> Option<Event<WORDS>> {
        self.next += LINE_BYTES as u64;
        let Some(scan) = &mut self.scan else {
            let word = (self.read.address % LINE_BYTES as u64 / 8) as usize;
            return Some(
                line.map_or(Event::Failed(self.read.part), |line| Event::Word(line[word])),
            );
        };
        let (has_error, is_last) = (line.is_err(), self.next == self.end);
        let words = line.unwrap_or_default();
        let answer = scan.take(&Line { words, is_last, has_error })?;
        Some(Event::Scanned(self.read.part, answer))
    }
}

/// A request that software carries out step by step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Run<const WORDS: usize> {
    look_up: LookUp<WORDS>,
    work: VecDeque<Work<WORDS>>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Work<const WORDS: usize> {
    Ask(crate::index::Request<WORDS>),
    Read(Box<Reader>),
}

impl<const WORDS: usize> Run<WORDS> {
    /// Whether nothing is left to do, also for the index.
    pub fn is_over(&self) -> bool {
        self.look_up.is_over()
    }

    /// Whether the next step reads host memory, and at which address.
    pub fn reads_next(&self) -> Option<u64> {
        match self.work.front()? {
            Work::Read(reader) => Some(reader.next()),
            Work::Ask(_) => None,
        }
    }
}

/// Carries requests out, one after the other or several at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Engine<const OBJECTS: usize, const WORDS: usize> {
    geometry: Geometry<WORDS>,
    index: Index<OBJECTS, WORDS>,
    counters: Counters,
}

impl<const OBJECTS: usize, const WORDS: usize> Engine<OBJECTS, WORDS> {
    /// With an empty index of the table, whose objects take at most `most_pins` pins.
    pub fn new(geometry: Geometry<WORDS>, most_pins: u8) -> Self {
        let index = Index::new(*geometry.table(), most_pins);
        Engine { geometry, index, counters: Counters::default() }
    }

    /// The table.
    pub const fn geometry(&self) -> &Geometry<WORDS> {
        &self.geometry
    }

    /// The index.
    pub const fn index(&self) -> &Index<OBJECTS, WORDS> {
        &self.index
    }

    /// What was counted since the beginning.
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Carries a request out whole. It ends after `most_readings` readings at the latest.
    pub fn run(&mut self, memory: &impl HostLines, request: Request<WORDS>) -> Answer<WORDS> {
        let mut run = self.begin(request);
        let mut answer = None;
        while !run.is_over() {
            answer = answer.or(self.step(&mut run, memory));
        }
        answer.expect("each request is answered before it is over")
    }

    /// Begins a request that is carried out with [`Engine::step`]. Others may be under way.
    pub fn begin(&self, request: Request<WORDS>) -> Run<WORDS> {
        let (look_up, action) = LookUp::new(self.geometry, request);
        let mut run = Run { look_up, work: VecDeque::new() };
        self.plan(&mut run, vec![action]);
        run
    }

    /// Makes the next step: one request to the index, or one line of host memory. Gives the answer when it is
    /// made; what is left then is for the index. Does nothing when the request is over.
    pub fn step(&mut self, run: &mut Run<WORDS>, memory: &impl HostLines) -> Option<Answer<WORDS>> {
        let event = match run.work.front_mut()? {
            Work::Ask(request) => Event::Index(self.index.apply(request)),
            Work::Read(reader) => reader.take(memory.line(reader.next()))?,
        };
        run.work.pop_front();
        let actions = run.look_up.take(event, &mut self.counters);
        self.plan(run, actions)
    }

    /// Takes actions as work to do, but for an answer.
    fn plan(&self, run: &mut Run<WORDS>, actions: Vec<Action<WORDS>>) -> Option<Answer<WORDS>> {
        let mut answer = None;
        for action in actions {
            match action {
                Action::Index(request) => run.work.push_back(Work::Ask(request)),
                Action::Trip(reads) => {
                    let reads =
                        reads.into_iter().map(|read| Box::new(Reader::new(&self.geometry, read)));
                    run.work.extend(reads.map(Work::Read));
                }
                Action::Answer(given) => answer = Some(given),
            }
        }
        answer
    }
}
