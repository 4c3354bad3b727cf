// SPDX-License-Identifier: MIT OR Apache-2.0
//! The store that a command works on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{ValueEnum, ValueHint};
use lockdb::files::{Disk, Files};
use lockdb::{Database, IndexBuild, Isolation, Options, StorageBytes, Table};
use ndp_runtime::host::{NearDataJobError, StoreMemory};

use crate::error::CommandError;

/// Tuples that a table can have whose VID map a device is given, whole.
const TUPLES: u32 = 1 << 24;

/// The largest shared state that the store makes and a device takes, in bytes.
const MOST_SHARED_STATE: usize = 1 << 30;

/// Which store and table.
#[derive(clap::Args)]
pub struct Target {
    /// Folder of the store.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub folder: PathBuf,
    /// The table.
    #[arg(long, value_name = "NAME")]
    pub table: String,
}

impl Target {
    /// Opens the store, which must be there, and finds the table; `shared` and `access` as [`open`].
    ///
    /// # Errors
    /// When there is no store, or no such table in it.
    pub fn open(&self, shared: bool, access: Access) -> Result<(Opened, Arc<Table>), CommandError> {
        // The store would make one.
        if !self.folder.join("pages").is_file() {
            let message = "no store is here, expected one that `lockstep ndp load` has made";
            return Err(CommandError::input(&self.folder, message));
        }
        let opened = open(&self.folder, shared, access)?;
        let table = opened.database.table(&self.table)?;
        Ok((opened, table))
    }
}

/// What a command does with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Writes nothing, so this works on a full disk, on a read-only file system, and
    /// beside others that read.
    Read,
    /// Alone.
    Write,
}

/// An open store.
pub struct Opened {
    pub database: Database,
    /// Its files, for a device in this process.
    pub files: Arc<dyn Files>,
    /// Its lock table and VID maps, for a device behind a driver.
    pub memory: Option<Arc<StoreMemory>>,
    /// What the host read of native storage to open it, and wrote.
    pub opening: StorageBytes,
}

impl Opened {
    /// What the host has read and written of native storage since the store was open.
    pub fn since_opening(&self) -> StorageBytes {
        self.database.storage_bytes().since(self.opening)
    }
}

/// Opens the store in a folder, or makes it if it is to be written; if `shared`, with lock table and VID maps where a device
/// behind a driver reaches them. Its indexes, for which all its pages are read, are made when somebody
/// asks for a row by its key.
///
/// # Errors
/// When what is there is no store, or in use by another process.
pub fn open(folder: &Path, shared: bool, access: Access) -> Result<Opened, CommandError> {
    let read_only = access == Access::Read;
    let disk = if read_only { Disk::open_read_only(folder) } else { Disk::open(folder) };
    let disk = disk.map_err(|error| CommandError::input(folder, error))?;
    let files: Arc<dyn Files> = Arc::new(disk);
    let options = Options { indexes: IndexBuild::WhenNeeded, read_only, ..Options::default() };
    // All of the log may have to go there, as no checkpoint is made.
    let shared_state_limit = if read_only { MOST_SHARED_STATE } else { options.shared_state_limit };
    let options = Options { shared_state_limit, ..options };
    let (options, memory) = if shared {
        let options = Options { tuples: TUPLES, ..options };
        let (options, memory) = StoreMemory::for_store(options).map_err(|error| {
            CommandError::Internal(format!("cannot have memory to share: {error}"))
        })?;
        (options, Some(memory))
    } else {
        (options, None)
    };
    let database = Database::open_in(files.clone(), options);
    let database = database.map_err(|error| CommandError::input(folder, error))?;
    let opening = database.storage_bytes();
    Ok(Opened { database, files, memory, opening })
}

/// Isolation level of the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Rows that others change meanwhile are changed in their new state.
    ReadCommitted,
    /// A row that others change meanwhile ends the transaction; it is retried.
    Snapshot,
    /// As if transactions ran one after the other.
    Serializable,
}

impl Level {
    /// As it is given on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read-committed",
            Self::Snapshot => "snapshot",
            Self::Serializable => "serializable",
        }
    }
}

impl From<Level> for Isolation {
    fn from(level: Level) -> Self {
        match level {
            Level::ReadCommitted => Self::ReadCommitted,
            Level::Snapshot => Self::Snapshot,
            Level::Serializable => Self::Serializable,
        }
    }
}

impl From<lockdb::Error> for CommandError {
    fn from(error: lockdb::Error) -> Self {
        use lockdb::Error;
        match error {
            Error::NoSuchTable { ref tables, .. } if tables.is_empty() => {
                Self::Input("the store has no tables, expected some: `lockstep ndp load`".into())
            }
            Error::NoSuchTable { .. } | Error::TableExists { .. } | Error::DuplicateKey { .. } => {
                Self::Input(error.to_string())
            }
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<NearDataJobError> for CommandError {
    fn from(failure: NearDataJobError) -> Self {
        match failure {
            NearDataJobError::Cancelled => Self::Interrupted,
            NearDataJobError::Store(error) => error.into(),
            NearDataJobError::Compile(_)
            | NearDataJobError::RowFaults { .. }
            | NearDataJobError::NoAggregate { .. }
            | NearDataJobError::Evaluation { .. } => Self::Input(failure.to_string()),
            other => Self::Internal(other.to_string()),
        }
    }
}

impl From<ndp_runtime::program::CompileError> for CommandError {
    fn from(error: ndp_runtime::program::CompileError) -> Self {
        Self::Input(error.to_string())
    }
}
