// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device with bus models at all its pins.

use std::collections::VecDeque;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use sim::bus::axi_lite::{AxiLiteManager, LiteOutcome, LiteRequest, LiteStalls};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::axi4::{
    Axi4Config, Axi4Stalls, Axi4Subordinate, Delay, IdSharing, MemoryAccess, ResponseOrder,
    describe_id,
};
use sim::bus::pins::StreamPins;
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{ErrorInjection, TestMemory, TestMemoryConfig};
use suites::values::anywhere;

use crate::dut::{self, Inputs, Model, Outputs};
use crate::mover::{Mover, Moves};
use crate::worker::{Jobs, Worker};

/// Lines of the rings.
const RINGS_LINES: usize = 1 << 14;
/// Lines of the table that keys are looked up in, and of its index.
const KEYS_LINES: usize = 1 << 10;
/// Buckets of the lock table, by their logarithm.
pub const TABLE_LOG2_BUCKETS: u32 = 4;

const TIMEOUT: u64 = 20_000;

/// Where memories begin; anywhere.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    pub rings: u64,
    /// The lock table.
    pub table: u64,
    /// The host's table that keys are looked up in.
    pub keys: u64,
    /// Its index, in the card's memory.
    pub index: u64,
}

impl Places {
    fn drawn(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        // Each is a multiple of its size, which is more than any of them has to be.
        let mut place = |lines: usize| {
            let bytes = 64 * lines;
            anywhere(&mut random, bytes, bytes as u64)
        };
        Places {
            rings: place(RINGS_LINES),
            table: place(1 << TABLE_LOG2_BUCKETS),
            keys: place(KEYS_LINES),
            index: place(KEYS_LINES),
        }
    }
}

/// How the surroundings of the device behave.
#[derive(Clone, Debug)]
pub struct Config {
    pub seed: u64,
    /// Of all channels but interrupts.
    pub stalls: StallPattern,
    pub interrupt_stalls: StallPattern,
    pub memory_latency: Delay,
    pub errors: ErrorInjection,
    pub moves: Moves,
    pub jobs: Jobs,
    /// The clock stands still while the device says that it may.
    pub stop_clock: bool,
}

impl Config {
    /// Surroundings that never hold anything up.
    pub fn smooth() -> Self {
        Config {
            seed: 0,
            stalls: StallPattern::None,
            interrupt_stalls: StallPattern::None,
            memory_latency: Delay { minimum: 0, maximum: 0 },
            errors: ErrorInjection::None,
            moves: Moves::smooth(),
            jobs: Jobs::smooth(),
            stop_clock: false,
        }
    }

    fn port(&self, port: &str) -> Axi4Config {
        Axi4Config {
            port: port.into(),
            seed: self.seed,
            stalls: Axi4Stalls::all(self.stalls),
            response_delay: Delay { minimum: 0, maximum: self.memory_latency.maximum / 2 },
            response_order: ResponseOrder::Shuffled,
            timeout: TIMEOUT,
            bursts: None,
            sharing: IdSharing::Several,
            responses_always_taken: true,
            split_atomic_errors: false,
            describe_id,
        }
    }

    /// A port that takes bursts.
    fn burst_port(&self, port: &str) -> Axi4Config {
        let bursts = Axi4Config::bursts(port, self.seed).bursts;
        Axi4Config { bursts, ..self.port(port) }
    }
}

/// What the device did, in order, for an oracle to look at.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// An access to the rings.
    Access(MemoryAccess),
    /// A command for the mover: the words of its beat.
    Move([u64; 3]),
    /// The end of a move that the device has taken: its beat.
    Moved(u64),
    /// A submission that was handed over as a job.
    Job([u64; 8]),
    /// An answer to a job that the device has taken: which job, if any, and the beat.
    JobDone(Option<usize>, [u64; 2]),
    /// An interrupt of this vector.
    Interrupt(u8),
}

