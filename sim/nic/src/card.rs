// SPDX-License-Identifier: MIT OR Apache-2.0
//! The RTL with all that is at its pins: requests and answers, the card's memory, the link to the host, registers.

use std::collections::BTreeMap;

use driver::Registers;
use driver::map::nic_lookup as map;
use nic::index::{Index, entry_stride};
use nic::lookup::{Answer, Counters, Geometry, Request};
use sim::bus::axi_lite::{AxiLiteManager, AxiLiteRegisters, LiteStalls};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::axi4::{Axi4Config, Axi4Subordinate, BurstLimits, Delay, ReadBeat};
use sim::bus::pins::{AxiLiteManagerPins, AxiLiteSubordinatePins, StreamPins};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{ErrorInjection, TestMemory, TestMemoryConfig};
use sim::host_link::HostLink;
use timing::platform::Platform;

use crate::error::RunError;
use crate::job::WORDS;
use crate::pins::{AnswerBeat, Block, RequestBeat};
use crate::report::{Vectors, counters};
use crate::settings::CardSettings;
use crate::shadow::Shadow;

/// Clocks after which a bus, or a request, that stands still is an error.
pub const TIMEOUT: u64 = 200_000;
/// Where the index lies in the card's memory.
const INDEX_BASE: u64 = 1 << 20;
/// Clocks that the models of bus and memory add to the latency of the card's memory.
const BUS_CLOCKS: u32 = 2;
/// Clocks of a reset.
const RESET: u32 = 4;

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

    fn offer(&mut self, request: Request<WORDS>) -> u16 {
        let token = self.next_token;
        self.next_token = token.wrapping_add(1);
        let request = Request { token, ..request };
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

/// A request with its answer.
pub struct Exchange {
    /// The request, with its token.
    pub request: Request<WORDS>,
    /// The clock in which it was accepted.
    pub asked: u64,
    /// The answer.
    pub answer: Answer<WORDS>,
}

/// What was answered in a clock.
#[derive(Default)]
pub struct Ended {
    /// On the port of the network.
    pub network: Option<Exchange>,
    /// On that of software.
    pub software: Option<Exchange>,
}

/// The RTL, whose index has so many objects in an entry, with its surroundings.
pub struct Card<B, const OBJECTS: usize> {
    model: B,
    host: Axi4Subordinate,
    link: HostLink,
    nic: Axi4Subordinate,
    memory: TestMemory,
    network: Port,
    software: Port,
    shadow: Shadow<OBJECTS>,
    in_flight: usize,
    clock: u64,
    last_answer: u64,
}

impl<B: Block, const OBJECTS: usize> Card<B, OBJECTS> {
    /// The RTL after its reset, switched on, with this index in the card's memory. All draws are of `seed`.
    ///
    /// # Errors
    /// When it does not do as it should.
    pub fn new(
        settings: CardSettings,
        platform: &Platform,
        seed: u64,
        geometry: Geometry<WORDS>,
        index: Index<OBJECTS, WORDS>,
    ) -> Result<Self, RunError> {
        let stride = entry_stride(OBJECTS, WORDS);
        let segments = geometry.table().segments();
        let latency = settings.nic_memory_clocks - BUS_CLOCKS;
        let mut memory = TestMemory::new(TestMemoryConfig {
            base: INDEX_BASE,
            lines: (u64::from(segments) * stride / 64) as usize,
            seed,
            latency: Delay { minimum: latency, maximum: latency },
            errors: ErrorInjection::None,
        });
        for segment in 0..segments {
            let address = INDEX_BASE + u64::from(segment) * stride;
            for (word, value) in (0..).zip(index.entry(segment).encode()) {
                memory.store(address + 8 * word, value).expect("the entry lies in the memory");
            }
        }
        let no_dma = || RunError::NoDma { platform: platform.name.clone() };
        let link = HostLink::new(platform, settings.clock(), seed);
        let of_nic = Axi4Config {
            timeout: TIMEOUT,
            bursts: Some(BurstLimits { id_bits: 8, reads: 16, writes: 16 }),
            ..Axi4Config::bursts("m_axi_nic", seed)
        };
        let of_host = Axi4Config { timeout: TIMEOUT, ..Axi4Config::bursts("m_axi_host", seed) };
        let mut card = Card {
            model: B::powered_up(seed),
            host: Axi4Subordinate::new(of_host),
            link: link.ok_or_else(no_dma)?,
            nic: Axi4Subordinate::new(of_nic),
            memory,
            network: Port::new("a request", ["s_axis_req", "m_axis_rsp"]),
            software: Port::new("a request of software", ["s_axis_sw", "m_axis_swrsp"]),
            shadow: Shadow::new(geometry, index),
            in_flight: settings.in_flight.into(),
            clock: 0,
            last_answer: 0,
        };
        card.switch_on(&geometry, settings)?;
        Ok(card)
    }

    fn switch_on(
        &mut self,
        geometry: &Geometry<WORDS>,
        card: CardSettings,
    ) -> Result<(), RunError> {
        self.model.reset(RESET);
        let (table, places) = (*geometry.table(), geometry.places());
        let settings = geometry.settings();
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
            model.set_registers(pins);
            let block = model.registers();
            model.clock().unwrap_or_else(|failure| panic!("{failure}"));
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

    /// Asks for something on the port of the network, when there is room; gives the token.
    pub fn ask(&mut self, request: Request<WORDS>) -> u16 {
        self.network.offer(request)
    }

    /// Whether a request of the network is at the pins, not accepted.
    pub fn has_offer(&self) -> bool {
        self.network.offered.is_some()
    }

    /// Whether software can ask for something.
    pub fn has_room_for_software(&self) -> bool {
        self.software.offered.is_none()
    }

    /// As [`Card::ask`], on the port of software.
    pub fn ask_by_software(&mut self, request: Request<WORDS>) -> u16 {
        self.software.offer(request)
    }

    /// Requests that are under way.
    pub fn under_way(&self) -> usize {
        self.network.under_way() + self.software.under_way()
    }

    /// Whether nothing is under way, also not in the RTL.
    pub fn is_idle(&self) -> bool {
        self.under_way() == 0 && self.model.is_idle()
    }

    /// The model, for its waves.
    pub fn model_mut(&mut self) -> &mut B {
        &mut self.model
    }

    /// One clock. `line` gives the line of host memory at an address.
    ///
    /// # Errors
    /// When the RTL breaks a rule of its buses or does otherwise than the machine, or when nothing moves any more.
    pub fn clock(&mut self, line: impl FnMut(u64) -> ReadBeat) -> Result<Ended, RunError> {
        let clock = self.clock;
        let model = &mut self.model;
        self.shadow.follow(clock, &model.trace())?;
        let (host, nic) = (model.host(), model.nic());
        let ports = [false, true];
        let (readies, answers) =
            (ports.map(|of| model.ready(of)), ports.map(|of| model.answer(of)));
        for (port, is_software) in [(&mut self.network, false), (&mut self.software, true)] {
            model.set_request(is_software, port.source.drive(clock));
            model.set_ready(is_software, port.sink.drive(clock));
        }
        model.set_host(self.host.drive(clock));
        model.set_nic(self.nic.drive(clock));
        let broken = RunError::bus(clock);
        self.host.sample(clock, &host).map_err(&broken)?;
        self.link.step(clock, &mut self.host, line);
        self.nic.sample(clock, &nic).map_err(&broken)?;
        self.memory.step(clock, &mut self.nic);
        let ended = Ended {
            network: self.exchange(false, readies[0], &answers[0])?,
            software: self.exchange(true, readies[1], &answers[1])?,
        };
        self.model.clock().map_err(|what| RunError::Card { clock, what })?;
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
    ) -> Result<Option<Exchange>, RunError> {
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
        Ok(Some(Exchange { request, asked, answer }))
    }

    fn check_progress(&mut self) -> Result<(), RunError> {
        let (clock, open) = (self.clock, self.under_way());
        if open == 0 && self.model.is_idle() {
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
