// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions with work for the device.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use history::{Read, Scan, SessionRecorder, TransactionRecorder};
use lockdb::device_reader::DeviceReader;
use lockdb::schema::Value;
use lockdb::{Isolation, Session, Transaction};
use ndp_runtime::host::{JobOptions, NearDataJobError, NearTransaction};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::world::{GROUPS, PREVIOUS, VERSION, World, level};
use crate::near_data::scene::{device_pages, unsynced, update_near};

/// The outcome of a near-data transaction.
pub enum Ended<'a> {
    /// What it has written is found out later: [`settle`].
    Committed(Box<Committed<'a>>),
    Failed {
        /// The device was lost meanwhile.
        lost: bool,
    },
}

pub struct Committed<'a> {
    recorder: TransactionRecorder<'a>,
    version: u64,
    commit: u64,
    rows: u64,
    /// Rows that were left to the host.
    pub left: u64,
    /// What it has added to counters.
    pub counted: i64,
}

/// A near-data update, after a near-data read or without; `progress` is called while the host waits.
pub fn run<'a>(
    world: &'a World,
    session: &mut Session,
    recorder: &'a mut SessionRecorder,
    random: &mut ChaCha8Rng,
    progress: &dyn Fn(),
) -> Ended<'a> {
    let isolation = world.isolation(random);
    let mut recorder = recorder.begin(level(isolation));
    let mut transaction = session.begin(unsynced(isolation));
    recorder.snapshot(transaction.snapshot());
    let call = |_: &ndp_runtime::host::Progress| progress();
    let jobs = JobOptions {
        elements: random.random_range(1..4),
        rows: random.random_range(1..9),
        result_bytes: 1 << random.random_range(9..13),
        reservations: 1,
        progress: Some(&call),
        ..JobOptions::default()
    };
    world.plan_fault(random);
    if random.random()
        && let Err(failure) = scan(world, &mut transaction, &mut recorder, &jobs)
    {
        recorder.abort();
        return world.failed(&failure);
    }
    let version = recorder.version();
    let predicate = match random.random_range(0..3) {
        0 => None,
        1 => Some(format!("grp = {}", random.random_range(0..GROUPS))),
        _ => Some(format!("id >= {}", random.random_range(0..world.keys))),
    };
    let set = format!("version = {version}, previous = version, counter = counter + 5");
    let mut near = world.runtime.begin(&mut transaction);
    let updated = update_near(&mut near, &world.table, predicate.as_deref(), &set, &jobs);
    (0..random.random_range(0..6)).for_each(|_| progress());
    let rolls_back = random.random_ratio(1, 8);
    let ended = updated.and_then(|report| match rolls_back {
        true => near.rollback().map(|()| None),
        false => near.commit().map(|commit| Some((report, commit.commit))),
    });
    match ended {
        Ok(Some((report, commit))) => Ended::Committed(Box::new(Committed {
            recorder,
            version,
            commit,
            rows: report.rows,
            left: report.device.left,
            counted: report.rows as i64 * 5,
        })),
        Ok(None) => {
            recorder.abort();
            Ended::Failed { lost: false }
        }
        Err(failure) => {
            recorder.abort();
            world.failed(&failure)
        }
    }
}

/// A near-data read of all rows.
pub fn scan(
    world: &World,
    transaction: &mut Transaction<'_>,
    recorder: &mut TransactionRecorder<'_>,
    jobs: &JobOptions<'_>,
) -> Result<(), NearDataJobError> {
    let mut near: NearTransaction<'_, '_, '_> = world.runtime.begin(transaction);
    let mut scan = Scan::of_keys(0, u64::MAX);
    let read = near.select(&world.table, None, &["id", "version"], jobs, |row| {
        let number = |output| match row.value(output) {
            Value::Int(number) => number as u64,
            other => panic!("{other:?} is no integer"),
        };
        scan.keys.push(Read::new(number(0), number(1)));
        ControlFlow::Continue(())
    });
    near.release();
    let report = read?;
    assert!(report.faults.is_empty(), "{:?}", report.faults);
    recorder.scan(scan);
    Ok(())
}

/// Tells the history what near-data transactions have read and written: their rows carry it, in the
/// versions that each of their commits has left behind, which a device can still see.
pub fn settle(world: &World, committed: Vec<Box<Committed<'_>>>) -> Result<(), String> {
    let state = world.store.shared_state().map_err(|error| error.to_string())?;
    let pages = device_pages(&world.files);
    let reader = DeviceReader::open(&pages, state.bytes()).map_err(|error| error.to_string())?;
    for mut near in committed {
        let mut rows = BTreeMap::new();
        let element = reader.element(world.table.id(), near.commit);
        let visited = element.and_then(|mut element| {
            element.visit(|row| {
                let row = row.columns(world.table.schema()).expect("rows of the table");
                if row.int(VERSION) as u64 == near.version {
                    rows.insert(row.int(0) as u64, row.int(PREVIOUS) as u64);
                }
                ControlFlow::Continue(())
            })
        });
        visited.map_err(|error| error.to_string())?;
        if rows.len() as u64 != near.rows {
            let (found, commit) = (rows.len(), near.commit);
            return Err(format!("commit {commit} has {found} rows, reported {}", near.rows));
        }
        for (key, previous) in rows {
            near.recorder.read(key, previous);
            near.recorder.write(key, near.version);
        }
        near.recorder.commit(near.commit);
    }
    Ok(())
}

/// Keeps all versions that come after it.
pub fn pin(session: &mut Session) -> Transaction<'_> {
    session.begin(unsynced(Isolation::Snapshot))
}
