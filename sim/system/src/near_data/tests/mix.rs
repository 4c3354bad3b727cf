// SPDX-License-Identifier: MIT OR Apache-2.0
//! Random mixes of host transactions, near-data updates and near-data reads in virtual time, at each
//! isolation level; what they saw is recorded and judged by the checker of histories.
//!
//! Each agent is a future that waits for what the simulated machine tells it. Transactions of the
//! store stay open over virtual time; the simulated lock table has the same keys and buckets as the
//! store's own, and is asked first, so that nobody ever waits for a lock of the store.

mod runs;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use history::{
    Key, Level, Options as Checks, Recorder, SessionRecorder, TransactionRecorder, Write,
};
use lockdb::{Error, Isolation, Transaction, TransactionOptions};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use ndp_runtime::engine::{RowEnd, Skipped};
use ndp_runtime::program::compile_update;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sim::lock_unit::UnitConfig;
use sim::models::TupleLockUnit;
use sim::system::{Event, System, SystemConfig};
use timing::Time;
use timing::platform::Platform;

use crate::near_data::device::{JobDone, JobPlan, SimulatedDevice, Task};
use crate::near_data::image::DeviceImage;
use crate::near_data::machine::Machine;
use crate::near_data::table::{BALANCE, LOCK_BUCKETS, OPTIONS, TableShape, YcsbTable};
use crate::near_data::timer::Timer;
use crate::virtual_time::host::HostThreads;
use crate::workflow::{Command, Input};

const ROWS: u64 = 24;
const REGIONS: u64 = 3;
const HOSTS: usize = 4;
/// The agent of near-data jobs.
const NEAR: usize = HOSTS;
const TRANSACTIONS: usize = 12;
const JOBS: usize = 8;
/// Longest that a lock is waited for, which breaks deadlocks.
const TIMEOUT: Time = Time::from_us(30);

/// The answer to an agent.
enum Told {
    /// The timer of this number.
    Timer(u32),
    Lock(Input),
    Stored,
    Job(Box<JobDone>),
}

struct World {
    system: System<TupleLockUnit>,
    threads: HostThreads,
    device: SimulatedDevice,
    table: YcsbTable,
    told: Vec<Vec<Told>>,
    timers: u32,
    /// Drawn for transactions, and for versions of rows.
    transactions: u64,
    versions: i64,
    tally: Tally,
    /// What a fault has broken, if not even the store could continue.
    broken: Option<String>,
}

/// What mixes have come across: each is to be there.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    committed: usize,
    /// Rows that the device has changed, and those that it has left to the host.
    written: usize,
    left: usize,
    /// Jobs that ended because a row had been changed, or a lock did not come.
    turned_away: usize,
}

type Shared<'w> = &'w RefCell<World>;

/// Why a transaction is given up.
struct Abort;

impl World {
    fn key(&mut self, row: u64) -> TupleKey {
        let vid = self.table.vid(row);
        let number = self.table.newest(vid).expect("rows can be read").number;
        self.table.lock_key(vid, number)
    }

    fn bucket(key: TupleKey) -> u64 {
        key.mix() & (LOCK_BUCKETS as u64 - 1)
    }

    fn timer(&mut self, agent: usize, after: Time) -> u32 {
        self.timers += 1;
        let (now, timer) = (self.system.now(), u64::from(self.timers));
        self.system.at(now + after, Timer::Long((agent as u64) << 32 | timer).encode());
        self.timers
    }

    fn timestamp(&mut self) -> Timestamp {
        self.transactions += 1;
        Timestamp::new(self.transactions).expect("few transactions")
    }

    /// Whom it concerns is told.
    fn handle(&mut self, event: Event) {
        match event {
            Event::Timer(timer) => match Timer::decode(timer) {
                Timer::Long(timer) => {
                    self.told[(timer >> 32) as usize].push(Told::Timer(timer as u32));
                }
                Timer::Device(timer) => {
                    let done = self.device.timer(&mut self.system, timer);
                    self.job(done);
                }
                timer => unreachable!("{timer:?}"),
            },
            Event::Answered { ticket, answer, .. } => {
                let agent = ticket as usize;
                let input = self.threads.answered(&mut self.system, agent, answer);
                self.told[agent].extend(input.map(Told::Lock));
            }
            Event::LineChanged { core, bucket } => {
                self.threads.line_changed(&mut self.system, core, bucket);
            }
            Event::Word { ticket, value } => match Machine::whose_word(ticket) {
                Ok(agent) => self.told[agent].push(Told::Stored),
                Err(slot) => {
                    let done = self.device.loaded(&mut self.system, slot, value);
                    self.job(done);
                }
            },
            Event::Response(response) => {
                let done = self.device.responded(&mut self.system, &response);
                self.job(done);
            }
        }
    }

