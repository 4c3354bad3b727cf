// SPDX-License-Identifier: MIT OR Apache-2.0
//! The visibility element (docs/visibility-element.md) with what stands around it: memory at its
//! two ports, registers, a sink for its packets. For any model with the pins of the element.

mod memory;
mod registers;

pub use memory::{DeviceMemory, SparseMemory};
pub use registers::ElementRegisters;

use std::collections::{BTreeMap, VecDeque};

use driver::visibility_element::{BEAT_WORDS, Counters, End, Packet, PacketError, RefusalError};
use driver::{DeviceError, VisibilityElement};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use verilated::{Core, Model};
use visibility_pe_pins::{Inputs, Outputs};

use crate::bus::axi_lite::{AxiLiteManager, LiteOutcome, LiteRequest, LiteStalls};
use crate::bus::axi_stream::StreamSink;
use crate::bus::axi4::{
    Axi4Config, Axi4Stalls, Axi4Subordinate, Delay, IdSharing, MemoryAccess, MemoryAnswer,
    MemoryData, ResponseOrder, describe_id,
};
use crate::bus::error::BusModelError;
use crate::bus::pins::StreamPins;
use crate::bus::stall::StallPattern;

/// How what surrounds an element behaves.
#[derive(Debug, Clone, Copy)]
pub struct Surroundings {
    /// Seed of all draws.
    pub seed: u64,
    /// Stalls of the memory ports.
    pub memory_stalls: StallPattern,
    /// Stalls of the packets' sink.
    pub packet_stalls: StallPattern,
    /// Stalls of the register port.
    pub register_stalls: StallPattern,
    /// Clocks from a request for a line to the line, beside two that are always there.
    pub latency: Delay,
    /// In which order lines of different ids come.
    pub order: ResponseOrder,
    /// Clocks after which a wait at a port is an error.
    pub timeout: u64,
}

impl Surroundings {
    /// Surroundings that hold nothing up; memory takes 38 clocks, 150 ns at 250 MHz.
    pub fn smooth() -> Self {
        Surroundings {
            seed: 0,
            memory_stalls: StallPattern::None,
            packet_stalls: StallPattern::None,
            register_stalls: StallPattern::None,
            latency: Delay { minimum: 36, maximum: 36 },
            order: ResponseOrder::AsAnswered,
            timeout: 20_000,
        }
    }

    fn port(&self, port: &str) -> Port {
        Port {
            subordinate: Axi4Subordinate::new(Axi4Config {
                port: port.into(),
                seed: self.seed,
                stalls: Axi4Stalls::all(self.memory_stalls),
                response_delay: Delay::default(),
                response_order: self.order,
                timeout: self.timeout,
                bursts: None,
                sharing: IdSharing::Several,
                responses_always_taken: true,
                split_atomic_errors: false,
                describe_id,
            }),
            latency: self.latency,
            generator: ChaCha8Rng::seed_from_u64(self.seed),
            waiting: VecDeque::new(),
            served: BTreeMap::new(),
            last: BTreeMap::new(),
        }
    }
}

/// What ends an element's life in a simulation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ElementError {
    /// A port broke its protocol, or a wait at it ended.
    #[error(transparent)]
    Bus(#[from] BusModelError),
    /// Beats were no packet.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// A register access failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A run did not end.
    #[error("waited for the last packet of a run: not there after {clocks} clocks")]
    Unfinished {
        /// The bound of the wait.
        clocks: u64,
    },
}

/// The results of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// All packets but the last, in their order.
    pub packets: Vec<Packet>,
    /// How it ended.
    pub end: Result<End, RefusalError>,
    /// Clocks from the start to the last packet, with the register accesses of the start.
    pub clocks: u64,
}

