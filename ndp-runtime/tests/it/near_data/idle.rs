// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state left on the device when the host gives up a job between two chunks, or begins one
//! while another thread cuts the device off; and transactions with several updates.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use driver::HostMemory;
use lockdb::{Database, Error, Isolation, Options, Table};
use locks::Policy;
use ndp_runtime::engine::Engine;
use ndp_runtime::host::{
    Fenced, JobOptions, JobPort, Mapping, NearDataJobError, PortError, Runtime,
};
use ndp_runtime::job::{JobCompletion, Submission};
use software_device::{DeviceFault, SoftwareDevice};

use crate::near_data::scene::{
    BALANCE, Scene, fill, options, rows, runtime_options, small_jobs, unsynced, update_near,
    waiting,
};

const POLICY: Policy = Policy::WaitsFor { every: Duration::from_millis(1) };

/// A job that finds no room on the device ends with an error within this time.
fn jobs() -> JobOptions<'static> {
    JobOptions { time_out: Duration::from_secs(5), ..small_jobs() }
}

#[test]
fn selects_that_are_broken_off_leave_no_job_on_the_device() {
    let scene = Scene::new(3000);
    let mut session = scene.session();
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    for time in 0..2 * Engine::JOBS {
        let selected =
            near.select(&scene.table, None, &["id"], &jobs(), |_| ControlFlow::Break(()));
        selected.unwrap_or_else(|failure| panic!("select {time}: {failure}"));
    }
    assert_eq!(scene.runtime.fences(), 0);
}

/// The host has no more pages to reserve while rows of the job wait for one.
#[test]
fn an_update_that_is_given_up_between_two_chunks_leaves_nothing_on_the_device() {
    let rows = 3000;
    let scene = Scene::with(rows, Options { pages: 100, ..options(POLICY) }, |_| {});
    let mut session = scene.session();
    for time in 0..2 * Engine::JOBS {
        let mut transaction = session.begin(unsynced(Isolation::Snapshot));
        let mut near = scene.runtime.begin(&mut transaction);
        let failure =
            update_near(&mut near, &scene.table, None, "balance = 0", &jobs()).unwrap_err();
        let full = matches!(failure, NearDataJobError::Store(Error::Full { what: "pages", .. }));
        assert!(full, "update {time}: {failure}");
        scene.assert_no_locks();
    }
    let mut transaction = session.begin(unsynced(Isolation::Snapshot));
    let mut near = scene.runtime.begin(&mut transaction);
    let report =
        update_near(&mut near, &scene.table, Some("id < 5"), "balance = 0", &jobs()).unwrap();
    assert_eq!(report.rows, 5);
    near.commit().unwrap();
    assert_eq!(scene.runtime.fences(), 0);
    assert_eq!(scene.rows().iter().map(|row| row[BALANCE]).sum::<i64>(), 100 * (rows - 5));
}

/// Of two updates of a transaction one finds no rows, and has nothing to be finalized.
#[test]
fn an_update_without_rows_is_committed_beside_one_with_rows() {
    for empty_first in [true, false] {
        let scene = Scene::new(100);
        let branch = lockdb::schema::Schema::builder("branch");
        let branch = branch.column("id", lockdb::schema::Type::Int64);
        let branch = branch.column("region", lockdb::schema::Type::Int64);
        let branch = branch.column("balance", lockdb::schema::Type::Int64);
        let branch = branch.nullable_column("owner", lockdb::schema::Type::Text);
        let branch = branch.primary_key(&["id"]).build().unwrap();
        let branch = scene.store.create_table(branch).unwrap();
        fill(&scene.store, &branch, 50);
        let mut session = scene.session();
        let mut transaction = session.begin(unsynced(Isolation::ReadCommitted));
        let mut near = scene.runtime.begin(&mut transaction);
        let (account, branch) = match empty_first {
            true => (Some("id < 0"), None),
            false => (None, Some("id < 0")),
        };
        let table = scene.store.table("branch").unwrap();
        let first = update_near(&mut near, &scene.table, account, "balance = 1", &jobs()).unwrap();
        let second = update_near(&mut near, &table, branch, "balance = 1", &jobs()).unwrap();
        near.commit().unwrap();
        scene.assert_no_locks();
        assert_eq!((first.rows, second.rows), if empty_first { (0, 50) } else { (100, 0) });
        let ones = |table: &Table| {
            rows(&scene.store, table).iter().filter(|row| row[BALANCE] == 1).count() as u64
        };
        assert_eq!((ones(&scene.table), ones(&table)), (first.rows, second.rows));
    }
}

