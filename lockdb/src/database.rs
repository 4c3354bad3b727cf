// SPDX-License-Identifier: MIT OR Apache-2.0
//! A store as a whole.

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use locks::{LockTable, nesting};
use parking_lot::Mutex;

use super::admission::Admission;
use super::checkpoint::{Checkpoint, Standing};
use super::error::{Error, Result};
use super::files::{Disk, Files};
use super::lock_table::{self, OpenLockTable};
use super::log::{Durability, Kind, Log};
use super::maintenance::Maintainer;
use super::memory::{SharedArray, VersionRef};
use super::mutant::{Mutant, Mutants};
use super::native::{NativeStorage, StorageBytes};
use super::options::{IndexBuild, Options, TransactionOptions};
use super::pages::Pages;
use super::pins::Pins;
use super::rebuild::Indexes;
use super::recovery::{self, Recovered, Recovery};
use super::schema::{Key, Schema};
use super::session::Session;
use super::table::Table;
use super::transaction::Transaction;
use super::vacuum::{Vacuum, Vacuumed};
use super::visibility::{self, Seen, Step};
use super::watches::Watches;

/// A multi-version store. Copies are the same store.
#[derive(Clone, Debug)]
pub struct Database {
    pub(crate) shared: Arc<Shared>,
    /// Sessions that wait for [`Database::transaction`].
    idle: Arc<Mutex<Vec<Session>>>,
    /// Dropped last: it may wait for the store's thread.
    maintainer: Option<Arc<Maintainer>>,
}

/// The shared data of all sessions of a store.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Distinguishes its tables from those of other stores in the process.
    pub(crate) id: u64,
    pub(crate) options: Options,
    pub(crate) pages: Pages,
    pub(crate) log: Log,
    pub(crate) locks: LockTable,
    /// Kept as long as the store is open, since no other process has the folder.
    _files: Option<Arc<dyn Files>>,
    /// Kept open for its lock, which the system gives back with the file.
    _lock_file: Option<File>,
    pub(crate) pins: Pins,
    pub(crate) admission: Admission,
    pub(crate) mutants: Mutants,
    /// What others commit beside long validations.
    pub(crate) watches: Watches,
    ages: AtomicU64,
    catalog: Catalog,
    /// Where the newest checkpoint has put its maps.
    pub(crate) standing: Mutex<Standing>,
    pub(crate) recovery: Recovery,
    /// Where redo would begin.
    pub(crate) redo_lsn: AtomicU64,
    pub(crate) indexes: Indexes,
    /// Held for vacuum and checkpoints. A fair mutex: the store's thread takes it repeatedly, and
    /// must not starve a session that waits for it.
    pub(crate) maintenance: Mutex<Vacuum>,
    /// Memory of the last shared state that a device was done with, for the next.
    pub(crate) spare_area: Mutex<Vec<u8>>,
    /// The store's own thread, to be woken when there is work.
    pub(crate) maintainer: OnceLock<Thread>,
}

impl Database {
    /// A store that lives as long as the process: no files, no log.
    ///
    /// # Errors
    /// When an option is impossible, or the system refuses the memory.
    pub fn in_memory(options: Options) -> Result<Self> {
        options.check()?;
        let what = "cannot reserve memory for pages";
        let pages = Pages::new(&options, None).map_err(Error::system(what))?;
        let recovered = Recovered {
            pages,
            log: Log::volatile_with(&recovery::log_options(&options)),
            tables: Vec::new(),
            standing: Standing::default(),
            report: Recovery::default(),
        };
        Self::assemble(options, None, recovered, draw_id())
    }

    /// Opens the store in a folder, which is made if it is missing: the newest checkpoint, and what
    /// the log says happened after it. One process has a store open at a time, or several that only
    /// [read](Options::read_only) it.
    ///
    /// # Errors
    /// When what stands there is no store, one of another version, or damaged: the error names the
    /// place. [`Error::NoRoom`] when the disk is full. When an option is impossible, or the system
    /// refuses something.
    pub fn open(folder: impl AsRef<Path>, options: Options) -> Result<Self> {
        let folder = folder.as_ref();
        let disk = match options.read_only {
            true => Disk::open_read_only(folder),
            false => Disk::open(folder),
        };
        let disk = disk.map_err(|source| {
            let read_only = source.kind() == std::io::ErrorKind::ReadOnlyFilesystem;
            let advice = if read_only { " to write; it can be opened to be read only" } else { "" };
            Error::system(format!("cannot open {}{advice}", folder.display()))(source)
        })?;
        Self::open_in(Arc::new(disk), options)
    }