    fn job(&mut self, done: Option<JobDone>) {
        self.told[NEAR].extend(done.map(|done| Told::Job(Box::new(done))));
    }
}

async fn told(world: Shared<'_>, agent: usize) -> Told {
    poll_fn(|_| {
        let told = &mut world.borrow_mut().told[agent];
        if told.is_empty() { Poll::Pending } else { Poll::Ready(told.remove(0)) }
    })
    .await
}

async fn pause(world: Shared<'_>, agent: usize, nanoseconds: u64) {
    let timer = world.borrow_mut().timer(agent, Time::from_ns(nanoseconds));
    // Timers of waits that have ended still ring.
    while !matches!(told(world, agent).await, Told::Timer(rings) if rings == timer) {}
}

/// Takes a lock, or gives up after a while.
async fn lock(
    world: Shared<'_>,
    agent: usize,
    transaction: Timestamp,
    key: TupleKey,
) -> Result<(), Abort> {
    let carry_out = |command| {
        let World { threads, system, .. } = &mut *world.borrow_mut();
        threads.carry_out(system, agent, command);
    };
    let (bucket, rule) = (World::bucket(key), Rule::Queue);
    carry_out(Command::Acquire { transaction, key, bucket, rule });
    let mut timeout = None;
    loop {
        match told(world, agent).await {
            Told::Lock(Input::Granted { .. }) => return Ok(()),
            Told::Lock(Input::Queued { .. }) => {
                timeout = Some(world.borrow_mut().timer(agent, TIMEOUT));
            }
            Told::Lock(Input::Refused(_) | Input::Cancelled) => return Err(Abort),
            Told::Timer(timer) if timeout == Some(timer) => carry_out(Command::Cancel),
            Told::Timer(_) => {}
            _ => unreachable!("an agent that waits for a lock waits for nothing else"),
        }
    }
}

async fn release(world: Shared<'_>, agent: usize, transaction: Timestamp, keys: &[TupleKey]) {
    let buckets: BTreeMap<u64, TupleKey> =
        keys.iter().map(|&key| (World::bucket(key), key)).collect();
    for (bucket, key) in buckets {
        {
            let World { threads, system, .. } = &mut *world.borrow_mut();
            threads.carry_out(system, agent, Command::Release { transaction, key, bucket });
        }
        while !matches!(told(world, agent).await, Told::Lock(Input::Released)) {}
    }
}

/// Publishes rows in the shared VID map.
async fn publish(world: Shared<'_>, agent: usize, rows: &BTreeSet<u64>) {
    for &row in rows {
        {
            let World { table, system, .. } = &mut *world.borrow_mut();
            let vid = table.vid(row);
            let core = core_of(agent);
            system.host_store(core, Machine::agent_word(agent), vid.into(), table.head(vid).word());
        }
        while !matches!(told(world, agent).await, Told::Stored) {}
    }
}

fn core_of(agent: usize) -> u32 {
    agent as u32 % 4
}

fn level_of(isolation: Isolation) -> Level {
    match isolation {
        Isolation::ReadCommitted => Level::ReadCommitted,
        Isolation::Snapshot => Level::Snapshot,
        Isolation::Serializable => Level::Serializable,
    }
}

/// Changes a row in the store; its lock is held in the simulated table.
fn change(
    world: &World,
    transaction: &mut Transaction<'_>,
    recorder: &mut TransactionRecorder<'_>,
    row: u64,
    version: i64,
) -> Result<(), Abort> {
    let mut seen = 0;
    let changed = transaction.update(&world.table.table, &(row as i64), |buffer| {
        seen = buffer.as_row().int(BALANCE);
        buffer.set_int(BALANCE, version);
        Ok(())
    });
    match changed {
        Ok(Some(())) => {
            recorder.read(row, seen as u64);
            recorder.write(row, version as u64);
            Ok(())
        }
        Ok(None) => unreachable!("rows are never deleted"),
        Err(error) if error.is_conflict() => Err(Abort),
        Err(error) => panic!("{error}"),
    }
}

