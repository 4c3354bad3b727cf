// SPDX-License-Identifier: MIT OR Apache-2.0
//! The behaviour of one agent, as a pure machine: begin, lock the rows, hold, write, commit or
//! abort, release, and repeat.
//!
//! The runner carries out the [`Command`]s, on the host or on the device, in virtual or wall-clock
//! time, and reports the results as [`Input`]s. Times are since the beginning of the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use locks::machine::{Refusal, Rule};
use locks::{Policy, SharedMemory, Suspicion, Timestamp, TupleKey};
use tables::hash::scatter;
use timing::Time;
use workloads::scenario::{AgentSettings, LockOrder, Scenario, Side, Span};

use crate::RunError;
use crate::plan::{Operation, Pause, Plan, Source};
use crate::report::Aborts;
use crate::rows::{Client, Rows};
use crate::world::World;

/// The runner's next action for this agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Give [`Input::Woken`] at this time.
    Sleep(Time),
    /// Ask for a lock.
    Acquire { transaction: Timestamp, key: TupleKey, bucket: u64, rule: Rule },
    /// Go on waiting for the lock asked for; give [`Input::Woken`] at this time if it has not come.
    Wait { until: Option<Time> },
    /// Look for a cycle of waiting through this transaction: [`Input::Searched`].
    Search { transaction: Timestamp },
    /// Take the lock asked for out of its queue.
    Cancel,
    /// Let the agent write its rows, with [`Workflow::write`]: [`Input::Written`].
    Write,
    /// Give back the lock of this tuple, and of all others that share its bucket.
    Release { transaction: Timestamp, key: TupleKey, bucket: u64 },
    /// Nothing, forever.
    Idle,
}

/// What an agent does next, unless the run has failed.
pub(crate) type Next = Result<Command, RunError>;

/// The outcome of the last command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// The time has come.
    Woken,
    /// The lock was granted.
    Granted { again: bool },
    /// The request waits.
    Queued { position: u8 },
    /// The request was refused.
    Refused(Refusal),
    /// The request has left the queue.
    Cancelled,
    /// The rows were written and committed.
    Written,
    /// The lock was given back.
    Released,
    /// The search's result: each waits for the next, the last for the first.
    Searched(Option<Vec<Timestamp>>),
    /// The request ended with a bus error.
    Failed,
}

/// Why a try is aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Refused(Refusal),
    TimedOut,
    Deadlock,
    OutOfOrder,
    BusError,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Committed,
    AbortedByWish,
    Aborted(Cause),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Before a transaction, or before it is tried again.
    Pausing,
    /// Before a step.
    Stepping,
    Locking(Asked),
    Waiting(Asked),
    Cancelling(Asked, Cause),
    Writing,
    Releasing {
        since: Time,
        then: AfterRelease,
    },
    Idle,
}

/// A lock that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Asked {
    key: TupleKey,
    bucket: u64,
    at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AfterRelease {
    /// There may be more to give back.
    SameStep,
    NextStep,
    End(Ending),
}

/// One agent.
#[derive(Debug)]
pub(crate) struct Workflow {
    device: bool,
    settings: AgentSettings,
    order: LockOrder,
    /// Of the scenario, for the back-off.
    seed: u64,
    source: Source,
    plan: Plan,
    step: usize,
    transaction: Option<Timestamp>,
    /// Orders transactions by age.
    age: u64,
    attempts: u32,
    /// Buckets held, with the tuples that they are held for.
    held: BTreeMap<u64, Vec<TupleKey>>,
    /// Its way to the rows.
    client: Client,
    state: State,
    suspicion: Suspicion,
}

impl Workflow {
    /// An agent that will begin when it is first woken.
    fn new(
        device: bool,
        settings: AgentSettings,
        (order, seed): (LockOrder, u64),
        source: Source,
        client: Client,
    ) -> Self {
        Self {
            device,
            settings,
            order,
            seed,
            source,
            plan: Plan { pause: Pause::After(Time::ZERO), steps: Vec::new() },
            step: 0,
            transaction: None,
            age: 0,
            attempts: 0,
            held: BTreeMap::new(),
            client,
            state: State::Idle,
            suspicion: Suspicion::default(),
        }
    }

