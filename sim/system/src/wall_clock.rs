// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run in wall-clock time: host threads with real atomics, and the Verilated lock unit on its own
//! thread, share one table in memory, that of the store whose rows they update. A device behind a
//! driver can replace the unit that is clocked here.
//!
//! Nothing here is timed by a model: latencies are those of this machine and of the speed at which
//! it simulates the unit. The purpose is to find races that no model shows.

mod device;
mod host;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use driver::Device;
use locks::LockTable;
use parking_lot::Mutex;
use timing::Time;
use workloads::scenario::Scenario;

use self::device::{Clocked, Driven, UnitBehind, UnitThread};
use crate::device::DeviceContexts;
use crate::report::{Report, RowsReport, UnitReport};
use crate::rows::Rows;
use crate::workflow::{Command, Input, Next, Workflow};
use crate::world::{Ages, World};
use crate::{Interrupt, Options, Progress, RunError};

/// Time that the agents have to end their transactions after the last was begun.
const CLOSING: Duration = Duration::from_secs(20);

/// The longest that a run may continue without any transaction coming to its end. It decides when a
/// run is given up, never whether it is fast enough.
const IDLE: Duration = Duration::from_secs(60);

/// Between two looks at the interrupt and two reports of progress.
const BREATH: Duration = Duration::from_millis(5);

/// The shared data of all threads of the run.
struct Shared {
    /// The rows, and with them the lock table.
    rows: Arc<Rows>,
    world: Mutex<World>,
    began: Instant,
    /// Agents that have not ended.
    active: AtomicUsize,
    /// No transaction begins any more; those that only let time pass need not.
    closing: AtomicBool,
    /// The run has failed or takes too long: leave as you are.
    abandoned: AtomicBool,
}

impl Shared {
    /// Since the run began.
    fn now(&self) -> Time {
        Time::from_ns(self.began.elapsed().as_nanos() as u64)
    }

    fn table(&self) -> &LockTable {
        self.rows.database().lock_table()
    }

    fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    fn start(&self, agent: &mut Workflow) -> Next {
        let next = agent.start(self.now(), &mut self.lock_world());
        self.time(agent, next)
    }

    fn tell(&self, agent: &mut Workflow, input: Input) -> Next {
        let now = self.now();
        let next = agent.advance(input, now, &mut self.lock_world());
        self.time(agent, next)
    }

    /// A lock is asked for from now on: to find the row took its time, but is no part of the lock's.
    fn time(&self, agent: &mut Workflow, next: Next) -> Next {
        if matches!(next, Ok(Command::Acquire { .. })) {
            agent.asks_at(self.now());
        }
        next
    }

    fn lock_world(&self) -> parking_lot::MutexGuard<'_, World> {
        self.world.lock()
    }
}

