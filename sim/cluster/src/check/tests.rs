// SPDX-License-Identifier: MIT OR Apache-2.0
//! The check finds nothing in sound histories, and every kind of damage in damaged ones.

mod damage;
mod directed;
mod sound;

use cluster::engine::NodeId;
use cluster::engine::{Access, Ending, Key, Point, TableNumber, TransactionId};
use cluster::placement::{Headers, Partitioning};
use cluster::transact::{Transactions, digest};
use cluster::workload::{ObjectStore, ObjectStoreSettings};
use timing::Time;

use super::{Judge, Row};
use crate::world::recorder::Recorder;

/// How an attempt went on after its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Ends(Ending),
    /// Its coordinator died, and recovery has decided.
    Decided(bool),
    /// Its coordinator died.
    Open,
}

/// An attempt to be recorded.
#[derive(Clone, Debug)]
struct Told {
    transaction: TransactionId,
    begin: u64,
    kind: Point,
    /// The point, and its place among those of one time.
    point: (u64, u64),
    end: u64,
    fate: Fate,
    accesses: Vec<Access>,
}

const COMMITTED: Fate = Fate::Ends(Ending::Committed);

impl Told {
    fn is_committed(&self) -> bool {
        matches!(self.fate, COMMITTED | Fate::Decided(true))
    }

    fn writes(&self) -> impl Iterator<Item = &Access> {
        self.accesses.iter().filter(|access| access.writes)
    }
}

/// A few objects under few headers.
struct Scene {
    store: ObjectStore,
    layout: Partitioning,
}

const OBJECTS: u64 = 10;

impl Scene {
    fn new() -> Self {
        Self::with_headers(Headers::Buckets)
    }

    fn with_headers(headers: Headers) -> Self {
        let settings = ObjectStoreSettings {
            objects: OBJECTS,
            apart: false,
            ..ObjectStoreSettings::o(2, 1, 3, 1)
        };
        let store = ObjectStore::new(settings).expect("sound settings");
        let layout = Partitioning::new(3, 1, store.tables()).expect("three nodes").with_buckets(2);
        Self { store, layout: layout.with_headers(headers) }
    }

    fn judge(&self) -> Judge<'_, ObjectStore> {
        Judge::new(&self.store, &self.layout)
    }

    fn initial(&self, row: u64) -> u64 {
        let mut value = Vec::new();
        let is_present = self.store.initial(key(row), &mut value);
        digest(is_present.then_some(&value))
    }
}

fn key(row: u64) -> Key {
    Key { table: TableNumber(0), row }
}

fn read(row: u64, version: u64, digest: u64) -> Access {
    Access { key: key(row), version, digest, writes: false }
}

fn write(row: u64, version: u64, digest: u64) -> Access {
    Access { key: key(row), version, digest, writes: true }
}

fn transaction(worker: u8, count: u32) -> TransactionId {
    TransactionId::new(NodeId(1), 2, worker, count)
}

/// Records the attempts; they begin in the order of their times.
fn record(told: &[Told]) -> Recorder {
    let mut by_begin: Vec<&Told> = told.iter().collect();
    by_begin.sort_by_key(|told| told.begin);
    let mut recorder = Recorder::default();
    for told in by_begin {
        let attempt = recorder.begin(told.transaction, 0, Time::from_ns(told.begin));
        let (at, order) = told.point;
        recorder.tell(attempt, told.kind, (Time::from_ns(at), order), &told.accesses);
        match told.fate {
            Fate::Ends(ending) => recorder.end(attempt, ending, Time::from_ns(told.end)),
            Fate::Decided(committed) => recorder.decide(attempt, committed, Time::MAX),
            Fate::Open => {}
        }
    }
    recorder
}

/// An attempt that ends soon after its point.
fn at(point: u64, worker: u8, accesses: &[Access]) -> Told {
    Told {
        transaction: transaction(worker, point as u32),
        begin: point - 5,
        kind: Point::Now,
        point: (point, 0),
        end: point + 5,
        fate: COMMITTED,
        accesses: accesses.to_vec(),
    }
}

fn rows(scene: &Scene, told: &[Told]) -> Vec<Row> {
    let recorder = record(told);
    let replayed = scene.judge().check(&recorder).expect("a sound history");
    replayed.written().collect()
}
