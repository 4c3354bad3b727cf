// SPDX-License-Identifier: MIT OR Apache-2.0
//! The look-ups with bus models at their pins.

use crate::link::Host;
use nic::lookup::{Answer, Counters, Geometry, Request, answer_words, request_words};
use nic_lookup::{Inputs, Model, Outputs};
use sim::bus::axi_lite::{AxiLiteManager, LiteOutcome, LiteRequest, LiteStalls};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::axi4::{Axi4Config, Axi4Stalls, Axi4Subordinate, BurstLimits, Delay, ResponseOrder};
use sim::bus::pins::StreamPins;
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{BeatOrder, ErrorInjection, TestMemory, TestMemoryConfig};
use tables::memory::{HostMemory, PlainMemory};
use tables::robin_hood::RobinHood;
use tables::{Table, Walk};

/// Words of a value, as the model is built.
pub const WORDS: usize = 1;
/// Where the host has its table, and the NIC its index.
pub const HOST: u64 = 0x1234_0000;
pub const INDEX: u64 = 0x7_0000_0000;
/// Clocks after which something that stands still is an error.
const TIMEOUT: u64 = 20_000;

pub const CONTROL: u16 = 0x000;
pub const RETURN: u16 = 0x010;
pub const SETTINGS_ERROR: u16 = 0x110;
const COUNTERS: u16 = 0x200;

type RequestWords = [u64; request_words(WORDS)];
type AnswerWords = [u64; answer_words(WORDS)];

sim::axi4_read_port!(host_pins, set_host_pins: m_axi_host of Inputs, Outputs);
sim::axi4_burst_port!(nic_pins, set_nic_pins: m_axi_nic of Inputs, Outputs, with awcache arcache);
sim::axi_lite_port!(registers, set_registers of Inputs, Outputs);

/// How what surrounds the block behaves.
#[derive(Clone, Copy)]
pub struct Surroundings {
    pub seed: u64,
    pub stalls: StallPattern,
    pub host_latency: Delay,
    pub beats: BeatOrder,
}

impl Surroundings {
    pub const fn smooth(host_latency: u32) -> Self {
        let host_latency = Delay { minimum: host_latency, maximum: host_latency };
        let stalls = StallPattern::None;
        Surroundings { seed: 0, stalls, host_latency, beats: BeatOrder::Together }
    }
}

/// What asks: the network or software.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Port {
    Network,
    Software,
}

pub struct Bench {
    pub model: Model,
    lite: AxiLiteManager,
    host: Box<dyn Host>,
    host_port: Axi4Subordinate,
    nic: TestMemory,
    nic_port: Axi4Subordinate,
    sources: [StreamSource<RequestWords>; 2],
    sinks: [StreamSink<AnswerWords>; 2],
    pub cycle: u64,
    pub accepted: [usize; 2],
}

fn port(name: &str, surroundings: &Surroundings, reads: u16) -> Axi4Subordinate {
    Axi4Subordinate::new(Axi4Config {
        stalls: Axi4Stalls::all(surroundings.stalls),
        response_order: ResponseOrder::AsAnswered,
        timeout: TIMEOUT,
        bursts: Some(BurstLimits { id_bits: 8, reads, writes: 16 }),
        ..Axi4Config::bursts(name, surroundings.seed)
    })
}

fn memory(base: u64, lines: usize, latency: Delay, seed: u64) -> TestMemory {
    let errors = ErrorInjection::None;
    TestMemory::new(TestMemoryConfig { base, lines, seed, latency, errors })
}

impl Bench {
    /// A block after a reset, behind a table and an empty index.
    pub fn new(table: &Table<RobinHood, PlainMemory>, surroundings: &Surroundings) -> Self {
        let &Surroundings { seed, host_latency, beats, .. } = surroundings;
        let words = table.geometry().ground().words();
        let mut host = memory(HOST, words / 8, host_latency, seed).with_beat_order(beats);
        for (address, word) in (HOST..).step_by(8).zip(0..words) {
            host.store(address, table.memory().load(word)).expect("it is in memory");
        }
        Self::before(table, surroundings, Box::new(host))
    }

    /// The same before a host memory that has the table.
    pub fn before(
        table: &Table<RobinHood, PlainMemory>,
        surroundings: &Surroundings,
        host: Box<dyn Host>,
    ) -> Self {
        let &Surroundings { seed, stalls, .. } = surroundings;
        let lines = table.geometry().segments() as usize;
        let mut model = Model::powered_up(seed);
        model.reset(4);
        let source = |name| StreamSource::new(name, stalls, seed, TIMEOUT);
        let sink = |name| StreamSink::new(name, stalls, seed, TIMEOUT);
        Bench {
            model,
            lite: AxiLiteManager::new("s_axil", LiteStalls::default(), seed, 1000)
                .with_address_bits(12),
            host,
            host_port: port("m_axi_host", surroundings, 256),
            nic: memory(INDEX, lines, Delay { minimum: 36, maximum: 36 }, seed),
            nic_port: port("m_axi_nic", surroundings, 16),
            sources: [source("s_axis_req"), source("s_axis_sw")],
            sinks: [sink("m_axis_rsp"), sink("m_axis_swrsp")],
            cycle: 0,
            accepted: [0; 2],
        }
    }

