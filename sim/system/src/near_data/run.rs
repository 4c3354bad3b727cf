// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run: the loop over what happens, and the checks at its end.

use std::collections::BTreeMap;

use lockdb::device_reader::DeviceError;
use locks::Timestamp;
use ndp_runtime::program::{CompileError, EvaluationError, compile_update};
use sim::lock_unit::UnitConfig;
use sim::models::TupleLockUnit;
use sim::system::{Event, System, SystemConfig, SystemError};
use timing::Time;
use workloads::zipf::RowSampler;

use super::commit::ADDED;
use super::cores::Cores;
use super::device::{JobDone, SimulatedDevice};
use super::host_path::HostPath;
use super::log::Log;
use super::machine::{Gate, Machine};
use super::near::{How, NearUpdate};
use super::report::{LongReport, Outcome, ShortReport};
use super::short::{Draws, Short};
use super::table::{TableShape, YcsbTable};
use super::timer::Timer;
use super::{Beside, Keys, Setup, Strategy};
use crate::RunError;
use crate::virtual_time::host::HostThreads;
use crate::workflow::Input;

/// The long update's age: it is the oldest, so that no transaction that meets it waits for it.
const OLDEST: Timestamp = Timestamp::new(1).expect("not 0");

/// The timer that ends a run of short updates alone.
const STOP: u64 = (1 << 55) - 1;