pub struct Bench {
    pub places: Places,
    pub model: Model,
    /// Gets the same inputs, and must give the same outputs.
    twin: Option<Model>,
    pub cycle: u64,
    registers: AxiLiteManager,
    outcome: Option<LiteOutcome>,
    queue_port: Axi4Subordinate,
    pub rings: TestMemory,
    lock_port: Axi4Subordinate,
    pub table: TestMemory,
    key_port: Axi4Subordinate,
    pub keys: TestMemory,
    index_port: Axi4Subordinate,
    index: TestMemory,
    commands: StreamSink<[u64; 3]>,
    ends: StreamSource<u64>,
    pub mover: Mover,
    jobs: StreamSink<[u64; 8]>,
    answers: StreamSource<[u64; 2]>,
    /// The jobs whose answers were not taken yet, in order.
    answering: VecDeque<Option<usize>>,
    pub worker: Worker,
    invalidations: StreamSource<u64>,
    interrupts: StreamSink<u8>,
    pub events: VecDeque<Event>,
    /// Stores to the rings that were answered, by queue.
    pub answered: [u64; 4],
    stop_clock: bool,
    /// The valid inputs of the last clock that was given.
    offered: Offered,
    /// Clocks that were not given.
    pub stopped: u64,
}

impl Bench {
    /// A device that has just been reset.
    pub fn new(config: &Config) -> Self {
        let Config { seed, stalls, .. } = *config;
        let (mut model, mut twin) = (dut::device(seed), dut::twin(seed));
        model.reset(4);
        twin.iter_mut().for_each(|twin| twin.reset(4));
        let places = Places::drawn(seed);
        let memory = |base, lines, errors: &ErrorInjection, salt| {
            TestMemory::new(TestMemoryConfig {
                base,
                lines,
                seed: seed ^ salt,
                latency: config.memory_latency,
                errors: errors.clone(),
            })
        };
        Bench {
            places,
            model,
            twin,
            cycle: 0,
            registers: AxiLiteManager::new("s_axil", LiteStalls::all(stalls), seed, TIMEOUT)
                .with_address_bits(16),
            outcome: None,
            queue_port: Axi4Subordinate::new(config.port("m_axi_queue")),
            rings: memory(places.rings, RINGS_LINES, &config.errors, 1),
            lock_port: Axi4Subordinate::new(config.port("m_axi_lock")),
            table: memory(places.table, 1 << TABLE_LOG2_BUCKETS, &ErrorInjection::None, 2),
            key_port: Axi4Subordinate::new(config.burst_port("m_axi_nichost")),
            keys: memory(places.keys, KEYS_LINES, &ErrorInjection::None, 3),
            index_port: Axi4Subordinate::new(config.burst_port("m_axi_nic")),
            index: memory(places.index, KEYS_LINES, &ErrorInjection::None, 4),
            commands: StreamSink::new("m_axis_move", stalls, seed, TIMEOUT),
            ends: StreamSource::new("s_axis_moved", stalls, seed, TIMEOUT),
            mover: Mover::new(config.moves, seed),
            jobs: StreamSink::new("m_axis_job", stalls, seed, TIMEOUT),
            answers: StreamSource::new("s_axis_jobdone", stalls, seed, TIMEOUT),
            answering: VecDeque::new(),
            worker: Worker::new(config.jobs, seed),
            invalidations: StreamSource::new("s_axis_inv", stalls, seed, TIMEOUT),
            interrupts: StreamSink::new("m_axis_irq", config.interrupt_stalls, seed, TIMEOUT),
            events: VecDeque::new(),
            answered: [0; 4],
            stop_clock: config.stop_clock,
            offered: Offered::default(),
            stopped: 0,
        }
    }

    /// One clock cycle.
    pub fn clock(&mut self) -> Result<(), String> {
        let cycle = self.cycle;
        self.drive();
        let outputs = self.model.outputs().clone();
        let broken = |fault: sim::bus::error::BusModelError| fault.to_string();
        let access = self.registers.sample(cycle, &register_pins(&outputs)).map_err(broken)?;
        self.outcome = access.or(self.outcome.take());
        self.queue_port.sample(cycle, &queue_pins(&outputs)).map_err(broken)?;
        let inputs = self.model.inputs();
        if inputs.m_axi_queue_bvalid && outputs.m_axi_queue_bready {
            self.answered[usize::from(inputs.m_axi_queue_bid)] += 1;
        }
        self.lock_port.sample(cycle, &lock_pins(&outputs)).map_err(broken)?;
        self.key_port.sample(cycle, &key_pins(&outputs)).map_err(broken)?;
        self.index_port.sample(cycle, &index_pins(&outputs)).map_err(broken)?;
        let command =
            StreamPins { tvalid: outputs.m_axis_move_tvalid, tdata: outputs.m_axis_move_tdata };
        if let Some(command) = self.commands.sample(cycle, &command).map_err(broken)? {
            self.mover.command(cycle, command)?;
            self.events.push_back(Event::Move(command));
        }
        let end = self.model.inputs().s_axis_moved_tdata;
        if self.ends.sample(cycle, outputs.s_axis_moved_tready).map_err(broken)? {
            self.events.push_back(Event::Moved(end));
        }
        let job = StreamPins { tvalid: outputs.m_axis_job_tvalid, tdata: outputs.m_axis_job_tdata };
        if let Some(job) = self.jobs.sample(cycle, &job).map_err(broken)? {
            self.worker.submission(cycle, job)?;
            self.events.push_back(Event::Job(job));
        }
        let answer = self.model.inputs().s_axis_jobdone_tdata;
        if self.answers.sample(cycle, outputs.s_axis_jobdone_tready).map_err(broken)? {
            let number = self.answering.pop_front().expect("one for each beat");
            self.events.push_back(Event::JobDone(number, answer));
        }
        self.invalidations.sample(cycle, outputs.s_axis_inv_tready).map_err(broken)?;
        let interrupt =
            StreamPins { tvalid: outputs.m_axis_irq_tvalid, tdata: outputs.m_axis_irq_tdata };
        if let Some(vector) = self.interrupts.sample(cycle, &interrupt).map_err(broken)? {
            self.events.push_back(Event::Interrupt(vector));
        }
        self.serve();
        self.edge(&outputs)?;
        self.cycle += 1;
        Ok(())
    }