/// A memory port, and the reads that the memory has not answered yet.
#[derive(Debug)]
struct Port {
    subordinate: Axi4Subordinate,
    latency: Delay,
    generator: ChaCha8Rng,
    /// Reads that the memory has not admitted.
    waiting: VecDeque<MemoryAccess>,
    /// Answers on their way, by the cycle of their arrival and their order. Those of one id are on
    /// their way together, too.
    served: BTreeMap<(u64, u64), MemoryAnswer>,
    /// When the last answer of each id comes, so that they stay in their order.
    last: BTreeMap<u16, u64>,
}

type Beat = ([u64; BEAT_WORDS], bool);

/// An element, its ports and its clock.
pub struct Element<C: Core<Inputs = Inputs, Outputs = Outputs>> {
    model: Model<C>,
    cycle: u64,
    registers: AxiLiteManager,
    outcome: Option<LiteOutcome>,
    ports: [Port; 2],
    sink: StreamSink<Beat>,
    /// Of a packet that is not complete.
    beats: Vec<[u64; BEAT_WORDS]>,
    packets: VecDeque<Vec<[u64; BEAT_WORDS]>>,
}

crate::axi_lite_port!(register_pins, set_register_pins of Inputs, Outputs);
crate::axi4_read_port!(port_0, set_port_0: m_axi_0 of Inputs, Outputs);
crate::axi4_read_port!(port_1, set_port_1: m_axi_1 of Inputs, Outputs);

impl<C: Core<Inputs = Inputs, Outputs = Outputs>> Element<C> {
    /// An element that has just been reset.
    pub fn new(mut model: Model<C>, surroundings: &Surroundings) -> Self {
        model.reset(4);
        let Surroundings { seed, timeout, .. } = *surroundings;
        let stalls = LiteStalls::all(surroundings.register_stalls);
        Element {
            model,
            cycle: 0,
            registers: AxiLiteManager::new("s_axil", stalls, seed, timeout),
            outcome: None,
            ports: [surroundings.port("m_axi_0"), surroundings.port("m_axi_1")],
            sink: StreamSink::new("m_axis_row", surroundings.packet_stalls, seed, timeout),
            beats: Vec::new(),
            packets: VecDeque::new(),
        }
    }

    /// The model, for waves and faults.
    pub fn model_mut(&mut self) -> &mut Model<C> {
        &mut self.model
    }

    /// Clocks so far.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Whether nothing would happen in the next clock: no run, no access, no packet left.
    pub fn is_idle(&self) -> bool {
        self.model.outputs().idle_o && !self.registers.busy() && self.packets.is_empty()
    }

    /// Whether the element asks for an interrupt.
    pub fn interrupts(&self) -> bool {
        self.model.outputs().intr_o
    }

    /// One clock.
    ///
    /// # Errors
    /// When a port breaks its protocol, a wait at it ends, or an assertion fails.
    pub fn clock(&mut self, memory: &mut dyn DeviceMemory) -> Result<(), BusModelError> {
        let cycle = self.cycle;
        let inputs = self.model.inputs_mut();
        set_register_pins(inputs, self.registers.drive(cycle));
        let [first, second] = &mut self.ports;
        set_port_0(inputs, first.subordinate.drive(cycle));
        set_port_1(inputs, second.subordinate.drive(cycle));
        inputs.m_axis_row_tready = self.sink.drive(cycle);

        let outputs = self.model.outputs();
        self.outcome = self.registers.sample(cycle, &register_pins(outputs))?.or(self.outcome);
        self.ports[0].subordinate.sample(cycle, &port_0(outputs))?;
        self.ports[1].subordinate.sample(cycle, &port_1(outputs))?;
        let tdata = (outputs.m_axis_row_tdata, outputs.m_axis_row_tlast);
        let pins = StreamPins { tvalid: outputs.m_axis_row_tvalid, tdata };
        if let Some((beat, last)) = self.sink.sample(cycle, &pins)? {
            self.beats.push(beat);
            if last {
                self.packets.push_back(std::mem::take(&mut self.beats));
            }
        }
        for port in &mut self.ports {
            port.serve(cycle, memory);
        }
        self.model.try_clock()?;
        self.cycle += 1;
        Ok(())
    }