/// The transaction that waits may hold what the others wait for, so it does not wait forever.
#[test]
fn an_update_that_finds_no_place_on_the_device_ends_as_a_conflict() {
    let mut options = options(POLICY);
    options.waiting.timeout = Duration::from_millis(50);
    let scene = Scene::with(100, options, |_| {});
    let mut sessions: Vec<_> = (0..=Engine::JOBS).map(|_| scene.session()).collect();
    let mut transactions: Vec<_> =
        sessions.iter_mut().map(|session| session.begin(unsynced(Isolation::Snapshot))).collect();
    let mut held = Vec::new();
    for (number, transaction) in transactions.iter_mut().enumerate() {
        let mut near = scene.runtime.begin(transaction);
        let rows = format!("id = {number}");
        match update_near(&mut near, &scene.table, Some(&rows), "balance = 1", &jobs()) {
            Ok(report) => assert_eq!(report.rows, 1),
            Err(failure) => {
                assert_eq!(number, Engine::JOBS, "{failure}");
                assert!(matches!(failure, NearDataJobError::NoPlace { .. }), "{failure}");
                assert!(failure.is_conflict());
                continue;
            }
        }
        held.push(near);
    }
    assert_eq!(held.len(), Engine::JOBS);
    for near in held {
        near.commit().unwrap();
    }
    scene.assert_no_locks();
    let ones = scene.rows().iter().filter(|row| row[BALANCE] == 1).count();
    assert_eq!(ones, Engine::JOBS);
}

/// A device that takes nothing from one thread until it is cut off, and then is ahead of the host.
struct Held {
    device: SoftwareDevice,
    held: Arc<Mutex<Option<ThreadId>>>,
    waits: Arc<AtomicBool>,
    ahead: bool,
    early: VecDeque<(u64, JobCompletion)>,
}

impl Held {
    fn is_held(&self) -> bool {
        *self.held.lock().unwrap() == Some(std::thread::current().id())
    }
}

impl JobPort for Held {
    fn map(&mut self, memory: &Arc<HostMemory>) -> Result<Box<dyn Mapping>, PortError> {
        self.device.map(memory)
    }

    fn reach_locks(&mut self, database: &Database) -> Result<u64, PortError> {
        self.device.reach_locks(database)
    }

    fn reach_vid_map(&mut self, table: &Table) -> Result<u64, PortError> {
        self.device.reach_vid_map(table)
    }

    fn submit(&mut self, tag: u64, submission: Submission) -> Result<(), PortError> {
        if self.is_held() {
            self.waits.store(true, Ordering::Release);
            return Err(PortError::Full);
        }
        self.device.submit(tag, submission)?;
        if std::mem::take(&mut self.ahead) {
            // Far enough to hold locks.
            for _ in 0..2 {
                self.early.extend(self.device.poll()?);
            }
        }
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<(u64, JobCompletion)>, PortError> {
        if self.is_held() {
            return Ok(None);
        }
        self.early.pop_front().map_or_else(|| self.device.poll(), |done| Ok(Some(done)))
    }

    fn idle(&mut self, bound: Duration) -> Duration {
        self.device.idle(bound)
    }

    fn check(&mut self) -> Result<(), PortError> {
        if self.is_held() { Ok(()) } else { self.device.check() }
    }

    fn fence(&mut self) -> Result<Fenced, PortError> {
        *self.held.lock().unwrap() = None;
        self.ahead = true;
        self.device.fence()
    }
}

/// One thread has prepared a job when another finds that the device was reset, and cuts it off: the
/// job begins on the device as it is then, and the host knows of it.
#[test]
fn a_job_that_begins_while_another_thread_fences_leaves_nothing_behind() {
    let mut scene = Scene::with(300, options(POLICY), |_| {});
    let device = crate::near_data::scene::device(&scene.files, &scene.store);
    scene.control = device.control();
    let (held, waits) = (Arc::<Mutex<Option<ThreadId>>>::default(), Arc::<AtomicBool>::default());
    let (holds, waited) = (held.clone(), waits.clone());
    let device = Held { device, held, waits, ahead: false, early: VecDeque::new() };
    scene.runtime = Runtime::open(&scene.store, device, runtime_options(waiting(POLICY)));
    let update = |predicate: &str| {
        let mut session = scene.session();
        let mut transaction = session.begin(unsynced(Isolation::ReadCommitted));
        let mut near = scene.runtime.begin(&mut transaction);
        update_near(&mut near, &scene.table, Some(predicate), "balance = balance + 1", &jobs())?;
        near.commit().map(drop)
    };
    let begun = std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            *holds.lock().unwrap() = Some(std::thread::current().id());
            update("region < 5")
        });
        let since = Instant::now();
        while !waited.load(Ordering::Acquire) {
            assert!(since.elapsed() < Duration::from_secs(10), "waited for the other thread's job");
            std::thread::yield_now();
        }
        scene.control.plan(scene.control.steps(), DeviceFault::Resets);
        let lost = update("region = 7").unwrap_err();
        assert!(matches!(lost, NearDataJobError::DeviceLost(_)), "{lost}");
        other.join().unwrap()
    });
    // If the device continues with anything, it does so now.
    update("region = 8").unwrap();
    scene.assert_no_locks();
    let expected = 300 * 100 + 30 + if begun.is_ok() { 150 } else { 0 };
    assert_eq!(scene.rows().iter().map(|row| row[BALANCE]).sum::<i64>(), expected, "{begun:?}");
    begun.unwrap();
}
