// SPDX-License-Identifier: MIT OR Apache-2.0
//! SmallBank, TATP, YCSB and TPC-C on the store in memory, without sync, SERIALIZABLE.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use lockdb::{Database, Durability, Isolation, Options, TransactionOptions};
use workloads::database::smallbank::SmallBank;
use workloads::database::tatp::Tatp;
use workloads::database::tpcc::{Scale, Tpcc};
use workloads::database::ycsb::{Mix, Ycsb};
use workloads::database::{
    Outcome, StoreError, StoreLoader, StoreSession, Workload, check, execute, total,
};
use workloads::scenario::{Distribution, SmallBankAccess, SmallBankSettings, YcsbSettings};

use super::{Measurement, Size, pin};
use terminal::Progress;

const SEED: u64 = 1;
const THREADS: u32 = 2;
/// Short rounds, so that on a busy machine some are left undisturbed.
const ROUNDS: u32 = 40;

/// Accounts, subscribers and rows of the small workloads.
const ROWS: u64 = 100_000;
/// Transactions of a round on each thread.
const TRANSACTIONS: u64 = 10_000;
const TPCC_TRANSACTIONS: u64 = 500;

const OPTIONS: TransactionOptions =
    TransactionOptions { isolation: Isolation::Serializable, durability: Durability::None };

/// Transactions per second of each workload by one thread and by two, and how often they had to be
/// begun again.
///
/// # Errors
/// When the store fails, or is not sound in the end.
pub fn measure(size: Size, progress: &mut Progress) -> Result<Vec<Measurement>, String> {
    let rows = size.of(ROWS).max(1_000);
    let mut figures = Vec::new();
    let bank = |access| {
        SmallBank::new(&SmallBankSettings { accounts: rows, hot_accounts: rows / 25, access }, SEED)
    };
    let ycsb = |mix| {
        let distribution = Distribution::Zipf { exponent: 0.99, scrambled: true };
        Ycsb::new(mix, &YcsbSettings { rows, distribution }, SEED)
    };
    let warehouses = i64::from(THREADS);
    let scale = match size.divisor {
        1 => Scale::standard(warehouses),
        _ => Scale::shrunk(warehouses, 100),
    };
    let mut add = |done: f64, name: &str, measured: Result<Measured, StoreError>| {
        let measured = measured.map_err(|error| format!("{name}: {error}"))?;
        progress.set(done, name);
        figures.extend(measured.figures(name));
        Ok::<_, String>(measured)
    };
    let count = size.of(TRANSACTIONS);
    add(0.1, "SmallBank, 90 % hot", run(&bank(SmallBankAccess::Hot90), count, size))?;
    add(0.2, "SmallBank, 10 % hot", run(&bank(SmallBankAccess::Hot10), count, size))?;
    add(0.3, "TATP", run(&Tatp::new(rows, SEED), count, size))?;
    for (done, mix) in [(0.4, Mix::A), (0.45, Mix::B), (0.5, Mix::F)] {
        add(done, &format!("YCSB {mix:?}"), run(&ycsb(mix), count, size))?;
    }
    let count = size.of(TPCC_TRANSACTIONS);
    let tpcc = add(1.0, "TPC-C", run(&Tpcc::new(scale, SEED), count, size))?;
    // Its total is the number of orders.
    for (threads, rate) in [("1 thread", tpcc.alone), ("2 threads", tpcc.both)] {
        let name = format!("TPC-C, new orders, {threads}");
        figures.push(Measurement::new(name, "/min", rate.change * 60.0));
    }
    Ok(figures)
}

/// The outcome of a workload.
struct Measured {
    alone: Rate,
    both: Rate,
}

impl Measured {
    fn figures(&self, name: &str) -> [Measurement; 3] {
        let (alone, both) = (self.alone.committed, self.both.committed);
        [
            Measurement::new(format!("{name}, 1 thread"), "txn/s", alone),
            Measurement::new(format!("{name}, 2 threads"), "txn/s", both).over(alone),
            Measurement::new(format!("{name}, 2 threads, retries"), "/txn", self.both.retries),
        ]
    }
}