fn roll_back(transaction: &mut Transaction<'_>) {
    match transaction.rollback() {
        // A conflict has ended it already.
        Ok(()) | Err(Error::Ended { .. }) => {}
        Err(error) => panic!("{error}"),
    }
}

/// Commits, publishes, and tells the recorder.
async fn commit(
    world: Shared<'_>,
    agent: usize,
    transaction: &mut Transaction<'_>,
    recorder: TransactionRecorder<'_>,
    written: &BTreeSet<u64>,
) {
    match transaction.commit() {
        Ok(commit) => recorder.commit(commit),
        Err(error) if error.is_conflict() => return recorder.abort(),
        Err(error) => panic!("{error}"),
    }
    publish(world, agent, written).await;
}

/// A host session: reads and updates of random rows.
async fn host(
    world: Shared<'_>,
    agent: usize,
    mut recorder: SessionRecorder,
    seed: u64,
) -> SessionRecorder {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(agent as u64);
    let mut session = world.borrow().table.database.session().expect("there is room");
    for _ in 0..TRANSACTIONS {
        pause(world, agent, random.random_range(0..20_000)).await;
        let isolation = isolation(&mut random);
        let mut recorder = recorder.begin(level_of(isolation));
        let mut transaction = session.begin(TransactionOptions { isolation, ..OPTIONS });
        recorder.snapshot(transaction.snapshot());
        let timestamp = world.borrow_mut().timestamp();
        let (mut held, mut written) = (Vec::new(), BTreeSet::new());
        let mut failed = false;
        for _ in 0..random.random_range(1..5) {
            pause(world, agent, random.random_range(0..4_000)).await;
            let row = random.random_range(0..ROWS);
            if random.random_bool(0.4) {
                let table = world.borrow().table.table.clone();
                let found = transaction.get(&table, &(row as i64)).expect("rows can be read");
                recorder.read(row, found.expect("rows are never deleted").int(BALANCE) as u64);
                continue;
            }
            // The newest version's lock; another one may have come while we waited.
            loop {
                let key = world.borrow_mut().key(row);
                if lock(world, agent, timestamp, key).await.is_err() {
                    failed = true;
                    break;
                }
                held.push(key);
                if world.borrow_mut().key(row) == key || isolation != Isolation::ReadCommitted {
                    break;
                }
            }
            let version = {
                let mut world = world.borrow_mut();
                world.versions += 1;
                world.versions
            };
            failed = failed
                || change(&world.borrow(), &mut transaction, &mut recorder, row, version).is_err();
            if failed {
                break;
            }
            written.insert(row);
        }
        if failed || random.random_bool(0.1) {
            roll_back(&mut transaction);
            recorder.abort();
        } else {
            commit(world, agent, &mut transaction, recorder, &written).await;
        }
        release(world, agent, timestamp, &held).await;
    }
    recorder
}

fn isolation(random: &mut ChaCha8Rng) -> Isolation {
    [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable]
        [random.random_range(0..3)]
}

/// Near-data jobs, one after the other.
async fn near(
    world: Shared<'_>,
    mut recorder: SessionRecorder,
    seed: u64,
    skipped: Skipped,
) -> SessionRecorder {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(NEAR as u64);
    let mut session = world.borrow().table.database.session().expect("there is room");
    for _ in 0..JOBS {
        pause(world, NEAR, random.random_range(0..20_000)).await;
        let isolation = isolation(&mut random);
        let updates = random.random_bool(0.7);
        let mut recorder = recorder.begin(level_of(isolation));
        let mut transaction = session.begin(TransactionOptions { isolation, ..OPTIONS });
        recorder.snapshot(transaction.snapshot());
        let timestamp = world.borrow_mut().timestamp();
        pause(world, NEAR, random.random_range(0..4_000)).await;
        let region = random.random_range(0..REGIONS);
        let seen = read_all(world, &mut transaction, &mut recorder);
        let base = start(world, &transaction, timestamp, (isolation, updates, region), skipped);
        let done = loop {
            if let Told::Job(done) = told(world, NEAR).await {
                break done;
            }
        };
        if !updates {
            check_read(world, &done, &seen, region);
        }
        let mut held = Vec::new();
        let mut written = BTreeSet::new();
        let ended = match updates {
            true => {
                if !skipped.lock {
                    note_locks(world, &done, &mut held);
                }
                let what = (timestamp, base, &mut held, &mut written);
                take_over(world, &mut transaction, &mut recorder, &done, what).await
            }
            false => Ok(()),
        };
        match ended {
            Ok(()) => commit(world, NEAR, &mut transaction, recorder, &written).await,
            Err(Abort) => {
                roll_back(&mut transaction);
                recorder.abort();
            }
        }
        release(world, NEAR, timestamp, &held).await;
    }
    recorder
}

