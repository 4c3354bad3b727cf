// SPDX-License-Identifier: MIT OR Apache-2.0
//! A block with bus models at its pins, beside the machine.

use std::collections::{BTreeMap, VecDeque};

use nic::index::{Status, Table, entry_words};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::axi4::{Axi4Config, Axi4Stalls, Axi4Subordinate, BurstLimits, Delay, ResponseOrder};
use sim::bus::pins::{Axi4ManagerPins, Axi4SubordinatePins, StreamPins};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{BeatOrder, ErrorInjection, TestMemory, TestMemoryConfig};

use crate::dut::{AnswerWords, Dut, Oracle, RequestWords, Subject};
use crate::watch::Watch;

/// Clocks after which something that stands still is an error.
const TIMEOUT: u64 = 60_000;
/// Segments that the random tests ask for; the second half is never asked for, but in
/// [`Bench::displace`].
pub const SEGMENTS: u32 = 64;

/// How what surrounds the block behaves.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub seed: u64,
    /// Where the index lies in NIC memory.
    pub base: u64,
    pub memory: StallPattern,
    pub requests: StallPattern,
    pub answers: StallPattern,
    pub latency: Delay,
    pub order: ResponseOrder,
    pub beats: BeatOrder,
    /// Share of beats that fail.
    pub errors: f64,
}

impl Surroundings {
    /// Never holds anything up; memory takes 38 clocks of 4 ns.
    pub fn smooth() -> Self {
        Surroundings {
            seed: 0,
            base: 0x7_FFFF_F000,
            memory: StallPattern::None,
            requests: StallPattern::None,
            answers: StallPattern::None,
            latency: Delay { minimum: 36, maximum: 36 },
            order: ResponseOrder::AsAnswered,
            beats: BeatOrder::Together,
            errors: 0.0,
        }
    }
}

/// An answer, with the clocks of acceptance and answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answered {
    pub accepted: u64,
    pub cycle: u64,
    pub words: AnswerWords,
}

fn memory(subject: &Subject, table: &Table, surroundings: &Surroundings) -> TestMemory {
    let &Surroundings { seed, base, latency, errors, beats, .. } = surroundings;
    let errors = if errors > 0.0 { ErrorInjection::Rate(errors) } else { ErrorInjection::None };
    let lines = (u64::from(table.segments()) * subject.stride() / 64) as usize;
    TestMemory::new(TestMemoryConfig { base, lines, seed, latency, errors }).with_beat_order(beats)
}

fn port(surroundings: &Surroundings) -> Axi4Subordinate {
    Axi4Subordinate::new(Axi4Config {
        stalls: Axi4Stalls::all(surroundings.memory),
        response_order: surroundings.order,
        timeout: TIMEOUT,
        bursts: Some(BurstLimits { id_bits: 8, reads: 16, writes: 16 }),
        ..Axi4Config::bursts("m_axi", surroundings.seed)
    })
}

pub struct Bench {
    pub subject: Subject,
    dut: Box<dyn Dut>,
    table: Table,
    surroundings: Surroundings,
    pub oracle: Box<dyn Oracle>,
    pub memory: TestMemory,
    port: Axi4Subordinate,
    source: StreamSource<RequestWords>,
    sink: StreamSink<AnswerWords>,
    pub cycle: u64,
    /// By token: what was accepted and not answered, and when.
    asked: BTreeMap<u16, (RequestWords, u64)>,
    /// By segment: tokens in the order of acceptance.
    order: BTreeMap<u32, VecDeque<u16>>,
    /// The level of the pin.
    pub wants_flush: bool,
    pub watch: Watch,
    /// By segment: the entry since the last flush, if that is kept.
    states: Option<BTreeMap<u32, Vec<Vec<u64>>>>,
}

impl Bench {
    pub fn new(
        subject: Subject,
        mutant: u8,
        power_up: u64,
        table: Table,
        surroundings: &Surroundings,
    ) -> Self {
        let mut dut = (subject.make)(power_up, mutant);
        dut.configure(&table, surroundings.base);
        let mut bench = Bench {
            subject,
            dut,
            table,
            surroundings: surroundings.clone(),
            oracle: (subject.oracle)(table),
            memory: memory(&subject, &table, surroundings),
            port: port(surroundings),
            source: StreamSource::new(
                "s_axis_req",
                surroundings.requests,
                surroundings.seed,
                TIMEOUT,
            ),
            sink: StreamSink::new("m_axis_rsp", surroundings.answers, surroundings.seed, TIMEOUT),
            cycle: 0,
            asked: BTreeMap::new(),
            order: BTreeMap::new(),
            wants_flush: false,
            watch: Watch::default(),
            states: None,
        };
        bench.dut.reset();
        bench
    }

    /// Keeps the states of all entries from here on, as [`Bench::reset`] compares with them.
    pub fn keep_states(&mut self) {
        let segments = (0..SEGMENTS).map(|n| self.subject.segment(n));
        let now = segments.map(|segment| (segment, vec![self.oracle.entry(segment)]));
        self.states = Some(now.collect());
    }

