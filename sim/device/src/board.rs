// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated top with its surroundings on a board: host memory behind its memory ports, the card's
//! memory behind another, the data mover, the job engine, and interrupt messages. No network is connected.

mod pins;
mod port;

use std::io;
use std::path::Path;
use std::sync::Arc;

use driver::HostMemory;
use lockstep_device_model::{Inputs, Model};
use sim::bus::axi_lite::{AxiLiteManager, LiteOutcome, LiteRequest, LiteStalls};
use sim::bus::axi_stream::{StreamSink, StreamSource};
use sim::bus::axi4::{Axi4Config, IdSharing, describe_id};
use sim::bus::error::BusModelError;
use sim::bus::pins::StreamPins;
use sim::bus::stall::StallPattern;
use sim::lock_unit::KeptCopies;
use sim::models::WaveWindow;

use crate::address_space::AddressSpace;
use crate::jobs::Inbox;
use crate::memory::Mapping;
use crate::mover::{Command, Mover, Surroundings};
use crate::msix::Msix;
use port::MemoryPort;
pub(crate) use port::perform;

/// Clock cycles of a reset.
const RESET_CYCLES: u32 = 4;

/// Cycles after which a handshake or an answer that does not come is an error of the RTL.
const TIMEOUT: u64 = 10_000;

/// Cycles without any handshake after which the RTL waits for nothing but its copies.
const QUIET_CYCLES: u64 = 64;

/// The host's memory as the function may reach it now.
#[derive(Clone, Copy)]
pub(crate) struct Reach<'a> {
    /// What its addresses mean.
    pub space: &'a AddressSpace,
    /// Whether AtomicOps may be requested.
    pub atomics: bool,
}

/// What the RTL reaches through its ports in a cycle.
pub(crate) struct World<'a> {
    /// The host's memory; `None`: out of reach, as the function is no bus master.
    pub host: Option<Reach<'a>>,
    /// Where its interrupts go.
    pub msix: &'a mut Msix,
    /// Where its jobs go.
    pub jobs: &'a Inbox,
}

/// The RTL, its bus models, and the card's memory.
pub(crate) struct Board {
    model: Model,
    ports: Ports,
    /// The end of the register access under way.
    outcome: Option<LiteOutcome>,
    copies: KeptCopies,
    mover: Mover,
    card: Arc<HostMemory>,
    card_mapping: Mapping,
    cycle: u64,
    /// The last cycle in which anything happened on a port.
    active: u64,
}

/// The outputs of the RTL in a cycle.
struct Came {
    /// A command for a copy.
    command: Option<[u64; 3]>,
    /// A submission of the job queue.
    job: Option<[u64; 8]>,
    /// An interrupt.
    vector: Option<u8>,
}

/// The bus models: one generation of theirs lasts from reset to reset.
struct Ports {
    registers: AxiLiteManager,
    queue: MemoryPort<pins::Queue>,
    lock: MemoryPort<pins::Lock>,
    keys: MemoryPort<pins::Keys>,
    index: MemoryPort<pins::Index>,
    invalidations: StreamSource<u64>,
    moves: StreamSink<[u64; 3]>,
    moved: StreamSource<u64>,
    answers: StreamSource<[u64; 2]>,
    interrupts: StreamSink<u8>,
}

impl Ports {
    fn new() -> Self {
        let memory = |port: &str| Axi4Config { port: port.into(), ..Axi4Config::lock_unit(0) };
        let queue =
            Axi4Config { sharing: IdSharing::Several, describe_id, ..memory("m_axi_queue") };
        let source = |name| StreamSource::new(name, StallPattern::None, 0, TIMEOUT);
        let registers = AxiLiteManager::new("s_axil", LiteStalls::default(), 0, TIMEOUT);
        Self {
            registers: registers.with_address_bits(16),
            queue: MemoryPort::new(queue),
            lock: MemoryPort::new(memory("m_axi_lock")),
            keys: MemoryPort::new(Axi4Config::bursts("m_axi_nichost", 0)),
            index: MemoryPort::new(Axi4Config::bursts("m_axi_nic", 0)),
            invalidations: source("s_axis_inv"),
            moves: StreamSink::new("m_axis_move", StallPattern::None, 0, TIMEOUT),
            // Held back for as long as software leaves a completion ring full.
            moved: StreamSource::new("s_axis_moved", StallPattern::None, 0, u64::MAX),
            answers: StreamSource::new("s_axis_jobdone", StallPattern::None, 0, u64::MAX),
            interrupts: StreamSink::new("m_axis_irq", StallPattern::None, 0, TIMEOUT),
        }
    }
}

