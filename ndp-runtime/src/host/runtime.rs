// SPDX-License-Identifier: MIT OR Apache-2.0
//! The runtime: one device, one store, and the threads that submit jobs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use driver::HostMemory;
use lockdb::{Database, Session, Table, Transaction, TransactionOptions};
use locks::Waiting;
use parking_lot::{Mutex, MutexGuard};

use super::error::NearDataJobError;
use super::options::JobOptions;
use super::port::{Fenced, JobPort, Mapping, PortError};
use super::prepared::PreparedUpdate;
use super::report::UpdateReport;
use super::transaction::NearTransaction;
use crate::job::{JobCompletion, LockTable, Submission};

/// How jobs are run, unless a job says otherwise.
#[derive(Clone, Debug)]
pub struct RuntimeOptions {
    /// How a near-data update waits for rows that others have locked; best as the store's own options
    /// say (`lockdb::Options::waiting`).
    pub waiting: Waiting,
    /// Time between two polls of a lock that the device waits for.
    pub poll_interval: Duration,
    /// The longest wait for the device to stop a job, to finalize its pages, or for room in its
    /// queue, before it counts as lost.
    pub timeout: Duration,
    /// Between two questions to the device itself whether it still runs.
    pub check_every: Duration,
}

impl Default for RuntimeOptions {
    fn default() -> Self {
        Self {
            waiting: lockdb::Options::default().waiting,
            poll_interval: Duration::from_micros(2),
            timeout: Duration::from_secs(10),
            check_every: Duration::from_millis(100),
        }
    }
}

/// Runs jobs of transactions of one store on one device; from any number of threads.
pub struct Runtime {
    database: Database,
    state: Mutex<State>,
    options: RuntimeOptions,
    next_job: AtomicU32,
}

struct State {
    port: Box<dyn JobPort>,
    /// Completions that their owners have not fetched.
    done: BTreeMap<u64, JobCompletion>,
    next_tag: u64,
    /// How often the device was cut off.
    generation: u64,
    /// Why there is no device any more.
    dead: Option<PortError>,
    checked: Instant,
}

/// A submission that its owner waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    tag: u64,
    pub generation: u64,
}

