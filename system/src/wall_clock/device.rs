//! The Verilated lock unit on a thread of its own, with its memory accesses made by real atomics.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use lockdb::machine::{Access, Answer};
use lockdb::{Bucket, Slot, Table, WaitsFor};
use sim::bus::BusError;
use sim::bus::axi4::{AccessKind, MemoryAccess, MemoryAnswer, MemoryData};
use sim::kernel::Time;
use sim::lock_unit::{UnitConfig, UnitUnderTest};
use sim::models::TupleLockUnit;
use sim::system::{SystemError, TABLE_BASE};

use super::Shared;
use crate::device::DeviceContexts;
use crate::report::UnitReport;
use crate::workflow::{Command, Input, Workflow};
use crate::{Options, RunError};

/// Clock cycles between two looks at the agents' timers and at the lines whose copies are kept.
const CYCLES_AT_ONCE: u64 = 16;

/// The longest, in picoseconds, that the unit may keep a request without any answer.
const UNIT_PATIENCE: u64 = 10_000_000_000_000;

pub(super) struct UnitThread<'s> {
    shared: &'s Shared,
    unit: UnitUnderTest<TupleLockUnit>,
    agents: Vec<Workflow>,
    contexts: DeviceContexts,
    /// When an agent is to be woken.
    timers: Vec<Option<u64>>,
    /// Agents that think, hold or back off, which ends when the run closes.
    sleeping: Vec<bool>,
    /// Lines of which the unit keeps a copy: bucket and the head that was read. No bus tells us
    /// when a host thread writes one, so we look.
    copies: BTreeMap<usize, u64>,
}

impl<'s> UnitThread<'s> {
    pub fn new(
        shared: &'s Shared,
        agents: Vec<Workflow>,
        contexts: DeviceContexts,
        options: &Options,
    ) -> Result<Self, RunError> {
        let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
        let log2_buckets = shared.table().buckets().len().trailing_zeros();
        let started = driver::LockUnit::new(&mut unit).start(TABLE_BASE, log2_buckets);
        started.map_err(SystemError::Device)?;
        options.open_waves(unit.model_mut())?;
        let timers = vec![None; agents.len()];
        let sleeping = vec![false; agents.len()];
        Ok(Self { shared, unit, agents, contexts, timers, sleeping, copies: BTreeMap::new() })
    }

    /// Runs until all agents have ended, those of the host too: they may wait for ours.
    pub fn run(&mut self) -> Result<UnitReport, RunError> {
        for agent in 0..self.agents.len() {
            let command = self.shared.start(&mut self.agents[agent])?;
            self.carry_out(agent, command)?;
        }
        while self.shared.active.load(Ordering::Acquire) > 0 && !self.shared.is_abandoned() {
            self.wake_agents()?;
            self.look_at_copies();
            if let Some(silence) = self.contexts.silence(self.shared.now(), UNIT_PATIENCE) {
                return Err(silence);
            }
            for _ in 0..CYCLES_AT_ONCE {
                self.clock()?;
            }
        }
        self.finish()
    }

    fn finish(&mut self) -> Result<UnitReport, RunError> {
        let cycles = self.unit.cycle();
        self.unit.model_mut().close_waves();
        let counters = driver::LockUnit::new(&mut self.unit).counters();
        Ok(UnitReport::new(cycles, &counters.map_err(SystemError::Device)?))
    }

    fn clock(&mut self) -> Result<(), RunError> {
        let time = Time::from_ps(self.shared.now());
        self.unit.clock().map_err(|fault| SystemError::Bus { time, fault })?;
        while let Some(access) = self.unit.take_access() {
            let outcome = perform(self.shared.table(), &access);
            if let (AccessKind::ReadLine { keep_copy: true }, Ok(MemoryData::Line(line))) =
                (access.kind, &outcome)
            {
                self.keep_copy(access.address, line[0]);
            }
            self.unit.answer(&MemoryAnswer { id: access.id, outcome });
        }
        while let Some(response) = self.unit.take_response() {
            if let Some((agent, input)) = self.contexts.responded(&response) {
                self.tell(agent, input)?;
            }
        }
        Ok(())
    }

    fn tell(&mut self, agent: usize, input: Input) -> Result<(), RunError> {
        let command = self.shared.tell(&mut self.agents[agent], input)?;
        self.carry_out(agent, command)
    }

    fn carry_out(&mut self, agent: usize, command: Command) -> Result<(), RunError> {
        self.timers[agent] = None;
        self.sleeping[agent] = matches!(command, Command::Sleep(_));
        match command {
            Command::Sleep(until) | Command::Wait { until: Some(until) } => {
                self.timers[agent] = Some(until);
            }
            Command::Wait { until: None } => {}
            Command::Rest => {
                self.shared.active.fetch_sub(1, Ordering::Release);
            }
            Command::Search { transaction } => {
                let graph = WaitsFor::read(self.shared.table().buckets());
                self.tell(agent, Input::Searched(graph.cycle_through(transaction)))?;
            }
            Command::Write => {
                self.agents[agent].write()?;
                self.tell(agent, Input::Written)?;
            }
            command => {
                let request = self.contexts.request(agent, command, self.shared.now());
                self.unit.request(request);
            }
        }
        Ok(())
    }

    fn wake_agents(&mut self) -> Result<(), RunError> {
        let now = self.shared.now();
        for agent in 0..self.agents.len() {
            let due = self.timers[agent].is_some_and(|until| until <= now);
            if due || self.sleeping[agent] && self.shared.is_closing() {
                self.tell(agent, Input::Woken)?;
            }
        }
        Ok(())
    }

    /// The unit reads a line and means to keep it, for one of its waiters. Copies of the same line
    /// that other waiters keep may be older than this one.
    fn keep_copy(&mut self, address: u64, head: u64) {
        let bucket = ((address - TABLE_BASE) / 64) as usize;
        let older = self.copies.insert(bucket, head);
        if older.is_some_and(|older| older != head) {
            self.unit.invalidate(address);
        }
    }

    fn look_at_copies(&mut self) {
        let buckets = self.shared.table().buckets();
        let unit = &mut self.unit;
        self.copies.retain(|&bucket, &mut head| {
            let valid = buckets[bucket].head().word() == head;
            if !valid {
                unit.invalidate(TABLE_BASE + 64 * bucket as u64);
            }
            valid
        });
    }
}

/// Makes an access of the unit on the table.
fn perform(table: &Table, access: &MemoryAccess) -> Result<MemoryData, BusError> {
    let offset = access.address.wrapping_sub(TABLE_BASE);
    let index = (offset / 64) as usize;
    let bucket: &Bucket = table.buckets().get(index).ok_or(BusError::DecodeError)?;
    let word = (offset / 8 % 8) as u8;
    let answer = match access.kind {
        AccessKind::ReadLine { .. } => bucket.perform(Access::ReadLine),
        AccessKind::CompareSwap { expected, new } => {
            bucket.perform(Access::CompareSwap { word, expected, new })
        }
        AccessKind::Store { value: 0, strobe: 0xFF } => {
            let slot = Slot::new(word).ok_or(BusError::SubordinateError)?;
            bucket.perform(Access::Clear(slot))
        }
        // The protocol has no other stores.
        AccessKind::Store { .. } => return Err(BusError::SubordinateError),
    };
    Ok(match answer {
        Answer::Line(line) => MemoryData::Line(line),
        Answer::Word(old) => MemoryData::OldWord(old),
        Answer::Cleared => MemoryData::Stored,
        Answer::BusError => return Err(BusError::SubordinateError),
    })
}
