// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host threads and the device take locks of one table at the same time; each lock has at most one
//! holder.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use driver::lock_unit::stream::{Code, UnitRequest};
use locks::machine::{Outcome, Request as Ask, Rule};
use locks::{LockTable, Timestamp, TupleKey};
use rand::RngExt;

use crate::context::{CheckError, Context, expect_eq, pause};
use crate::host_table::{self, HostTable};
use crate::map;
use crate::options::Extent;
use crate::queue::{Queue, Submission};
use crate::requests;

const LOG2_BUCKETS: u32 = 2;
const LINES: u64 = 2;
const HOSTS: u64 = 2;
/// Requests of the device that are open at once.
const DEVICES: usize = 6;
/// Times the locks asked for that the device takes while hosts have had too few.
const MOST_ROUNDS: u64 = 50;

/// The holder of each lock according to the agents: 0, or the transaction.
struct Owners {
    owners: [AtomicU64; LINES as usize],
    wrong: AtomicBool,
    taken: AtomicU64,
    /// Of those, by hosts.
    by_hosts: AtomicU64,
    /// A host has given up: what it waited for may stay in the table.
    given_up: AtomicBool,
}

impl Owners {
    /// An agent was told that it has the lock.
    fn enter(&self, line: u64, transaction: Timestamp) {
        let before = self.owners[line as usize].swap(transaction.get(), Ordering::AcqRel);
        self.wrong.fetch_or(before != 0, Ordering::AcqRel);
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    /// It is about to give it back.
    fn leave(&self, line: u64, transaction: Timestamp) {
        let before = self.owners[line as usize].swap(0, Ordering::AcqRel);
        self.wrong.fetch_or(before != transaction.get(), Ordering::AcqRel);
    }
}

pub(super) fn check(context: &mut Context<'_>) -> Result<String, CheckError> {
    let table = HostTable::start(context, LOG2_BUCKETS)?;
    let rounds = match context.options.extent {
        Extent::Quick => u64::from(context.options.cases),
        Extent::Full => 5 * u64::from(context.options.cases),
    };
    let owners = Owners {
        owners: [const { AtomicU64::new(0) }; LINES as usize],
        wrong: AtomicBool::new(false),
        taken: AtomicU64::new(0),
        by_hosts: AtomicU64::new(0),
        given_up: AtomicBool::new(false),
    };
    let over = AtomicBool::new(false);
    let timeout = context.options.timeout;
    let mut waited = 0;
    let (hosts, devices) = thread::scope(|scope| {
        let hosts: Vec<_> = (0..HOSTS)
            .map(|host| {
                let (table, owners, over) = (table.table(), &owners, &over);
                scope.spawn(move || {
                    let taken = host_transactions(table, owners, host, over, timeout);
                    owners.given_up.fetch_or(taken.is_err(), Ordering::AcqRel);
                    taken
                })
            })
            .collect();
        let device = device_transactions(context, &owners, rounds, &mut waited);
        over.store(true, Ordering::Release);
        let hosts: Result<Vec<_>, _> = hosts
            .into_iter()
            .map(|host| host.join().map_err(|_| CheckError::wrong("a host thread panicked"))?)
            .collect();
        // What went wrong on the device is often why a host could not continue.
        let device = device?;
        Ok::<_, CheckError>((hosts?, device))
    })?;
    if owners.wrong.load(Ordering::Acquire) {
        return Err(CheckError::wrong("two transactions had one lock at the same time"));
    }
    table.expect_empty()?;
    let (hosts, taken) = (hosts.iter().sum::<u64>(), owners.taken.load(Ordering::Relaxed));
    expect_eq(|| "locks taken by all".into(), taken, hosts + devices)?;
    Ok(format!("{hosts} locks of hosts, {devices} of the device, which waited for {waited}"))
}

/// Transactions of one lock each, until the device has had its share.
fn host_transactions(
    table: &LockTable,
    owners: &Owners,
    host: u64,
    over: &AtomicBool,
    timeout: Duration,
) -> Result<u64, CheckError> {
    let mut count = 0;
    while !over.load(Ordering::Acquire) {
        // No two transactions have the same timestamp: the device's are even.
        let number = 2 * (count * HOSTS + host) + 1;
        let transaction = Timestamp::new(number).expect("not 0, and never 2^48 of them");
        let line = (count + host) % LINES;
        let key = TupleKey::initial(line);
        if !take(table, transaction, key, over, timeout)? {
            break;
        }
        owners.enter(line, transaction);
        owners.by_hosts.fetch_add(1, Ordering::Relaxed);
        thread::yield_now();
        owners.leave(line, transaction);
        let outcome = host_table::run(table, transaction, key, Ask::Release, timeout)?;
        if !matches!(outcome, Outcome::Released { .. }) {
            let wrong = format!("a host gave lock {line} back: {outcome:?}");
            return Err(CheckError::Wrong(wrong));
        }
        count += 1;
        thread::yield_now();
    }
    Ok(count)
}

/// Takes a lock, waiting for it in its queue; `false`: all is over before it was in the queue.
fn take(
    table: &LockTable,
    transaction: Timestamp,
    key: TupleKey,
    over: &AtomicBool,
    timeout: Duration,
) -> Result<bool, CheckError> {
    let begun = Instant::now();
    let mut ask = Ask::Acquire(Rule::Queue);
    loop {
        match host_table::run(table, transaction, key, ask, timeout)? {
            Outcome::Granted { .. } => return Ok(true),
            Outcome::Queued { place, .. } => ask = Ask::Poll(place),
            Outcome::Refused(_) if over.load(Ordering::Acquire) => return Ok(false),
            Outcome::Refused(_) => {}
            other => {
                return Err(CheckError::Wrong(format!(
                    "a host asked for a lock with {ask:?}: {other:?}"
                )));
            }
        }
        if begun.elapsed() > timeout {
            let wrong = format!("a host waited for the lock of {key:?}: not in {timeout:?}");
            return Err(CheckError::Wrong(wrong));
        }
        pause(begun);
    }
}

/// The state of a request of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    Acquiring,
    Holding,
    Releasing,
}

