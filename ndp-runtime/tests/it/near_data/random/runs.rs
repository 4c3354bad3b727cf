// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of random cases: on threads, and interleaved on one thread.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use history::{Options as Checks, Recorder, SessionRecorder};
use lockdb::Session;
use lockdb::mutant::Mutant as StoreFault;
use ndp_runtime::engine::Mutant as EngineMutant;
use rand::RngExt;

use super::host::Lane;
use super::near::{self, Committed, Ended};
use super::world::{COUNTER, World, random};
use crate::near_data::scene::{assert_no_locks, unsynced};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Threads,
    Interleaved,
}

/// The planted mutant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planted {
    pub engine: Option<EngineMutant>,
    pub store: Option<StoreFault>,
    /// The device is reset, or loses its link, now and then.
    pub losses: bool,
}

/// The result of a run.
#[derive(Clone, Default)]
pub struct Outcome {
    pub host_committed: u64,
    pub near_committed: u64,
    pub near_failed: u64,
    /// How many of those that failed had lost the device.
    pub lost: u64,
    pub left: u64,
    counted: i64,
    /// The history.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} host transactions and {} near-data ones committed, {} of these failed ({} had lost the \
                device), {} rows left",
            self.host_committed, self.near_committed, self.near_failed, self.lost, self.left
        )
    }
}

impl Outcome {
    pub fn add(&mut self, other: &Self) {
        self.host_committed += other.host_committed;
        self.near_committed += other.near_committed;
        self.near_failed += other.near_failed;
        self.lost += other.lost;
        self.left += other.left;
        self.counted += other.counted;
    }

    /// Whether each outcome was met that runs with or without `losses` of the device can have.
    pub fn has_everything(&self, losses: bool) -> bool {
        let committed = self.near_committed > 0 && self.host_committed > 0;
        committed && self.near_failed > 0 && if losses { self.lost > 0 } else { self.left > 0 }
    }

    fn host(&mut self, ended: super::host::Ended) {
        self.host_committed += u64::from(ended.is_some());
        self.counted += ended.unwrap_or(0);
    }

    fn near<'a>(&mut self, ended: Ended<'a>, committed: &mut Vec<Box<Committed<'a>>>) {
        match ended {
            Ended::Committed(near) => {
                self.near_committed += 1;
                self.left += near.left;
                self.counted += near.counted;
                committed.push(near);
            }
            Ended::Failed { lost } => {
                self.near_failed += 1;
                self.lost += u64::from(lost);
            }
        }
    }
}

/// Runs a case, and checks all that is known of it.
pub fn run(kind: Kind, seed: u64, planted: Planted) -> Result<Outcome, String> {
    let attempt = || {
        let world = World::new(seed, kind == Kind::Threads, planted);
        match kind {
            Kind::Threads => on_threads(&world),
            Kind::Interleaved => interleaved(&world),
        }
    };
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", said.unwrap_or("of another kind")))
    })
}

const NEAR_TRANSACTIONS: usize = 12;
const HOST_LANES: usize = 3;
const HOST_TRANSACTIONS: usize = 300;

/// All on this thread: while the host waits for the device, others have their turns.
fn interleaved(world: &World) -> Result<Outcome, String> {
    let recorder = Recorder::new(world.seed, "near-data, interleaved", world.initial());
    let mut sessions: Vec<Session> =
        (0..HOST_TRANSACTIONS).map(|_| world.store.session().unwrap()).collect();
    let mut recorders: Vec<SessionRecorder> = (0..HOST_TRANSACTIONS + NEAR_TRANSACTIONS)
        .map(|number| recorder.session(number as u64 + 1))
        .collect();
    let (near_recorders, host_recorders) = recorders.split_at_mut(NEAR_TRANSACTIONS);
    let mut outcome = Outcome::default();
    let mut committed = Vec::new();
    let mut pinned = world.store.session().unwrap();
    let pin = near::pin(&mut pinned);
    {
        let places = sessions.iter_mut().zip(host_recorders);
        let turns = RefCell::new(Turns {
            world,
            places,
            lanes: (0..HOST_LANES).map(|_| None).collect(),
            random: random(world.seed, 1),
            begun: 0,
            outcome: &mut outcome,
        });
        let turn = || {
            // A turn may wait for the device itself, and does not give turns to others then.
            if let Ok(mut turns) = turns.try_borrow_mut() {
                turns.take();
            }
        };
        let mut random = random(world.seed, 2);
        let mut session = world.store.session().unwrap();
        let mut ends = Vec::new();
        for recorder in near_recorders {
            (0..random.random_range(0..12)).for_each(|_| turn());
            ends.push(near::run(world, &mut session, recorder, &mut random, &turn));
        }
        let mut turns = turns.into_inner();
        turns.finish();
        drop(turns);
        for end in ends {
            outcome.near(end, &mut committed);
        }
    }
    near::settle(world, committed)?;
    drop(pin);
    judge(world, recorder, recorders, outcome)
}

