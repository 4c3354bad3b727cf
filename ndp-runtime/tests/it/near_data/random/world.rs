// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store, its device, and rows that carry the versions by which a history names them.

use std::sync::Arc;
use std::time::Duration;

use history::{Level, Write};
use lockdb::files::{Files, Memory};
use lockdb::schema::{Schema, Type, Value};
use lockdb::{Database, Error, Isolation, Options, Table};
use locks::{Policy, Waiting};
use ndp_runtime::host::{NearDataJobError, Runtime, RuntimeOptions};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use software_device::{Control, DeviceFault};

use super::near::Ended;
use super::runs::Planted;
use crate::near_data::scene::unsynced;

pub const ID: usize = 0;
pub const VERSION: usize = 2;
pub const PREVIOUS: usize = 3;
pub const COUNTER: usize = 4;
/// Groups of keys, which never change.
pub const GROUPS: i64 = 3;

/// A random source of its own for each part of a case.
pub fn random(seed: u64, part: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(part);
    random.next_u64();
    random
}

pub fn level(isolation: Isolation) -> Level {
    match isolation {
        Isolation::ReadCommitted => Level::ReadCommitted,
        Isolation::Snapshot => Level::Snapshot,
        Isolation::Serializable => Level::Serializable,
    }
}

pub struct World {
    pub seed: u64,
    pub store: Database,
    pub table: Arc<Table>,
    pub runtime: Runtime,
    pub files: Arc<dyn Files>,
    pub keys: i64,
    pub isolations: Vec<Isolation>,
    /// The failure of the device, if it is to fail.
    control: Option<Control>,
}

impl World {
    pub fn new(seed: u64, on_threads: bool, planted: Planted) -> Self {
        let random = &mut random(seed, 0);
        let policy = match on_threads {
            true => Policy::WaitsFor { every: Duration::from_millis(1) },
            false => Policy::NoWait,
        };
        let options = Options {
            // Few buckets make rows share their locks.
            lock_buckets: 1 << random.random_range(4..=9),
            sessions: 1024,
            shared_state_limit: 1 << 20,
            waiting: Waiting { policy, ..Waiting::default() },
            ..Options::small()
        };
        let files: Arc<dyn Files> = Arc::new(Memory::new());
        let store = Database::open_in(files.clone(), options.clone()).unwrap();
        let table = store.create_table(items()).unwrap();
        let keys = random.random_range(4..=40);
        let all = crate::near_data::scene::ISOLATIONS;
        let isolations = match random.random_ratio(1, 3) {
            true => all.to_vec(),
            false => vec![all[random.random_range(0..all.len())]],
        };
        fill(&store, &table, keys);
        let mut device = crate::near_data::scene::device(&files, &store);
        device.plant(planted.engine);
        // The device waits where the host does not: the host continues in the meantime, as turns
        // come.
        let waiting = match on_threads {
            true => options.waiting,
            false => Waiting {
                policy: Policy::Queue,
                timeout: Duration::from_micros(200),
                ..Waiting::default()
            },
        };
        let control = planted.losses.then(|| device.control());
        let poll_interval = Duration::from_nanos(500);
        let runtime_options =
            RuntimeOptions { waiting, poll_interval, ..RuntimeOptions::default() };
        let runtime = Runtime::open(&store, device, runtime_options);
        store.plant(planted.store);
        Self { seed, store, table, runtime, files, keys, isolations, control }
    }

    /// Has the device lost in the middle of one near-data transaction in three, if it is to be.
    pub fn plan_fault(&self, random: &mut ChaCha8Rng) {
        let Some(control) = self.control.as_ref().filter(|_| random.random_ratio(1, 3)) else {
            return;
        };
        let fault = match random.random() {
            true => DeviceFault::Resets,
            false => DeviceFault::LinkBreaks { steps: random.random_range(0..100) },
        };
        control.plan(control.steps() + random.random_range(0..200), fault);
    }

    /// How a transaction ends that a failure has ended: a conflict occurred, or the device is lost
    /// where it is to be.
    pub fn failed(&self, failure: &NearDataJobError) -> Ended<'static> {
        let lost = matches!(failure, NearDataJobError::DeviceLost(_)) && self.control.is_some();
        assert!(lost || failure.is_conflict(), "no reason to give up: {failure}");
        Ended::Failed { lost }
    }

    pub fn isolation(&self, random: &mut ChaCha8Rng) -> Isolation {
        self.isolations[random.random_range(0..self.isolations.len())]
    }

    /// What the history says of the beginning: each third row is not there.
    pub fn initial(&self) -> impl Iterator<Item = Write> + use<> {
        (0..self.keys as u64).map(|key| match key % 3 {
            2 => Write::dead(key, 0),
            _ => Write::new(key, 0),
        })
    }
}

pub fn row(key: i64, version: i64) -> [Value; 5] {
    [key.into(), (key % GROUPS).into(), version.into(), 0.into(), 0.into()]
}

fn fill(store: &Database, table: &Table, keys: i64) {
    let mut session = store.session().unwrap();
    let filled = session.transaction(unsynced(Isolation::Snapshot), |transaction| {
        let mut there = (0..keys).filter(|key| key % 3 != 2);
        there.try_for_each(|key| transaction.insert(table, &row(key, 0)))
    });
    filled.map_err(|error: Error| error.to_string()).unwrap();
}

fn items() -> Schema {
    Schema::builder("item")
        .column("id", Type::Int64)
        .column("grp", Type::Int64)
        .column("version", Type::Int64)
        .column("previous", Type::Int64)
        .column("counter", Type::Int64)
        .primary_key(&["id"])
        .build()
        .unwrap()
}
