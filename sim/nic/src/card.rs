// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RTL with all that is at its pins: requests and answers, the card's memory, the link to the host, registers.

use std::collections::BTreeMap;

use driver::Registers;
use driver::map::nic_lookup as map;
use nic::index::{Operation, Status as IndexStatus, entry_stride};
use nic::lookup::{Answer, Counters, Geometry, Request, Status, answer_words, request_words};
use nic_lookup::{Inputs, Model, Outputs};
use sim::bus::axi_lite::{AxiLiteManager, AxiLiteRegisters, LiteStalls};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::axi4::{Axi4Config, Axi4Subordinate, BurstLimits, Delay, ReadBeat};
use sim::bus::pins::{AxiLiteManagerPins, AxiLiteSubordinatePins, StreamPins};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{ErrorInjection, TestMemory, TestMemoryConfig};
use sim::host_link::HostLink;

use crate::error::RunError;
use crate::job::{Job, OBJECTS, WORDS, entry_words, index_requests};
use crate::report::{Vectors, counters};
use crate::served::Served;
use crate::shadow::Shadow;

/// Clocks after which a bus, or a request, that stands still is an error.
pub const TIMEOUT: u64 = 200_000;
/// Where the index lies in the card's memory.
const INDEX_BASE: u64 = 1 << 20;
/// Clocks that the models of bus and memory add to the latency of the card's memory.
const BUS_CLOCKS: u32 = 2;
/// Clocks of a reset.
const RESET: u32 = 4;

sim::axi4_read_port!(host_pins, set_host_pins: m_axi_host of Inputs, Outputs);
sim::axi4_burst_port!(nic_pins, set_nic_pins: m_axi_nic of Inputs, Outputs, with awcache arcache);
sim::axi_lite_port!(register_pins, set_register_pins of Inputs, Outputs);

type RequestBeat = [u64; request_words(WORDS)];
type AnswerBeat = [u64; answer_words(WORDS)];

/// A port for requests, with their answers.
struct Port {
    name: &'static str,
    source: StreamSource<RequestBeat>,
    sink: StreamSink<AnswerBeat>,
    /// The request at the pins that is not yet accepted.
    offered: Option<Request<WORDS>>,
    /// By token: the request, and when it was accepted.
    open: BTreeMap<u16, (Request<WORDS>, u64)>,
    next_token: u16,
}

impl Port {
    fn new(name: &'static str, [source, sink]: [&'static str; 2]) -> Self {
        Port {
            name,
            source: StreamSource::new(source, StallPattern::None, 0, TIMEOUT),
            sink: StreamSink::new(sink, StallPattern::None, 0, TIMEOUT),
            offered: None,
            open: BTreeMap::new(),
            next_token: 0,
        }
    }

    fn offer(&mut self, operation: Operation, key: u64) -> u16 {
        let token = self.next_token;
        self.next_token = token.wrapping_add(1);
        let request = Request::new(operation, key, token);
        let mut beat = RequestBeat::default();
        beat.copy_from_slice(&request.to_words());
        self.source.push(beat);
        self.offered = Some(request);
        token
    }

    fn under_way(&self) -> usize {
        self.open.len() + usize::from(self.offered.is_some())
    }
}

/// What was answered in a clock.
#[derive(Default)]
pub struct Ended {
    /// A look-up.
    pub served: Option<Served>,
    /// The eviction with this token.
    pub evicted: Option<u16>,
}

/// The RTL with its surroundings.
pub struct Card {
    model: Model,
    host: Axi4Subordinate,
    link: HostLink,
    nic: Axi4Subordinate,
    memory: TestMemory,
    network: Port,
    software: Port,
    shadow: Shadow,
    in_flight: usize,
    clock: u64,
    last_answer: u64,
}

impl Card {
    /// The RTL after its reset, switched on; its index knows these hints, segment by segment, if any.
    ///
    /// # Errors
    /// When it does not do as it should.
    pub fn new(
        job: &Job,
        geometry: Geometry<WORDS>,
        hints: &[tables::Hint],
    ) -> Result<Self, RunError> {
        let settings = job.settings;
        let stride = entry_stride(OBJECTS, WORDS);
        let segments = geometry.table().segments();
        let latency = settings.card.nic_memory_clocks - BUS_CLOCKS;
        let mut memory = TestMemory::new(TestMemoryConfig {
            base: INDEX_BASE,
            lines: (u64::from(segments) * stride / 64) as usize,
            seed: settings.seed,
            latency: Delay { minimum: latency, maximum: latency },
            errors: ErrorInjection::None,
        });
        for (segment, hint) in (0_u64..).zip(hints) {
            let address = INDEX_BASE + segment * stride;
            for (word, value) in (0..).zip(entry_words(geometry.table(), *hint)) {
                memory.store(address + 8 * word, value).expect("the entry lies in the memory");
            }
        }
        let no_dma = || RunError::NoDma { platform: job.platform.name.clone() };
        let link = HostLink::new(&job.platform, settings.card.clock(), settings.seed);
        let of_nic = Axi4Config {
            timeout: TIMEOUT,
            bursts: Some(BurstLimits { id_bits: 8, reads: 16, writes: 16 }),
            ..Axi4Config::bursts("m_axi_nic", settings.seed)
        };
        let of_host =
            Axi4Config { timeout: TIMEOUT, ..Axi4Config::bursts("m_axi_host", settings.seed) };
        let mut card = Card {
            model: Model::powered_up(settings.seed),
            host: Axi4Subordinate::new(of_host),
            link: link.ok_or_else(no_dma)?,
            nic: Axi4Subordinate::new(of_nic),
            memory,
            network: Port::new("the look-up", ["s_axis_req", "m_axis_rsp"]),
            software: Port::new("the eviction", ["s_axis_sw", "m_axis_swrsp"]),
            shadow: Shadow::new(geometry, &index_requests(hints)),
            in_flight: settings.card.in_flight.into(),
            clock: 0,
            last_answer: 0,
        };
        card.switch_on(&geometry, job)?;
        Ok(card)
    }