/// The host's transactions, one operation at a time.
struct Turns<'a, P> {
    world: &'a World,
    places: P,
    lanes: Vec<Option<Lane<'a>>>,
    random: rand_chacha::ChaCha8Rng,
    begun: u64,
    outcome: &'a mut Outcome,
}

impl<'a, P: Iterator<Item = (&'a mut Session, &'a mut SessionRecorder)>> Turns<'a, P> {
    fn take(&mut self) {
        match self.random.random_range(0..40) {
            0 => drop(self.world.store.checkpoint().unwrap()),
            1 => drop(self.world.store.vacuum().unwrap()),
            _ => {}
        }
        let turn = self.random.random_range(0..self.lanes.len());
        self.lanes[turn] = match self.lanes[turn].take() {
            Some(lane) => self.step(lane),
            None => self.places.next().map(|(session, recorder)| {
                self.begun += 1;
                let random = random(self.world.seed, 1000 + self.begun);
                Lane::begin(self.world, session, recorder, random)
            }),
        };
    }

    fn step(&mut self, lane: Lane<'a>) -> Option<Lane<'a>> {
        match lane.step() {
            Ok(lane) => Some(lane),
            Err(ended) => {
                self.outcome.host(ended);
                None
            }
        }
    }

    fn finish(&mut self) {
        for turn in 0..self.lanes.len() {
            while let Some(lane) = self.lanes[turn].take() {
                self.lanes[turn] = self.step(lane);
            }
        }
    }
}

/// Host transactions and near-data ones on threads.
fn on_threads(world: &World) -> Result<Outcome, String> {
    let recorder = Recorder::new(world.seed, "near-data, on threads", world.initial());
    let recorder = recorder.with_wall_clock();
    let (host_threads, near_threads, transactions) = (3, 2, 8);
    let mut near_recorders: Vec<Vec<SessionRecorder>> = (0..near_threads)
        .map(|thread| {
            let first = 100 + thread * transactions;
            (first..first + transactions).map(|number| recorder.session(number)).collect()
        })
        .collect();
    let mut host_recorders: Vec<SessionRecorder> =
        (1..=host_threads).map(|number| recorder.session(number)).collect();
    let mut outcome = Outcome::default();
    let mut committed = Vec::new();
    let mut pinned = world.store.session().unwrap();
    let pin = near::pin(&mut pinned);
    std::thread::scope(|threads| {
        let host = host_recorders.iter_mut().enumerate().map(|(thread, recorder)| {
            threads.spawn(move || {
                let mut outcome = Outcome::default();
                let mut session = world.store.session().unwrap();
                for number in 0..40 {
                    let part = 1000 * (thread as u64 + 1) + number;
                    let mut lane =
                        Lane::begin(world, &mut session, recorder, random(world.seed, part));
                    let ended = loop {
                        match lane.step() {
                            Ok(next) => lane = next,
                            Err(ended) => break ended,
                        }
                    };
                    outcome.host(ended);
                }
                outcome
            })
        });
        let host: Vec<_> = host.collect();
        let near = near_recorders.iter_mut().enumerate().map(|(thread, recorders)| {
            threads.spawn(move || {
                let mut random = random(world.seed, 10 + thread as u64);
                let mut session = world.store.session().unwrap();
                let run = |recorder| near::run(world, &mut session, recorder, &mut random, &|| {});
                recorders.iter_mut().map(run).collect::<Vec<_>>()
            })
        });
        let near: Vec<_> = near.collect();
        for thread in host {
            outcome.add(&thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        for thread in near {
            let ends = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ends.into_iter().for_each(|end| outcome.near(end, &mut committed));
        }
    });
    near::settle(world, committed)?;
    drop(pin);
    let recorders = near_recorders.into_iter().flatten().chain(host_recorders).collect();
    judge(world, recorder, recorders, outcome)
}

fn judge(
    world: &World,
    recorder: Recorder,
    recorders: Vec<SessionRecorder>,
    mut outcome: Outcome,
) -> Result<Outcome, String> {
    world.store.plant(None);
    assert_no_locks(&world.store);
    let mut session = world.store.session().unwrap();
    let mut transaction = session.begin(unsynced(lockdb::Isolation::Snapshot));
    let mut found = 0;
    let scanned = transaction.scan(&world.table, |row| {
        found += row.int(COUNTER);
        ControlFlow::Continue(())
    });
    scanned.map_err(|error| error.to_string())?;
    if found != outcome.counted {
        return Err(format!("counters are {found} together, expected {}", outcome.counted));
    }
    let history = recorder.finish(recorders).map_err(|error| format!("no history: {error}"))?;
    history.write(&mut outcome.bytes).map_err(|error| error.to_string())?;
    let report = history.check(&Checks::default());
    match report.is_clean() {
        true => Ok(outcome),
        false => Err(report.to_string()),
    }
}
