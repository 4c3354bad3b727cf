// SPDX-License-Identifier: MIT OR Apache-2.0
//! The store beside fjall, redb and RocksDB: the same work, in turns, the median of some rounds.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use lockdb::{Database, Durability, Isolation, Options, TransactionOptions};
use workloads::database::smallbank::SmallBank;
use workloads::database::{Outcome, Workload, check, execute, total};
use workloads::database::{StoreLoader, StoreSession};
use workloads::scenario::{SmallBankAccess, SmallBankSettings};

use super::bank::{Bank, ROWS, text};
use crate::rival::{Rival, Task};
use crate::{Goal, Measurement, Size};
use terminal::Progress;

/// How long each engine runs in a round.
const TIME: Duration = Duration::from_secs(3);
const ROUNDS: usize = 3;
const SEED: u64 = 1;

/// Threads of SmallBank: commits that can share a sync.
const THREADS: usize = 8;

/// Accounts, of which 4 % are hot.
const ACCOUNTS: u64 = 100_000;

/// Transfers without sync, and SmallBank with every commit durable.
///
/// # Errors
/// When an engine fails, or its money does not add up.
pub fn measure(
    size: Size,
    rivals: &[Rival],
    progress: &mut Progress,
) -> Result<Vec<Measurement>, String> {
    let data = tempfile::tempdir().map_err(|error| format!("a folder for data: {error}"))?;
    let time = TIME.div_f64(size.divisor as f64);
    let transfer = Task {
        workload: "transfer",
        threads: 1,
        time,
        sync: "none",
        seed: SEED,
        rows: ROWS as u64,
        folder: data.path(),
    };
    progress.set(0.7, "transfers of rivals");
    let figures = rounds(rivals, transfer, || our_transfers(time, data.path()))?;
    let mut measurements = beside("transfer, no sync, 1 thread", rivals, &figures, |engine| {
        (engine == "fjall").then_some(Goal::RatioAtLeast(7.0))
    });
    progress.set(0.85, "SmallBank of rivals");
    let bank =
        Task { workload: "smallbank", threads: THREADS, sync: "group", rows: ACCOUNTS, ..transfer };
    let figures = rounds(rivals, bank, || our_smallbank(time, data.path()))?;
    measurements.extend(beside("SmallBank, durable, 8 threads", rivals, &figures, |_| {
        Some(Goal::RatioAtLeast(1.0))
    }));
    Ok(measurements)
}

/// The medians, ours first.
fn rounds(
    rivals: &[Rival],
    task: Task<'_>,
    mut ours: impl FnMut() -> Result<f64, String>,
) -> Result<Vec<f64>, String> {
    let mut all = vec![Vec::new(); rivals.len() + 1];
    for _ in 0..ROUNDS {
        all[0].push(ours()?);
        for (rival, figures) in rivals.iter().zip(&mut all[1..]) {
            figures.push(rival.run(task)?.per_second);
        }
    }
    Ok(all.into_iter().map(median).collect())
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn beside(
    what: &str,
    rivals: &[Rival],
    figures: &[f64],
    goal: impl Fn(&str) -> Option<Goal>,
) -> Vec<Measurement> {
    let measurement = |(rival, &floor): (&Rival, &f64)| {
        let name = format!("{what}, over {}", rival.engine);
        let measured = Measurement::new(name, "txn/s", figures[0]).over(floor);
        match goal(rival.engine) {
            Some(goal) => measured.goal(goal),
            None => measured,
        }
    };
    rivals.iter().zip(&figures[1..]).map(measurement).collect()
}

/// A fresh bank on files each time, as the rivals have.
fn our_transfers(time: Duration, folder: &Path) -> Result<f64, String> {
    let folder = tempfile::tempdir_in(folder).map_err(text)?;
    let bank = Bank::in_folder(ROWS, folder.path())?;
    let (mut done, mut spent) = (0, 0.0);
    while spent < time.as_secs_f64() {
        let count = 20_000;
        spent += count as f64 / bank.transfers(1, count)?;
        done += count;
    }
    bank.check()?;
    Ok(done as f64 / spent)
}

fn our_smallbank(time: Duration, folder: &Path) -> Result<f64, String> {
    let folder = tempfile::tempdir_in(folder).map_err(text)?;
    let store = Database::open(folder.path(), Options::default()).map_err(text)?;
    let settings = SmallBankSettings {
        accounts: ACCOUNTS,
        hot_accounts: ACCOUNTS / 25,
        access: SmallBankAccess::Hot90,
    };
    let bank = SmallBank::new(&settings, SEED);
    bank.populate(&mut StoreLoader::new(&store)).map_err(text)?;
    let options =
        TransactionOptions { isolation: Isolation::Serializable, durability: Durability::Group };
    let session = || StoreSession::new(&store, bank.tables(), options).map_err(text);
    let before = total(&mut session()?, &bank).map_err(text)?;
    let (over, committed) = (AtomicBool::new(false), AtomicU64::new(0));
    let work = |agent: u32| -> Result<i64, String> {
        let mut session = session()?;
        let mut change = 0;
        for input in bank.inputs(agent) {
            if over.load(Ordering::Relaxed) {
                break;
            }
            if let Outcome::Committed(output) =
                execute(&mut session, &bank, &input).map_err(text)?
            {
                committed.fetch_add(1, Ordering::Relaxed);
                change += bank.change(&input, &output);
            }
        }
        Ok(change)
    };
    let began = Instant::now();
    let changes: Vec<_> = thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> =
            (0..THREADS as u32).map(|agent| scope.spawn(move || work(agent))).collect();
        thread::sleep(time);
        over.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let spent = began.elapsed();
    let mut expected = before;
    for change in changes {
        expected += change?;
    }
    check(&mut session()?, &bank, expected).map_err(text)?;
    Ok(committed.into_inner() as f64 / spent.as_secs_f64())
}
