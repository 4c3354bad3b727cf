// SPDX-License-Identifier: MIT OR Apache-2.0
//! A model with bus models at its pins, a host that changes its table, and the machines beside it.

use nic::lookup::Status;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::bus::axi_lite::{AxiLiteManager, LiteOutcome, LiteRequest, LiteStalls};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::axi4::{Axi4Config, Axi4Stalls, Axi4Subordinate, Delay, ResponseOrder};
use sim::bus::error::BusModelError;
use sim::bus::pins::{Axi4SubordinatePins, AxiLiteManagerPins, StreamPins};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{BeatOrder, ErrorInjection, TestMemory, TestMemoryConfig};
use tables::memory::{HostMemory, RemoteMemory};

use crate::dut::{AnswerWords, Dut, PORTS, RequestWords, Subject};
use crate::host::Host;
use crate::registers::{
    self, CONTROL, Configuration, ENABLE, FLUSH, FLUSH_FAILED, FLUSHED, FLUSHES, RETURN,
    SETTINGS_ERROR,
};
use crate::shadow::Oracle;

/// Clocks after which something that stands still is an error.
const TIMEOUT: u64 = 20_000;
/// The same of requests, which wait for look-ups of many trips.
const REQUEST_TIMEOUT: u64 = 100_000;
/// Clocks after a reset in which nothing may come out, more than the block needs to clear itself.
const QUIET: u64 = 400;

/// How a memory behaves.
#[derive(Clone, Copy, Debug)]
pub struct Behaviour {
    pub stalls: StallPattern,
    pub latency: Delay,
    pub order: ResponseOrder,
    pub beats: BeatOrder,
    /// Share of beats that fail.
    pub errors: f64,
}

/// How what surrounds the block behaves.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    pub seed: u64,
    /// By port.
    pub requests: [StallPattern; PORTS],
    pub answers: [StallPattern; PORTS],
    pub host: Behaviour,
    pub nic: Behaviour,
    /// Share of clocks in which a store of the host becomes visible, and of those without one to show in which
    /// it begins another operation.
    pub stores: f64,
    pub changes: f64,
    /// In place of operations, words are written that may be no writer's.
    pub spoils: bool,
}

impl Surroundings {
    /// Never holds anything up; the host changes nothing.
    pub fn smooth(seed: u64) -> Self {
        let memory = Behaviour {
            stalls: StallPattern::None,
            latency: Delay { minimum: 10, maximum: 10 },
            order: ResponseOrder::AsAnswered,
            beats: BeatOrder::Together,
            errors: 0.0,
        };
        let ports = [StallPattern::None; PORTS];
        Surroundings {
            seed,
            requests: ports,
            answers: ports,
            host: memory,
            nic: memory,
            stores: 0.0,
            changes: 0.0,
            spoils: false,
        }
    }
}

/// A memory with its port.
struct Side {
    port: Axi4Subordinate,
    memory: TestMemory,
    may_fail: bool,
}

impl Side {
    fn new(name: &str, seed: u64, base: u64, lines: usize, behaviour: &Behaviour) -> Self {
        let &Behaviour { stalls, latency, order, beats, errors } = behaviour;
        let port = Axi4Subordinate::new(Axi4Config {
            stalls: Axi4Stalls::all(stalls),
            response_order: order,
            timeout: TIMEOUT,
            ..Axi4Config::bursts(name, seed)
        });
        let may_fail = errors > 0.0;
        let errors = if may_fail { ErrorInjection::Rate(errors) } else { ErrorInjection::None };
        let config = TestMemoryConfig { base, lines, seed, latency, errors };
        Side { port, memory: TestMemory::new(config).with_beat_order(beats), may_fail }
    }

    fn store(&mut self, address: u64, value: u64) {
        self.memory.store(address, value).expect("inside the memory");
    }
}

pub struct Bench {
    subject: Subject,
    dut: Box<dyn Dut>,
    pub oracle: Box<dyn Oracle>,
    pub table: Host,
    host: Side,
    nic: Side,
    sources: [StreamSource<RequestWords>; PORTS],
    sinks: [StreamSink<AnswerWords>; PORTS],
    software: AxiLiteManager,
    /// What software's access has ended with, in the last clock.
    outcome: Option<LiteOutcome>,
    surroundings: Surroundings,
    random: ChaCha8Rng,
    index_base: u64,
    segments: u32,
    pub cycle: u64,
    /// The last clock in which something was accepted or answered.
    moved: u64,
    /// Requests that the block has taken.
    pub taken: u64,
}