/// Why a run could not be made, or did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum NearDataError {
    /// The platform does not say what the run needs.
    #[error("platform {platform} has no [{table}], expected one that executes near-data jobs")]
    Incomplete {
        /// Its name.
        platform: String,
        /// The missing part.
        table: &'static str,
    },
    /// The simulated machine failed.
    #[error(transparent)]
    System(#[from] SystemError),
    /// The store failed, or the locks have not protected a row.
    #[error("the store: {0}")]
    Store(#[from] lockdb::Error),
    /// Storage and shared state do not belong together.
    #[error("the device: {0}")]
    Device(#[from] DeviceError),
    /// The update does not fit the table.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A row cannot be evaluated.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// A check at the end.
    #[error(transparent)]
    Check(#[from] RunError),
}

/// Makes a run. `progress` receives the virtual time from time to time.
///
/// # Errors
/// When the platform does not do, or something does not come to its end, or a check fails.
pub fn run(setup: &Setup, progress: &mut dyn FnMut(Time)) -> Result<Outcome, NearDataError> {
    let mut run = Run::new(setup)?;
    run.warm_up(progress)?;
    let outcome = run.measure(progress)?;
    run.drain()?;
    run.check()?;
    Ok(outcome)
}

enum Long {
    Near(Box<NearUpdate>),
    HostPath(Box<HostPath>),
}

struct Run<'a> {
    setup: &'a Setup,
    machine: Machine,
    shorts: Vec<Short>,
    draws: Draws,
    long: Option<Long>,
    /// The outcome of the long update, once it has ended.
    ended: Option<LongReport>,
    stopped: bool,
}

impl<'a> Run<'a> {
    fn new(setup: &'a Setup) -> Result<Self, NearDataError> {
        let incomplete =
            |table| NearDataError::Incomplete { platform: setup.platform.name.clone(), table };
        let near = setup.platform.near_data.clone().ok_or_else(|| incomplete("near_data"))?;
        let store = setup.platform.host_store.clone().ok_or_else(|| incomplete("host_store"))?;
        let Setup { rows, fields, regions, seed, .. } = *setup;
        let mut table = YcsbTable::new(TableShape { rows, fields, regions, seed })?;
        let update = compile_update(
            table.table.id(),
            table.table.schema(),
            Some("region = 0"),
            &format!("balance = balance + {ADDED}, writes = writes + 1"),
        )?;
        // Few short updates meet the long one's locks only because they share a bucket with them.
        let buckets = (8 * rows).next_power_of_two();
        let config = SystemConfig {
            platform: setup.platform.clone(),
            buckets,
            home: None,
            unit: UnitConfig::smooth(),
        };
        let system = System::with_words(TupleLockUnit::new(), &config, &table.vid_map())?;
        let (cores, workers) = (system.host_cores(), setup.workers);
        let threads = match setup.beside {
            Beside::Update(Strategy::HostPath { threads }) => threads,
            _ => 1,
        };
        // The long update's threads, from the last core down.
        let last = (0..threads).map(|thread| cores - 1 - thread % cores);
        let core_of: Vec<u32> = (0..workers).map(|worker| worker % cores).chain(last).collect();
        let payload = table.payload(table.vid(0))?.len() as u64;
        let vids = table.table.vids() as usize;
        let machine = Machine {
            system,
            cores: Cores::new(cores),
            threads: HostThreads::new(core_of.iter().copied().enumerate()),
            core_of,
            table,
            device: SimulatedDevice::new(&near),
            log: Log::new(&store, setup.durable),
            store,
            update,
            payload,
            buckets,
            ledger: vec![(0, 0); vids],
            unpublished: BTreeMap::new(),
            gate: Gate::default(),
            committed: 0,
            turned_away: 0,
            closing: false,
        };
        let sampler = match setup.keys {
            Keys::Uniform => RowSampler::uniform(rows),
            Keys::Zipf { exponent } => RowSampler::scrambled_zipf(rows, exponent, setup.seed),
        };
        let without = setup.other_rows.then_some(0);
        let shorts = (0..workers as usize).map(|agent| Short::new(agent, seed)).collect();
        let draws = Draws { sampler, without, transactions: 1 };
        Ok(Self { setup, machine, shorts, draws, long: None, ended: None, stopped: false })
    }

    fn warm_up(&mut self, progress: &mut dyn FnMut(Time)) -> Result<(), NearDataError> {
        for short in &mut self.shorts {
            short.begin(&mut self.machine, &mut self.draws);
        }
        let warm_up = self.setup.warm_up;
        self.advance(progress, &mut |run| run.machine.committed >= warm_up)
    }

    /// The part of the run that counts.
    fn measure(&mut self, progress: &mut dyn FnMut(Time)) -> Result<Outcome, NearDataError> {
        let began = self.machine.now();
        let before = (self.machine.committed, self.machine.turned_away);
        let workers = self.shorts.len();
        match self.setup.beside {
            Beside::Nothing(length) => {
                self.machine.system.at(began + length, Timer::Long(STOP).encode());
                self.advance(progress, &mut |run| run.stopped)?;
            }
            Beside::Update(Strategy::HostPath { threads }) => {
                let agents: Vec<usize> = (workers..workers + threads as usize).collect();
                let path = HostPath::begin(&mut self.machine, &agents, OLDEST)?;
                self.long = Some(Long::HostPath(Box::new(path)));
                self.advance(progress, &mut |run| run.ended.is_some())?;
            }
            Beside::Update(strategy) => {
                let how = How {
                    locks_table: strategy == Strategy::TableLock,
                    verified: self.setup.verified,
                    durable: self.setup.durable,
                };
                let update = NearUpdate::begin(&mut self.machine, (workers, OLDEST), how)?;
                self.long = Some(Long::Near(Box::new(update)));
                self.advance(progress, &mut |run| run.ended.is_some())?;
            }
        }
        let committed = self.machine.committed - before.0;
        let seconds = (self.machine.now() - began).as_ns_f64() * 1e-9;
        let short = ShortReport {
            committed,
            turned_away: self.machine.turned_away - before.1,
            per_second: committed as f64 / seconds,
        };
        Ok(Outcome { long: self.ended.take(), short })
    }

    fn advance(
        &mut self,
        progress: &mut dyn FnMut(Time),
        until: &mut dyn FnMut(&Self) -> bool,
    ) -> Result<(), NearDataError> {
        let mut events = 0u64;
        while !until(self) {
            let Some(event) = self.machine.system.advance()? else {
                return Err(self.stuck());
            };
            self.handle(event)?;
            events += 1;
            if events.is_multiple_of(1 << 14) {
                progress(self.machine.now());
            }
        }
        Ok(())
    }

    /// Lets what is under way come to its end.
    fn drain(&mut self) -> Result<(), NearDataError> {
        self.machine.closing = true;
        while let Some(event) = self.machine.system.advance()? {
            self.handle(event)?;
        }
        match self.shorts.iter().all(Short::is_idle) && self.long.is_none() {
            true => Ok(()),
            false => Err(self.stuck()),
        }
    }

    fn stuck(&self) -> NearDataError {
        let waiting = format!("{} workers and the long update", self.shorts.len());
        let simulated_ns = self.machine.now().as_ns();
        RunError::Stuck { simulated_ns, waiting }.into()
    }

    fn handle(&mut self, event: Event) -> Result<(), NearDataError> {
        let machine = &mut self.machine;
        match event {
            Event::Timer(timer) => self.timer(Timer::decode(timer))?,
            Event::Answered { ticket, answer, .. } => {
                let agent = ticket as usize;
                let input = machine.threads.answered(&mut machine.system, agent, answer);
                if let Some(input) = input {
                    self.locked(agent, &input)?;
                }
            }
            Event::LineChanged { core, bucket } => {
                machine.threads.line_changed(&mut machine.system, core, bucket);
            }
            Event::Word { ticket, value } => match Machine::whose_word(ticket) {
                Ok(agent) => self.word_done(agent)?,
                Err(slot) => {
                    let done = machine.device.loaded(&mut machine.system, slot, value);
                    self.job_done(done)?;
                }
            },
            Event::Response(response) => {
                let done = machine.device.responded(&mut machine.system, &response);
                self.job_done(done)?;
            }
        }
        self.look_at_the_gate()
    }

    fn timer(&mut self, timer: Timer) -> Result<(), NearDataError> {
        let machine = &mut self.machine;
        let ended = match (timer, &mut self.long) {
            (Timer::Long(STOP), _) => {
                self.stopped = true;
                false
            }
            (Timer::Agent(agent), _) if (agent as usize) < self.shorts.len() => {
                self.shorts[agent as usize].worked(machine)?;
                false
            }
            (Timer::Agent(_), Some(Long::Near(near))) => near.worked(machine)?,
            (Timer::Agent(agent), Some(Long::HostPath(path))) => {
                path.worked(machine, agent as usize)?
            }
            (Timer::Long(_), Some(Long::Near(near))) => near.timer(machine)?,
            (Timer::Long(timer), Some(Long::HostPath(path))) => path.timer(machine, timer)?,
            (Timer::Device(timer), _) => {
                let done = machine.device.timer(&mut machine.system, timer);
                self.job_done(done)?;
                false
            }
            (timer, None) => unreachable!("{timer:?} belongs to no update"),
        };
        self.end_if(ended)
    }

    fn locked(&mut self, agent: usize, input: &Input) -> Result<(), NearDataError> {
        let machine = &mut self.machine;
        let ended = match (self.shorts.get_mut(agent), &mut self.long) {
            (Some(short), _) => {
                short.locked(machine, &mut self.draws, input)?;
                false
            }
            (None, Some(Long::Near(near))) => near.locked(machine, input)?,
            (None, Some(Long::HostPath(path))) => path.locked(machine, agent, input)?,
            (None, None) => unreachable!("{input:?} belongs to no update"),
        };
        self.end_if(ended)
    }

    fn word_done(&mut self, agent: usize) -> Result<(), NearDataError> {
        let machine = &mut self.machine;
        let ended = match (self.shorts.get_mut(agent), &mut self.long) {
            (Some(short), _) => {
                short.published(machine, &mut self.draws);
                false
            }
            (None, Some(Long::Near(near))) => near.word_done(machine)?,
            (None, Some(Long::HostPath(path))) => path.word_done(machine),
            (None, None) => unreachable!("a word was accessed for no update"),
        };
        self.end_if(ended)
    }

    fn job_done(&mut self, done: Option<JobDone>) -> Result<(), NearDataError> {
        match (done, &mut self.long) {
            (Some(done), Some(Long::Near(near))) => near.job_done(&mut self.machine, done),
            (Some(_), _) => unreachable!("a job belongs to an update"),
            (None, _) => Ok(()),
        }
    }

    fn end_if(&mut self, ended: bool) -> Result<(), NearDataError> {
        if !ended {
            return Ok(());
        }
        let machine = &mut self.machine;
        machine.gate.closed = false;
        self.ended = self.long.take().map(|long| match long {
            Long::Near(near) => near.report(machine),
            Long::HostPath(path) => path.report(machine),
        });
        for agent in std::mem::take(&mut self.machine.gate.waiting) {
            self.shorts[agent].begin(&mut self.machine, &mut self.draws);
        }
        Ok(())
    }

    fn look_at_the_gate(&mut self) -> Result<(), NearDataError> {
        let empty = self.machine.gate.closed && self.machine.gate.inside == 0;
        match &mut self.long {
            Some(Long::Near(near)) if empty => near.gate_empty(&mut self.machine),
            _ => Ok(()),
        }
    }

    /// Every row is what the committed updates have made of it, no lock is left, and the shared VID
    /// map is the store's.
    fn check(&mut self) -> Result<(), NearDataError> {
        let machine = &mut self.machine;
        for row in 0..machine.table.rows() {
            let vid = machine.table.vid(row);
            let newest = machine.table.newest(vid)?;
            let (added, writes) = machine.ledger[vid as usize];
            let wrong =
                |what, found, expected| Err(RunError::WrongRow { row, what, found, expected });
            let expected = machine.table.initial_balance(row) + added;
            if newest.balance != expected {
                wrong("balance", newest.balance, expected)?;
            }
            if newest.writes != writes || i64::from(newest.number) != writes + 1 {
                wrong("number of versions", i64::from(newest.number), writes + 1)?;
            }
            let (word, head) = (machine.system.word(vid.into()), newest.head.word());
            if word != head {
                wrong("word in the shared VID map", word.cast_signed(), head.cast_signed())?;
            }
        }
        for bucket in 0..machine.buckets {
            let line = machine.system.line(bucket);
            if line != [0; 8] {
                return Err(RunError::LeftBehind { bucket, line }.into());
            }
        }
        Ok(())
    }
}
