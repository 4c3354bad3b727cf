// SPDX-License-Identifier: MIT OR Apache-2.0
//! A random workload on a folder, drawn from a seed, in one thread: the same seed makes the same
//! steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use lockdb::files::{Files, Simulated};
use lockdb::mutant::Mutant;
use lockdb::{
    Database, Durability, Error, Isolation, Options, Session, Transaction, TransactionOptions,
};

use locks::{Policy, Waiting};

use super::model::{Commit, History, Row, Rows, schema, values};
use super::random::Random;

/// How a store is set up, whose owner's maintenance is ours.
pub fn options() -> Options {
    // Transactions of one thread cannot wait for each other.
    let waiting = Waiting { policy: Policy::NoWait, ..Waiting::default() };
    Options { log_segment: 1 << 14, waiting, ..Options::small() }
}

pub fn open(files: &Simulated) -> Result<Database, Error> {
    Database::open_in(Arc::new(files.clone()) as Arc<dyn Files>, options())
}

/// As [`open`], only to be read.
pub fn open_read_only(files: &Simulated) -> Result<Database, Error> {
    let options = Options { read_only: true, ..options() };
    Database::open_in(Arc::new(files.clone()) as Arc<dyn Files>, options)
}

/// Keys of each session; no two sessions write the same.
const KEYS: u64 = 24;
const SESSIONS: u64 = 3;

/// A workload that was run.
pub struct Recorded {
    pub files: Simulated,
    pub history: History,
}

/// Runs transactions between openings; a loss of power or a refusal ends it as it ends a process.
pub struct Workload {
    random: Random,
    files: Simulated,
    history: History,
    /// As the newest commit leaves them.
    rows: Rows,
    tables: Vec<String>,
    mutant: Option<Mutant>,
}

/// One session's transaction under way.
type Changes = BTreeMap<(String, i64), Option<Row>>;

/// The checks to run, and their extent.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub seed: u64,
    pub openings: u64,
    pub transactions: u64,
    pub mutant: Option<Mutant>,
}

impl Plan {
    pub fn new(seed: u64) -> Self {
        Self { seed, openings: 3, transactions: 60, mutant: None }
    }

    /// Runs it on a new folder.
    pub fn record(self) -> Recorded {
        let mut workload = Workload::new(self.seed, Simulated::new(), self.mutant);
        for _ in 0..self.openings {
            workload.run(self.transactions).expect("nothing is in the way of the workload");
        }
        Recorded { files: workload.files, history: workload.history }
    }
}

impl Workload {
    pub fn new(seed: u64, files: Simulated, mutant: Option<Mutant>) -> Self {
        Self {
            random: Random::new(seed),
            files,
            history: History::default(),
            rows: Rows::new(),
            tables: Vec::new(),
            mutant,
        }
    }

    /// Continues with a store whose history is known.
    pub fn resume(seed: u64, files: Simulated, history: History, store: &Database) -> Self {
        let mut workload = Self { history, ..Self::new(seed, files, None) };
        workload.history.acknowledged = vec![(0, store.published())];
        workload.adopt(store);
        workload
    }

    /// Takes over what stands in a store that was opened: what it has lost is forgotten.
    pub fn adopt(&mut self, store: &Database) {
        let last = store.published();
        self.history.commits.retain(|commit| commit.number <= last);
        self.tables = store.tables().iter().map(|table| table.name().to_string()).collect();
        self.rows = self.history.rows_at(last);
    }

    pub fn history(&self) -> &History {
        &self.history
    }

    /// Opens the store, runs transactions, and leaves it one way or another.
    pub fn run(&mut self, transactions: u64) -> Result<(), Error> {
        let store = open(&self.files)?;
        store.plant(self.mutant);
        self.run_on(&store, transactions)?;
        if self.random.one_in(2) {
            store.close()?;
        }
        Ok(())
    }

    /// Runs transactions, each in a session of its own choice, and what else a store does.
    pub fn run_on(&mut self, store: &Database, transactions: u64) -> Result<(), Error> {
        let sessions: Result<Vec<_>, _> = (0..SESSIONS).map(|_| store.session()).collect();
        let mut sessions = sessions?;
        for _ in 0..transactions {
            if self.tables.is_empty() || (self.tables.len() < 4 && self.random.one_in(60)) {
                self.create_table(store)?;
            }
            match self.random.below(24) {
                0 | 1 => drop(store.checkpoint()?),
                2 => drop(store.vacuum()?),
                _ => {}
            }
            if self.random.one_in(4) {
                self.overlap(&mut sessions, store)?;
            } else {
                let session = self.random.below(SESSIONS);
                self.transact(&mut sessions[session as usize], session, store)?;
            }
        }
        Ok(())
    }

    fn create_table(&mut self, store: &Database) -> Result<(), Error> {
        let name = format!("table {}", self.tables.len());
        store.create_table(schema(&name))?;
        self.tables.push(name);
        self.acknowledge(store.published());
        Ok(())
    }

    /// A commit is known to be durable.
    fn acknowledge(&mut self, commit: u64) {
        self.history.acknowledged.push((self.files.steps(), commit));
    }

