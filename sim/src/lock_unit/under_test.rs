// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated unit, clocked with bus models on all its ports.

use std::collections::VecDeque;

use driver::{DeviceError, Operation, Registers};

use crate::bus::axi_lite::{AxiLiteManager, LiteOutcome, LiteRequest, LiteStalls, device_access};
use crate::bus::axi_stream::{StreamSink, StreamSource};
use crate::bus::axi4::{Axi4Config, Axi4Subordinate, MemoryAccess, MemoryAnswer};
use crate::bus::error::BusModelError;
use crate::bus::pins::StreamPins;
use crate::bus::stall::StallPattern;
use crate::clocked::Block;
use crate::models::{LockUnit, LockUnitInputs, LockUnitOutputs};

use driver::lock_unit::stream::{UnitRequest, UnitResponse};

/// Clock cycles of the reset, which [`UnitUnderTest::cycle`] leaves out and the model's own count
/// of cycles, and so its waves, do not.
pub const RESET_CYCLES: u32 = 4;

/// How the buses around the unit behave.
#[derive(Clone, Debug)]
pub struct UnitConfig {
    /// The memory port.
    pub memory: Axi4Config,
    /// Stalls of the request, response and invalidation streams.
    pub streams: StallPattern,
    /// Stalls of the register port.
    pub registers: LiteStalls,
    /// Seed of the streams' and the register port's draws.
    pub seed: u64,
    /// Cycles after which a handshake that does not come is an error.
    pub timeout: u64,
}

impl UnitConfig {
    /// Buses that never stall, and ten thousand cycles of timeout.
    pub fn smooth() -> Self {
        Self {
            memory: Axi4Config::lock_unit(0),
            streams: StallPattern::None,
            registers: LiteStalls::default(),
            seed: 0,
            timeout: 10_000,
        }
    }
}

/// A lock unit with everything but memory around it.
///
/// The owner calls [`UnitUnderTest::clock`] once a cycle, takes the accesses that the unit makes
/// and answers them, now or in a later cycle. It is also the unit's [`driver::Registers`].
pub struct UnitUnderTest<M> {
    model: M,
    requests: StreamSource<[u64; 3]>,
    responses: StreamSink<u64>,
    invalidations: StreamSource<u64>,
    memory: Axi4Subordinate,
    registers: AxiLiteManager,
    answered: VecDeque<UnitResponse>,
    /// The end of the last register access.
    register_outcome: Option<LiteOutcome>,
    cycle: u64,
}

impl<M: LockUnit> UnitUnderTest<M> {
    /// A unit that has just been reset.
    pub fn new(mut model: M, config: &UnitConfig) -> Self {
        model.reset(RESET_CYCLES);
        let UnitConfig { streams, seed, timeout, .. } = *config;
        Self {
            model,
            requests: StreamSource::new("s_axis_req", streams, seed, timeout),
            responses: StreamSink::new("m_axis_rsp", streams, seed, timeout),
            invalidations: StreamSource::new("s_axis_inv", streams, seed, timeout),
            memory: Axi4Subordinate::new(config.memory.clone()),
            registers: AxiLiteManager::new("s_axil", config.registers, seed, timeout),
            answered: VecDeque::new(),
            register_outcome: None,
            cycle: 0,
        }
    }

    /// Cycles since the reset.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// The model, for its waves and its faults.
    pub fn model_mut(&mut self) -> &mut M {
        &mut self.model
    }

    /// Puts a request into the stream's queue.
    pub fn request(&mut self, request: UnitRequest) {
        self.requests.push(request.encode());
    }

    /// Puts any beat into the request stream's queue, also one that means nothing.
    pub fn request_beat(&mut self, beat: [u64; 3]) {
        self.requests.push(beat);
    }

    /// Requests that the unit has not taken yet.
    pub fn request_backlog(&self) -> usize {
        self.requests.backlog()
    }

    /// Tells the unit that its copy of the line at this byte address is void.
    pub fn invalidate(&mut self, address: u64) {
        self.invalidations.push(address);
    }

    /// Invalidations that the unit has not taken yet.
    pub fn invalidation_backlog(&self) -> usize {
        self.invalidations.backlog()
    }

    /// The next access that the unit has made.
    pub fn take_access(&mut self) -> Option<MemoryAccess> {
        self.memory.take_access()
    }

