// SPDX-License-Identifier: MIT OR Apache-2.0
//! A random workload of host and near-data updates on a folder, in one thread: the same seed makes the
//! same steps. And what a store must hold after it.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use lockdb::files::Simulated;
use lockdb::mutant::Mutant;
use lockdb::near_data::FinalizeError;
use lockdb::{Database, Durability, Isolation, Result, TransactionOptions};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::near_data::scene::{self, Scene, add, finish, put};

/// Rows of both tables.
pub type Rows = [BTreeMap<i64, i64>; 2];

/// Keys of each table; the odd ones are seldom there.
const KEYS: i64 = 60;

/// What has been committed, and what was acknowledged when.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// All rows after each commit, by its number.
    pub commits: Vec<(u64, Rows)>,
    /// Steps of the folder, and the commit that was acknowledged after so many of them.
    pub acknowledged: Vec<(u64, u64)>,
}

impl History {
    fn acknowledged_by(&self, steps: u64) -> u64 {
        let by_then = self.acknowledged.iter().filter(|&&(at, _)| at <= steps);
        by_then.map(|&(_, commit)| commit).max().unwrap_or(0)
    }

    fn rows_at(&self, commit: u64) -> Rows {
        let last = self.commits.iter().rfind(|&&(number, _)| number <= commit);
        last.map(|(_, rows)| rows.clone()).unwrap_or_default()
    }

    /// Compares with what a store says, which must have all acknowledged commits.
    fn check(&self, scene: &Scene, least: u64) -> Result<(), String> {
        let published = scene.store.published();
        if published < least {
            return Err(format!("commit {least} was acknowledged, {published} is the last"));
        }
        let (found, expected) = (rows(scene), self.rows_at(published));
        match found == expected {
            true => Ok(()),
            false => Err(format!("after commit {published}: {found:?}\nexpected {expected:?}")),
        }
    }
}

fn rows(scene: &Scene) -> Rows {
    let other = scene.store.table("other").unwrap();
    [scene.rows(), scene::rows(&scene.store, &other)]
}

pub struct Recorded {
    pub files: Simulated,
    pub history: History,
}

/// A workload of so many actions.
pub fn record(seed: u64, actions: usize, mutant: Option<Mutant>) -> Recorded {
    let scene = Scene::new(0);
    let files = scene.files.clone();
    let mut workload = Workload::new(seed, History::default(), mutant);
    workload.run(scene, actions);
    Recorded { files, history: workload.history }
}

struct Workload {
    random: ChaCha8Rng,
    history: History,
    /// As the newest commit leaves them.
    rows: Rows,
    mutant: Option<Mutant>,
}

impl Workload {
    fn new(seed: u64, history: History, mutant: Option<Mutant>) -> Self {
        let rows = history.rows_at(u64::MAX);
        Self { random: ChaCha8Rng::seed_from_u64(seed), history, rows, mutant }
    }

    fn run(&mut self, mut scene: Scene, actions: usize) {
        scene.store.plant(self.mutant);
        for _ in 0..actions {
            match self.random.random_range(0..20) {
                0 => {
                    scene = scene.reopen();
                    scene.store.plant(self.mutant);
                }
                1 | 2 => drop(scene.store.checkpoint().unwrap()),
                3 | 4 => drop(scene.store.vacuum().unwrap()),
                5 => drop(scene.store.shared_state().unwrap()),
                6..12 => self.update(&scene),
                _ => self.near(&scene),
            }
        }
    }

    fn options(&mut self, isolations: &[Isolation]) -> TransactionOptions {
        let isolation = isolations[self.random.random_range(0..isolations.len())];
        let syncs = [Durability::None, Durability::Group, Durability::Immediate];
        TransactionOptions { isolation, durability: syncs[self.random.random_range(0..3)] }
    }

    fn commit(&mut self, scene: &Scene, commit: u64, durability: Durability, rows: Rows) {
        self.history.commits.push((commit, rows.clone()));
        self.rows = rows;
        if durability != Durability::None {
            self.history.acknowledged.push((scene.files.steps(), commit));
        }
    }

    /// The host alone.
    fn update(&mut self, scene: &Scene) {
        let options = self.options(&[Isolation::Snapshot, Isolation::Serializable]);
        let tables = scene.store.tables();
        let (mut session, mut rows) = (scene.store.session().unwrap(), self.rows.clone());
        let mut transaction = session.begin(options);
        for _ in 0..self.random.random_range(1..6) {
            let (table, id) = (self.random.random_range(0..2), self.random.random_range(0..KEYS));
            let n = self.random.random_range(0..1000);
            if self.random.random_range(0..5) == 0 {
                transaction.delete(&tables[table], &id).unwrap();
                rows[table].remove(&id);
            } else {
                put(&mut transaction, &tables[table], id, n).unwrap();
                rows[table].insert(id, n);
            }
        }
        let commit = transaction.commit().unwrap();
        self.commit(scene, commit, options.durability, rows);
    }