    fn draw_options(&mut self) -> TransactionOptions {
        let isolation = match self.random.below(4) {
            0 => Isolation::ReadCommitted,
            1 | 2 => Isolation::Snapshot,
            _ => Isolation::Serializable,
        };
        let durability = match self.random.below(5) {
            0 | 1 => Durability::None,
            2 | 3 => Durability::Group,
            _ => Durability::Immediate,
        };
        TransactionOptions { isolation, durability }
    }

    /// One transaction from begin to end.
    fn transact(
        &mut self,
        session: &mut Session,
        number: u64,
        store: &Database,
    ) -> Result<(), Error> {
        let options = self.draw_options();
        let mut transaction = session.begin(options);
        let Some(changes) = self.write(&mut transaction, number, store)? else { return Ok(()) };
        self.end(store, transaction, options, changes)
    }

    /// Two transactions at the same time; when both are serializable, one may be refused: what
    /// it has in the log is void.
    fn overlap(&mut self, sessions: &mut [Session], store: &Database) -> Result<(), Error> {
        let [first, second, ..] = sessions else { unreachable!("there are three") };
        let options = TransactionOptions {
            isolation: Isolation::Serializable,
            durability: Durability::Group,
        };
        let mut one = first.begin(options);
        let Some(changes) = self.write(&mut one, 0, store)? else { return Ok(()) };
        let foreign = (KEYS + self.random.below(KEYS / 4)) as i64;
        let table = store.table(&self.tables[0])?;
        one.get(&table, &foreign)?;
        let mut other = second.begin(options);
        if let Some(others) = self.write(&mut other, 1, store)? {
            self.end(store, other, options, others)?;
        }
        self.end(store, one, options, changes)
    }

    /// Draws changes to rows of session `number`'s own; none when a lock was not granted (two keys
    /// may share a bucket of the lock table).
    fn write(
        &mut self,
        transaction: &mut Transaction<'_>,
        number: u64,
        store: &Database,
    ) -> Result<Option<Changes>, Error> {
        match self.try_write(transaction, number, store) {
            Err(error) if error.is_conflict() => Ok(None),
            changes => changes.map(Some),
        }
    }

    fn try_write(
        &mut self,
        transaction: &mut Transaction<'_>,
        number: u64,
        store: &Database,
    ) -> Result<Changes, Error> {
        let mut changes = Changes::new();
        let mut saved = None;
        for _ in 0..self.random.below(6) {
            match self.random.below(12) {
                0 => saved = Some((transaction.savepoint()?, changes.clone())),
                1 => {
                    if let Some((savepoint, before)) = saved.take() {
                        transaction.rollback_to(savepoint)?;
                        changes = before;
                    }
                }
                _ => self.change(transaction, number, store, &mut changes)?,
            }
        }
        Ok(changes)
    }

    fn change(
        &mut self,
        transaction: &mut Transaction<'_>,
        number: u64,
        store: &Database,
        changes: &mut Changes,
    ) -> Result<(), Error> {
        let name = self.tables[self.random.below(self.tables.len() as u64) as usize].clone();
        let table = store.table(&name)?;
        let id = (number * KEYS + self.random.below(KEYS)) as i64;
        let place = (name, id);
        let stands = match changes.get(&place) {
            Some(own) => own.is_some(),
            None => self.rows.contains_key(&place),
        };
        let row = self.draw_row();
        let after = match (stands, self.random.below(3)) {
            (true, 0) => {
                assert!(transaction.delete(&table, &id)?, "{place:?} was there");
                None
            }
            (true, _) => {
                let fields = values(id, &row);
                let changed =
                    transaction.update(&table, &id, |buffer| Ok(buffer.fill(&fields)?))?;
                changed.expect("it was there");
                Some(row)
            }
            (false, _) => {
                transaction.insert(&table, &values(id, &row))?;
                Some(row)
            }
        };
        changes.insert(place, after);
        Ok(())
    }

    fn draw_row(&mut self) -> Row {
        let balance = self.random.below(1 << 40) as i64;
        let owner = match self.random.below(8) {
            0 => None,
            1 => Some("long name ".repeat(self.random.below(40) as usize + 1)),
            owner => Some(format!("owner {owner}")),
        };
        Row { balance, owner }
    }

    /// Commits, or rolls back. What a conflict ends leaves nothing.
    fn end(
        &mut self,
        store: &Database,
        mut transaction: Transaction<'_>,
        options: TransactionOptions,
        changes: Changes,
    ) -> Result<(), Error> {
        if self.random.one_in(8) {
            return transaction.rollback();
        }
        let before = store.published();
        match transaction.commit() {
            Ok(number) => {
                self.commit(number, changes);
                if options.durability != Durability::None {
                    self.acknowledge(number);
                }
                Ok(())
            }
            Err(error) if error.is_conflict() => Ok(()),
            Err(error) => {
                // In the order of commits, but it is unknown whether on the disk.
                if store.published() > before {
                    self.commit(store.published(), changes);
                }
                Err(error)
            }
        }
    }

    fn commit(&mut self, number: u64, changes: Changes) {
        if changes.is_empty() {
            return;
        }
        for (place, row) in &changes {
            match row {
                Some(row) => self.rows.insert(place.clone(), row.clone()),
                None => self.rows.remove(place),
            };
        }
        self.history.commits.push(Commit { number, changes });
    }
}