/// The host's memory, with what is visible of the table.
fn host_side(table: &Host, surroundings: &Surroundings) -> Side {
    let memory = table.table.memory();
    let lines = memory.words() / 8;
    let mut side =
        Side::new("m_axi_host", surroundings.seed, table.base, lines, &surroundings.host);
    for line in 0..lines {
        for (word, value) in (0..).zip(memory.read_line(line)) {
            side.store(table.base + 64 * line as u64 + 8 * word, value);
        }
    }
    side
}

/// NIC memory, with an index that knows nothing.
fn nic_side(subject: &Subject, configuration: &Configuration, surroundings: &Surroundings) -> Side {
    let &Configuration { index_base, segments, .. } = configuration;
    let lines = subject.index_bytes(segments) / 64;
    Side::new("m_axi_nic", surroundings.seed, index_base, lines, &surroundings.nic)
}

fn sources(surroundings: &Surroundings) -> [StreamSource<RequestWords>; PORTS] {
    let &Surroundings { seed, requests, .. } = surroundings;
    std::array::from_fn(|port| {
        let name = ["s_axis_req", "s_axis_sw"][port];
        StreamSource::new(name, requests[port], seed, REQUEST_TIMEOUT)
    })
}

fn sinks(surroundings: &Surroundings) -> [StreamSink<AnswerWords>; PORTS] {
    let &Surroundings { seed, answers, .. } = surroundings;
    std::array::from_fn(|port| {
        let name = ["m_axis_rsp", "m_axis_swrsp"][port];
        StreamSink::new(name, answers[port], seed, TIMEOUT)
    })
}

fn software(surroundings: &Surroundings) -> AxiLiteManager {
    let stalls = LiteStalls::all(StallPattern::Random { probability: 0.3 });
    AxiLiteManager::new("s_axil", stalls, surroundings.seed, 1000).with_address_bits(12)
}

fn text(error: BusModelError) -> String {
    error.to_string()
}

impl Bench {
    pub fn new(
        subject: Subject,
        mutant: u8,
        power_up: u64,
        table: Host,
        configuration: &Configuration,
        surroundings: &Surroundings,
    ) -> Self {
        let mut dut = (subject.make)(power_up, mutant);
        let host = host_side(&table, surroundings);
        let &Configuration { index_base, segments, .. } = configuration;
        let nic = nic_side(&subject, configuration, surroundings);
        let oracle = (subject.oracle)(configuration);
        dut.reset();
        Bench {
            subject,
            dut,
            oracle,
            table,
            host,
            nic,
            sources: sources(surroundings),
            sinks: sinks(surroundings),
            software: software(surroundings),
            outcome: None,
            surroundings: *surroundings,
            random: ChaCha8Rng::seed_from_u64(surroundings.seed),
            index_base,
            segments,
            cycle: 0,
            moved: 0,
            taken: 0,
        }
    }

    /// Sets everything, and switches the block on.
    pub fn configure(&mut self, configuration: &Configuration) -> Result<(), String> {
        for (address, value) in configuration.writes() {
            self.write(address, value)?;
        }
        self.write(CONTROL, ENABLE)?;
        match (self.read(CONTROL)?, self.read(SETTINGS_ERROR)?) {
            (ENABLE, 0) => Ok(()),
            other => Err(format!("control and error are {other:?} with {configuration:?}")),
        }
    }

    /// Resets the block and what is at its pins, whatever is under way; clears the index, and sets everything
    /// again. Says how many requests were open, whose answers never come.
    pub fn reset(&mut self, configuration: &Configuration) -> Result<usize, String> {
        let lost = self.open();
        self.surroundings.seed += 1;
        self.host = host_side(&self.table, &self.surroundings);
        self.nic = nic_side(&self.subject, configuration, &self.surroundings);
        self.oracle = (self.subject.oracle)(configuration);
        self.sources = sources(&self.surroundings);
        self.sinks = sinks(&self.surroundings);
        (self.software, self.outcome) = (software(&self.surroundings), None);
        for port in 0..PORTS {
            self.dut.drive_request(port, &StreamPins::default());
            self.dut.drive_ready(port, false);
        }
        self.dut.drive_host(&Axi4SubordinatePins::default());
        self.dut.drive_nic(&Axi4SubordinatePins::default());
        self.dut.drive_registers(&AxiLiteManagerPins::default());
        self.dut.reset();
        self.moved = self.cycle;
        self.stay_quiet()?;
        self.configure(configuration)?;
        Ok(lost)
    }