    /// All agents of a scenario, in their order, and the rows that they share. In wall-clock time
    /// their lock table stands in `lock_memory`, if there is any.
    ///
    /// # Errors
    /// When the scenario's trace cannot be replayed, or its rows do not go into memory.
    pub fn all(
        scenario: &Scenario,
        lock_memory: Option<Arc<dyn SharedMemory>>,
    ) -> Result<(Vec<Self>, Arc<Rows>), RunError> {
        let sources = Source::all(scenario)?;
        let rows = Arc::new(Rows::new(scenario, &sources, lock_memory)?);
        let agent = |(side, source)| {
            let device = matches!(side, Side::Device { .. });
            let settings = if device { &scenario.device.agents } else { &scenario.host.agents };
            let client = Client::new(rows.clone())?;
            let common = (scenario.lock_order, scenario.seed);
            Ok(Self::new(device, settings.clone(), common, source, client))
        };
        let agents = scenario.agents().zip(sources).map(agent);
        Ok((agents.collect::<Result<_, RunError>>()?, rows))
    }

    /// Whether it runs on the device.
    pub fn is_on_device(&self) -> bool {
        self.device
    }

    /// Whether it has ended for good.
    pub fn is_idle(&self) -> bool {
        self.state == State::Idle
    }

    /// How many transactions are to come after the present one, if that is known.
    pub fn left(&self) -> Option<u64> {
        self.source.left()
    }

    /// Its current activity, for messages.
    pub fn describe(&self) -> String {
        let asked = |what: &str, asked: &Asked| {
            format!("{what} bucket {} since {} ns", asked.bucket, asked.at.as_ns())
        };
        let state = match &self.state {
            State::Pausing => "pauses between transactions".into(),
            State::Stepping => "lets time pass in a transaction".into(),
            State::Locking(lock) => asked("has asked for", lock),
            State::Waiting(lock) => asked("waits in the queue of", lock),
            State::Cancelling(lock, _) => asked("leaves the queue of", lock),
            State::Writing => "writes its rows".into(),
            State::Releasing { since, .. } => {
                format!("gives a lock back since {} ns", since.as_ns())
            }
            State::Idle => "has ended".into(),
        };
        let side = if self.device { "device" } else { "host" };
        let held: Vec<u64> = self.held.keys().copied().collect();
        format!("on the {side}, {state}, holds buckets {held:?}")
    }

    /// The first command.
    ///
    /// # Errors
    /// When the store fails.
    pub fn start(&mut self, now: Time, world: &mut World) -> Next {
        self.next_transaction(now, world)
    }

    /// The lock that the last command asks for is asked for at this time.
    pub fn asks_at(&mut self, now: Time) {
        if let State::Locking(asked) = &mut self.state {
            asked.at = now;
        }
    }

    /// Carries out [`Command::Write`]: writes the rows that the transaction has locked, and commits.
    ///
    /// # Errors
    /// When the locks have not protected them, or the store fails.
    pub fn write(&mut self) -> Result<(), RunError> {
        let amount = 1 + self.age % 100;
        self.client.write(amount as i64)
    }