/// Loads a workload, runs it by one thread and by two in turns, and checks what it leaves.
fn run<W: Workload>(workload: &W, count: u64, size: Size) -> Result<Measured, StoreError> {
    let store = Database::in_memory(Options::default())?;
    workload.populate(&mut StoreLoader::new(&store))?;
    let session = || StoreSession::new(&store, workload.tables(), OPTIONS);
    let initial = total(&mut session()?, workload)?;
    let agent = |number| -> Result<_, StoreError> {
        let (session, inputs) = (session()?, workload.inputs(number));
        Ok(Agent { number, session, inputs, ended: 0, committed: 0, change: 0 })
    };
    let mut agents = (0..THREADS).map(agent).collect::<Result<Vec<_>, _>>()?;
    let (mut alone, mut both) = (Rate::default(), Rate::default());
    for _ in 0..size.rounds.min(ROUNDS) {
        alone = alone.max(round(workload, &mut agents[..1], count)?);
        both = both.max(round(workload, &mut agents, count)?);
    }
    let expected = initial + agents.iter().map(|agent| agent.change).sum::<i64>();
    check(&mut session()?, workload, expected)?;
    Ok(Measured { alone, both })
}

/// A thread's place in its stream.
struct Agent<I> {
    number: u32,
    session: StoreSession,
    inputs: I,
    /// Transactions that have ended, however.
    ended: u64,
    committed: u64,
    /// Their change of the workload's total.
    change: i64,
}

/// The work of the agents so far.
#[derive(Clone, Copy, Default)]
struct Sum {
    committed: u64,
    change: i64,
    retries: u64,
}

fn sum<I>(agents: &[Agent<I>]) -> Sum {
    agents.iter().fold(Sum::default(), |sum, agent| Sum {
        committed: sum.committed + agent.committed,
        change: sum.change + agent.change,
        retries: sum.retries + agent.session.attempts() - agent.ended,
    })
}

/// The outcome of one round.
#[derive(Clone, Copy, Default)]
struct Rate {
    /// By the second.
    committed: f64,
    /// By the second.
    change: f64,
    /// For each committed one.
    retries: f64,
}

impl Rate {
    fn max(self, other: Self) -> Self {
        if other.committed > self.committed { other } else { self }
    }
}

/// Each agent continues by `count` transactions.
fn round<W: Workload, I: Iterator<Item = W::Input> + Send>(
    workload: &W,
    agents: &mut [Agent<I>],
    count: u64,
) -> Result<Rate, StoreError> {
    let before = sum(agents);
    let start = &Barrier::new(agents.len());
    let times: Vec<Result<Duration, StoreError>> = thread::scope(|scope| {
        let threads: Vec<_> = agents
            .iter_mut()
            .map(|agent| scope.spawn(move || agent.go_on(workload, count, start)))
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let mut longest = Duration::ZERO;
    for time in times {
        longest = longest.max(time?);
    }
    let (after, seconds) = (sum(agents), longest.as_secs_f64());
    let committed = (after.committed - before.committed) as f64;
    Ok(Rate {
        committed: committed / seconds,
        change: (after.change - before.change) as f64 / seconds,
        retries: (after.retries - before.retries) as f64 / committed.max(1.0),
    })
}

impl<I: Iterator> Agent<I> {
    fn go_on<W: Workload<Input = I::Item>>(
        &mut self,
        workload: &W,
        count: u64,
        start: &Barrier,
    ) -> Result<Duration, StoreError> {
        pin::to_processor(self.number as usize);
        start.wait();
        let began = Instant::now();
        for input in self.inputs.by_ref().take(count as usize) {
            let outcome = execute(&mut self.session, workload, &input)?;
            self.ended += 1;
            if let Outcome::Committed(output) = outcome {
                self.committed += 1;
                self.change += workload.change(&input, &output);
            }
        }
        Ok(began.elapsed())
    }
}
