// SPDX-License-Identifier: MIT OR Apache-2.0
//! Short updates of the host, beside an update near the data.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use lockdb::schema::Value;
use lockdb::{Database, Durability, Error, Isolation, Session, Table, TransactionOptions};
use ndp_runtime::host::{Cancel, TableGate};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use workloads::zipf::RowSampler;

use crate::error::CommandError;

/// YCSB's.
const EXPONENT: f64 = 0.99;

/// The number of rows of the table from which rows are drawn.
const ROWS: usize = 1 << 20;

/// Between two looks of a thread that is kept out of the table.
const TIMEOUT: Duration = Duration::from_millis(100);

/// Which rows are updated how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// There is no host load.
    None,
    /// Every row alike.
    Uniform,
    /// As YCSB does: some rows often, scattered over the table.
    Zipf,
}

/// What host load runs beside.
#[derive(clap::Args)]
pub struct HostLoadArgs {
    /// Runs short host updates beside it; each rewrites a row of the table unchanged.
    #[arg(long, value_name = "PROFILE", value_enum, default_value_t = Profile::None)]
    host_load: Profile,
    /// Threads of the host load.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=64))]
    host_threads: u32,
    /// Milliseconds for which the host load first runs alone, as a baseline.
    #[arg(long, value_name = "MS", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u64).range(0..=60_000))]
    alone_ms: u64,
}

/// The work of the host load.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HostLoadReport {
    pub profile: Profile,
    pub threads: u32,
    /// Before the update.
    pub alone: Stretch,
    /// While it ran.
    pub beside: Stretch,
}

/// Some time of the host load.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Stretch {
    pub seconds: f64,
    pub commits: u64,
    /// Transactions that a conflict ended; each was tried again.
    pub aborts: u64,
}

impl Stretch {
    pub fn commits_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.commits as f64 / self.seconds } else { 0.0 }
    }
}

/// Threads that update rows until they are stopped, at the latest when this is dropped.
pub struct HostLoad {
    profile: Profile,
    counts: Arc<Counts>,
    threads: Vec<JoinHandle<Result<(), Error>>>,
    alone: Stretch,
    began: (Instant, u64, u64),
}

#[derive(Debug, Default)]
struct Counts {
    stop: AtomicBool,
    commits: AtomicU64,
    aborts: AtomicU64,
}

impl HostLoadArgs {
    /// Begins the host load, if one is asked for, and lets it run alone for a while. Each update
    /// passes the gate, if there is one.
    ///
    /// # Errors
    /// When the store fails, or Ctrl-C was pressed.
    pub fn start(
        &self,
        database: &Database,
        table: &Arc<Table>,
        gate: Option<Arc<TableGate>>,
        cancel: &Cancel,
    ) -> Result<Option<HostLoad>, CommandError> {
        if self.host_load == Profile::None {
            return Ok(None);
        }
        let keys = Arc::new(keys(database, table)?);
        if keys.is_empty() {
            return Err(CommandError::Input(format!(
                "--host-load: table {:?} is empty, expected rows to update",
                table.name()
            )));
        }
        let counts = Arc::new(Counts::default());
        let mut load = HostLoad {
            profile: self.host_load,
            counts: counts.clone(),
            threads: Vec::new(),
            alone: Stretch::default(),
            began: (Instant::now(), 0, 0),
        };
        for thread in 0..self.host_threads {
            let (session, table) = (database.session()?, table.clone());
            let worker = Worker {
                session,
                table,
                keys: keys.clone(),
                gate: gate.clone(),
                sampler: self.sampler(keys.len() as u64),
                random: ChaCha8Rng::seed_from_u64(thread.into()),
                counts: counts.clone(),
            };
            load.threads.push(std::thread::spawn(move || worker.run()));
        }
        let until = Instant::now() + Duration::from_millis(self.alone_ms);
        while Instant::now() < until && !load.threads.iter().any(JoinHandle::is_finished) {
            if cancel.is_cancelled() {
                return Err(CommandError::Interrupted);
            }
            let left = until.saturating_duration_since(Instant::now());
            std::thread::sleep(left.min(Duration::from_millis(20)));
        }
        load.alone = load.lap();
        Ok(Some(load))
    }

    fn sampler(&self, rows: u64) -> RowSampler {
        match self.host_load {
            Profile::Zipf => RowSampler::scrambled_zipf(rows, EXPONENT, 1),
            Profile::None | Profile::Uniform => RowSampler::uniform(rows),
        }
    }
}

impl HostLoad {
    /// The work since the last call.
    fn lap(&mut self) -> Stretch {
        let now = Instant::now();
        let commits = self.counts.commits.load(Ordering::Relaxed);
        let aborts = self.counts.aborts.load(Ordering::Relaxed);
        let (since, commits_before, aborts_before) =
            std::mem::replace(&mut self.began, (now, commits, aborts));
        Stretch {
            seconds: (now - since).as_secs_f64(),
            commits: commits - commits_before,
            aborts: aborts - aborts_before,
        }
    }

    /// Stops it, and says what it has done; `beside` ended just now.
    ///
    /// # Errors
    /// When an update of the load failed by anything but a conflict.
    pub fn finish(mut self) -> Result<HostLoadReport, CommandError> {
        let beside = self.lap();
        let threads = self.threads.len() as u32;
        self.stop()?;
        Ok(HostLoadReport { profile: self.profile, threads, alone: self.alone, beside })
    }

    fn stop(&mut self) -> Result<(), CommandError> {
        self.counts.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            let ended =
                ended.map_err(|_| CommandError::Internal("a thread of the host load died".into()));
            ended?.map_err(|error| CommandError::Internal(format!("host load: {error}")))?;
        }
        Ok(())
    }
}

impl Drop for HostLoad {
    fn drop(&mut self) {
        // The code that drops it reports its own failure.
        let _ = self.stop();
    }
}

/// One thread of the load.
struct Worker {
    session: Session,
    table: Arc<Table>,
    keys: Arc<Vec<Vec<Value>>>,
    gate: Option<Arc<TableGate>>,
    sampler: RowSampler,
    random: ChaCha8Rng,
    counts: Arc<Counts>,
}

impl Worker {
    fn run(mut self) -> Result<(), Error> {
        let options = TransactionOptions {
            isolation: Isolation::ReadCommitted,
            durability: Durability::None,
        };
        while !self.counts.stop.load(Ordering::Relaxed) {
            let passing = self.gate.as_ref().map(|gate| gate.pass(TIMEOUT));
            if let Some(Err(_)) = passing {
                // Whether it is to stop is checked meanwhile.
                continue;
            }
            let key = &self.keys[self.sampler.sample(&mut self.random) as usize];
            let mut transaction = self.session.begin(options);
            let updated = transaction.update(&self.table, key, |_| Ok(()));
            match updated.and_then(|_| transaction.commit()) {
                Ok(_) => self.counts.commits.fetch_add(1, Ordering::Relaxed),
                Err(error) if error.is_conflict() => {
                    self.counts.aborts.fetch_add(1, Ordering::Relaxed)
                }
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }
}

/// The primary keys of the table's first rows.
fn keys(database: &Database, table: &Table) -> Result<Vec<Vec<Value>>, CommandError> {
    let columns = table.schema().primary_key();
    let mut keys = Vec::new();
    let mut session = database.session()?;
    session.begin(Isolation::ReadCommitted).scan(table, |row| {
        keys.push(columns.iter().map(|column| row.get(*column).to_value()).collect());
        if keys.len() < ROWS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    Ok(keys)
}