    /// Takes the outcome of the last command; gives the next.
    ///
    /// # Errors
    /// When the store fails.
    ///
    /// # Panics
    /// When the input does not answer the last command.
    pub fn advance(&mut self, input: Input, now: Time, world: &mut World) -> Next {
        match (self.state, input) {
            (State::Pausing, Input::Woken) => self.begin(now, world),
            (State::Stepping, Input::Woken) => self.make_step(now, world),
            (State::Locking(asked), Input::Granted { again }) => {
                self.count_grant(asked, again, false, now, world);
                self.granted(asked, now, world)
            }
            (State::Locking(asked), Input::Queued { position }) => {
                world.waits(asked.bucket);
                if !world.closing {
                    world.queue.enter(position);
                    let side = world.side(self.device);
                    side.report.queued += 1;
                    side.report.conflicts += 1;
                }
                Ok(self.wait(asked, now))
            }
            (State::Locking(_), Input::Refused(refusal)) => {
                world.side(self.device).report.conflicts += u64::from(!world.closing);
                self.abort(Cause::Refused(refusal), now, world)
            }
            (State::Waiting(asked) | State::Cancelling(asked, _), Input::Granted { again }) => {
                world.waits_no_more(asked.bucket);
                self.count_grant(asked, again, true, now, world);
                self.granted(asked, now, world)
            }
            (State::Waiting(asked), Input::Woken) => Ok(self.time_out(asked)),
            (State::Waiting(asked), Input::Searched(cycle)) => Ok(self.searched(asked, cycle, now)),
            (State::Cancelling(asked, cause), Input::Cancelled) => {
                world.waits_no_more(asked.bucket);
                self.abort(cause, now, world)
            }
            (State::Waiting(asked) | State::Cancelling(asked, _), Input::Failed) => {
                world.waits_no_more(asked.bucket);
                self.abort(Cause::BusError, now, world)
            }
            (State::Locking(_), Input::Failed) => self.abort(Cause::BusError, now, world),
            (State::Writing, Input::Written) => {
                world.ledger.enter(self.client.written());
                self.end(Ending::Committed, now, world)
            }
            (State::Releasing { since, then }, Input::Released | Input::Failed) => {
                if !world.closing {
                    world.side(self.device).release.record(now - since);
                }
                self.released(then, now, world)
            }
            (state, input) => panic!("{input:?} does not answer {state:?}"),
        }
    }

    fn next_transaction(&mut self, now: Time, world: &mut World) -> Next {
        let plan = if world.closing { None } else { self.source.next_plan() };
        let Some(plan) = plan else {
            self.state = State::Idle;
            return Ok(Command::Idle);
        };
        self.plan = plan;
        (self.transaction, self.attempts) = (None, 0);
        self.state = State::Pausing;
        Ok(Command::Sleep(at(self.plan.pause, now)))
    }

    /// Begins a try. A transaction that wait-die refused keeps its age, so that it lives in the
    /// end; others come back as new ones.
    fn begin(&mut self, now: Time, world: &mut World) -> Next {
        if world.closing {
            self.state = State::Idle;
            return Ok(Command::Idle);
        }
        if self.attempts == 0 {
            world.side(self.device).report.started += 1;
        }
        if self.attempts == 0 || self.settings.wait != Policy::WaitDie {
            self.age = world.next_age();
        }
        // 256 tries on, the first's timestamp is long forgotten.
        let timestamp = Timestamp::of_attempt(self.age, self.attempts as u8);
        self.transaction = Some(timestamp.expect("no run has 2^40 transactions"));
        self.attempts += 1;
        self.step = 0;
        if self.order == LockOrder::Bucket {
            self.sort_by_bucket(world)?;
        }
        self.before_step(now, world)
    }

    fn before_step(&mut self, now: Time, world: &mut World) -> Next {
        let time = at(self.plan.steps[self.step].0, now);
        if time <= now || world.closing {
            return self.make_step(now, world);
        }
        self.state = State::Stepping;
        Ok(Command::Sleep(time))
    }

    fn make_step(&mut self, now: Time, world: &mut World) -> Next {
        match self.plan.steps[self.step].1 {
            Operation::LockLatest(row) => {
                let newest = self.client.newest(row)?;
                self.ask_latest(newest.key, now, world)
            }
            Operation::LockVersion(key) => Ok(self.ask(key, now, world)),
            Operation::Unlock(key) => self.unlock(key, AfterRelease::NextStep, now, world),
            Operation::UnlockRow(row) => {
                let mut keys = self.held.values().flatten();
                match keys.find(|key| key.vid == row).copied() {
                    Some(key) => self.unlock(key, AfterRelease::SameStep, now, world),
                    None => {
                        self.step += 1;
                        self.before_step(now, world)
                    }
                }
            }
            Operation::Commit if self.client.has_work() => {
                self.state = State::Writing;
                Ok(Command::Write)
            }
            Operation::Commit => self.end(Ending::Committed, now, world),
            Operation::Abort => self.end(Ending::AbortedByWish, now, world),
        }
    }