    /// What stands behind the ports does its part of the cycle.
    fn serve(&mut self) {
        let cycle = self.cycle;
        while let Some(access) = self.queue_port.take_access() {
            self.events.push_back(Event::Access(access));
            self.rings.accept(cycle, access);
        }
        self.rings.answer_due(cycle, &mut self.queue_port);
        self.table.step(cycle, &mut self.lock_port);
        self.keys.step(cycle, &mut self.key_port);
        self.index.step(cycle, &mut self.index_port);
        while let Some(line) = self.table.take_invalidation() {
            self.invalidations.push(line);
        }
        while let Some(end) = self.mover.next_end(cycle) {
            self.ends.push(end);
        }
        while let Some((number, beat)) = self.worker.next_answer(cycle) {
            self.answering.push_back(Some(number));
            self.answers.push(beat);
        }
    }

    /// The clock edge, unless the device does without; checks that it may.
    fn edge(&mut self, before: &Outputs) -> Result<(), String> {
        let offered = offered(self.model.inputs());
        let quiet = before.idle_o && offered == self.offered;
        self.offered = offered;
        if quiet && self.stop_clock {
            self.stopped += 1;
            return Ok(());
        }
        self.model.try_clock().map_err(|failure| failure.to_string())?;
        self.clock_twin()?;
        let after = self.model.outputs();
        if quiet && (any_valid_out(after) || !after.idle_o) {
            return Err(format!("cycle {}: idle_o was high, and yet something began", self.cycle));
        }
        Ok(())
    }

    /// The clock edge of the twin.
    fn clock_twin(&mut self) -> Result<(), String> {
        let Some(twin) = &mut self.twin else { return Ok(()) };
        twin.inputs_mut().clone_from(self.model.inputs());
        twin.try_clock().map_err(|failure| format!("the twin: {failure}"))?;
        let (ours, twins) = (said(self.model.outputs()), said(twin.outputs()));
        if ours == twins {
            return Ok(());
        }
        Err(format!("cycle {}: outputs are {ours:x?}, the twin's {twins:x?}", self.cycle))
    }

    /// Says that copies of the line at this address are void.
    pub fn invalidate(&mut self, line: u64) {
        self.invalidations.push(line);
    }

    /// Answers a job that nobody has submitted.
    pub fn answer_nobody(&mut self, beat: [u64; 2]) {
        self.answering.push_back(None);
        self.answers.push(beat);
    }

    /// One register access to its end.
    pub fn access(&mut self, request: LiteRequest) -> Result<LiteOutcome, String> {
        self.registers.start(self.cycle, request);
        loop {
            self.clock()?; // The port's timeout bounds this loop.
            if let Some(outcome) = self.outcome.take() {
                return Ok(outcome);
            }
        }
    }

    /// Reads a register that must be there.
    pub fn read(&mut self, address: u32) -> Result<u32, String> {
        let request = LiteRequest::Read { address: address as u16 };
        self.access(request)?.map_err(|error| format!("read of {address:#06x}: {error}"))
    }

    /// Reads both halves of a counter.
    pub fn read64(&mut self, address: u32) -> Result<u64, String> {
        let low = self.read(address)?;
        Ok(u64::from(low) | u64::from(self.read(address + 4)?) << 32)
    }

