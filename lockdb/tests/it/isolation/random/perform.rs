// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations on the store, each with its entry in the history.

use std::ops::ControlFlow;
use std::sync::Arc;

use history::{Scan, TransactionRecorder, Write};
use lockdb::schema::{RowRef, Value};
use lockdb::{Database, Error, LockWait, Order, Result, Savepoint, Session, Table, Transaction};

use super::plan::{Case, Operation, Plan, level};

/// A store with the rows of a case.
#[derive(Debug)]
pub struct World {
    pub database: Database,
    pub items: Arc<Table>,
    pub counters: Arc<Table>,
    padding: Vec<u8>,
}

const GROUP: usize = 1;
const VERSION: usize = 2;

impl World {
    pub fn new(case: &Case) -> Self {
        let database = Database::in_memory(case.options.clone()).expect("a small store fits");
        let items = database.create_table(super::plan::items()).expect("the store is empty");
        let counters = database.create_table(super::plan::counters()).expect("and has no such");
        let world = Self { database, items, counters, padding: vec![0; case.padding] };
        let fill = |transaction: &mut Transaction<'_>| {
            for write in Self::initial(case).filter(|write| !write.dead) {
                let history::Key::Number(key) = write.key else { unreachable!("keys are numbers") };
                let group = key as i64 % case.groups;
                let row = world.row(key as i64, group, write.version);
                transaction.insert(&world.items, &row)?;
            }
            let mut counters = 0..case.counters;
            counters.try_for_each(|id| transaction.insert(&world.counters, &[id.into(), 0.into()]))
        };
        world.database.transaction(fill).expect("no other user exists");
        world
    }

    fn row(&self, key: i64, group: i64, version: u64) -> [Value; 4] {
        [key.into(), group.into(), (version as i64).into(), self.padding.clone().into()]
    }

    /// What the history says of the beginning: each other row is there.
    pub fn initial(case: &Case) -> impl Iterator<Item = Write> {
        let groups = case.groups as u64;
        (0..case.keys as u64).map(move |key| match key % 2 {
            0 => Write::new(key, 0).indexed("by_group", key % groups),
            _ => Write::dead(key, 0),
        })
    }
}

/// A running transaction, and what is written down of it.
#[derive(Debug)]
pub struct Actor<'a> {
    world: &'a World,
    transaction: Transaction<'a>,
    recorder: TransactionRecorder<'a>,
    savepoints: Vec<Saved>,
    counted: u64,
}

#[derive(Clone, Copy, Debug)]
struct Saved {
    point: Savepoint,
    writes: usize,
    counted: u64,
}

impl<'a> Actor<'a> {
    /// The recorder has begun before.
    pub fn new(
        world: &'a World,
        session: &'a mut Session,
        mut recorder: TransactionRecorder<'a>,
        plan: &Plan,
    ) -> Self {
        let transaction = session.begin(plan.isolation);
        recorder.snapshot(transaction.snapshot());
        Self { world, transaction, recorder, savepoints: Vec::new(), counted: 0 }
    }

    /// Ends as planned; gives how often it has counted.
    pub fn end(mut self, plan: &Plan) -> u64 {
        if !plan.commits {
            self.transaction.rollback().expect("it runs");
            self.recorder.abort();
            return 0;
        }
        match self.transaction.commit() {
            Ok(commit) => {
                self.recorder.commit(commit);
                self.counted
            }
            Err(error) => {
                self.give_up(&error);
                0
            }
        }
    }

    /// Ends because of an error that is no fault of the store.
    pub fn give_up(self, error: &Error) {
        assert!(
            error.is_conflict() || matches!(error, Error::Full { .. }),
            "no reason to give up: {error}"
        );
        self.recorder.abort();
    }

