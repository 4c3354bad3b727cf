// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store, what is done to it at random, and a device that is to see the same rows.

use std::ops::ControlFlow;
use std::sync::Arc;

use lockdb::device_reader::{DeviceReader, PhysicalPages};
use lockdb::files::{Files, Memory, StoredPages};
use lockdb::schema::{RowRef, Schema, Type};
use lockdb::shared_state::SharedState;
use lockdb::{
    Database, Durability, Error, Isolation, Options, Session, Table, Transaction,
    TransactionOptions,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// No test here needs the power to fail.
pub const QUICK: TransactionOptions =
    TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };

pub fn random(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub fn options(limit: usize) -> Options {
    Options { shared_state_limit: limit, ..Options::small() }
}

pub fn accounts(number: usize) -> Schema {
    Schema::builder(format!("account {number}"))
        .column("id", Type::Int64)
        .column("balance", Type::Int64)
        .nullable_column("owner", Type::Text)
        .primary_key(&["id"])
        .index("by_owner", &["owner"])
        .build()
        .unwrap()
}

/// Physical pages as the device finds them while the host goes on.
pub fn storage(files: &dyn Files) -> StoredPages {
    StoredPages(files.open("pages").unwrap())
}

/// A table's rows: their bytes, in the order of VIDs.
pub type Rows = Vec<Vec<u8>>;

/// What a transaction of the host sees.
pub fn host_rows(transaction: &mut Transaction<'_>, table: &Table) -> Rows {
    let mut rows = Rows::new();
    let visit = |row: RowRef<'_>| {
        rows.push(row.payload().to_vec());
        ControlFlow::Continue(())
    };
    transaction.scan(table, visit).unwrap();
    rows
}

/// What a device sees of a table, with so many processing elements.
pub fn device_rows<P: PhysicalPages + ?Sized>(
    device: &DeviceReader<'_, P>,
    table: u32,
    snapshot: u64,
    elements: u32,
) -> Result<Rows, String> {
    let mut rows = Rows::new();
    let elements = device.elements(table, snapshot, elements).map_err(|error| error.to_string())?;
    for mut element in elements {
        let visited = element.visit(|row| {
            rows.push(row.payload.to_vec());
            ControlFlow::Continue(())
        });
        visited.map_err(|error| error.to_string())?;
    }
    Ok(rows)
}

/// A device that was handed `state` has to see what each of the transactions sees.
pub fn compare<'t, 's: 't>(
    store: &Database,
    pages: &(impl PhysicalPages + ?Sized),
    state: &SharedState,
    transactions: impl IntoIterator<Item = &'t mut Transaction<'s>>,
    elements: u32,
) -> Result<(), String> {
    let device = DeviceReader::open(pages, state.bytes()).map_err(|error| error.to_string())?;
    for transaction in transactions {
        let snapshot = transaction.snapshot();
        for table in store.tables() {
            let Some(found) = device.tables().get(table.id() as usize) else { continue };
            assert_eq!(found.schema(), table.schema());
            let expected = host_rows(transaction, &table);
            let found = device_rows(&device, table.id(), snapshot, elements);
            let told = |what: String| {
                let (name, header) = (table.name(), state.header());
                format!("{name}, snapshot {snapshot}: {what}; {header:?}")
            };
            let found = found.map_err(told)?;
            if found != expected {
                let (found, expected) = (found.len(), expected.len());
                return Err(told(format!("{found} rows, the host sees {expected}, or others")));
            }
        }
    }
    Ok(())
}

/// Something that a transaction does to one row, at random.
pub fn change(
    transaction: &mut Transaction<'_>,
    table: &Table,
    random: &mut ChaCha8Rng,
    keys: i64,
) -> Result<(), Error> {
    let id = random.random_range(0..keys);
    let balance = random.random_range(0..1000_i64);
    // Long enough that a few hundred rows fill many pages.
    let owner = "owner ".repeat(random.random_range(1..60));
    match random.random_range(0..8) {
        0 => transaction.delete(table, &id).map(drop),
        _ => {
            let updated = transaction.update(table, &id, |row| {
                row.set_int(1, balance);
                Ok(row.set(2, owner.as_str())?)
            })?;
            match updated {
                Some(_) => Ok(()),
                None => transaction.insert(table, &[id.into(), balance.into(), owner.into()]),
            }
        }
    }
}

/// A store in memory, with a folder that a device can read.
pub struct Scene {
    pub files: Memory,
    pub store: Database,
    pub random: ChaCha8Rng,
    pub keys: i64,
}

impl Scene {
    pub fn new(seed: u64, options: Options) -> Self {
        let files = Memory::new();
        let store = Database::open_in(Arc::new(files.clone()), options).unwrap();
        store.create_table(accounts(0)).unwrap();
        Self { files, store, random: random(seed), keys: 200 }
    }

    pub fn storage(&self) -> StoredPages {
        storage(&self.files)
    }

    /// All bytes of the storage, as they are now.
    pub fn storage_bytes(&self) -> Vec<u8> {
        let StoredPages(file) = self.storage();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(0, &mut bytes).unwrap();
        bytes
    }

    /// A transaction of a few changes.
    pub fn commit(&mut self, session: &mut Session) {
        let tables = self.store.tables();
        let mut transaction = session.begin(QUICK);
        for _ in 0..self.random.random_range(1..6) {
            let table = &tables[self.random.random_range(0..tables.len())];
            change(&mut transaction, table, &mut self.random, self.keys).unwrap();
        }
        transaction.commit().unwrap();
    }

    pub fn commit_many(&mut self, transactions: usize) {
        let mut session = self.store.session().unwrap();
        (0..transactions).for_each(|_| self.commit(&mut session));
    }
}