/// What the transaction sees of all rows now: what the device must see, too.
fn read_all(
    world: Shared<'_>,
    transaction: &mut Transaction<'_>,
    recorder: &mut TransactionRecorder<'_>,
) -> BTreeMap<u64, i64> {
    let mut seen = BTreeMap::new();
    let table = world.borrow().table.table.clone();
    let read = transaction.scan(&table, |row| {
        seen.insert(row.int(0) as u64, row.int(BALANCE));
        ControlFlow::Continue(())
    });
    read.expect("rows can be read");
    seen.iter().for_each(|(&row, &version)| recorder.read(row, version as u64));
    seen
}

/// Hands the device a job; the number that its new versions count from.
fn start(
    world: Shared<'_>,
    transaction: &Transaction<'_>,
    timestamp: Timestamp,
    (isolation, updates, region): (Isolation, bool, u64),
    skipped: Skipped,
) -> i64 {
    let world = &mut *world.borrow_mut();
    let base = world.versions + 1;
    world.versions += ROWS as i64;
    let table = &world.table.table;
    let (predicate, assigned) = (format!("region = {region}"), format!("balance = {base} + id"));
    let update = compile_update(table.id(), table.schema(), Some(&predicate), &assigned);
    let area = transaction.shared_state().expect("it fits");
    let bytes = (world.table.storage().expect("it is in memory"), area.bytes().to_vec());
    let image = DeviceImage::new(bytes.0, bytes.1, (table.id(), transaction.snapshot()));
    let task = match updates {
        true => Task::Update { isolation, timeout: TIMEOUT },
        false => Task::Read,
    };
    let plan = JobPlan {
        image: image.expect("storage and shared state belong together"),
        program: update.expect("the texts fit the table").program,
        task,
        transaction: timestamp,
        verified: false,
        skipped,
    };
    world.device.start(&mut world.system, plan);
    base
}

/// The device has seen what the transaction sees.
fn check_read(world: Shared<'_>, done: &JobDone, seen: &BTreeMap<u64, i64>, region: u64) {
    let world = world.borrow();
    let rows = done.rows.iter().map(|row| u64::from(row.found.vid)).collect::<BTreeSet<_>>();
    let of_region = |row: &u64| world.table.region(*row) == region;
    let expected: BTreeSet<u64> =
        seen.keys().copied().filter(of_region).map(|row| world.table.vid(row).into()).collect();
    assert_eq!(rows, expected, "region {region}");
    assert_eq!((done.counts.visible, done.counts.faults), (seen.len() as u64, 0));
}

/// The locks that the device has left to the host.
fn note_locks(world: Shared<'_>, done: &JobDone, held: &mut Vec<TupleKey>) {
    let locked = done.rows.iter().filter(|row| row.end.is_locked());
    let key = |vid, number| world.borrow().table.lock_key(vid, number);
    held.extend(locked.map(|row| key(row.found.vid, row.found.version.number)));
}