impl std::fmt::Debug for Runtime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runtime").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Runtime {
    /// Takes a device into use for a store.
    pub fn open(
        database: &Database,
        port: impl JobPort + 'static,
        options: RuntimeOptions,
    ) -> Self {
        let state = State {
            port: Box::new(port),
            done: BTreeMap::new(),
            next_tag: 0,
            generation: 0,
            dead: None,
            checked: Instant::now(),
        };
        let (database, state) = (database.clone(), Mutex::new(state));
        Self { database, state, options, next_job: AtomicU32::new(1) }
    }

    /// Runs an update as a transaction of its own, and retries it after conflicts, as often as
    /// `attempts` says.
    ///
    /// # Errors
    /// See [`NearTransaction::update`]; the last conflict after so many attempts; a lock that did not
    /// come in time at once.
    pub fn update(
        &self,
        session: &mut Session,
        transaction: impl Into<TransactionOptions>,
        update: &PreparedUpdate<'_>,
        options: &JobOptions<'_>,
        attempts: u32,
    ) -> Result<UpdateReport, NearDataJobError> {
        let transaction = transaction.into();
        let mut aborts = 0;
        loop {
            let mut began = session.begin(transaction);
            let mut near = self.begin(&mut began);
            let updated = near.update(update, options);
            let done = updated.and_then(|report| Ok((report, near.commit()?)));
            match done {
                Ok((mut report, commit)) => {
                    report.add_commit(&commit);
                    report.aborts = aborts;
                    return Ok(report);
                }
                Err(failure) if failure.is_to_be_retried() && aborts + 1 < u64::from(attempts) => {
                    aborts += 1;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Lets a transaction use the device; it stays the caller's, and is to be ended by the
    /// [`NearTransaction`].
    pub fn begin<'r, 't, 's>(
        &'r self,
        transaction: &'t mut Transaction<'s>,
    ) -> NearTransaction<'r, 't, 's> {
        NearTransaction::new(self, transaction)
    }

    /// The store.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// How jobs are run.
    pub fn options(&self) -> &RuntimeOptions {
        &self.options
    }

    /// How often the device was cut off.
    pub fn fences(&self) -> u64 {
        self.lock().generation
    }

    pub(super) fn number_job(&self) -> u32 {
        self.next_job.fetch_add(1, Ordering::Relaxed)
    }

    pub(super) fn map(&self, memory: &Arc<HostMemory>) -> Result<Box<dyn Mapping>, PortError> {
        self.lock().alive()?.map(memory)
    }

    /// Where the device finds the lock table.
    pub(super) fn lock_table(&self) -> Result<LockTable, PortError> {
        let address = self.lock().alive()?.reach_locks(&self.database)?;
        let log2_buckets = self.database.lock_table().buckets().len().ilog2();
        Ok(LockTable { address, log2_buckets })
    }

    pub(super) fn vid_map(&self, table: &Table) -> Result<u64, PortError> {
        self.lock().alive()?.reach_vid_map(table)
    }

    /// Hands in a submission, when there is room.
    pub(super) fn submit(&self, submission: Submission) -> Result<Pending, PortError> {
        let (began, mut pause) = (Instant::now(), Pause::default());
        loop {
            let mut state = self.lock();
            let (tag, generation) = (state.next_tag, state.generation);
            match state.alive()?.submit(tag, submission) {
                Ok(()) => {
                    state.next_tag += 1;
                    return Ok(Pending { tag, generation });
                }
                Err(PortError::Full) if began.elapsed() < self.options.timeout => {
                    state.take_completions()?;
                }
                Err(error) => return Err(error),
            }
            drop(state);
            pause.wait(self);
        }
    }

    /// The completion of a submission, if it has come.
    pub(super) fn poll(&self, pending: Pending) -> Result<Option<JobCompletion>, PortError> {
        let mut state = self.lock();
        if state.generation != pending.generation {
            return Err(state.dead.clone().unwrap_or(PortError::Reset));
        }
        if let Some(done) = state.done.remove(&pending.tag) {
            return Ok(Some(done));
        }
        state.take_completions()?;
        if state.checked.elapsed() >= self.options.check_every {
            state.checked = Instant::now();
            state.alive()?.check()?;
        }
        Ok(state.done.remove(&pending.tag))
    }

    /// Waits for the completion of a submission; `None` when it does not come in time.
    pub(super) fn wait(
        &self,
        pending: Pending,
        bound: Duration,
    ) -> Result<Option<JobCompletion>, PortError> {
        let (began, mut pause) = (Instant::now(), Pause::default());
        loop {
            if let Some(done) = self.poll(pending)? {
                return Ok(Some(done));
            }
            if began.elapsed() >= bound {
                return Ok(None);
            }
            pause.wait(self);
        }
    }

    /// Cuts the device off, unless another thread has done so since a submission of this
    /// generation.
    pub(super) fn fence(&self, seen: u64, lost: PortError) -> Result<(), NearDataJobError> {
        let mut state = self.lock();
        if state.generation != seen {
            return Ok(());
        }
        match state.port.fence() {
            Ok(fenced) => {
                state.generation += 1;
                state.done.clear();
                state.dead = (fenced == Fenced::Dead).then(|| PortError::Gone(lost.to_string()));
                Ok(())
            }
            Err(fence) => {
                let (lost, fence) = (Box::new(lost), Box::new(fence));
                Err(NearDataJobError::NotFenced { lost, fence })
            }
        }
    }

    pub(super) fn generation(&self) -> u64 {
        self.lock().generation
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

impl State {
    fn alive(&mut self) -> Result<&mut dyn JobPort, PortError> {
        match &self.dead {
            None => Ok(&mut *self.port),
            Some(dead) => Err(dead.clone()),
        }
    }

    fn take_completions(&mut self) -> Result<(), PortError> {
        while let Some((tag, done)) = self.alive()?.poll()? {
            self.done.insert(tag, done);
        }
        Ok(())
    }
}

/// Looks for a completion between which nothing but the processor is left to others.
const YIELDS: u32 = 50;

/// The longest rest between two looks: so long others may wait for the port.
const IDLE: Duration = Duration::from_micros(500);

/// The pauses of a wait: short at first, so that short jobs end soon.
#[derive(Debug, Default)]
pub(super) struct Pause(u32);

impl Pause {
    pub fn wait(&mut self, runtime: &Runtime) {
        self.0 = self.0.saturating_add(1);
        if self.0 <= YIELDS {
            std::thread::yield_now();
            return;
        }
        let left = runtime.lock().port.idle(IDLE);
        if !left.is_zero() {
            std::thread::sleep(left);
        }
    }
}