    /// A device, and now and then the host in between, before and after; now and then in vain.
    fn near(&mut self, scene: &Scene) {
        let all = [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable];
        let options = self.options(&all);
        let (rest, more) = (self.random.random_range(0..3), self.random.random_range(1..100));
        let tables = scene.store.tables();
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(options);
        let mut others = Vec::new();
        for _ in 0..self.random.random_range(0..3) {
            let (id, n) = (self.random.random_range(0..KEYS), self.random.random_range(0..1000));
            put(&mut transaction, &tables[1], id, n).unwrap();
            others.push((id, n));
        }
        let invocation = transaction.near_data(&tables[0]).unwrap();
        let mut device = scene.device();
        device.take_over(transaction.reserve_pages(&tables[0], 4).unwrap());
        let between = self.random.random_range(0..6);
        let mut at = 0;
        let change = add(rest, more);
        let job = device.update_slowly(&invocation, &tables[0], change, |_| {
            at += 1;
            match (at, between) {
                (1, 0) => drop(scene.store.checkpoint().unwrap()),
                (1, 1) => drop(scene.store.vacuum().unwrap()),
                (1, 2) if options.isolation == Isolation::ReadCommitted => {
                    self.update_first(scene, rest);
                }
                _ => {}
            }
        });
        finish(&mut transaction, &mut device, &tables[0], job, rest, more).unwrap();
        let (commit, durability) = match self.random.random_range(0..8) {
            0 => {
                transaction.abandon_fenced().unwrap();
                return;
            }
            1 if !device.rows.is_empty() => {
                // Some pages are written all the same.
                let mut torn = |finalize: &lockdb::near_data::Finalize<'_>| {
                    device.finalize(finalize)?;
                    Err(FinalizeError::new("the device says no"))
                };
                assert!(transaction.commit_finalizing(&mut torn).is_err());
                transaction.abandon_fenced().unwrap();
                return;
            }
            _ => (
                transaction.commit_finalizing(&mut |finalize| device.finalize(finalize)).unwrap(),
                options.durability,
            ),
        };
        let mut rows = self.rows.clone();
        rows[0].iter_mut().filter(|(id, _)| **id % 3 == rest).for_each(|(_, n)| *n += more);
        rows[1].extend(others);
        self.commit(scene, commit, durability, rows);
    }

    /// Another transaction changes the first row that the device is about to change.
    fn update_first(&mut self, scene: &Scene, rest: i64) {
        let Some((&id, _)) = self.rows[0].iter().find(|(id, _)| **id % 3 == rest) else { return };
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(scene::at(Isolation::Snapshot));
        if put(&mut transaction, &scene.table, id, 7).is_err() {
            return; // the device has its lock
        }
        let commit = transaction.commit().unwrap();
        let mut rows = self.rows.clone();
        rows[0].insert(id, 7);
        self.commit(scene, commit, Durability::Group, rows);
    }
}

/// Where the power goes, and the seed of what is torn then, and of what is done afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    pub steps: u64,
    pub tear: u64,
}

/// The power goes, the store is opened and works on, the power goes again, at any step of that.
pub fn crash(recorded: &Recorded, point: Point, mutant: Option<Mutant>) -> Result<(), String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| crash_twice(recorded, point, mutant)));
    outcome.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panic: {}", text.unwrap_or("without words")))
    })
}

fn crash_twice(recorded: &Recorded, point: Point, mutant: Option<Mutant>) -> Result<(), String> {
    let Point { steps, tear } = point;
    let files = recorded.files.crash_at(steps, tear);
    let open = |files: &Simulated| {
        let scene = Scene::open_with_fault(files.clone(), mutant);
        scene.map_err(|error| format!("opening: {error}"))
    };
    if !has_tables(&files)? {
        return Ok(()); // the power went before there was anything to work on
    }
    let scene = open(&files)?;
    recorded.history.check(&scene, recorded.history.acknowledged_by(steps))?;
    let mut history = recorded.history.clone();
    let last = scene.store.published();
    history.commits.retain(|&(number, _)| number <= last);
    history.acknowledged = vec![(files.steps(), last)];
    let first = files.steps();
    let mut workload = Workload::new(tear, history, None);
    workload.run(scene, 10);
    let steps = ChaCha8Rng::seed_from_u64(tear).random_range(first..=files.steps());
    let files = files.crash_at(steps, tear);
    let scene = open(&files)?;
    let history = &workload.history;
    history.check(&scene, history.acknowledged_by(steps)).map_err(|wrong| format!("again: {wrong}"))
}

/// Whether both tables were created, as far as the folder knows.
fn has_tables(files: &Simulated) -> Result<bool, String> {
    let store = Database::open_in(Arc::new(files.crash(0)), scene::options());
    let store = store.map_err(|error| format!("opening: {error}"))?;
    Ok(store.tables().len() == 2)
}