    fn switch_on(&mut self, geometry: &Geometry<WORDS>, job: &Job) -> Result<(), RunError> {
        self.model.reset(RESET);
        let (table, places) = (*geometry.table(), geometry.places());
        let (settings, card) = (geometry.settings(), job.settings.card);
        let mut registers = self.registers();
        map::TABLE_BASE.write(&mut registers, table.base())?;
        map::SLOTS.write(&mut registers, table.slots())?;
        map::LIMIT.write(&mut registers, table.limit().into())?;
        map::MORE.write(&mut registers, table.more().into())?;
        map::SEGMENT_SHIFT.write(&mut registers, places.log2_segment)?;
        map::DIRECTORY_BASE.write(&mut registers, places.directory)?;
        map::OVERFLOW_BASE.write(&mut registers, places.overflow)?;
        map::OVERFLOW_SLOTS.write(&mut registers, places.overflow_slots)?;
        map::VALUE_BYTES.write(&mut registers, settings.value_bytes.into())?;
        map::MOST_READINGS.write(&mut registers, settings.most_readings.into())?;
        map::INDEX_BASE.write(&mut registers, INDEX_BASE)?;
        map::SEGMENTS.write(&mut registers, table.segments())?;
        map::IDLE_TIME.write(&mut registers, card.idle_clocks.into())?;
        map::FLUSH_TIME.write(&mut registers, card.flush_clocks.into())?;
        map::CONTROL.write(&mut registers, map::Control::default().with_enable(true))?;
        if map::CONTROL.read(&mut registers)?.enable() {
            return Ok(());
        }
        let setting = registers.read32(map::SETTINGS_ERROR.offset())?;
        Err(RunError::Refused { setting })
    }

    /// Software's access to the registers, during which nothing else moves at the pins.
    fn registers(
        &mut self,
    ) -> AxiLiteRegisters<impl FnMut(&AxiLiteManagerPins) -> AxiLiteSubordinatePins> {
        let manager = AxiLiteManager::new("s_axil", LiteStalls::default(), 0, 1000);
        let model = &mut self.model;
        AxiLiteRegisters::new(manager, move |pins: &AxiLiteManagerPins| {
            set_register_pins(model.inputs_mut(), pins);
            let block = register_pins(model.outputs());
            model.clock();
            block
        })
    }

    /// The clock that comes next.
    pub fn now(&self) -> u64 {
        self.clock
    }

    /// Whether the network can have another look-up under way.
    pub fn has_room(&self) -> bool {
        self.network.offered.is_none() && self.network.open.len() < self.in_flight
    }

    /// Looks a key up, when there is room.
    pub fn look_up(&mut self, key: u64) {
        self.network.offer(Operation::LookUp, key);
    }

    /// Whether software can offer an eviction.
    pub fn has_room_for_software(&self) -> bool {
        self.software.offered.is_none()
    }

    /// Evicts a key, when there is room; gives the token.
    pub fn evict(&mut self, key: u64) -> u16 {
        self.software.offer(Operation::Evict, key)
    }

    /// Requests that are under way.
    pub fn under_way(&self) -> usize {
        self.network.under_way() + self.software.under_way()
    }

    /// Whether nothing is under way, also not in the RTL.
    pub fn is_idle(&self) -> bool {
        self.under_way() == 0 && self.model.outputs().idle_o
    }