/// One agent of the device, whose requests have its number as their tag.
struct Agent {
    tag: u8,
    state: State,
    line: u64,
    transaction: Timestamp,
    /// When it first asked for what it waits for. Asking again does not change it.
    asked: Instant,
    /// How often it was refused since then.
    refusals: u64,
}

impl Agent {
    fn new(tag: u8) -> Self {
        let (state, transaction) = (State::Idle, Timestamp::MAX);
        Self { tag, state, line: 0, transaction, asked: Instant::now(), refusals: 0 }
    }

    /// Begins to wait for the lock of a line.
    fn acquires(&mut self, line: u64, transaction: Timestamp) -> UnitRequest {
        (self.line, self.transaction) = (line, transaction);
        self.waits(State::Acquiring);
        self.acquire()
    }

    fn acquire(&self) -> UnitRequest {
        requests::acquire(self.tag, self.transaction, TupleKey::initial(self.line), Rule::Queue)
    }

    fn releases(&mut self) -> UnitRequest {
        self.waits(State::Releasing);
        requests::release(self.tag, self.transaction, TupleKey::initial(self.line))
    }

    fn waits(&mut self, state: State) {
        (self.state, self.asked, self.refusals) = (state, Instant::now(), 0);
    }

    /// Checks that it has not waited longer than a request may take, however often it was answered.
    fn check_wait(&self, timeout: Duration) -> Result<(), CheckError> {
        if !matches!(self.state, State::Acquiring | State::Releasing)
            || self.asked.elapsed() <= timeout
        {
            return Ok(());
        }
        let Self { tag, state, line, refusals, .. } = self;
        Err(CheckError::Wrong(format!(
            "the request of tag {tag} for lock {line} ({state:?}) has not ended in {timeout:?}; it \
             was refused {refusals} times"
        )))
    }
}

/// Takes and gives back `rounds` locks through the lock queue, several at once, and more until the
/// hosts have had half as many. Says how many.
fn device_transactions(
    context: &mut Context<'_>,
    owners: &Owners,
    rounds: u64,
    waited: &mut u64,
) -> Result<u64, CheckError> {
    let mut queue = Queue::open(context, map::LOCK_QUEUE, 4)?;
    let mut agents: [_; DEVICES] = std::array::from_fn(|tag| Agent::new(tag as u8));
    let (mut begun, mut ended) = (0, 0);
    let mut last = Instant::now();
    let goes_on = |begun| {
        let few = owners.by_hosts.load(Ordering::Relaxed) < rounds / 2;
        let more = begun < rounds || few && begun < MOST_ROUNDS * rounds;
        more && !owners.given_up.load(Ordering::Acquire)
    };
    while ended < begun || goes_on(begun) {
        for agent in &mut agents {
            agent.check_wait(context.options.timeout)?;
            if agent.state == State::Idle && goes_on(begun) {
                begun += 1;
                let line = context.random.random_range(0..LINES);
                let transaction = Timestamp::new(2 * begun).expect("small and not 0");
                send(&mut queue, context, agent.acquires(line, transaction))?;
            } else if agent.state == State::Holding {
                owners.leave(agent.line, agent.transaction);
                send(&mut queue, context, agent.releases())?;
            }
        }
        let Some(completion) = queue.take() else {
            pause(last);
            continue;
        };
        last = Instant::now();
        queue.give_back(context)?;
        let response = requests::response(&completion)?;
        let Some(agent) = agents.get_mut(response.tag.index()) else {
            return Err(CheckError::wrong(format!("an answer to nobody: {response:?}")));
        };
        match (agent.state, response.code) {
            (State::Acquiring, Code::Granted) => {
                owners.enter(agent.line, agent.transaction);
                agent.state = State::Holding;
            }
            (State::Acquiring, Code::Queued) => *waited += 1,
            // Too many at once, or changed too often: once more.
            (State::Acquiring, Code::RefusedFull | Code::RefusedContended) => {
                agent.refusals += 1;
                pause(agent.asked);
                send(&mut queue, context, agent.acquire())?;
            }
            (State::Releasing, Code::Released) => {
                agent.state = State::Idle;
                ended += 1;
            }
            _ => {
                return Err(CheckError::wrong(format!(
                    "an answer that fits nothing: {response:?}"
                )));
            }
        }
    }
    Ok(ended)
}

fn send(queue: &mut Queue, context: &Context<'_>, request: UnitRequest) -> Result<(), CheckError> {
    queue.push(Submission::request(request));
    Ok(queue.ring(context)?)
}