    /// After a reset nothing comes out of the block, and its registers have forgotten all.
    fn stay_quiet(&mut self) -> Result<(), String> {
        for clock in 0..QUIET {
            let busy = [self.dut.host(), self.dut.nic()]
                .map(|pins| pins.arvalid || pins.awvalid || pins.wvalid);
            let answers = std::array::from_fn(|port| self.dut.answer(port).tvalid);
            if busy != [false; 2] || answers != [false; PORTS] || !self.dut.is_idle() {
                return Err(format!(
                    "{clock} clocks after a reset: memories {busy:?}, answers {answers:?}, idle {}",
                    self.dut.is_idle()
                ));
            }
            self.clock()?;
        }
        match (self.read(CONTROL)?, self.read(SETTINGS_ERROR)?, self.read(FLUSH)?) {
            (0, 0, 0) => self.compare_counters(),
            other => Err(format!("control, error and flush are {other:?} after a reset")),
        }
    }

    /// Gives NIC memory the entries that the machine has.
    pub fn load(&mut self) {
        for segment in 0..self.segments {
            let address = self.index_base + u64::from(segment) * self.subject.stride();
            for (word, value) in (0..).zip(self.oracle.entry(segment)) {
                self.nic.store(address + 8 * word, value);
            }
        }
    }

    pub fn push(&mut self, port: usize, request: RequestWords) {
        self.sources[port].push(request);
    }

    /// Requests that were pushed and are not over.
    pub fn open(&self) -> usize {
        let waiting: usize = self.sources.iter().map(StreamSource::backlog).sum();
        waiting + self.oracle.under_way()
    }

    /// One clock; what was answered in it, by port.
    pub fn clock(&mut self) -> Result<[Option<Status>; PORTS], String> {
        let cycle = self.cycle;
        self.change_host();
        let trace = self.dut.trace();
        let may_fail = [self.host.may_fail, self.nic.may_fail];
        self.oracle
            .follow(&trace, &self.table, may_fail)
            .map_err(|error| format!("cycle {cycle}: {error}"))?;
        let mut answered = [None; PORTS];
        for (port, answered) in answered.iter_mut().enumerate() {
            let request = *self.sources[port].drive(cycle);
            self.dut.drive_request(port, &request);
            let ready = self.sinks[port].drive(cycle);
            self.dut.drive_ready(port, ready);
            let (ready, pins) = (self.dut.ready(port), self.dut.answer(port));
            if self.sources[port].sample(cycle, ready).map_err(text)? {
                self.oracle.accept(port, &request.tdata, self.table.shown);
                self.taken += 1;
                self.moved = cycle;
            }
            if let Some(words) = self.sinks[port].sample(cycle, &pins).map_err(text)? {
                let status = self.oracle.answered(port, &words);
                *answered = Some(status.map_err(|error| format!("cycle {cycle}: {error}"))?);
                self.moved = cycle;
            }
        }
        let pins = [self.dut.host(), self.dut.nic()];
        self.dut.drive_host(self.host.port.drive(cycle));
        self.dut.drive_nic(self.nic.port.drive(cycle));
        for (side, pins) in [&mut self.host, &mut self.nic].into_iter().zip(&pins) {
            side.port.sample(cycle, pins).map_err(text)?;
            side.memory.step(cycle, &mut side.port);
        }
        let registers = self.dut.registers();
        self.dut.drive_registers(self.software.drive(cycle));
        self.outcome = self.software.sample(cycle, &registers).map_err(text)?;
        self.dut.clock()?;
        self.cycle += 1;
        if self.open() > 0 && cycle - self.moved > REQUEST_TIMEOUT {
            return Err(format!("{} requests stand still", self.open()));
        }
        Ok(answered)
    }