    /// One clock. `line` gives the line of host memory at an address.
    ///
    /// # Errors
    /// When the RTL breaks a rule of its buses or does otherwise than the machine, or when nothing moves any more.
    pub fn clock(&mut self, line: impl FnMut(u64) -> ReadBeat) -> Result<Ended, RunError> {
        let clock = self.clock;
        let outputs = self.model.outputs();
        self.shadow.follow(clock, outputs)?;
        let (host, nic) = (host_pins(outputs), nic_pins(outputs));
        let readies = [outputs.s_axis_req_tready, outputs.s_axis_sw_tready];
        let answers = [
            StreamPins { tvalid: outputs.m_axis_rsp_tvalid, tdata: outputs.m_axis_rsp_tdata },
            StreamPins { tvalid: outputs.m_axis_swrsp_tvalid, tdata: outputs.m_axis_swrsp_tdata },
        ];
        let inputs = self.model.inputs_mut();
        let pins = self.network.source.drive(clock);
        (inputs.s_axis_req_tvalid, inputs.s_axis_req_tdata) = (pins.tvalid, pins.tdata);
        let pins = self.software.source.drive(clock);
        (inputs.s_axis_sw_tvalid, inputs.s_axis_sw_tdata) = (pins.tvalid, pins.tdata);
        inputs.m_axis_rsp_tready = self.network.sink.drive(clock);
        inputs.m_axis_swrsp_tready = self.software.sink.drive(clock);
        set_host_pins(inputs, self.host.drive(clock));
        set_nic_pins(inputs, self.nic.drive(clock));
        let broken = RunError::bus(clock);
        self.host.sample(clock, &host).map_err(&broken)?;
        self.link.step(clock, &mut self.host, line);
        self.nic.sample(clock, &nic).map_err(&broken)?;
        self.memory.step(clock, &mut self.nic);
        let mut ended = Ended::default();
        if let Some((request, asked, answer)) = self.exchange(false, readies[0], &answers[0])? {
            ended.served = Some(Served::of(request.key, asked, clock, &answer)?);
        }
        if let Some((request, _, answer)) = self.exchange(true, readies[1], &answers[1])? {
            self.judge_eviction(&request, &answer)?;
            ended.evicted = Some(request.token);
        }
        self.model
            .try_clock()
            .map_err(|failure| RunError::Card { clock, what: failure.to_string() })?;
        self.clock += 1;
        self.check_progress()?;
        Ok(ended)
    }

    /// Moves what a port carries in this clock; the request that was answered, if one was.
    fn exchange(
        &mut self,
        is_software: bool,
        ready: bool,
        pins: &StreamPins<AnswerBeat>,
    ) -> Result<Option<(Request<WORDS>, u64, Answer<WORDS>)>, RunError> {
        let clock = self.clock;
        let port = if is_software { &mut self.software } else { &mut self.network };
        if port.source.sample(clock, ready).map_err(RunError::bus(clock))? {
            let request = port.offered.take().expect("it was offered");
            port.open.insert(request.token, (request, clock));
            self.shadow.accept(is_software, request);
        }
        let Some(beat) = port.sink.sample(clock, pins).map_err(RunError::bus(clock))? else {
            return Ok(None);
        };
        let answer = Answer::from_words(&beat);
        let Some((request, asked)) = port.open.remove(&answer.token) else {
            let what =
                format!("{} with token {} is answered, and not open", port.name, answer.token);
            return Err(RunError::Card { clock, what });
        };
        self.shadow.answered(is_software, answer)?;
        self.last_answer = clock;
        Ok(Some((request, asked, answer)))
    }

    fn judge_eviction(
        &self,
        request: &Request<WORDS>,
        answer: &Answer<WORDS>,
    ) -> Result<(), RunError> {
        match answer.status {
            Status::DONE | Status::Index(IndexStatus::Unknown) => Ok(()),
            status => Err(RunError::Status {
                clock: self.clock,
                what: self.software.name,
                key: request.key,
                status,
                expected: "done or unknown",
            }),
        }
    }

    fn check_progress(&mut self) -> Result<(), RunError> {
        let (clock, open) = (self.clock, self.under_way());
        if open == 0 && self.model.outputs().idle_o {
            self.last_answer = clock;
        }
        match clock - self.last_answer {
            waited if waited > TIMEOUT => Err(RunError::Stuck { clock, open, waited }),
            _ => Ok(()),
        }
    }

    /// Counts of RTL and machine, and what the DMA has carried, so far. The RTL is to be idle.
    ///
    /// # Errors
    /// When the machine is not idle, or a register cannot be read.
    pub fn reading(&mut self) -> Result<Reading, RunError> {
        self.shadow.expect_idle()?;
        let mut registers = self.registers();
        let mut counts = [0; nic::lookup::COUNTERS];
        for (count, counter) in counts.iter_mut().zip(map::COUNTERS) {
            *count = counter.read(&mut registers)?;
        }
        drop(registers);
        Ok(Reading {
            rtl: counters(counts),
            machine: *self.shadow.counters(),
            vectors: self.shadow.vectors(),
            traffic: self.link.traffic(),
        })
    }
}

/// What was counted so far.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// By the registers.
    pub rtl: Counters,
    /// By the machine.
    pub machine: Counters,
    /// Of the vectorizer.
    pub vectors: Vectors,
    /// On the link.
    pub traffic: sim::host_link::Traffic,
}
