// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host and device ask for locks in closed loops, in virtual time: each requester takes the lock
//! of a tuple drawn at random, gives it back at once, pauses, and begins again.
//!
//! The host's requesters are its cores, each running the lock machine over the coherent memory;
//! the device's are processing elements in front of the lock unit's RTL.

use driver::lock_unit::stream::{Code, Tag, UnitOperation, UnitRequest, UnitResponse};
use locks::machine::{Bounds, Machine, Outcome, Place, Request, Rule};
use locks::{Timestamp, TupleKey};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::coherence::Traffic;
use sim::lock_unit::UnitConfig;
use sim::models::TupleLockUnit;
use sim::system::{Event, System, SystemConfig, SystemError};
use system::{Latency, LatencyRecorder};
use timing::Time;
use timing::platform::{Platform, Side};

/// How much one side asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demand {
    /// Requests under way at once.
    pub requesters: u32,
    /// The part of the time in which each has a lock request under way or holds a lock, 0 to 1.
    pub duty: f64,
}

/// A run: the requesters, their requests, and the duration.
#[derive(Clone, Debug)]
pub struct LockLoad {
    /// Latencies and rates.
    pub platform: Platform,
    /// The home of the lock table.
    pub home: Side,
    /// Buckets of the lock table, a power of two.
    pub buckets: u64,
    /// Both sides draw among this many tuples, each with a bucket of its own.
    pub tuples: u64,
    /// The host's cores.
    pub host: Demand,
    /// The device's processing elements.
    pub device: Demand,
    /// Virtual time of the run; its first tenth is not measured.
    pub length: Time,
    /// Of all draws.
    pub seed: u64,
}

/// What one side saw, from asking to having.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Acquire, all of them.
    pub acquire: Latency,
    /// Acquire that found the lock free.
    pub at_once: Latency,
    /// Release.
    pub release: Latency,
    /// Acquire that had to wait in the queue, as a part of all.
    pub waited: f64,
    /// Locks taken and given back, per second of virtual time.
    pub locks_per_second: f64,
}

impl Seen {
    /// From asking for a lock to having it: the mean in ns, and of how many locks.
    pub fn mean_of_acquire(&self) -> (f64, u64) {
        (self.acquire.mean_ns, self.acquire.count)
    }

    /// Million locks taken and given back per second of virtual time, and how many they were.
    pub fn rate(&self) -> (f64, u64) {
        (self.locks_per_second / 1e6, self.release.count)
    }
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct LoadSeen {
    /// By the host's cores.
    pub host: Seen,
    /// By the device's processing elements.
    pub device: Seen,
    /// Locks taken and given back by both, over the whole run.
    pub locks: u64,
    /// On the link and in the caches, over the whole run.
    pub traffic: Traffic,
}

impl LoadSeen {
    /// The observations of one side.
    pub fn side(&self, side: Side) -> &Seen {
        match side {
            Side::Host => &self.host,
            Side::Device => &self.device,
        }
    }
}

/// Runs `load` to its end.
///
/// # Errors
/// When the system cannot be built, or the lock unit breaks a rule of its buses.
///
/// # Panics
/// When the host has fewer cores than it is to use, or the lock protocol is broken.
pub fn run(load: &LockLoad) -> Result<LoadSeen, SystemError> {
    let config = SystemConfig {
        platform: load.platform.clone(),
        buckets: load.buckets,
        home: Some(load.home),
        unit: UnitConfig::smooth(),
    };
    let system = System::new(TupleLockUnit::new(), &config)?;
    assert!(load.host.requesters <= system.host_cores(), "more requesters than cores");
    Loop::new(load, system).run()
}

/// Timers and tickets: the requester's index; the device's come after the host's.
struct Loop<'a> {
    load: &'a LockLoad,
    system: System<TupleLockUnit>,
    requesters: Vec<Requester>,
    random: ChaCha8Rng,
    transactions: u64,
    locks: u64,
    records: [Record; 2],
}