    /// The oldest packet that was not taken yet.
    ///
    /// # Errors
    /// When its beats are no packet.
    pub fn next_packet(&mut self) -> Result<Option<Packet>, PacketError> {
        self.packets.pop_front().map(|beats| Packet::decode(&beats)).transpose()
    }

    /// The registers; each access clocks the element to its end.
    pub fn registers<'a>(
        &'a mut self,
        memory: &'a mut dyn DeviceMemory,
    ) -> ElementRegisters<'a, C> {
        ElementRegisters::new(self, memory)
    }

    /// Starts the job whose block is at `job` of `memory`.
    ///
    /// # Errors
    /// As [`VisibilityElement::start`].
    pub fn start(&mut self, memory: &mut dyn DeviceMemory, job: u64) -> Result<(), ElementError> {
        Ok(VisibilityElement::new(self.registers(memory)).start(job)?)
    }

    /// The counters of the last run.
    ///
    /// # Errors
    /// As [`VisibilityElement::counters`].
    pub fn counters(&mut self, memory: &mut dyn DeviceMemory) -> Result<Counters, ElementError> {
        Ok(VisibilityElement::new(self.registers(memory)).counters()?)
    }

    /// Runs the job whose block is at `job` of `memory` to its end, in at most `bound` clocks.
    ///
    /// # Errors
    /// Those of a clock; [`ElementError::Unfinished`] after the bound.
    pub fn run(
        &mut self,
        memory: &mut dyn DeviceMemory,
        job: u64,
        bound: u64,
    ) -> Result<Run, ElementError> {
        let start = self.cycle;
        self.start(memory, job)?;
        let mut packets = Vec::new();
        while self.cycle - start < bound {
            self.clock(memory)?;
            while let Some(packet) = self.next_packet()? {
                let end = match packet {
                    Packet::End(end) => Ok(end),
                    Packet::Refused(refusal) => Err(refusal),
                    packet => {
                        packets.push(packet);
                        continue;
                    }
                };
                // The registers know of it a clock later.
                self.clock(memory)?;
                return Ok(Run { packets, end, clocks: self.cycle - start });
            }
        }
        Err(ElementError::Unfinished { clocks: bound })
    }

    /// One register access to its end.
    ///
    /// # Errors
    /// Those of a clock.
    pub fn access(
        &mut self,
        memory: &mut dyn DeviceMemory,
        request: LiteRequest,
    ) -> Result<LiteOutcome, BusModelError> {
        self.registers.start(self.cycle, request);
        loop {
            // The port's timeout bounds this loop.
            self.clock(memory)?;
            if let Some(outcome) = self.outcome.take() {
                return Ok(outcome);
            }
        }
    }
}

impl Port {
    /// Takes what was asked for, and answers what the memory has.
    fn serve(&mut self, cycle: u64, memory: &mut dyn DeviceMemory) {
        while let Some(access) = self.subordinate.take_access() {
            self.waiting.push_back(access);
        }
        while let Some(access) = self.waiting.front() {
            if !memory.admits(cycle) {
                break;
            }
            let outcome = memory.line(access.address).map(MemoryData::Line);
            let Delay { minimum, maximum } = self.latency;
            let due = cycle + u64::from(self.generator.random_range(minimum..=maximum));
            let last = self.last.entry(access.id).or_default();
            *last = due.max(*last);
            let place = (*last, access.accepted_at_cycle);
            self.served.insert(place, MemoryAnswer { id: access.id, outcome });
            self.waiting.pop_front();
        }
        while let Some(entry) = self.served.first_entry().filter(|entry| entry.key().0 <= cycle) {
            self.subordinate.answer(cycle, &entry.remove());
        }
    }
}
