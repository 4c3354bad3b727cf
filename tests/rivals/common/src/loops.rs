// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads the rows, lets the threads run for the time that was asked for, and adds up.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::smallbank::SmallBank;
use crate::transfer::Transfer;
use crate::{Arguments, Engine, Outcome, Verdict, Workload, Writes};

/// What each row holds at first, in cents.
const INITIAL: i64 = 1_000_000;

/// Rows that are loaded in one transaction, and reads that share a snapshot.
const BATCH: u64 = 1_000;

/// What was counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// From the start of the threads to the end of the last one.
    pub elapsed: Duration,
    /// Committed; for reads, rows read.
    pub transactions: u64,
    /// Rolled back for want of funds.
    pub refused: u64,
    /// Tries that ended in a conflict. Each was tried again until it ended otherwise.
    pub aborts: u64,
    /// Whether the balances at the end are the initial ones plus what was added.
    pub sum_ok: bool,
}

/// What one thread did.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    transactions: u64,
    refused: u64,
    aborts: u64,
    growth: i64,
}

/// Runs the workload on a new store.
///
/// # Errors
/// The first one of the engine.
pub fn run<E: Engine>(engine: &E, arguments: &Arguments) -> Result<Counted> {
    let rows = match arguments.workload {
        Workload::SmallBank => 2 * arguments.rows,
        Workload::Transfer | Workload::PointRead => arguments.rows,
    };
    load(engine, rows).context("loading the rows")?;
    let (shares, elapsed) = run_threads(engine, arguments)?;
    let growth: i64 = shares.iter().map(|share| share.growth).sum();
    Ok(Counted {
        elapsed,
        transactions: shares.iter().map(|share| share.transactions).sum(),
        refused: shares.iter().map(|share| share.refused).sum(),
        aborts: shares.iter().map(|share| share.aborts).sum(),
        sum_ok: sum(engine, rows).context("adding up at the end")?
            == i128::from(INITIAL) * i128::from(rows) + i128::from(growth),
    })
}

fn load<E: Engine>(engine: &E, rows: u64) -> Result<()> {
    for first in (0..rows).step_by(BATCH as usize) {
        let last = rows.min(first + BATCH);
        let outcome = engine.write(&mut |store| {
            (first..last).try_for_each(|row| store.put(row, INITIAL))?;
            Ok(Verdict::Commit)
        })?;
        anyhow::ensure!(outcome == Outcome::Committed, "a conflict without another transaction");
    }
    Ok(())
}

fn sum<E: Engine>(engine: &E, rows: u64) -> Result<i128> {
    let mut sum = 0;
    engine.read(&mut |store| {
        for row in 0..rows {
            sum += i128::from(store.get(row)?);
        }
        Ok(())
    })?;
    Ok(sum)
}

fn run_threads<E: Engine>(engine: &E, arguments: &Arguments) -> Result<(Vec<Share>, Duration)> {
    let threads = arguments.threads();
    let stop = AtomicBool::new(false);
    let ready = Barrier::new(threads as usize + 1);
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|number| {
                let (stop, ready) = (&stop, &ready);
                scope.spawn(move || {
                    let mut worker = Worker::new(engine, arguments, number, stop);
                    ready.wait();
                    let result = worker.run();
                    // Whoever fails ends the run for all.
                    if result.is_err() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    result.map(|()| worker.share)
                })
            })
            .collect();
        ready.wait();
        let start = Instant::now();
        sleep_until(start + arguments.seconds, &stop);
        stop.store(true, Ordering::Relaxed);
        let shares: Result<Vec<Share>> = handles
            .into_iter()
            .map(|handle| handle.join().expect("workers do not panic"))
            .collect();
        Ok((shares?, start.elapsed()))
    })
}

fn sleep_until(end: Instant, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(Duration::from_millis(50)));
    }
}

/// One thread's part in the workload.
struct Worker<'a, E> {
    engine: &'a E,
    workload: Workload,
    rows: u64,
    random: ChaCha8Rng,
    stop: &'a AtomicBool,
    share: Share,
}

impl<'a, E: Engine> Worker<'a, E> {
    fn new(engine: &'a E, arguments: &Arguments, number: u64, stop: &'a AtomicBool) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
        random.set_stream(number);
        let Arguments { workload, rows, .. } = *arguments;
        Self { engine, workload, rows, random, stop, share: Share::default() }
    }

    fn run(&mut self) -> Result<()> {
        while !self.stop.load(Ordering::Relaxed) {
            match self.workload {
                Workload::Transfer => {
                    let transfer = Transfer::draw(self.rows, &mut self.random);
                    self.commit(&mut |store| transfer.apply(store).map(|()| Some(0)))?;
                }
                Workload::SmallBank => {
                    let transaction = SmallBank::draw(self.rows, &mut self.random);
                    if transaction.only_reads() {
                        self.look(transaction)?;
                    } else {
                        self.commit(&mut |store| transaction.apply(store))?;
                    }
                }
                Workload::PointRead => self.read_batch()?,
            }
        }
        Ok(())
    }

    /// Tries until it meets no other; `work` says by how much the sum grows, or nothing when
    /// it is to be rolled back.
    fn commit(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Writes) -> Result<Option<i64>>,
    ) -> Result<()> {
        loop {
            let mut growth = None;
            let outcome = self.engine.write(&mut |store| {
                growth = work(store)?;
                Ok(if growth.is_some() { Verdict::Commit } else { Verdict::RollBack })
            })?;
            match outcome {
                Outcome::Conflict => {
                    self.share.aborts += 1;
                    continue;
                }
                Outcome::Committed => self.share.transactions += 1,
                Outcome::RolledBack => self.share.refused += 1,
            }
            self.share.growth += growth.unwrap_or(0);
            return Ok(());
        }
    }

    fn look(&mut self, transaction: SmallBank) -> Result<()> {
        self.engine.read(&mut |store| transaction.look(store).map(drop))?;
        self.share.transactions += 1;
        Ok(())
    }

    /// Some reads on one snapshot, so that opening it does not count for much.
    fn read_batch(&mut self) -> Result<()> {
        let (rows, random) = (self.rows, &mut self.random);
        self.engine.read(&mut |store| {
            for _ in 0..BATCH {
                std::hint::black_box(store.get(random.random_range(0..rows))?);
            }
            Ok(())
        })?;
        self.share.transactions += BATCH;
        Ok(())
    }
}
