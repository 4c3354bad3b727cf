// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's agents, all on one thread, and the lock unit that carries out what they ask for.

mod clocked;
mod driven;

use std::sync::atomic::Ordering;

use driver::lock_unit::stream::{UnitRequest, UnitResponse};
use locks::WaitsFor;
use timing::Time;

pub(super) use clocked::Clocked;
pub(super) use driven::Driven;

use super::Shared;
use crate::RunError;
use crate::device::DeviceContexts;
use crate::report::UnitReport;
use crate::workflow::{Command, Input, Workflow};

/// The longest that the unit may keep a request without any answer.
const UNIT_TIMEOUT: Time = Time::from_us(10_000_000);

/// The lock unit as the agents' thread meets it: clocked by that thread, or behind a driver.
pub(super) trait UnitBehind: Send {
    /// Hands a request over. Requests reach the unit in this order.
    fn request(&mut self, request: UnitRequest) -> Result<(), RunError>;

    /// Lets the unit work, or looks at what it has done, for a moment, at this time of the
    /// run. Gives its next response, if there is one by then.
    fn work(&mut self, now: Time) -> Result<Option<UnitResponse>, RunError>;

    /// The unit's counters after the last response.
    fn finish(&mut self) -> Result<UnitReport, RunError>;
}

pub(super) struct UnitThread<'s> {
    shared: &'s Shared,
    unit: Box<dyn UnitBehind + 's>,
    agents: Vec<Workflow>,
    contexts: DeviceContexts,
    /// When an agent is to be woken.
    timers: Vec<Option<Time>>,
    /// Agents that think, hold or back off, which ends when the run closes.
    sleeping: Vec<bool>,
}

impl<'s> UnitThread<'s> {
    pub fn new(
        shared: &'s Shared,
        unit: Box<dyn UnitBehind + 's>,
        agents: Vec<Workflow>,
        contexts: DeviceContexts,
    ) -> Self {
        let timers = vec![None; agents.len()];
        let sleeping = vec![false; agents.len()];
        Self { shared, unit, agents, contexts, timers, sleeping }
    }

    /// Runs until all agents have ended, those of the host too: they may wait for ours.
    pub fn run(&mut self) -> Result<UnitReport, RunError> {
        for agent in 0..self.agents.len() {
            let command = self.shared.start(&mut self.agents[agent])?;
            self.carry_out(agent, command)?;
        }
        while self.shared.active.load(Ordering::Acquire) > 0 && !self.shared.is_abandoned() {
            self.wake_agents()?;
            let now = self.shared.now();
            if let Some(silence) = self.contexts.silence(now, UNIT_TIMEOUT) {
                return Err(silence);
            }
            if let Some(response) = self.unit.work(now)?
                && let Some((agent, input)) = self.contexts.responded(&response)?
            {
                self.tell(agent, input)?;
            }
        }
        self.unit.finish()
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
            Command::Idle => {
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
                self.unit.request(request)?;
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
}