    /// An access to the registers, during which nothing else moves at the pins.
    pub fn access(&mut self, request: LiteRequest) -> LiteOutcome {
        self.lite.start(0, request);
        loop {
            let pins = *self.lite.drive(0);
            set_registers(self.model.inputs_mut(), &pins);
            let outcome = self.lite.sample(0, &registers(self.model.outputs())).unwrap();
            self.model.clock();
            if let Some(outcome) = outcome {
                set_registers(self.model.inputs_mut(), &Default::default());
                return outcome;
            }
        }
    }

    pub fn write(&mut self, address: u16, value: u32) {
        self.access(LiteRequest::Write { address, value, strobe: 0xF }).unwrap();
    }

    pub fn read(&mut self, address: u16) -> u32 {
        self.access(LiteRequest::Read { address }).unwrap()
    }

    /// Writes all settings. Offsets are written out here on purpose, as a check of the map.
    pub fn configure(&mut self, geometry: &Geometry<WORDS>) {
        let (table, places, settings) = (geometry.table(), geometry.places(), geometry.settings());
        for (address, base) in [
            (0x020, table.base()),
            (0x070, places.directory),
            (0x080, places.overflow),
            (0x0C0, INDEX),
        ] {
            self.write(address, base as u32);
            self.write(address + 4, (base >> 32) as u32);
        }
        for (address, value) in [
            (0x030, table.slots()),
            (0x040, table.limit().into()),
            (0x050, table.more().into()),
            (0x060, places.log2_segment),
            (0x090, places.overflow_slots),
            (0x0A0, settings.value_bytes.into()),
            (0x0B0, settings.most_readings.into()),
            (0x0D0, table.segments()),
        ] {
            self.write(address, value);
        }
        self.write(CONTROL, 1);
        assert_eq!((self.read(CONTROL), self.read(SETTINGS_ERROR)), (1, 0));
    }

    pub fn counters(&mut self) -> Vec<(&'static str, u64)> {
        let names = Counters::default().by_name();
        let mut offset = COUNTERS;
        let mut counter = |(name, _)| {
            let [low, high] = [0, 4].map(|half| u64::from(self.read(offset + half)));
            offset += 8;
            (name, low | high << 32)
        };
        names.map(&mut counter).to_vec()
    }

    pub fn push(&mut self, port: Port, request: &Request<WORDS>) {
        let words = request.to_words().try_into().expect("as many words as the port has");
        self.sources[port as usize].push(words);
    }

    /// One clock; the answers that came in it.
    pub fn clock(&mut self) -> Result<Vec<(Port, Answer<WORDS>)>, String> {
        let text = |error: sim::bus::error::BusModelError| error.to_string();
        let cycle = self.cycle;
        let outputs = self.model.outputs();
        let readies = [outputs.s_axis_req_tready, outputs.s_axis_sw_tready];
        let (host, nic) = (host_pins(outputs), nic_pins(outputs));
        let offered = [
            StreamPins { tvalid: outputs.m_axis_rsp_tvalid, tdata: outputs.m_axis_rsp_tdata },
            StreamPins { tvalid: outputs.m_axis_swrsp_tvalid, tdata: outputs.m_axis_swrsp_tdata },
        ];
        let inputs = self.model.inputs_mut();
        let beats = self.sources.each_mut().map(|source| *source.drive(cycle));
        (inputs.s_axis_req_tvalid, inputs.s_axis_req_tdata) = (beats[0].tvalid, beats[0].tdata);
        (inputs.s_axis_sw_tvalid, inputs.s_axis_sw_tdata) = (beats[1].tvalid, beats[1].tdata);
        let takes = self.sinks.each_mut().map(|sink| sink.drive(cycle));
        [inputs.m_axis_rsp_tready, inputs.m_axis_swrsp_tready] = takes;
        set_host_pins(inputs, self.host_port.drive(cycle));
        set_nic_pins(inputs, self.nic_port.drive(cycle));
        for (n, source) in self.sources.iter_mut().enumerate() {
            self.accepted[n] += usize::from(source.sample(cycle, readies[n]).map_err(text)?);
        }
        let mut answers = Vec::new();
        for (n, port) in [Port::Network, Port::Software].into_iter().enumerate() {
            let words = self.sinks[n].sample(cycle, &offered[n]).map_err(text)?;
            answers.extend(words.map(|words| (port, Answer::from_words(&words))));
        }
        self.host_port.sample(cycle, &host).map_err(text)?;
        self.host.step(cycle, &mut self.host_port);
        self.nic_port.sample(cycle, &nic).map_err(text)?;
        self.nic.step(cycle, &mut self.nic_port);
        self.model.try_clock().map_err(|error| error.to_string())?;
        self.cycle += 1;
        Ok(answers)
    }

    /// Runs until so many requests are answered and nothing is under way.
    pub fn run(&mut self, count: usize) -> Result<Vec<(Port, Answer<WORDS>)>, String> {
        let mut answers = Vec::new();
        let mut since = self.cycle;
        while answers.len() < count || !self.model.outputs().idle_o {
            let before = answers.len();
            answers.extend(self.clock()?);
            if answers.len() > before {
                since = self.cycle;
            } else if self.cycle - since > TIMEOUT {
                return Err(format!("{before} requests are answered, expected {count}"));
            }
        }
        Ok(answers)
    }
}
