// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pure machine beside the RTL: what the RTL's traces say has happened, happens to it, and it says what has to
//! be asked of the index, and answered. So its counts are those of the same look-ups in the same order.

use std::collections::{BTreeMap, VecDeque};

use nic::index::{self, Index};
use nic::lookup::{Action, Answer, Counters, Event, Geometry, LookUp, Part, Request};
use nic::scan;
use nic::vector::QUEUES;

use crate::error::RunError;
use crate::job::WORDS;
use crate::pins::Trace;
use crate::report::Vectors;

/// Bits of a token of the index (`lookup_pkg.sv`): the context, and whether the request tells what was seen.
const CONTEXT: u16 = 0xFF;
const TELLS: u16 = 1 << 8;
/// Of a context: its request is one of software.
const SOFTWARE: u8 = 1 << 7;

/// A request under way.
struct Context {
    look_up: LookUp<WORDS>,
    /// What it wants to tell the index.
    tells: VecDeque<index::Request<WORDS>>,
}

/// The machine beside the RTL.
pub struct Shadow<const OBJECTS: usize> {
    geometry: Geometry<WORDS>,
    index: Index<OBJECTS, WORDS>,
    counters: Counters,
    contexts: BTreeMap<u8, Context>,
    /// Accepted on a port, `true` for software's, and not yet at the index.
    accepted: [VecDeque<Request<WORDS>>; 2],
    /// Answers of the index that the RTL has still to give, by token.
    awaited: BTreeMap<u16, VecDeque<index::Answer<WORDS>>>,
    /// Answers that machine or RTL has given alone, by port and token.
    machine: BTreeMap<(bool, u16), Answer<WORDS>>,
    rtl: BTreeMap<(bool, u16), Answer<WORDS>>,
    clock: u64,
    vectors: Vectors,
}

impl<const OBJECTS: usize> Shadow<OBJECTS> {
    /// Nothing is under way, and the index has this.
    pub fn new(geometry: Geometry<WORDS>, index: Index<OBJECTS, WORDS>) -> Self {
        Shadow {
            geometry,
            index,
            counters: Counters::default(),
            contexts: BTreeMap::new(),
            accepted: Default::default(),
            awaited: BTreeMap::new(),
            machine: BTreeMap::new(),
            rtl: BTreeMap::new(),
            clock: 0,
            vectors: Vectors::default(),
        }
    }

    /// What was put into vectors, and sent.
    pub fn vectors(&self) -> Vectors {
        self.vectors
    }

    /// What the machine has counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The RTL has accepted a request on a port.
    pub fn accept(&mut self, is_software: bool, request: Request<WORDS>) {
        self.accepted[usize::from(is_software)].push_back(request);
    }

    /// The RTL has answered on a port.
    ///
    /// # Errors
    /// When the machine has answered otherwise.
    pub fn answered(&mut self, is_software: bool, answer: Answer<WORDS>) -> Result<(), RunError> {
        self.rtl.insert((is_software, answer.token), answer);
        self.compare(is_software, answer.token)
    }

    fn compare(&mut self, is_software: bool, token: u16) -> Result<(), RunError> {
        let key = (is_software, token);
        let (Some(rtl), Some(machine)) = (self.rtl.get(&key), self.machine.get(&key)) else {
            return Ok(());
        };
        self.differs("answered", rtl, machine)?;
        self.rtl.remove(&key);
        self.machine.remove(&key);
        Ok(())
    }

    fn differs<T: PartialEq + std::fmt::Debug>(
        &self,
        what: &'static str,
        rtl: T,
        machine: T,
    ) -> Result<(), RunError> {
        if rtl == machine {
            return Ok(());
        }
        let (rtl, machine) = (format!("{rtl:x?}"), format!("{machine:x?}"));
        Err(RunError::Differs { clock: self.clock, what, rtl, machine })
    }

    /// Whether nothing is under way, in the machine.
    ///
    /// # Errors
    /// When one of both has answered alone.
    pub fn expect_idle(&self) -> Result<(), RunError> {
        let open: Vec<u8> = self.contexts.keys().copied().collect();
        self.differs("requests under way at its end", Vec::new(), open)?;
        let (rtl, machine) = (self.rtl.values().collect(), self.machine.values().collect());
        self.differs::<Vec<_>>("answers of its own", rtl, machine)
    }

