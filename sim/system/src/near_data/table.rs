// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table of a run, in a real store on files in memory: a YCSB table with a column to choose
//! rows by and two that say what has been committed.

use std::sync::Arc;

use lockdb::files::{Files, Memory};
use lockdb::layout::RecordId;
use lockdb::schema::{Schema, Type, Value};
use lockdb::{
    Database, Durability, Error, Isolation, Options, Result, Session, Table, TransactionOptions,
};
use locks::{Policy, TupleKey, Waiting};
use tables::hash::{MULTIPLIER, scatter};

/// Columns.
pub(crate) const BALANCE: usize = 2;
pub(crate) const WRITES: usize = 3;

/// Bytes of each further field, as YCSB has them.
const FIELD_BYTES: u16 = 100;

/// Buckets of the store's own lock table.
pub(crate) const LOCK_BUCKETS: usize = 1 << 10;

/// Rows inserted in one transaction.
const BATCH: u64 = 500;

/// What is written is read as it stands under its lock, and nothing outlives the run.
pub(crate) const OPTIONS: TransactionOptions =
    TransactionOptions { isolation: Isolation::ReadCommitted, durability: Durability::None };

/// How a table is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableShape {
    pub rows: u64,
    pub fields: u16,
    /// Each row is of one of these, drawn by the seed.
    pub regions: u64,
    pub seed: u64,
}

/// The newest version of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Newest {
    pub number: u32,
    pub head: RecordId,
    pub balance: i64,
    pub writes: i64,
}

/// The new contents of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NewRow {
    pub vid: u32,
    /// The version that is locked.
    pub number: u32,
    pub balance: i64,
    pub writes: i64,
}

/// The table and its store.
pub(crate) struct YcsbTable {
    pub database: Database,
    pub table: Arc<Table>,
    files: Memory,
    session: Session,
    /// By row number, from 0.
    vids: Vec<u32>,
    regions: Vec<u8>,
    shape: TableShape,
}

impl YcsbTable {
    /// Makes it, loads it, and flushes it to native storage.
    ///
    /// # Errors
    /// When the store refuses.
    pub fn new(shape: TableShape) -> Result<Self> {
        let files = Memory::new();
        let options = Options {
            // In virtual time the locks stand in the memory of the model. These are never waited
            // for, since those are asked for first.
            lock_buckets: LOCK_BUCKETS,
            waiting: Waiting { policy: Policy::NoWait, ..Waiting::default() },
            // A thread of its own would make virtual time depend on this machine's.
            maintenance: false,
            // It moves versions without the locks and the VID map of the model.
            vacuum: false,
            ..Options::default()
        };
        let database = Database::open_in(Arc::new(files.clone()), options)?;
        let mut schema = Schema::builder("usertable")
            .column("id", Type::Int64)
            .column("region", Type::Int64)
            .column("balance", Type::Int64)
            .column("writes", Type::Int64);
        for field in 0..shape.fields {
            schema = schema.column(format!("field{field}"), Type::Fixed(FIELD_BYTES));
        }
        let table = database.create_table(schema.primary_key(&["id"]).build()?)?;
        let mut session = database.session()?;
        let drawn = |row: u64| scatter((row ^ shape.seed).wrapping_add(MULTIPLIER));
        let regions: Vec<u8> =
            (0..shape.rows).map(|row| (drawn(row) % shape.regions) as u8).collect();
        for first in (0..shape.rows).step_by(BATCH as usize) {
            let mut transaction = session.begin(OPTIONS);
            for row in first..(first + BATCH).min(shape.rows) {
                let fixed: [Value; 4] = [
                    (row as i64).into(),
                    i64::from(regions[row as usize]).into(),
                    initial_balance(row).into(),
                    0.into(),
                ];
                let field = Value::Text("f".repeat(FIELD_BYTES.into()));
                let mut values = fixed.to_vec();
                values.resize(4 + usize::from(shape.fields), field);
                transaction.insert(&table, &values)?;
            }
            transaction.commit()?;
        }
        database.checkpoint()?;
        let vid = |row: u64| database.vid_of(&table, &(row as i64));
        let vids = (0..shape.rows).map(|row| Ok(vid(row)?.expect("it was just inserted")));
        let vids = vids.collect::<Result<_>>()?;
        Ok(Self { database, table, files, session, vids, regions, shape })
    }

    pub fn rows(&self) -> u64 {
        self.shape.rows
    }

    pub fn vid(&self, row: u64) -> u32 {
        self.vids[row as usize]
    }

    /// The row of a VID, of those that are there.
    #[cfg(test)]
    pub fn row_of(&self, vid: u32) -> u64 {
        self.vids.iter().position(|of| *of == vid).expect("the VID is a row's") as u64
    }

    pub fn region(&self, row: u64) -> u64 {
        self.regions[row as usize].into()
    }

    pub fn lock_key(&self, vid: u32, number: u32) -> TupleKey {
        self.table.lock_key(vid, number)
    }

    /// The words of the VID map, as the host has it.
    pub fn vid_map(&self) -> Vec<u64> {
        (0..self.table.vids()).map(|vid| self.head(vid).word()).collect()
    }

    pub fn head(&self, vid: u32) -> RecordId {
        let word = self.table.vid_map().word(vid as usize);
        RecordId::from_word(word.load(std::sync::atomic::Ordering::Acquire))
    }

    pub fn newest(&mut self, vid: u32) -> Result<Newest> {
        let head = self.head(vid);
        let mut transaction = self.session.begin(OPTIONS);
        let newest = transaction.newest_version(&self.table, vid)?;
        let (number, row) = newest.expect("rows are never deleted");
        Ok(Newest { number, head, balance: row.int(BALANCE), writes: row.int(WRITES) })
    }

    /// The bytes of a row's newest version.
    pub fn payload(&mut self, vid: u32) -> Result<Vec<u8>> {
        let mut transaction = self.session.begin(OPTIONS);
        let newest = transaction.newest_version(&self.table, vid)?;
        Ok(newest.expect("rows are never deleted").1.payload().to_vec())
    }

    /// Commits new versions of rows whose locks are held elsewhere.
    ///
    /// # Errors
    /// [`Error::NotThatVersion`] when the locks have not protected a row.
    pub fn commit(&mut self, rows: &[NewRow]) -> Result<()> {
        let mut transaction = self.session.begin(OPTIONS);
        for row in rows {
            transaction.update_locked(&self.table, row.vid, row.number, |buffer| {
                buffer.set_int(BALANCE, row.balance);
                buffer.set_int(WRITES, row.writes);
                Ok(())
            })?;
        }
        transaction.commit().map(drop)
    }

    /// The bytes of native storage, as they stand.
    pub fn storage(&self) -> Result<Arc<Vec<u8>>> {
        let file = self.files.open("pages").map_err(|source| unreadable(&source))?;
        let mut bytes = vec![0; file.len().map_err(|source| unreadable(&source))? as usize];
        file.read_at(0, &mut bytes).map_err(|source| unreadable(&source))?;
        Ok(Arc::new(bytes))
    }

    /// The balance that a row began with.
    pub fn initial_balance(&self, row: u64) -> i64 {
        initial_balance(row)
    }
}

fn initial_balance(row: u64) -> i64 {
    1_000 + row as i64
}

fn unreadable(error: &std::io::Error) -> Error {
    unreachable!("a file in memory that the store has written is there: {error}")
}