    /// The host makes a store visible, or begins another operation.
    fn change_host(&mut self) {
        let Surroundings { stores, changes, spoils, .. } = self.surroundings;
        if !self.random.random_bool(stores) {
            return;
        }
        match self.table.show() {
            Some(store) => self.host.store(self.table.base + 8 * store.word as u64, store.value),
            None if !self.random.random_bool(changes) => {}
            None if spoils => self.table.spoil(&mut self.random),
            None => self.table.change(&mut self.random),
        }
    }

    /// Software begins to switch the block on or off, while all goes on.
    pub fn begin_switch(&mut self, on: bool) {
        let value = if on { ENABLE } else { 0 };
        self.software
            .start(self.cycle, LiteRequest::Write { address: CONTROL, value, strobe: 0xF });
    }

    /// Whether what software began has ended in the last clock.
    pub fn has_switched(&mut self) -> Result<bool, String> {
        match self.outcome.take() {
            Some(Err(error)) => Err(format!("the block is switched: {error:?}")),
            outcome => Ok(outcome.is_some()),
        }
    }

    /// An access of software, while all goes on.
    pub fn access(&mut self, request: LiteRequest) -> Result<LiteOutcome, String> {
        self.software.start(self.cycle, request);
        loop {
            self.clock()?;
            if let Some(outcome) = self.outcome {
                return Ok(outcome);
            }
        }
    }

    /// One that must be taken.
    fn must_access(&mut self, request: LiteRequest) -> Result<u32, String> {
        self.access(request)?.map_err(|error| format!("{request:x?}: {error:?}"))
    }

    pub fn read(&mut self, address: u16) -> Result<u32, String> {
        self.must_access(LiteRequest::Read { address })
    }

    pub fn write(&mut self, address: u16, value: u32) -> Result<(), String> {
        self.must_access(LiteRequest::Write { address, value, strobe: 0xF }).map(drop)
    }

    /// Runs until all that was pushed is over; then compares the counters, and the index after a flush.
    pub fn finish(&mut self) -> Result<(), String> {
        while self.open() > 0 {
            self.clock()?;
        }
        self.write(CONTROL, 0)?;
        for _ in 0..TIMEOUT {
            if self.dut.is_idle() {
                return self.compare();
            }
            self.clock()?;
        }
        Err("never idle".into())
    }

    fn compare(&mut self) -> Result<(), String> {
        self.compare_counters()?;
        self.flush()
    }

    /// When nothing is under way, the counters are the machine's.
    fn compare_counters(&mut self) -> Result<(), String> {
        let mut found = Vec::new();
        for [low, high] in registers::counter_halves() {
            let (low, high) = (self.read(low)?, self.read(high)?);
            found.push(u64::from(low) | u64::from(high) << 32);
        }
        registers::compare(&found, &self.oracle.counters())?;
        match self.read(RETURN)? {
            0 => Ok(()),
            open => Err(format!("RETURN is {open}, and nothing is under way")),
        }
    }

    /// Has all entries written back, again while that fails, and compares them with the machine's.
    fn flush(&mut self) -> Result<(), String> {
        for _ in 0..60 {
            self.write(CONTROL, FLUSHES)?;
            let since = self.cycle;
            let mut state = 0;
            while state & FLUSHED == 0 {
                state = self.read(FLUSH)?;
                if self.cycle - since > TIMEOUT {
                    return Err("a flush has no end".into());
                }
            }
            self.write(CONTROL, 0)?;
            if state & FLUSH_FAILED == 0 {
                return (0..self.segments).try_for_each(|segment| self.compare_entry(segment));
            }
            if !self.nic.may_fail {
                return Err("a flush has failed without a cause".into());
            }
        }
        Err("no flush is whole".into())
    }

    fn compare_entry(&self, segment: u32) -> Result<(), String> {
        let address = self.index_base + u64::from(segment) * self.subject.stride();
        let lines = (0..self.subject.stride()).step_by(64);
        let line = |line| self.nic.memory.line(address + line).expect("it is in memory");
        let words: Vec<u64> = lines.flat_map(line).collect();
        match self.oracle.has(segment, &words) {
            true => Ok(()),
            false => {
                let expected = self.oracle.entry(segment);
                Err(format!("segment {segment} is {words:x?}, expected {expected:x?}"))
            }
        }
    }
}