struct Requester {
    side: Side,
    demand: Demand,
    transaction: Timestamp,
    key: TupleKey,
    began: Time,
    /// When the lock was asked to be released.
    released: Time,
    has_waited: bool,
    /// Host: the request under way; device: the unit has it.
    machine: Option<Machine>,
    /// Host: waiting in the queue for its copy of the line to change.
    waiting: Option<Place>,
}

#[derive(Default)]
struct Record {
    acquire: LatencyRecorder,
    at_once: LatencyRecorder,
    release: LatencyRecorder,
    waited: u64,
    locks: u64,
}

impl<'a> Loop<'a> {
    fn new(load: &'a LockLoad, mut system: System<TupleLockUnit>) -> Self {
        let mut requesters = Vec::new();
        for (side, demand) in [(Side::Host, load.host), (Side::Device, load.device)] {
            let active = if demand.duty > 0.0 { demand.requesters } else { 0 };
            for _ in 0..active {
                // Requesters that start in step would stay in step for long.
                let start = Time::from_ps(1_700) * requesters.len() as u64;
                system.at(start, requesters.len() as u64);
                requesters.push(Requester {
                    side,
                    demand,
                    transaction: Timestamp::MAX,
                    key: TupleKey::new(0, 0),
                    began: Time::ZERO,
                    released: Time::ZERO,
                    has_waited: false,
                    machine: None,
                    waiting: None,
                });
            }
        }
        let random = ChaCha8Rng::seed_from_u64(load.seed);
        Self {
            load,
            system,
            requesters,
            random,
            transactions: 0,
            locks: 0,
            records: Default::default(),
        }
    }

    fn run(mut self) -> Result<LoadSeen, SystemError> {
        while self.system.now() < self.load.length {
            match self.system.advance()? {
                Some(Event::Timer(index)) => self.begin(index as usize),
                Some(Event::Answered { ticket, answer, .. }) => {
                    let machine = self.requesters[ticket as usize].machine.as_mut();
                    let machine = machine.expect("only a request under way is answered");
                    match machine.resume(answer) {
                        None => self.host_access(ticket as usize),
                        Some(outcome) => self.host_outcome(ticket as usize, outcome),
                    }
                }
                Some(Event::LineChanged { core, .. }) => self.look_again(core as usize),
                Some(Event::Response(response)) => self.response(response),
                Some(Event::Word { .. }) => unreachable!("there are no shared words"),
                None => panic!("nobody asks for locks any more"),
            }
        }
        let measured = self.load.length - self.first_measured();
        let seen = |record: &Record| record.seen(measured);
        let (host, device) = (seen(&self.records[0]), seen(&self.records[1]));
        Ok(LoadSeen { host, device, locks: self.locks, traffic: self.system.traffic() })
    }

    /// Caches are cold before.
    fn first_measured(&self) -> Time {
        Time::from_ps(self.load.length.as_ps() / 10)
    }

    /// Draws the next tuple and asks for its lock.
    fn begin(&mut self, index: usize) {
        self.transactions += 1;
        let transaction = Timestamp::new(self.transactions).expect("fewer than 2^48 requests");
        let requester = &mut self.requesters[index];
        requester.transaction = transaction;
        requester.key = TupleKey::new(self.random.random_range(0..self.load.tuples), 0);
        requester.began = self.system.now();
        requester.has_waited = false;
        self.acquire(index);
    }

    fn acquire(&mut self, index: usize) {
        match self.requesters[index].side {
            Side::Host => self.host_request(index, Request::Acquire(Rule::Queue)),
            Side::Device => {
                let key = self.requesters[index].key;
                self.device_request(index, UnitOperation::Acquire(key, Rule::Queue));
            }
        }
    }