    pub fn recorder(&mut self) -> &mut TransactionRecorder<'a> {
        &mut self.recorder
    }

    /// # Errors
    /// Those after which the transaction cannot continue.
    pub fn perform(&mut self, operation: Operation) -> Result<()> {
        match operation {
            Operation::Get { key } => self.get(key),
            Operation::Lock { key, wait } => self.lock(key, wait),
            Operation::Update { key, group } => self.update(key, group),
            Operation::Insert { key, group } => self.insert(key, group),
            Operation::Delete { key } => self.delete(key),
            Operation::Keys { low, high, descending } => self.keys(low, high, descending),
            Operation::Groups { low, high } => self.groups(low, high),
            Operation::Scan => self.scan(),
            Operation::Savepoint => {
                let point = self.transaction.savepoint()?;
                let (writes, counted) = (self.recorder.writes(), self.counted);
                self.savepoints.push(Saved { point, writes, counted });
                Ok(())
            }
            Operation::Back { back } => self.back(back),
            Operation::Count { counter } => self.count(counter),
        }
    }

    fn get(&mut self, key: i64) -> Result<()> {
        let row = self.transaction.get(&self.world.items, &key)?;
        note_read(&mut self.recorder, key, row);
        Ok(())
    }

    fn lock(&mut self, key: i64, wait: LockWait) -> Result<()> {
        let row = self.transaction.get_for_update(&self.world.items, &key, wait)?;
        // A row that is skipped looks as if it were not there.
        if row.is_some() || wait != LockWait::Skip {
            note_read(&mut self.recorder, key, row);
        }
        Ok(())
    }

    fn update(&mut self, key: i64, group: i64) -> Result<()> {
        let version = self.recorder.version();
        let seen = self.transaction.update(&self.world.items, &key, |row| {
            let seen = row.as_row().int(VERSION);
            row.set_int(GROUP, group);
            row.set_int(VERSION, version as i64);
            Ok(seen)
        })?;
        match seen {
            Some(seen) => {
                self.recorder.read(key as u64, seen as u64);
                self.note_write(key, version, group);
            }
            None => self.recorder.absent(key as u64),
        }
        Ok(())
    }

    fn insert(&mut self, key: i64, group: i64) -> Result<()> {
        let version = self.recorder.version();
        let row = self.world.row(key, group, version);
        match self.transaction.insert(&self.world.items, &row) {
            Ok(()) => {
                self.recorder.absent(key as u64);
                self.note_write(key, version, group);
                Ok(())
            }
            Err(Error::DuplicateKey { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn note_write(&mut self, key: i64, version: u64, group: i64) {
        let write = Write::new(key as u64, version).indexed("by_group", group as u64);
        self.recorder.record(write);
    }

    fn delete(&mut self, key: i64) -> Result<()> {
        let version = self.recorder.version();
        if self.transaction.delete(&self.world.items, &key)? {
            self.recorder.delete(key as u64, version);
        } else {
            self.recorder.absent(key as u64);
        }
        Ok(())
    }

    fn keys(&mut self, low: i64, high: i64, descending: bool) -> Result<()> {
        let order = if descending { Order::Descending } else { Order::Ascending };
        let mut scan = Scan::of_keys(low as u64, high as u64);
        let mut last = None;
        let visit = |row: RowRef<'_>| {
            let key = row.int(0);
            let in_order = last.is_none_or(|last| if descending { key < last } else { key > last });
            assert!(in_order, "key {key} after {last:?}, {order:?}");
            last = Some(key);
            found(&mut scan)(row)
        };
        self.transaction.range(&self.world.items, low..=high, order, visit)?;
        self.recorder.scan(scan);
        Ok(())
    }

    fn groups(&mut self, low: i64, high: i64) -> Result<()> {
        let mut scan = Scan::of_index("by_group", low as u64, high as u64);
        let visit = found(&mut scan);
        let order = Order::Ascending;
        self.transaction.range_by(&self.world.items, "by_group", low..=high, order, visit)?;
        self.recorder.scan(scan);
        Ok(())
    }

    fn scan(&mut self) -> Result<()> {
        let mut scan = Scan::of_keys(0, u64::MAX);
        self.transaction.scan(&self.world.items, found(&mut scan))?;
        self.recorder.scan(scan);
        Ok(())
    }

    fn back(&mut self, back: usize) -> Result<()> {
        let Some(at) = self.savepoints.len().checked_sub(back) else { return Ok(()) };
        self.savepoints.truncate(at + 1);
        let saved = self.savepoints[at];
        self.transaction.rollback_to(saved.point)?;
        self.recorder.undo(saved.writes);
        self.counted = saved.counted;
        Ok(())
    }

    fn count(&mut self, counter: i64) -> Result<()> {
        let count = |row: &mut lockdb::schema::RowBuffer| {
            let count = row.as_row().int(1);
            // Another transaction may come between the read and the write.
            std::thread::yield_now();
            row.set_int(1, count + 1);
            Ok(())
        };
        let changed = self.transaction.update(&self.world.counters, &counter, count)?;
        assert_eq!(changed, Some(()), "counter {counter} is never deleted");
        self.counted += 1;
        Ok(())
    }
}

fn note_read(recorder: &mut TransactionRecorder<'_>, key: i64, row: Option<RowRef<'_>>) {
    match row {
        Some(row) => {
            assert_eq!(row.int(0), key, "the row is the one that was asked for");
            recorder.read(key as u64, row.int(VERSION) as u64);
        }
        None => recorder.absent(key as u64),
    }
}

fn found(scan: &mut Scan) -> impl FnMut(RowRef<'_>) -> ControlFlow<()> + '_ {
    |row| {
        scan.keys.push(history::Read::new(row.int(0) as u64, row.int(VERSION) as u64));
        ControlFlow::Continue(())
    }
}

/// Looks at all rows in every way, when all others have ended, and counts the counters together.
pub fn audit(world: &World, case: &Case, recorder: &mut history::SessionRecorder) -> u64 {
    use lockdb::Isolation::Serializable;
    let mut session = world.database.session().expect("the others have ended");
    let operations = [
        Operation::Scan,
        Operation::Keys { low: 0, high: case.keys - 1, descending: false },
        Operation::Groups { low: 0, high: case.groups - 1 },
    ];
    let gets = (0..case.keys).map(|key| Operation::Get { key });
    let operations = operations.into_iter().chain(gets).collect();
    let plan = Plan { isolation: Serializable, operations, commits: true };
    let mut actor = Actor::new(world, &mut session, recorder.begin(level(Serializable)), &plan);
    for operation in &plan.operations {
        actor.perform(*operation).expect("no other user exists");
    }
    let mut counted = 0;
    let add = |row: RowRef<'_>| {
        counted += row.int(1) as u64;
        ControlFlow::Continue(())
    };
    actor.transaction.scan(&world.counters, add).expect("no other user exists");
    actor.end(&plan);
    counted
}