pub(crate) fn run(
    scenario: &Scenario,
    options: &Options,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, RunError> {
    let (agents, rows) = Workflow::all(scenario, None)?;
    let watch = Watch { interrupt, progress, idle: IDLE };
    run_on(scenario, agents, rows, Unit::Clocked(options), watch)
}

/// As [`run`], with the lock unit of a device behind a driver.
pub(crate) fn run_on_device(
    scenario: &Scenario,
    device: &Device,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report, RunError> {
    let (unit, table) = Driven::new(device, scenario.table.buckets)?;
    let (agents, rows) = Workflow::all(scenario, Some(table))?;
    let unit = Unit::Driven(Box::new(unit));
    let watch = Watch { interrupt, progress, idle: IDLE };
    let report = run_on(scenario, agents, rows, unit, watch)?;
    Ok(Report { mode: "device", device_uri: Some(device.information().name.clone()), ..report })
}

/// Where the lock unit is.
enum Unit<'o> {
    /// In this process, clocked by the thread of the device's agents.
    Clocked(&'o Options),
    /// Behind a driver.
    Driven(Box<Driven>),
}

/// What looks after a run while its threads work.
struct Watch<'w> {
    interrupt: &'w Interrupt,
    progress: &'w mut dyn FnMut(Progress),
    /// As [`IDLE`].
    idle: Duration,
}

fn run_on(
    scenario: &Scenario,
    agents: Vec<Workflow>,
    rows: Arc<Rows>,
    unit: Unit<'_>,
    mut watch: Watch<'_>,
) -> Result<Report, RunError> {
    let (device, host): (Vec<_>, Vec<_>) = agents.into_iter().partition(Workflow::is_on_device);
    let contexts = DeviceContexts::new(scenario, &device)?;
    let (host_agents, device_agents) = (host.len() as u32, device.len() as u32);
    let shared = Shared {
        world: Mutex::new(World::new(scenario.table.buckets, Ages::Store(rows.database().clone()))),
        rows,
        began: Instant::now(),
        active: AtomicUsize::new(host.len() + device.len()),
        closing: AtomicBool::new(false),
        abandoned: AtomicBool::new(false),
    };
    let unit: Box<dyn UnitBehind> = match unit {
        Unit::Clocked(options) => Box::new(Clocked::new(shared.table(), options)?),
        Unit::Driven(unit) => unit,
    };
    let mut unit_thread = UnitThread::new(&shared, unit, device, contexts);
    let (unit, closed_at) = thread::scope(|scope| {
        let shared = &shared;
        let host = host.into_iter().map(|agent| scope.spawn(move || host::run(shared, agent)));
        let host: Vec<_> = host.collect();
        let unit = scope.spawn(move || unit_thread.run());
        let closed_at = watch.until_closed(scenario, shared, || unit.is_finished());
        let unit = unit.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let host = host
            .into_iter()
            .map(|agent| agent.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        // What a thread says of its own failure tells more than that others were stuck then.
        host.collect::<Result<(), _>>().and(unit).and_then(|unit| Ok((unit, closed_at?)))
    })?;
    check_table(shared.table())?;
    let rows = shared.rows.check(&shared.lock_world().ledger)?;
    Ok(report(scenario, shared, unit, rows, closed_at, (host_agents, device_agents)))
}

impl Watch<'_> {
    /// Ends the run in time. Returns when no transaction was begun any more.
    fn until_closed(
        &mut self,
        scenario: &Scenario,
        shared: &Shared,
        unit_has_ended: impl Fn() -> bool,
    ) -> Result<Duration, RunError> {
        let duration = scenario.stop.duration_ns.map(Duration::from_nanos);
        let mut closed_at = None;
        let (mut ended, mut ended_at) = (0, Duration::ZERO);
        while shared.active.load(Ordering::Acquire) > 0 {
            thread::sleep(BREATH);
            let elapsed = shared.began.elapsed();
            let done = duration.map_or(0.0, |duration| elapsed.div_duration_f64(duration).min(1.0));
            (self.progress)(Progress { done, simulated_ns: elapsed.as_nanos() as u64 });
            let over = duration.is_some_and(|duration| elapsed >= duration);
            if (over || self.interrupt.is_raised()) && closed_at.is_none() {
                shared.lock_world().closing = true;
                shared.closing.store(true, Ordering::Relaxed);
                closed_at = Some(elapsed);
            }
            if unit_has_ended() && shared.active.load(Ordering::Acquire) > 0 {
                // The unit's thread says why; nobody will serve the others any more.
                shared.abandon();
                break;
            }
            if closed_at.is_some_and(|closed| elapsed > closed + CLOSING) {
                shared.abandon();
                let since = format!("{CLOSING:?} after the last transaction was begun");
                return Err(stuck(shared, elapsed, &since));
            }
            let now_ended = shared.lock_world().ended();
            if now_ended != ended {
                (ended, ended_at) = (now_ended, elapsed);
            } else if closed_at.is_none() && elapsed > ended_at + self.idle {
                shared.abandon();
                let since = format!("{:?} after a transaction last came to its end", self.idle);
                return Err(stuck(shared, elapsed, &since));
            }
        }
        Ok(closed_at.unwrap_or_else(|| shared.began.elapsed()))
    }
}

fn stuck(shared: &Shared, elapsed: Duration, since: &str) -> RunError {
    let active = shared.active.load(Ordering::Relaxed);
    let taken = shared.table().buckets().iter().enumerate();
    let taken: Vec<String> = taken
        .filter(|(_, bucket)| bucket.line() != [0; 8])
        .map(|(index, bucket)| format!("bucket {index}: {:?}", bucket.head()))
        .collect();
    let waiting = format!("{active} agents have not ended {since}; {}", taken.join(", "));
    RunError::Stuck { simulated_ns: elapsed.as_nanos() as u64, waiting }
}

fn check_table(table: &LockTable) -> Result<(), RunError> {
    for (bucket, content) in (0..).zip(table.buckets()) {
        let line = content.line();
        if line != [0; 8] {
            return Err(RunError::LeftBehind { bucket, line });
        }
    }
    Ok(())
}

fn report(
    scenario: &Scenario,
    shared: Shared,
    unit: UnitReport,
    rows: RowsReport,
    closed_at: Duration,
    (host_agents, device_agents): (u32, u32),
) -> Report {
    let world = shared.world.into_inner();
    let duration_ns = closed_at.as_nanos() as u64;
    Report {
        scenario: scenario.name.clone(),
        platform: scenario.platform.clone(),
        mode: "wall-clock",
        device_uri: None,
        seed: scenario.seed,
        duration_ns,
        host: world.host.finish(host_agents, duration_ns),
        device: world.device.finish(device_agents, duration_ns),
        queue: world.queue,
        rows,
        coherence: None,
        unit: Some(unit),
    }
}