    /// The lock is ours: it goes back at once.
    fn granted(&mut self, index: usize) {
        let now = self.system.now();
        let measured = now >= self.first_measured();
        let requester = &mut self.requesters[index];
        requester.released = now;
        if measured {
            let record = &mut self.records[requester.side as usize];
            let took = now - requester.began;
            record.acquire.record(took);
            match requester.has_waited {
                true => record.waited += 1,
                false => record.at_once.record(took),
            }
        }
        match requester.side {
            Side::Host => self.host_request(index, Request::Release),
            Side::Device => {
                let key = requester.key;
                self.device_request(index, UnitOperation::Release(key));
            }
        }
    }

    fn released(&mut self, index: usize) {
        self.locks += 1;
        let now = self.system.now();
        let measured = now >= self.first_measured();
        let Requester { side, demand, began, released, .. } = self.requesters[index];
        if measured {
            let record = &mut self.records[side as usize];
            record.release.record(now - released);
            record.locks += 1;
        }
        // Evenly drawn around the pause that makes up the duty, so that no rhythm arises.
        let mean_pause = (now - began).as_ps() as f64 * (1.0 / demand.duty - 1.0);
        let pause = self.random.random_range(0.0..=2.0) * mean_pause;
        self.system.at(now + Time::from_ps(pause as u64), index as u64);
    }

    fn host_request(&mut self, index: usize, request: Request) {
        let transaction = self.requesters[index].transaction;
        self.requesters[index].machine = Some(Machine::new(transaction, request, Bounds::BUCKET));
        self.host_access(index);
    }

    /// Makes the next access of the host's machine. A waiter keeps a copy of the line.
    fn host_access(&mut self, index: usize) {
        let Requester { machine, key, .. } = &self.requesters[index];
        let machine = machine.as_ref().expect("a request is under way");
        let bucket = key.mix() & (self.load.buckets - 1);
        let keep_copy = matches!(machine.request(), Request::Poll(_));
        self.system.host_access(index as u32, index as u64, bucket, machine.access(), keep_copy);
    }

    fn host_outcome(&mut self, index: usize, outcome: Outcome) {
        let requester = &mut self.requesters[index];
        let ended = requester.machine.take().expect("its end has just come");
        match (outcome, ended.request()) {
            (Outcome::Granted { .. }, _) => self.granted(index),
            (Outcome::Queued { place, .. }, Request::Poll(_)) => requester.waiting = Some(place),
            (Outcome::Queued { place, .. }, _) => {
                requester.has_waited = true;
                self.host_request(index, Request::Poll(place));
            }
            (Outcome::Refused(_), _) => self.acquire(index),
            (Outcome::Released { .. }, _) => self.released(index),
            (other, request) => panic!("{request:?} of a host core ended as {other:?}"),
        }
    }

    /// A line of which a core kept a copy has changed.
    fn look_again(&mut self, index: usize) {
        if let Some(place) = self.requesters[index].waiting.take() {
            self.host_request(index, Request::Poll(place));
        }
    }

    fn device_request(&mut self, index: usize, operation: UnitOperation) {
        let number = index - self.hosts();
        let tag = Tag::new(number as u8).expect("at most 128 processing elements");
        let transaction = self.requesters[index].transaction;
        self.system.request(UnitRequest { tag, transaction, operation });
    }

    fn response(&mut self, response: UnitResponse) {
        let index = response.tag.index() + self.hosts();
        match response.code {
            Code::Granted => self.granted(index),
            Code::Queued => self.requesters[index].has_waited = true,
            Code::RefusedFull | Code::RefusedContended => self.acquire(index),
            Code::Released => self.released(index),
            other => panic!("a processing element was answered {other:?}"),
        }
    }

    /// Requesters of the host; those of the device follow.
    fn hosts(&self) -> usize {
        if self.load.host.duty > 0.0 { self.load.host.requesters as usize } else { 0 }
    }
}

impl Record {
    fn seen(&self, measured: Time) -> Seen {
        let acquire = self.acquire.latency();
        Seen {
            acquire,
            at_once: self.at_once.latency(),
            release: self.release.latency(),
            waited: self.waited as f64 / acquire.count.max(1) as f64,
            locks_per_second: self.locks as f64 / (measured.as_ns_f64() * 1e-9),
        }
    }
}