    fn transaction(&self) -> Timestamp {
        self.transaction.expect("a transaction that has begun has a timestamp")
    }

    fn ask(&mut self, key: TupleKey, now: Time, world: &World) -> Command {
        let bucket = world.bucket_of(key);
        let rule = self.settings.wait.rule();
        self.state = State::Locking(Asked { key, bucket, at: now });
        Command::Acquire { transaction: self.transaction(), key, bucket, rule }
    }

    /// Asks for a row's latest version. Where the order of buckets is to prevent deadlock, a version
    /// that came since the try began can lie in a bucket that should have been locked before.
    fn ask_latest(&mut self, key: TupleKey, now: Time, world: &mut World) -> Next {
        let bucket = world.bucket_of(key);
        let in_order = self.order == LockOrder::Workload
            || self.held.contains_key(&bucket)
            || self.held.last_key_value().is_none_or(|(&last, _)| last < bucket);
        match in_order {
            true => Ok(self.ask(key, now, world)),
            false => self.abort(Cause::OutOfOrder, now, world),
        }
    }

    fn wait(&mut self, asked: Asked, now: Time) -> Command {
        self.state = State::Waiting(asked);
        let length = match self.settings.wait {
            Policy::WaitsFor { every } => Some(every.as_nanos() as u64),
            _ => self.settings.timeout_ns,
        };
        let until = length.map(|ns| now.saturating_add(Time::saturating_from_ns(ns)));
        Command::Wait { until }
    }

    fn time_out(&mut self, asked: Asked) -> Command {
        if matches!(self.settings.wait, Policy::WaitsFor { .. }) {
            return Command::Search { transaction: self.transaction() };
        }
        self.state = State::Cancelling(asked, Cause::TimedOut);
        Command::Cancel
    }

    fn searched(&mut self, asked: Asked, cycle: Option<Vec<Timestamp>>, now: Time) -> Command {
        let Some(cycle) = cycle else { return self.wait(asked, now) };
        if !self.suspicion.is_ours_to_break(cycle, self.transaction()) {
            return self.wait(asked, now);
        }
        self.state = State::Cancelling(asked, Cause::Deadlock);
        Command::Cancel
    }

    fn count_grant(
        &mut self,
        asked: Asked,
        again: bool,
        waited: bool,
        now: Time,
        world: &mut World,
    ) {
        if world.closing {
            return;
        }
        let side = world.side(self.device);
        side.report.locks += 1;
        side.report.granted_again += u64::from(again);
        let recorder = if waited { &mut side.wait } else { &mut side.acquire };
        recorder.record(now - asked.at);
    }

    /// The lock is ours. If the row has a new version by now, that one is locked too: the
    /// transaction "is now aware of the updates … continues and requests a lock for t_v2" (ccSLT
    /// paper, section 3, "Protocol").
    fn granted(&mut self, asked: Asked, now: Time, world: &mut World) -> Next {
        world.holds(asked.bucket, self.transaction())?;
        self.held.entry(asked.bucket).or_default().push(asked.key);
        let (row, latest) = match self.plan.steps[self.step].1 {
            Operation::LockLatest(row) => (row, true),
            _ => (asked.key.vid, false),
        };
        let newest = self.client.newest(row)?;
        if latest && newest.key != asked.key {
            return self.ask_latest(newest.key, now, world);
        }
        self.client.hold(row, asked.key, newest);
        self.step += 1;
        self.before_step(now, world)
    }

    fn unlock(&mut self, key: TupleKey, then: AfterRelease, now: Time, world: &mut World) -> Next {
        self.client.let_go(key);
        let bucket = world.bucket_of(key);
        let keys = self.held.get_mut(&bucket).expect("traces unlock what they have locked");
        keys.retain(|&held| held != key);
        if !keys.is_empty() {
            return self.released(then, now, world);
        }
        self.held.remove(&bucket);
        self.release(key, bucket, then, now, world)
    }