    fn apply(&mut self, request: &RequestWords) -> AnswerWords {
        let answer = self.oracle.apply(request);
        let segment = request[1] as u32;
        let states = self.states.as_mut().and_then(|states| states.get_mut(&segment));
        if let Some(states) = states {
            states.push(self.oracle.entry(segment));
        }
        answer
    }

    /// Resets the block and what is at its pins, whatever is under way. Memory keeps what was written, and the
    /// machine takes it from there. Says how many requests were open, whose answers never come.
    pub fn reset(&mut self) -> Result<usize, String> {
        let lost = self.open();
        // What was accepted may have been carried out, and written.
        let accepted: Vec<u16> = self.order.values().flatten().copied().collect();
        for token in accepted {
            let (request, _) = self.asked[&token];
            self.apply(&request);
        }
        (self.asked, self.order) = Default::default();
        self.surroundings.seed += 1;
        let old = std::mem::replace(
            &mut self.memory,
            memory(&self.subject, &self.table, &self.surroundings),
        );
        self.oracle = (self.subject.oracle)(self.table);
        for n in 0..SEGMENTS {
            let segment = self.subject.segment(n);
            let words = self.words(&old, segment);
            let entry = self.oracle.normal(&words);
            let states = self.states.as_ref().and_then(|states| states.get(&segment));
            if states.is_some_and(|states| !states.contains(&entry)) {
                return Err(format!(
                    "after a reset segment {segment} is {entry:x?}, and never was"
                ));
            }
            self.oracle.restore(segment, &words);
            self.load(segment);
        }
        self.states.is_some().then(|| self.keep_states());
        self.reset_pins()?;
        Ok(lost)
    }

    fn reset_pins(&mut self) -> Result<(), String> {
        let Surroundings { seed, requests, answers, .. } = self.surroundings;
        self.port = port(&self.surroundings);
        self.source = StreamSource::new("s_axis_req", requests, seed, TIMEOUT);
        self.sink = StreamSink::new("m_axis_rsp", answers, seed, TIMEOUT);
        (self.wants_flush, self.watch) = (false, Watch::default());
        self.dut.drive_request(&StreamPins::default());
        self.dut.drive_ready(false);
        self.dut.drive_memory(&Axi4SubordinatePins::default());
        self.dut.drive_flush(false);
        self.dut.reset();
        let Axi4ManagerPins { awvalid, wvalid, arvalid, .. } = self.dut.memory();
        if awvalid || wvalid || arvalid || self.dut.answer().tvalid || !self.dut.is_idle() {
            return Err("something is under way after a reset".into());
        }
        Ok(())
    }

    fn address(&self, segment: u32) -> u64 {
        self.surroundings.base + u64::from(segment) * self.subject.stride()
    }

    /// Memory's words of an entry.
    fn words(&self, memory: &TestMemory, segment: u32) -> Vec<u64> {
        let address = self.address(segment);
        (0..self.subject.lines() as u64)
            .flat_map(|line| memory.line(address + 64 * line).expect("it is in memory"))
            .collect()
    }

    /// Gives memory the entry that the machine has.
    pub fn load(&mut self, segment: u32) {
        let address = self.address(segment);
        for (word, value) in (0..).zip(self.oracle.entry(segment)) {
            self.memory.store(address + 8 * word, value).expect("the index is in memory");
        }
    }

    pub fn push(&mut self, request: RequestWords) {
        self.source.push(request);
    }

    /// Requests that were pushed and are not yet answered.
    pub fn open(&self) -> usize {
        self.source.backlog() + self.asked.len()
    }

    /// One clock; what was answered in it, if anything.
    pub fn clock(&mut self) -> Result<Option<Answered>, String> {
        let cycle = self.cycle;
        let request = *self.source.drive(cycle);
        self.dut.drive_request(&request);
        let ready = self.sink.drive(cycle);
        self.dut.drive_ready(ready);
        let memory = *self.port.drive(cycle);
        self.dut.drive_memory(&memory);
        self.dut.drive_flush(self.wants_flush);
        let text = |error: sim::bus::error::BusModelError| error.to_string();
        let accepted = self.source.sample(cycle, self.dut.ready()).map_err(text)?;
        let answer = self.sink.sample(cycle, &self.dut.answer()).map_err(text)?;
        let block = self.dut.memory();
        self.port.sample(cycle, &block).map_err(text)?;
        self.watch.count(accepted, self.dut.events(), &block, &memory);
        let ended = self.watch.flush(self.wants_flush, accepted, self.dut.flushed())?;
        self.memory.step(cycle, &mut self.port);
        self.dut.clock()?;
        self.cycle += 1;
        if accepted {
            self.accept(request.tdata);
        }
        if let Some(&(_, oldest)) = self.asked.values().min_by_key(|asked| asked.1)
            && cycle - oldest > 2 * TIMEOUT
        {
            return Err(format!("a request is not answered for {} clocks", 2 * TIMEOUT));
        }
        if ended == Some(false) {
            self.check_flushed()?;
        }
        answer.map(|words| self.judge(words)).transpose()
    }