    /// As [`Database::open`], in files of another kind.
    ///
    /// # Errors
    /// The same errors.
    pub fn open_in(files: Arc<dyn Files>, options: Options) -> Result<Self> {
        Self::open_with(files, options, Mutants::default())
    }

    /// As [`Database::open_in`], with a fault planted in recovery. The store then works as
    /// it should.
    ///
    /// # Errors
    /// As there, and whatever the fault brings.
    #[cfg(feature = "mutants")]
    pub fn open_with_fault(
        files: Arc<dyn Files>,
        options: Options,
        mutant: super::mutant::Mutant,
    ) -> Result<Self> {
        let mutants = Mutants::default();
        mutants.plant(Some(mutant));
        Self::open_with(files, options, mutants)
    }

    fn open_with(files: Arc<dyn Files>, options: Options, mutants: Mutants) -> Result<Self> {
        options.check()?;
        let id = draw_id();
        let recovered = recovery::recover(files.clone(), &options, id, &mutants)?;
        Self::assemble(options, Some(files), recovered, id)
    }

    /// The findings when the store was opened.
    pub fn recovery(&self) -> &Recovery {
        &self.shared.recovery
    }

    /// Writes all that is in memory to native storage, so that opening needs no log before this.
    /// Transactions continue in the meantime. Nothing to do for a store without files.
    ///
    /// # Errors
    /// When storage cannot be written: nothing is changed then. [`Error::ReadOnly`].
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        self.shared.checkpoint()
    }

    /// A checkpoint, and a mark in the log that vouches for all before it. Sessions can continue;
    /// what they commit is found by the next opening as well. Nothing to do for a store that is
    /// only read.
    ///
    /// # Errors
    /// As [`Database::checkpoint`].
    pub fn close(&self) -> Result<()> {
        if self.shared.options.read_only {
            return Ok(());
        }
        self.shared.checkpoint()?;
        Ok(self.shared.log.mark()?)
    }

    /// Reclaims the space of versions that no snapshot sees any more: processes all pages once,
    /// while transactions continue. The store does so itself when twice as many pages are in use as
    /// after the last time.
    ///
    /// # Errors
    /// When a page cannot be read; those before it are done.
    pub fn vacuum(&self) -> Result<Vacuumed> {
        self.shared.vacuum()
    }

    /// A session: access to the store for one thread. Waits for one when there are as many as the
    /// options admit.
    ///
    /// # Errors
    /// [`Error::NoSession`] when none comes free within [`Options::session_timeout`], or those that
    /// there are belong to closures that this thread is in.
    pub fn session(&self) -> Result<Session> {
        self.admit(|| {
            self.new_session().or_else(|| {
                // One that waits for the next transaction makes room.
                let idle = self.idle.lock().pop()?;
                drop(idle);
                self.new_session()
            })
        })
    }

    fn new_session(&self) -> Option<Session> {
        Session::new(&self.shared, &self.maintainer)
    }

    #[inline]
    fn admit(&self, take: impl FnMut() -> Option<Session>) -> Result<Session> {
        let sessions = self.shared.pins.limit();
        let session_timeout = self.shared.options.session_timeout;
        let timeout = || match nesting::depth(&self.shared.locks) < sessions {
            true => session_timeout,
            false => Duration::ZERO,
        };
        let admitted = self.shared.admission.admit(timeout, take);
        admitted.map_err(|waited| Error::NoSession { sessions, waited })
    }

    /// Runs a transaction with the default options: [`Session::transaction`].
    ///
    /// # Errors
    /// As there, and as [`Database::session`].
    pub fn transaction<T, E: From<Error>>(
        &self,
        work: impl FnMut(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.transaction_with(TransactionOptions::default(), work)
    }

    /// Runs a transaction: [`Session::transaction`].
    ///
    /// # Errors
    /// As there, and as [`Database::session`].
    pub fn transaction_with<T, E: From<Error>>(
        &self,
        options: impl Into<TransactionOptions>,
        work: impl FnMut(&mut Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut session = self.admit(|| {
            let idle = self.idle.lock().pop();
            idle.or_else(|| self.new_session())
        })?;
        let result = session.transaction(options, work);
        // The next user may be any caller.
        session.maintain_in_passing();
        self.idle.lock().push(session);
        self.shared.admission.note_free();
        result
    }

    /// Creates a table.
    ///
    /// # Errors
    /// When there is one of its name, or the log cannot be written.
    pub fn create_table(&self, schema: Schema) -> Result<Arc<Table>> {
        self.shared.create_table(schema)
    }

    /// The table of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn table(&self, name: &str) -> Result<Arc<Table>> {
        self.shared.catalog.find(name)
    }

    /// All tables, in the order of their creation.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.shared.catalog.all()
    }

    /// The VID of a primary key's tuple, which may have no row (yet, or any more).
    ///
    /// # Errors
    /// When the key does not fit the table, or its indexes cannot be built.
    pub fn vid_of(&self, table: &Table, key: &(impl Key + ?Sized)) -> Result<Option<u32>> {
        self.shared.need_indexes()?;
        Ok(table.find(&table.schema().primary().key(key)?))
    }

    /// The lock table that all row locks of the store are taken in.
    pub fn lock_table(&self) -> &LockTable {
        &self.shared.locks
    }

    /// The age of a transaction that takes its locks in [`Database::lock_table`] by itself, as a
    /// device's do ([`locks::Timestamp::of_attempt`]): none before was given a greater one, nor will another
    /// be given the same.
    pub fn draw_age(&self) -> u64 {
        self.shared.draw_age()
    }

    /// The newest commit up to which all are published: what a transaction sees that begins now.
    pub fn published(&self) -> u64 {
        self.shared.log.published()
    }

    /// The L2P map as the plain array that devices read: entry *n* is the physical page of logical
    /// page *n* on native storage (0: it has none yet); its highest bit says whether the host has
    /// the page in memory.
    pub fn page_map(&self) -> &SharedArray {
        self.shared.pages.page_map()
    }

    /// Logical pages that hold versions, of 8 KiB each.
    pub fn pages_in_use(&self) -> u64 {
        self.shared.pages.in_use()
    }

    /// What the store has read and written of native storage since it was opened, and for that.
    pub fn storage_bytes(&self) -> StorageBytes {
        self.shared.pages.storage().map_or(StorageBytes::default(), NativeStorage::bytes)
    }

    /// Plants a fault in the store.
    #[cfg(feature = "mutants")]
    pub fn plant(&self, mutant: Option<super::mutant::Mutant>) {
        self.shared.mutants.plant(mutant);
    }

    /// Holds up commits at SERIALIZABLE that have looked at all their reads ahead, and have no place in
    /// the order of commits yet, or lets them continue.
    #[cfg(feature = "mutants")]
    pub fn hold_validations(&self, held: bool) {
        self.shared.mutants.hold(held);
    }

    /// How many are held up.
    #[cfg(feature = "mutants")]
    pub fn held_validations(&self) -> usize {
        self.shared.mutants.held_up()
    }

    /// Puts a store together.
    fn assemble(
        options: Options,
        files: Option<Arc<dyn Files>>,
        recovered: Recovered,
        id: u64,
    ) -> Result<Self> {
        let Recovered { pages, log, tables, standing, report: mut recovery } = recovered;
        let OpenLockTable { table: locks, file: lock_file, repaired } = lock_table::open(&options)?;
        recovery.locks_repaired = repaired;
        let horizon = log.published();
        let redo_lsn = AtomicU64::new(log.position().lsn - recovery.log_bytes);
        let shared = Shared {
            id,
            pins: Pins::new(options.sessions),
            admission: Admission::default(),
            options,
            pages,
            log,
            locks,
            _files: files,
            _lock_file: lock_file,
            mutants: Mutants::default(),
            watches: Watches::default(),
            indexes: Indexes::default(),
            ages: AtomicU64::new(1),
            catalog: Catalog::new(tables),
            standing: Mutex::new(standing),
            redo_lsn,
            recovery,
            maintenance: Mutex::new(Vacuum::new(horizon)),
            spare_area: Mutex::default(),
            maintainer: OnceLock::new(),
        };
        let shared = Arc::new(shared);
        // In a store with files, its thread builds the indexes first.
        let at_open = shared.options.indexes == IndexBuild::AtOpen && !shared.options.maintenance;
        if at_open || shared.pages.storage().is_none() {
            shared.need_indexes()?;
        }
        let maintainer = match shared.options.maintenance {
            true => Some(Maintainer::start(shared.clone())),
            false => None,
        };
        let what = "cannot start the store's thread";
        let maintainer = maintainer.transpose().map_err(Error::system(what))?.map(Arc::new);
        Ok(Self { shared, idle: Arc::default(), maintainer })
    }
}