    fn release(
        &mut self,
        key: TupleKey,
        bucket: u64,
        then: AfterRelease,
        now: Time,
        world: &mut World,
    ) -> Next {
        world.lets_go(bucket);
        self.state = State::Releasing { since: now, then };
        Ok(Command::Release { transaction: self.transaction(), key, bucket })
    }

    fn released(&mut self, then: AfterRelease, now: Time, world: &mut World) -> Next {
        match then {
            AfterRelease::SameStep => self.make_step(now, world),
            AfterRelease::NextStep => {
                self.step += 1;
                self.before_step(now, world)
            }
            AfterRelease::End(ending) => self.end(ending, now, world),
        }
    }

    fn abort(&mut self, cause: Cause, now: Time, world: &mut World) -> Next {
        self.end(Ending::Aborted(cause), now, world)
    }

    /// Releases what is still held, one bucket after the other, then ends.
    fn end(&mut self, ending: Ending, now: Time, world: &mut World) -> Next {
        if let Some((bucket, keys)) = self.held.pop_first() {
            return self.release(keys[0], bucket, AfterRelease::End(ending), now, world);
        }
        self.client.forget();
        let attempts = self.settings.attempts;
        let counted = !world.closing;
        let side = world.side(self.device);
        match ending {
            Ending::Committed => side.report.committed += u64::from(counted),
            Ending::AbortedByWish => side.aborts().own += u64::from(counted),
            Ending::Aborted(cause) => {
                *cause_count(side.aborts(), cause) += u64::from(counted);
                if self.attempts < attempts {
                    self.state = State::Pausing;
                    return Ok(Command::Sleep(at(Pause::After(self.backoff()), now)));
                }
                side.aborts().given_up += u64::from(counted);
            }
        }
        self.next_transaction(now, world)
    }

    /// If all agents lock in the order of buckets, no cycle can close. (A row's bucket changes
    /// with its version; it is the latest one's when the try begins.)
    fn sort_by_bucket(&mut self, world: &World) -> Result<(), RunError> {
        let client = &mut self.client;
        let ending = self.plan.steps.pop().expect("a plan has an end");
        let mut steps = Vec::with_capacity(self.plan.steps.len());
        for step in self.plan.steps.drain(..) {
            let key = match step.1 {
                Operation::LockLatest(row) => client.newest(row)?.key,
                Operation::LockVersion(key) | Operation::Unlock(key) => key,
                Operation::UnlockRow(_) => unreachable!("a replay keeps the order of its trace"),
                Operation::Commit | Operation::Abort => unreachable!("only the last step ends"),
            };
            steps.push((world.bucket_of(key), step));
        }
        steps.sort_by_key(|(bucket, _)| *bucket);
        self.plan.steps.extend(steps.into_iter().map(|(_, step)| step));
        self.plan.steps.push(ending);
        Ok(())
    }

    /// Spread by seed, timestamp and try, so that conflicting agents diverge.
    fn backoff(&self) -> Time {
        let Span { least, most } = self.settings.backoff_ns;
        let mixed = scatter(self.transaction().get() ^ scatter(self.seed));
        Time::saturating_from_ns(least + mixed % (most - least + 1))
    }
}

fn cause_count(aborts: &mut Aborts, cause: Cause) -> &mut u64 {
    match cause {
        Cause::Refused(Refusal::Full) => &mut aborts.full,
        Cause::Refused(Refusal::Contended) => &mut aborts.contended,
        Cause::Refused(Refusal::Die | Refusal::Busy) => &mut aborts.died,
        Cause::TimedOut => &mut aborts.timed_out,
        Cause::Deadlock => &mut aborts.deadlock,
        Cause::OutOfOrder => &mut aborts.out_of_order,
        Cause::BusError => &mut aborts.bus_error,
    }
}

fn at(pause: Pause, now: Time) -> Time {
    match pause {
        Pause::After(length) => now.saturating_add(length),
        Pause::Until(time) => now.max(time),
    }
}