/// Enters what the device has done into the transaction.
async fn take_over(
    world: Shared<'_>,
    transaction: &mut Transaction<'_>,
    recorder: &mut TransactionRecorder<'_>,
    done: &JobDone,
    (timestamp, base, held, written): (Timestamp, i64, &mut Vec<TupleKey>, &mut BTreeSet<u64>),
) -> Result<(), Abort> {
    let mut left = Vec::new();
    let all = done.rows.iter().map(|row| row.end);
    if !all.clone().all(|end| matches!(end, RowEnd::Written | RowEnd::Left)) {
        world.borrow_mut().tally.turned_away += 1;
        return Err(Abort);
    }
    for done in &done.rows {
        let row = world.borrow().table.row_of(done.found.vid);
        match done.end {
            RowEnd::Left => left.push(row),
            _ => {
                let world = &mut *world.borrow_mut();
                let head = world.table.head(done.found.vid);
                if head != done.found.version.record {
                    world.broken = Some(format!("row {row} has two branches of versions"));
                    return Err(Abort);
                }
                if change(world, transaction, recorder, row, base + row as i64).is_err() {
                    world.broken = Some(format!("row {row} was changed by two at once"));
                    return Err(Abort);
                }
                world.tally.written += 1;
                written.insert(row);
            }
        }
    }
    for row in left {
        loop {
            let key = world.borrow_mut().key(row);
            lock(world, NEAR, timestamp, key).await?;
            held.push(key);
            if world.borrow_mut().key(row) == key {
                break;
            }
        }
        change(&world.borrow(), transaction, recorder, row, base + row as i64)?;
        world.borrow_mut().tally.left += 1;
        written.insert(row);
    }
    Ok(())
}

fn new_world(seed: u64) -> World {
    let shape = TableShape { rows: ROWS, fields: 0, regions: REGIONS, seed };
    let table = YcsbTable::new(shape).expect("a table in memory");
    let platform = Platform::named("n1sdp-u280-ccix").expect("comes with the program");
    let device = SimulatedDevice::new(platform.near_data.as_ref().expect("it has elements"));
    let (buckets, unit) = (LOCK_BUCKETS as u64, UnitConfig::smooth());
    let config = SystemConfig { platform, buckets, home: None, unit };
    let system = System::with_words(TupleLockUnit::new(), &config, &table.vid_map());
    World {
        system: system.expect("a machine"),
        threads: HostThreads::new((0..=NEAR).map(|agent| (agent, core_of(agent)))),
        device,
        table,
        told: (0..=NEAR).map(|_| Vec::new()).collect(),
        timers: 0,
        transactions: 0,
        versions: 1_000_000,
        tally: Tally::default(),
        broken: None,
    }
}

type Agent<'w> = Pin<Box<dyn Future<Output = SessionRecorder> + 'w>>;

/// Runs a mix; what was broken, and whether the history is what its levels promise.
fn mix(seed: u64, skipped: Skipped) -> Result<Tally, String> {
    let world = RefCell::new(new_world(seed));
    // Vacuum moves versions without a lock of the simulated table.
    let mut keeper = world.borrow().table.database.session().expect("there is room");
    let _all_versions = keeper.begin(Isolation::Snapshot);
    let initial = (0..ROWS).map(|row| {
        let version = world.borrow().table.initial_balance(row);
        Write::new(Key::Number(row), version as u64)
    });
    let recorder = Recorder::new(seed, "near-data mix", initial.collect::<Vec<_>>());
    let session = |agent: usize| recorder.session(agent as u64 + 1);
    let mut agents: Vec<Option<Agent<'_>>> = (0..HOSTS)
        .map(|agent| Some(Box::pin(host(&world, agent, session(agent), seed)) as Agent<'_>))
        .collect();
    agents.push(Some(Box::pin(near(&world, session(NEAR), seed, skipped))));
    let mut ended = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    loop {
        for agent in &mut agents {
            let Some(future) = agent else { continue };
            if let Poll::Ready(session) = future.as_mut().poll(&mut context) {
                ended.push(session);
                *agent = None;
            }
        }
        let event = world.borrow_mut().system.advance().expect("the unit keeps its rules");
        let Some(event) = event else { break };
        world.borrow_mut().handle(event);
    }
    assert_eq!(ended.len(), agents.len(), "seed {seed}: an agent is stuck");
    drop(agents);
    let world = world.into_inner();
    if let Some(broken) = world.broken {
        return Err(broken);
    }
    for bucket in 0..LOCK_BUCKETS as u64 {
        assert_eq!(world.system.line(bucket), [0; 8], "seed {seed}: bucket {bucket}");
    }
    let heads: Vec<u64> = world.table.vid_map();
    let words: Vec<u64> = (0..heads.len() as u64).map(|word| world.system.word(word)).collect();
    assert_eq!(words, heads, "seed {seed}: the shared VID map");
    let history = recorder.finish(ended).map_err(|error| error.to_string())?;
    let report = history.check(&Checks::default());
    match report.is_clean() {
        true => Ok(Tally { committed: report.committed(), ..world.tally }),
        false => Err(report.to_string()),
    }
}