    /// Does what has happened by the traces, a clock ago.
    ///
    /// # Errors
    /// When it cannot have happened.
    pub fn follow(&mut self, clock: u64, trace: &Trace<'_>) -> Result<(), RunError> {
        self.clock = clock;
        if let Some(request) = trace.request {
            self.request(request)?;
        }
        if let Some(answer) = trace.answer {
            self.index_answer(answer)?;
        }
        self.vectors.elements += u64::from(trace.has_read);
        for queue in 0..QUEUES {
            match trace.sent >> (2 * queue) & 3 {
                0 => {}
                reason => self.vectors.sent[usize::from(reason) - 1] += 1,
            }
        }
        if let Some(scan) = trace.scan {
            let (place, words) = scan.split_at(1);
            let part = self.part((place[0] >> 8) as u8 & 3)?;
            let answer = scan::Answer::from_words(words);
            let answer = answer.map_err(|error| self.strange("a scan", error))?;
            // The machine's scans have no token.
            let answer = scan::Answer { token: 0, ..answer };
            self.happen(place[0] as u8, Event::Scanned(part, answer))?;
        }
        if let Some([place, word]) = trace.word {
            self.happen(place as u8, Event::Word(word))?;
        }
        if let Some(done) = trace.done.filter(|done| done >> 10 & 3 != 0) {
            let part = self.part((done >> 8) as u8 & 3)?;
            self.happen(done as u8, Event::Failed(part))?;
        }
        Ok(())
    }

    fn part(&self, number: u8) -> Result<Part, RunError> {
        match number {
            0 => Ok(Part::Row),
            1 => Ok(Part::Bucket),
            2 => Ok(Part::Directory),
            _ => Err(self.strange("a part", number)),
        }
    }

    fn strange(&self, what: &'static str, found: impl ToString) -> RunError {
        let (rtl, machine) = (found.to_string(), "another".into());
        RunError::Differs { clock: self.clock, what, rtl, machine }
    }

    /// The RTL has asked the index.
    fn request(&mut self, words: &[u64]) -> Result<(), RunError> {
        let (token, asked) = index::Request::<WORDS>::from_words(words)
            .map_err(|error| self.strange("asked the index", error))?;
        let number = (token & CONTEXT) as u8;
        let expected = if token & TELLS != 0 {
            self.contexts.get_mut(&number).and_then(|context| context.tells.pop_front())
        } else {
            let is_software = number & SOFTWARE != 0;
            self.accepted[usize::from(is_software)].pop_front().map(|request| {
                let (look_up, action) = LookUp::new(self.geometry, request);
                self.contexts.insert(number, Context { look_up, tells: VecDeque::new() });
                let Action::Index(request) = action else {
                    unreachable!("it asks the index first")
                };
                request
            })
        };
        let beat = |request: &index::Request<WORDS>| request.to_words(token);
        self.differs("asked the index", Some(beat(&asked)), expected.as_ref().map(beat))?;
        self.awaited.entry(token).or_default().push_back(self.index.apply(&asked));
        Ok(())
    }

    /// The index has answered the RTL.
    fn index_answer(&mut self, words: &[u64]) -> Result<(), RunError> {
        let (token, answer) = index::Answer::<WORDS>::from_words(words)
            .ok_or_else(|| self.strange("an answer of the index", format!("{words:x?}")))?;
        let expected = self.awaited.get_mut(&token).and_then(VecDeque::pop_front);
        self.differs("an answer of the index", Some(answer), expected)?;
        self.happen((token & CONTEXT) as u8, Event::Index(answer))
    }

    fn happen(&mut self, number: u8, event: Event<WORDS>) -> Result<(), RunError> {
        let Some(context) = self.contexts.get_mut(&number) else {
            return Err(self.strange("an event of a context", number));
        };
        let mut answered = None;
        for action in context.look_up.take(event, &mut self.counters) {
            match action {
                Action::Index(request) => context.tells.push_back(request),
                Action::Answer(answer) => answered = Some(answer),
                // What is read is judged by what comes of it.
                Action::Trip(_) => {}
            }
        }
        if context.look_up.is_over() {
            self.contexts.remove(&number);
        }
        if let Some(answer) = answered {
            let is_software = number & SOFTWARE != 0;
            self.machine.insert((is_software, answer.token), answer);
            self.compare(is_software, answer.token)?;
        }
        Ok(())
    }
}