/// Distinguishes the stores of a process.
fn draw_id() -> u64 {
    static STORES: AtomicU64 = AtomicU64::new(1);
    STORES.fetch_add(1, Ordering::Relaxed)
}

impl Shared {
    /// The version of a tuple that a snapshot sees.
    #[inline]
    pub(crate) fn visible(
        &self,
        table: &Table,
        vid: u32,
        snapshot: u64,
    ) -> Result<Option<VersionRef<'_>>> {
        let snapshot = snapshot + u64::from(self.mutants.has(Mutant::NewerVersionVisible));
        let mut at = visibility::enter(table.head(vid));
        while let Step::Look(record) = at {
            let version = self.pages.version(record)?;
            let seen = Seen {
                created: version.created(),
                predecessor: version.predecessor(),
                tombstone: version.is_tombstone() && !self.mutants.has(Mutant::TombstoneIgnored),
            };
            at = visibility::step(snapshot, seen);
            if at == Step::Visible {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }

    /// Refuses what would change a read-only store.
    #[inline]
    pub(crate) fn check_writable(&self, refused: &'static str) -> Result<()> {
        if self.options.read_only { Err(Error::ReadOnly { refused }) } else { Ok(()) }
    }

    pub(crate) fn draw_age(&self) -> u64 {
        self.ages.fetch_add(1, Ordering::Relaxed)
    }

    /// A table by its number.
    #[inline]
    pub(crate) fn table_by_id(&self, id: u32) -> &Table {
        self.catalog.get(id)
    }

    pub(crate) fn tables(&self) -> Vec<Arc<Table>> {
        self.catalog.all()
    }

    fn create_table(&self, schema: Schema) -> Result<Arc<Table>> {
        let _one_at_a_time = self.catalog.creating.lock();
        let id = self.catalog.len();
        if self.catalog.find(schema.name()).is_ok() {
            return Err(Error::TableExists { table: schema.name().into() });
        }
        if id as usize == Catalog::LIMIT {
            return Err(Error::full("tables", Catalog::LIMIT as u64));
        }
        let body = schema.encode();
        let table = Arc::new(Table::new(self.id, id, schema, &self.options)?);
        let ticket = self.log.begin(body.len())?;
        let end = ticket.end();
        self.log.write(&ticket, Kind::Schema, &body);
        self.catalog.push(table.clone());
        self.log.finish(ticket)?;
        self.log.make_durable(end, Durability::Group)?;
        Ok(table)
    }

    /// Waits until a commit is published, whose versions are there already.
    #[inline]
    pub(crate) fn await_published(&self, commit: u64) -> Result<()> {
        if self.log.published() < commit {
            self.log.wait_until_published(commit)?;
        }
        Ok(())
    }

    /// Waits until what a snapshot shows is durable.
    pub(crate) fn await_durable(&self, snapshot: u64, durability: Durability) -> Result<()> {
        if durability == Durability::None || snapshot == 0 {
            return Ok(());
        }
        let position = self.log.position();
        debug_assert!(position.commit >= snapshot);
        Ok(self.log.make_durable(position.lsn, durability)?)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // Data committed without a sync is written as well; a caller that needs to know asks for
        // it.
        let _ = self.log.make_durable(self.log.position().lsn, Durability::Immediate);
    }
}

/// The tables of a store. They are never dropped, so that a table's number leads to it at once.
#[derive(Debug)]
struct Catalog {
    tables: Box<[std::sync::OnceLock<Arc<Table>>]>,
    creating: Mutex<()>,
}

impl Catalog {
    const LIMIT: usize = 1024;

    fn new(tables: Vec<Table>) -> Self {
        let mut slots: Vec<_> = tables.into_iter().map(|table| Arc::new(table).into()).collect();
        slots.resize_with(Self::LIMIT, std::sync::OnceLock::new);
        Self { tables: slots.into(), creating: Mutex::new(()) }
    }

    #[inline]
    fn get(&self, id: u32) -> &Table {
        self.tables[id as usize].get().expect("a table's number comes from the table")
    }

    fn all(&self) -> Vec<Arc<Table>> {
        self.tables.iter().map_while(|slot| slot.get().cloned()).collect()
    }

    fn len(&self) -> u32 {
        self.tables.iter().take_while(|slot| slot.get().is_some()).count() as u32
    }

    fn push(&self, table: Arc<Table>) {
        let slot = &self.tables[table.id as usize];
        assert!(slot.set(table).is_ok(), "tables are created one at a time");
    }

    fn find(&self, name: &str) -> Result<Arc<Table>> {
        let all = self.all();
        all.iter().find(|table| table.name() == name).cloned().ok_or_else(|| Error::NoSuchTable {
            table: name.into(),
            tables: all.iter().map(|table| table.name().into()).collect(),
        })
    }
}