    /// Writes a register that must take it.
    pub fn write(&mut self, address: u32, value: u32) -> Result<(), String> {
        let request = LiteRequest::Write { address: address as u16, value, strobe: 0xF };
        let outcome = self.access(request)?;
        outcome.map(drop).map_err(|error| format!("write to {address:#06x}: {error}"))
    }

    /// Writes both halves of a register.
    pub fn write64(&mut self, address: u32, value: u64) -> Result<(), String> {
        self.write(address, value as u32)?;
        self.write(address + 4, (value >> 32) as u32)
    }

    /// Sets the device's inputs of this cycle.
    fn drive(&mut self) {
        let cycle = self.cycle;
        let inputs = self.model.inputs_mut();
        set_register_pins(inputs, self.registers.drive(cycle));
        set_queue_pins(inputs, self.queue_port.drive(cycle));
        set_lock_pins(inputs, self.lock_port.drive(cycle));
        set_key_pins(inputs, self.key_port.drive(cycle));
        set_index_pins(inputs, self.index_port.drive(cycle));
        inputs.m_axis_move_tready = self.commands.drive(cycle);
        let end = self.ends.drive(cycle);
        (inputs.s_axis_moved_tvalid, inputs.s_axis_moved_tdata) = (end.tvalid, end.tdata);
        inputs.m_axis_job_tready = self.jobs.drive(cycle);
        let answer = self.answers.drive(cycle);
        (inputs.s_axis_jobdone_tvalid, inputs.s_axis_jobdone_tdata) = (answer.tvalid, answer.tdata);
        let beat = self.invalidations.drive(cycle);
        (inputs.s_axis_inv_tvalid, inputs.s_axis_inv_tdata) = (beat.tvalid, beat.tdata);
        inputs.m_axis_irq_tready = self.interrupts.drive(cycle);
    }
}

/// The valid signals among the inputs.
type Offered = [bool; 13];

fn offered(inputs: &Inputs) -> Offered {
    [
        inputs.s_axil_awvalid,
        inputs.s_axil_wvalid,
        inputs.s_axil_arvalid,
        inputs.m_axi_queue_bvalid,
        inputs.m_axi_queue_rvalid,
        inputs.m_axi_lock_bvalid,
        inputs.m_axi_lock_rvalid,
        inputs.m_axi_nichost_rvalid,
        inputs.m_axi_nic_bvalid,
        inputs.m_axi_nic_rvalid,
        inputs.s_axis_inv_tvalid,
        inputs.s_axis_moved_tvalid,
        inputs.s_axis_jobdone_tvalid,
    ]
}

fn any_valid_out(outputs: &Outputs) -> bool {
    outputs.s_axil_bvalid
        || outputs.s_axil_rvalid
        || outputs.m_axi_queue_awvalid
        || outputs.m_axi_queue_wvalid
        || outputs.m_axi_queue_arvalid
        || outputs.m_axi_lock_awvalid
        || outputs.m_axi_lock_wvalid
        || outputs.m_axi_lock_arvalid
        || outputs.m_axi_nichost_arvalid
        || outputs.m_axi_nic_awvalid
        || outputs.m_axi_nic_wvalid
        || outputs.m_axi_nic_arvalid
        || outputs.m_axis_netrsp_tvalid
        || outputs.m_axis_move_tvalid
        || outputs.m_axis_job_tvalid
        || outputs.m_axis_irq_tvalid
}

sim::axi_lite_port!(register_pins, set_register_pins of Inputs, Outputs);
sim::axi4_port!(queue_pins, set_queue_pins: m_axi_queue of Inputs, Outputs);
sim::axi4_port!(lock_pins, set_lock_pins: m_axi_lock of Inputs, Outputs);
sim::axi4_read_port!(key_pins, set_key_pins: m_axi_nichost of Inputs, Outputs);
sim::axi4_burst_port!(index_pins, set_index_pins: m_axi_nic of Inputs, Outputs,
    with awcache arcache);

/// The outputs, except for what stands at the register port while it has no answer: a block whose
/// clock stands still may show there what it showed last, which depends on the power-up.
fn said(outputs: &Outputs) -> Outputs {
    let mut said = outputs.clone();
    if !said.s_axil_rvalid {
        (said.s_axil_rdata, said.s_axil_rresp) = (0, 0);
    }
    if !said.s_axil_bvalid {
        said.s_axil_bresp = 0;
    }
    said
}