    /// Answers an access.
    pub fn answer(&mut self, answer: &MemoryAnswer) {
        self.memory.answer(self.cycle, answer);
    }

    /// Accesses not yet answered to the end.
    pub fn accesses_outstanding(&self) -> usize {
        self.memory.outstanding()
    }

    /// The memory port's bridge, for memories that serve it themselves.
    pub fn memory_port(&mut self) -> &mut Axi4Subordinate {
        &mut self.memory
    }

    /// The interrupt line.
    pub fn interrupt(&self) -> bool {
        self.model.outputs().intr_o
    }

    /// The next response that the unit has handed over.
    pub fn take_response(&mut self) -> Option<UnitResponse> {
        self.answered.pop_front()
    }

    /// One clock cycle. True when the unit took a request in it.
    ///
    /// # Errors
    /// When the unit breaks a rule of a bus, a wait has lasted too long, or an assertion fails.
    #[inline]
    pub fn clock(&mut self) -> Result<bool, BusModelError> {
        let cycle = self.cycle;
        self.drive();
        let outputs = self.model.outputs();
        let beat =
            StreamPins { tvalid: outputs.m_axis_rsp_tvalid, tdata: outputs.m_axis_rsp_tdata };
        let response = self.responses.sample(cycle, &beat)?;
        let taken = self.requests.sample(cycle, outputs.s_axis_req_tready)?;
        self.invalidations.sample(cycle, outputs.s_axis_inv_tready)?;
        self.memory.sample(cycle, &memory_pins(outputs))?;
        let registers = register_pins(outputs);
        if let Some(outcome) = self.registers.sample(cycle, &registers)? {
            self.register_outcome = Some(outcome);
        }
        self.model.try_clock()?;
        self.cycle += 1;
        if let Some(beat) = response {
            let response = UnitResponse::decode(beat);
            let response = response.unwrap_or_else(|bad| panic!("the unit answered: {bad}"));
            self.answered.push_back(response);
        }
        Ok(taken)
    }

    /// Performs one register access to its end, clocking the unit.
    ///
    /// # Errors
    /// Those of [`UnitUnderTest::clock`]; the port's timeout bounds the wait.
    pub fn access(&mut self, request: LiteRequest) -> Result<LiteOutcome, BusModelError> {
        self.registers.start(self.cycle, request);
        loop {
            self.clock()?;
            if let Some(outcome) = self.register_outcome.take() {
                return Ok(outcome);
            }
        }
    }

    /// Sets the unit's inputs of this cycle.
    #[inline]
    fn drive(&mut self) {
        let cycle = self.cycle;
        let inputs = self.model.inputs_mut();
        let request = self.requests.drive(cycle);
        (inputs.s_axis_req_tvalid, inputs.s_axis_req_tdata) = (request.tvalid, request.tdata);
        let beat = self.invalidations.drive(cycle);
        (inputs.s_axis_inv_tvalid, inputs.s_axis_inv_tdata) = (beat.tvalid, beat.tdata);
        inputs.m_axis_rsp_tready = self.responses.drive(cycle);
        set_memory_pins(inputs, self.memory.drive(cycle));
        set_register_pins(inputs, self.registers.drive(cycle));
    }
}

impl<M: LockUnit> Block for UnitUnderTest<M> {
    type Error = BusModelError;

    #[inline]
    fn clock(&mut self) -> Result<bool, BusModelError> {
        let taken = UnitUnderTest::clock(self)?;
        Ok(taken || self.memory.has_access() || !self.answered.is_empty())
    }

    #[inline]
    fn has_work(&self) -> bool {
        self.request_backlog() > 0 || self.memory.has_work()
    }
}

/// Software's view: each access clocks the unit until it is answered.
impl<M: LockUnit> Registers for UnitUnderTest<M> {
    fn read32(&mut self, offset: u32) -> Result<u32, DeviceError> {
        device_access(Operation::Read, offset, 0, |request| self.access(request))
    }

    fn write32(&mut self, offset: u32, value: u32) -> Result<(), DeviceError> {
        device_access(Operation::Write, offset, value, |request| self.access(request)).map(drop)
    }
}

crate::axi4_port!(memory_pins, set_memory_pins: m_axi of LockUnitInputs, LockUnitOutputs);
crate::axi_lite_port!(register_pins, set_register_pins of LockUnitInputs, LockUnitOutputs);