impl Board {
    /// A board after power-up, with this memory on its card.
    pub fn new(card: Arc<HostMemory>) -> Self {
        let mut board = Self {
            model: Model::new(),
            ports: Ports::new(),
            outcome: None,
            copies: KeptCopies::default(),
            mover: Mover::default(),
            card_mapping: Mapping::of_memory(card.clone()),
            card,
            cycle: 0,
            active: 0,
        };
        board.reset();
        board
    }

    /// Opens an FST file for the clock cycles of `window`, counted with those of resets. It is
    /// complete when the board is dropped.
    ///
    /// # Errors
    /// Of the file system, with the path.
    pub fn open_waves(&mut self, path: &Path, window: WaveWindow) -> io::Result<()> {
        self.model.open_waves(path, window)
    }

    /// Resets the RTL, and drops all that is under way around it.
    pub fn reset(&mut self) {
        *self.model.inputs_mut() = Inputs::default();
        self.model.reset(RESET_CYCLES);
        self.ports = Ports::new();
        self.outcome = None;
        self.copies.clear();
        self.mover.abort();
        self.active = self.cycle;
    }

    /// The card's memory.
    pub fn card(&self) -> &Arc<HostMemory> {
        &self.card
    }

    /// Puts other memory on the card.
    pub fn replace_card(&mut self, card: Arc<HostMemory>) {
        self.card_mapping = Mapping::of_memory(card.clone());
        self.card = card;
    }

    /// Clock cycles since power-up.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// `cycles` clock cycles of the model alone, with none of its ports looked at: the floor of
    /// what a cycle costs.
    pub fn toggle_only(&mut self, cycles: u64) {
        self.model.toggle_only(cycles);
    }

    /// Whether nothing is under way that could continue, and nothing happens until an input
    /// changes: the clock may stop. The end of a copy waits while a completion ring is full, for
    /// software.
    pub fn is_idle(&self) -> bool {
        self.model.outputs().idle_o && !self.is_at_work()
    }

    /// Whether visible progress continues; otherwise the RTL is idle, or becomes idle.
    pub fn is_at_work(&self) -> bool {
        !self.mover.is_idle()
            || !self.ports.queue.is_quiet()
            || !self.ports.lock.is_quiet()
            || !self.ports.keys.is_quiet()
            || !self.ports.index.is_quiet()
            || self.ports.invalidations.backlog() > 0
            || self.ports.moved.backlog() > 0 && self.model.outputs().s_axis_moved_tready
            || self.ports.answers.backlog() > 0 && self.model.outputs().s_axis_jobdone_tready
    }

    /// Whether the RTL waits for nothing but copies under way.
    pub fn waits_for_copies(&self) -> bool {
        !self.mover.is_idle() && self.cycle - self.active > QUIET_CYCLES
    }

    /// Whether the lock unit keeps copies of lines, which have to be watched.
    pub fn keeps_copies(&self) -> bool {
        !self.copies.is_empty()
    }

    /// Looks whether the lines whose copies are kept have changed, and tells the lock unit.
    pub fn look_at_copies(&mut self, host: Option<Reach<'_>>) {
        let invalidations = &mut self.ports.invalidations;
        let head = |line| host.and_then(|host| host.space.load(line).ok());
        self.copies.look(head, |line| invalidations.push(line));
    }

    /// Moves one chunk of a copy, if any is open.
    pub fn move_chunk(&mut self, host: Option<Reach<'_>>) {
        let card_bytes = self.card.bytes() as u64;
        let host = host.map(|host| host.space);
        let surroundings = Surroundings { host, card: &self.card_mapping, card_bytes };
        if let Some(moved) = self.mover.chunk(&surroundings) {
            self.ports.moved.push(moved.encode());
        }
    }

    /// Answers a job: words 0 and 1 of its completion, as `s_axis_jobdone` has them.
    pub fn answer_job(&mut self, beat: [u64; 2]) {
        self.ports.answers.push(beat);
    }

