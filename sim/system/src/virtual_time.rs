// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run in virtual time: every agent's workflow, on the simulated machine.

pub(crate) mod host;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use locks::{Timestamp, WaitsFor};
use sim::bus::axi4::Axi4Config;
use sim::lock_unit::UnitConfig;
use sim::models::TupleLockUnit;
use sim::system::{Event, System, SystemConfig, SystemError};
use timing::Time;
use timing::platform::{Platform, Side as PlatformSide};
use workloads::scenario::{Home, Scenario};

use crate::device::DeviceContexts;
use crate::report::{CoherenceReport, Report, UnitReport};
use crate::rows::Rows;
use crate::workflow::{Command, Input, Workflow};
use crate::world::{Ages, World};
use crate::{Interrupt, Options, Progress, RunError};
use host::HostThreads;

/// Virtual time that the agents have to end their transactions after the last was begun.
const CLOSING: Time = Time::from_ns(50_000_000);

/// The longest that the lock unit may keep a request without any answer: many times what 255
/// rounds over the link take.
const UNIT_TIMEOUT: Time = Time::from_ns(10_000_000);

/// Virtual time is 64 bits of picoseconds; a run that comes here fails.
const END_OF_TIME: Time = Time::from_ps(1 << 62);

/// Buckets of the largest table in virtual time. The model keeps each line, its directory entry
/// and the state of its copies.
const MOST_BUCKETS: u64 = 1 << 24;

/// Events between two looks at the interrupt and two reports of progress.
const BREATH: u64 = 4096;