    /// A flush came to its end, and no write had an error.
    fn check_flushed(&mut self) -> Result<(), String> {
        if !self.asked.is_empty() {
            return Err(format!("flushed with {} requests under way", self.asked.len()));
        }
        if let Some(what) = self.different() {
            return Err(format!("flushed, and {what}"));
        }
        self.states.is_some().then(|| self.keep_states());
        Ok(())
    }

    /// The block is at the end of a flush: whether a write failed.
    pub fn flushed(&self) -> Option<bool> {
        self.dut.flushed()
    }

    /// Flushes when nothing is open, until no write fails; says how many clocks the last flush took.
    pub fn flush(&mut self) -> Result<u64, String> {
        for _ in 0..60 {
            let first = self.cycle;
            self.wants_flush = true;
            while self.flushed().is_none() {
                self.clock()?;
                if self.cycle - first > 20 * TIMEOUT {
                    return Err(format!("not flushed for {} clocks", 20 * TIMEOUT));
                }
            }
            let (failed, clocks) = (self.flushed(), self.cycle - first);
            self.wants_flush = false;
            while self.flushed().is_some() {
                self.clock()?;
            }
            if failed == Some(false) {
                return Ok(clocks);
            }
        }
        Err("each flush fails".into())
    }

    fn accept(&mut self, words: RequestWords) {
        let token = (words[3] >> 16) as u16;
        let replaced = self.asked.insert(token, (words, self.cycle - 1));
        assert!(replaced.is_none(), "tokens are given once");
        self.order.entry(words[1] as u32).or_default().push_back(token);
    }

    /// Compares with the machine, which has met the requests of the entry that came before.
    fn judge(&mut self, words: AnswerWords) -> Result<Answered, String> {
        let token = (words[2] >> 16) as u16;
        let Some((request, accepted)) = self.asked.remove(&token) else {
            return Err(format!("token {token} is answered and not open"));
        };
        let segment = request[1] as u32;
        let order = self.order.get_mut(&segment).expect("the request was accepted");
        let answered = Answered { accepted, cycle: self.cycle - 1, words };
        let status = words[2] & 0xF;
        if status == Status::OutOfRange as u64 {
            order.retain(|&other| other != token);
        } else if order.pop_front() != Some(token) {
            return Err(format!("token {token} overtook another of segment {segment}"));
        }
        if status == Status::BusError as u64 {
            let expected = u64::from(token) << 16 | status;
            let nothing = words
                .iter()
                .enumerate()
                .all(|(n, &word)| word == if n == 2 { expected } else { 0 });
            let is_possible = self.surroundings.errors > 0.0 && nothing;
            return if is_possible {
                Ok(answered)
            } else {
                Err(format!("a bus error: {words:x?}"))
            };
        }
        let expected = self.apply(&request);
        if words != expected {
            return Err(format!(
                "cycle {}: request {request:x?} is answered {words:x?}, expected {expected:x?}",
                self.cycle - 1
            ));
        }
        Ok(answered)
    }

    /// Runs until all that was pushed is answered.
    pub fn finish(&mut self) -> Result<Vec<Answered>, String> {
        let mut answers = Vec::new();
        while self.open() > 0 {
            answers.extend(self.clock()?);
        }
        for _ in 0..TIMEOUT {
            if self.dut.is_idle() {
                return Ok(answers);
            }
            self.clock()?;
        }
        Err("never idle".into())
    }

    /// Asks for other segments until each entry in memory is the machine's, as the block holds back what
    /// failed to be written.
    pub fn displace(&mut self, token: &mut u16) -> Result<(), String> {
        for _ in 0..60 {
            for set in 0..2 {
                for n in 0..=self.subject.ways {
                    let segment = self.subject.segment(SEGMENTS / 2 + set + 2 * n);
                    let mut request = RequestWords::default();
                    request[1] = u64::from(segment);
                    request[3] = u64::from(*token) << 16;
                    *token = token.wrapping_add(1);
                    self.push(request);
                    self.finish()?;
                }
            }
            if self.different().is_none() {
                return Ok(());
            }
        }
        Err(self.different().expect("they were different"))
    }

    fn different(&self) -> Option<String> {
        (0..SEGMENTS).map(|n| self.subject.segment(n)).find_map(|segment| {
            let words = self.words(&self.memory, segment);
            let expected = self.oracle.entry(segment);
            // The words behind the objects are written as 0.
            let used = entry_words(self.subject.objects, self.subject.value_words);
            let is_padded = words[used..].iter().all(|word| *word == 0);
            (self.oracle.normal(&words) != expected || !is_padded)
                .then(|| format!("segment {segment} is {words:x?}, expected {expected:x?}"))
        })
    }
}