    /// One register access, clocked to its end.
    ///
    /// # Errors
    /// As [`Board::clock`]; the port's timeout bounds the wait.
    pub fn access(
        &mut self,
        request: LiteRequest,
        world: &mut World<'_>,
    ) -> Result<LiteOutcome, BusModelError> {
        self.ports.registers.start(self.cycle, request);
        loop {
            self.clock(world)?;
            if let Some(outcome) = self.outcome.take() {
                return Ok(outcome);
            }
        }
    }

    /// One clock cycle.
    ///
    /// # Errors
    /// When the RTL breaks a rule of a bus, a wait has lasted too long, or an assertion fails; then
    /// only a reset helps.
    #[inline]
    pub fn clock(&mut self, world: &mut World<'_>) -> Result<(), BusModelError> {
        let cycle = self.cycle;
        let Came { command, job, vector } = self.exchange()?;
        self.model.try_clock()?;
        self.cycle += 1;
        let Ports { queue, lock, keys, index, invalidations, moved, .. } = &mut self.ports;
        queue.serve(cycle, world.host, |_, _| {});
        lock.serve(cycle, world.host, |line, head| {
            if self.copies.keep(line, head) {
                invalidations.push(line);
            }
        });
        keys.serve_bursts(cycle, &world.host);
        index.serve_bursts(cycle, &self.card_mapping);
        if let Some(beat) = command {
            let refused = self.mover.begin(Command::decode(beat), self.card.bytes() as u64);
            if let Some(end) = refused {
                moved.push(end.encode());
            }
        }
        if let Some(job) = job {
            world.jobs.submit(job);
        }
        if let Some(vector) = vector {
            world.msix.raise(vector);
        }
        Ok(())
    }

    /// Drives all inputs of this cycle and takes all outputs in.
    #[inline]
    fn exchange(&mut self) -> Result<Came, BusModelError> {
        let cycle = self.cycle;
        let (inputs, outputs) = self.model.pins_mut();
        let ports = &mut self.ports;
        let mut active = ports.queue.cycle(cycle, inputs, outputs)?;
        active |= ports.lock.cycle(cycle, inputs, outputs)?;
        active |= ports.keys.cycle(cycle, inputs, outputs)?;
        active |= ports.index.cycle(cycle, inputs, outputs)?;

        active |= ports.registers.busy();
        pins::set_register_pins(inputs, ports.registers.drive(cycle));
        let ended = ports.registers.sample(cycle, &pins::register_pins(outputs))?;
        self.outcome = ended.or(self.outcome);

        let beat = ports.invalidations.drive(cycle);
        (inputs.s_axis_inv_tvalid, inputs.s_axis_inv_tdata) = (beat.tvalid, beat.tdata);
        active |= ports.invalidations.sample(cycle, outputs.s_axis_inv_tready)?;
        let beat = ports.moved.drive(cycle);
        (inputs.s_axis_moved_tvalid, inputs.s_axis_moved_tdata) = (beat.tvalid, beat.tdata);
        active |= ports.moved.sample(cycle, outputs.s_axis_moved_tready)?;

        let (tvalid, tdata) = (outputs.m_axis_move_tvalid, outputs.m_axis_move_tdata);
        inputs.m_axis_move_tready = ports.moves.drive(cycle);
        let command = ports.moves.sample(cycle, &StreamPins { tvalid, tdata })?;
        // Always taken, so that there is nothing to be watched while none comes.
        inputs.m_axis_job_tready = true;
        let job = outputs.m_axis_job_tvalid.then_some(outputs.m_axis_job_tdata);
        if ports.answers.backlog() > 0 || inputs.s_axis_jobdone_tvalid {
            let beat = ports.answers.drive(cycle);
            (inputs.s_axis_jobdone_tvalid, inputs.s_axis_jobdone_tdata) = (beat.tvalid, beat.tdata);
            active |= ports.answers.sample(cycle, outputs.s_axis_jobdone_tready)?;
        }
        let (tvalid, tdata) = (outputs.m_axis_irq_tvalid, outputs.m_axis_irq_tdata);
        inputs.m_axis_irq_tready = ports.interrupts.drive(cycle);
        let vector = ports.interrupts.sample(cycle, &StreamPins { tvalid, tdata })?;
        if active || command.is_some() || job.is_some() || vector.is_some() {
            self.active = cycle;
        }
        Ok(Came { command, job, vector })
    }
}