pub(crate) fn run(
    scenario: &Scenario,
    platform: Platform,
    options: &Options,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, RunError> {
    let mut run = Run::new(scenario, platform, options)?;
    run.start()?;
    run.run_out(interrupt, progress)?;
    run.finish(scenario)
}

struct Run {
    system: System<TupleLockUnit>,
    world: World,
    rows: Arc<Rows>,
    agents: Vec<Workflow>,
    /// Bumped with every command, so that a timer of an earlier one is known as stale.
    generations: Vec<u32>,
    /// Agents that think, hold or back off, which ends when the run closes.
    sleeping: Vec<bool>,
    host: HostThreads,
    device: DeviceContexts,
    stop_at: Option<Time>,
    /// When no transaction was begun any more.
    closed_at: Option<Time>,
    planned: u64,
    /// Its name.
    platform: String,
}

/// The timer that ends the run: no agent has this number.
const STOP_TIMER: u64 = u64::MAX;

impl Run {
    fn new(scenario: &Scenario, platform: Platform, options: &Options) -> Result<Self, RunError> {
        let (agents, rows) = Workflow::all(scenario, None)?;
        let device = DeviceContexts::new(scenario, &agents)?;
        let home = match scenario.table.home {
            Home::Host => PlatformSide::Host,
            Home::Device => PlatformSide::Device,
        };
        let timeout = 1_000_000;
        let memory = Axi4Config { timeout, ..Axi4Config::lock_unit(scenario.seed) };
        let unit = UnitConfig { memory, timeout, ..UnitConfig::smooth() };
        let buckets = scenario.table.buckets;
        if buckets > MOST_BUCKETS {
            let expected = format!("at most {MOST_BUCKETS} (1 GiB) in virtual time");
            return Err(scenario.reject("table.buckets", expected).into());
        }
        let name = platform.name.clone();
        let config = SystemConfig { platform, buckets, home: Some(home), unit };
        let mut system = System::new(TupleLockUnit::new(), &config)?;
        options.open_waves(system.unit_mut().model_mut())?;
        Ok(Self {
            host: HostThreads::new(on_cores(&agents, system.host_cores())),
            device,
            world: World::new(buckets, Ages::Counted(0)),
            rows,
            generations: vec![0; agents.len()],
            sleeping: vec![false; agents.len()],
            stop_at: scenario.stop.duration_ns.map(Time::from_ns),
            closed_at: None,
            planned: agents.iter().filter_map(Workflow::left).sum(),
            system,
            agents,
            platform: name,
        })
    }

    fn start(&mut self) -> Result<(), RunError> {
        if let Some(stop_at) = self.stop_at {
            self.system.at(stop_at, STOP_TIMER);
        }
        for agent in 0..self.agents.len() {
            let now = self.system.now();
            let command = self.agents[agent].start(now, &mut self.world)?;
            self.carry_out(agent, command)?;
        }
        Ok(())
    }

    fn run_out(
        &mut self,
        interrupt: &Interrupt,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), RunError> {
        let mut events = 0u64;
        while self.agents.iter().any(|agent| !agent.is_idle()) {
            let Some(event) = self.system.advance()? else {
                // Whatever was asked will never be answered.
                return Err(self.silence(Time::ZERO).unwrap_or_else(|| self.stuck()));
            };
            if self.system.now() >= END_OF_TIME {
                let at_work = self.agents.iter().filter(|agent| !agent.is_idle());
                let left = at_work.map(|agent| 1 + agent.left().unwrap_or(0)).sum();
                return Err(RunError::EndOfTime { left });
            }
            self.handle(event)?;
            events += 1;
            if events.is_multiple_of(BREATH) {
                progress(self.progress());
                if interrupt.is_raised() {
                    self.close()?;
                }
                if let Some(silence) = self.silence(UNIT_TIMEOUT) {
                    return Err(silence);
                }
            }
            if self.closed_at.is_some_and(|closed| self.system.now() > closed + CLOSING) {
                return Err(self.silence(UNIT_TIMEOUT).unwrap_or_else(|| self.stuck()));
            }
        }
        self.close()
    }

    fn silence(&self, timeout: Time) -> Option<RunError> {
        self.device.silence(self.system.now(), timeout)
    }

    fn handle(&mut self, event: Event) -> Result<(), RunError> {
        match event {
            Event::Timer(STOP_TIMER) => self.close()?,
            Event::Timer(timer) => {
                let (agent, generation) = ((timer >> 32) as usize, timer as u32);
                if self.generations[agent] == generation {
                    self.tell(agent, Input::Woken)?;
                }
            }
            Event::Answered { ticket, answer, .. } => {
                let agent = ticket as usize;
                let input = self.host.answered(&mut self.system, agent, answer);
                if let Some(input) = input {
                    self.tell(agent, input)?;
                }
            }
            Event::LineChanged { core, bucket } => {
                self.host.line_changed(&mut self.system, core, bucket);
            }
            Event::Word { .. } => unreachable!("a scenario has no shared words"),
            Event::Response(response) => {
                if let Some((agent, input)) = self.device.responded(&response)? {
                    self.tell(agent, input)?;
                }
            }
        }
        Ok(())
    }

    /// Tells an agent the outcome of its command, and carries out the next.
    fn tell(&mut self, agent: usize, input: Input) -> Result<(), RunError> {
        let now = self.system.now();
        let command = self.agents[agent].advance(input, now, &mut self.world)?;
        self.carry_out(agent, command)
    }

    fn carry_out(&mut self, agent: usize, command: Command) -> Result<(), RunError> {
        self.generations[agent] = self.generations[agent].wrapping_add(1);
        self.sleeping[agent] = matches!(command, Command::Sleep(_));
        match command {
            Command::Sleep(until) | Command::Wait { until: Some(until) } => {
                let timer = (agent as u64) << 32 | u64::from(self.generations[agent]);
                self.system.at(until.min(END_OF_TIME), timer);
            }
            Command::Wait { until: None } | Command::Idle => {}
            Command::Search { transaction } => {
                let cycle = self.search(transaction);
                self.tell(agent, Input::Searched(cycle))?;
            }
            // Takes no virtual time: the time that it takes is part of the hold.
            Command::Write => {
                self.agents[agent].write()?;
                self.tell(agent, Input::Written)?;
            }
            _ if self.agents[agent].is_on_device() => {
                let now = self.system.now();
                self.system.request(self.device.request(agent, command, now));
            }
            _ => self.host.carry_out(&mut self.system, agent, command),
        }
        Ok(())
    }

    /// Reads the buckets with waiters. Takes no virtual time.
    fn search(&self, transaction: Timestamp) -> Option<Vec<Timestamp>> {
        let mut graph = WaitsFor::default();
        for &bucket in self.world.waited_in.keys() {
            graph.add(&self.system.line(bucket));
        }
        graph.cycle_through(transaction)
    }

    /// No transaction begins any more; those that only let time pass need not.
    fn close(&mut self) -> Result<(), RunError> {
        if self.closed_at.is_some() {
            return Ok(());
        }
        self.closed_at = Some(self.system.now());
        self.world.closing = true;
        for agent in 0..self.agents.len() {
            if self.sleeping[agent] {
                self.tell(agent, Input::Woken)?;
            }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        let now = self.system.now();
        let by_time = self.stop_at.map_or(0.0, |stop| now.as_ns_f64() / stop.as_ns_f64());
        let left: u64 = self.agents.iter().filter_map(Workflow::left).sum();
        let by_count = match self.planned {
            0 => 0.0,
            planned => 1.0 - left as f64 / planned as f64,
        };
        Progress { done: by_time.max(by_count).min(1.0), simulated_ns: now.as_ns() }
    }

    fn stuck(&self) -> RunError {
        let who = self.agents.iter().enumerate().filter(|(_, agent)| !agent.is_idle());
        let waiting: Vec<String> =
            who.map(|(index, agent)| format!("agent {index}: {}", agent.describe())).collect();
        RunError::Stuck { simulated_ns: self.system.now().as_ns(), waiting: waiting.join("; ") }
    }

    /// No request holds or waits any more, so the table must be as empty as it was.
    fn check_table(&self, buckets: u64) -> Result<(), RunError> {
        (0..buckets).try_for_each(|bucket| match self.system.line(bucket) {
            [0, 0, 0, 0, 0, 0, 0, 0] => Ok(()),
            line => Err(RunError::LeftBehind { bucket, line }),
        })
    }

    fn finish(mut self, scenario: &Scenario) -> Result<Report, RunError> {
        self.drain()?;
        self.check_table(scenario.table.buckets)?;
        self.system.unit_mut().model_mut().close_waves();
        let end = self.closed_at.unwrap_or(self.system.now());
        let duration_ns = end.as_ns();
        let device_agents = self.agents.iter().filter(|agent| agent.is_on_device()).count() as u32;
        let host_agents = self.agents.len() as u32 - device_agents;
        let coherence = CoherenceReport::new(&self.system.traffic());
        let unit = unit_report(&mut self.system)?;
        // Their pages are vacuum's then.
        drop(self.agents);
        let rows = self.rows.check(&self.world.ledger)?;
        Ok(Report {
            scenario: scenario.name.clone(),
            platform: self.platform,
            mode: "virtual",
            device_uri: None,
            seed: scenario.seed,
            duration_ns,
            host: self.world.host.finish(host_agents, duration_ns),
            device: self.world.device.finish(device_agents, duration_ns),
            queue: self.world.queue,
            rows,
            coherence: Some(coherence),
            unit: Some(unit),
        })
    }

    /// Lets the last stores of the unit arrive.
    fn drain(&mut self) -> Result<(), RunError> {
        while let Some(event) = self.system.advance()? {
            if !matches!(event, Event::Timer(_)) {
                self.handle(event)?;
            }
        }
        Ok(())
    }
}

/// The agents of the host, dealt out over its cores.
fn on_cores(agents: &[Workflow], cores: u32) -> impl Iterator<Item = (usize, u32)> {
    let on_host = agents.iter().enumerate().filter(|(_, agent)| !agent.is_on_device());
    on_host.enumerate().map(move |(worker, (agent, _))| (agent, worker as u32 % cores))
}

fn unit_report(system: &mut System<TupleLockUnit>) -> Result<UnitReport, RunError> {
    let cycles = system.unit_mut().cycle();
    let counters = driver::LockUnit::new(system.unit_mut()).counters();
    Ok(UnitReport::new(Some(cycles), &counters.map_err(SystemError::Device)?))
}
