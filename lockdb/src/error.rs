// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of a store.

use std::io;

use super::files::is_no_room;
use super::layout::{LAST_VERSION, PageError};
use super::log::{LogError, NO_ROOM};
use super::near_data::NearDataError;
use super::pins::OldSnapshot;
use super::schema::{KeyError, RowError, SchemaError};
use locks::LockError;

/// Result of an operation on a store.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation on a store failed. Unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A conflict with other transactions; a retry of the same transaction may succeed.
    #[error("{0}")]
    Conflict(#[from] ConflictError),
    /// The transaction has ended: it was committed or rolled back, or a conflict ended it.
    #[error("the transaction has ended: {how}")]
    Ended {
        /// How it ended.
        how: Ending,
    },
    /// A closure's transaction met conflicts each time it was run.
    #[error("gave up after {attempts} attempts, the last one: {last}")]
    TooManyAttempts {
        /// How often it was run.
        attempts: u32,
        /// The last conflict.
        last: ConflictError,
    },
    /// A row's lock can never be granted: its holder, or a transaction that the holder waits for,
    /// is a transaction by a closure which, on this thread, has called what asks for the lock.
    /// Neither would ever end. The transaction has ended; the outer one continues.
    #[error(
        "row {vid} of table {table:?} is locked by transaction {outer}, or by one that waits \
             for it; it cannot end before this call, which its own closure makes"
    )]
    Nested {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
        /// The outer transaction, by its name in the lock table.
        outer: locks::Timestamp,
    },
    /// A row has had as many versions as can be numbered: 2³² - 2 since it was inserted. The
    /// transaction continues without this change.
    #[error(
        "row {vid} of table {table:?} has had all its {LAST_VERSION} versions: delete it, and insert \
         it again when vacuum has removed it"
    )]
    VersionsUsedUp {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
    },
    /// The row exists already.
    #[error("table {table:?} has a row of key {key} already")]
    DuplicateKey {
        /// The table.
        table: String,
        /// The key's columns and values.
        key: String,
    },
    /// An update may not change a primary key; delete the row and insert another.
    #[error("update of table {table:?} changes the primary key from {from} to {to}")]
    KeyChanged {
        /// The table.
        table: String,
        /// The key's columns and values.
        from: String,
        /// And what the update would make of them.
        to: String,
    },
    /// A row that was said to be locked has moved on: the lock was of another version.
    #[error("row {vid} of table {table:?}: version {locked} is locked, but {found} is the newest")]
    NotThatVersion {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
        /// The version that the caller has locked.
        locked: u32,
        /// The row's newest version; 0 when it has none.
        found: u32,
    },
    /// There is no such savepoint (any more): it lies behind one that was rolled back to.
    #[error("savepoint {savepoint}: the transaction has {savepoints}")]
    Savepoint {
        /// Which one was asked for, from 0.
        savepoint: usize,
        /// How many there are.
        savepoints: usize,
    },
    /// There is no table of this name.
    #[error("there is no table {table:?}; expected one of {tables:?}")]
    NoSuchTable {
        /// The name that was asked for.
        table: String,
        /// The tables there are.
        tables: Vec<String>,
    },
    /// There is a table of this name.
    #[error("there is a table {table:?} already")]
    TableExists {
        /// The name.
        table: String,
    },
    /// There is no index of this name.
    #[error("table {table:?} has no index {index:?}; expected one of {indexes:?}")]
    NoSuchIndex {
        /// The table.
        table: String,
        /// The name that was asked for.
        index: String,
        /// The indexes there are.
        indexes: Vec<String>,
    },
    /// A table of another store.
    #[error("table {table:?} belongs to another store")]
    ForeignTable {
        /// The table.
        table: String,
    },
    /// A row was made for another table.
    #[error("a row of table {of:?} was given for table {table:?}")]
    RowOfOtherTable {
        /// The table that it was to stand in.
        table: String,
        /// The table that it was made for.
        of: String,
    },
    /// A row breaks its schema.
    #[error(transparent)]
    Row(#[from] RowError),
    /// A key does not fit its index.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A schema is impossible.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// No session came free; those that there are may belong to closures that the caller is in.
    #[error("waited {waited:?} for one of the store's {sessions} sessions: all are in use")]
    NoSession {
        /// How many there can be at once.
        sessions: usize,
        /// How long.
        waited: std::time::Duration,
    },
    /// Something of a configured size is used up.
    #[error("all {limit} {what} of the store are in use{}", Kept(.kept_by))]
    Full {
        /// The exhausted resource.
        what: &'static str,
        /// How many there are.
        limit: u64,
        /// The snapshot without which some could be used again, if there is one: when its
        /// transaction has ended, the same may succeed.
        kept_by: Option<OldSnapshot>,
    },
    /// A store without files has no pages that a device could read.
    #[error("the store has no files: there is no native storage that a device could read")]
    NoNativeStorage,
    /// A page on storage is not what was written.
    #[error("{file}, physical page {physical} (logical {page}): {fault}")]
    CorruptPage {
        /// The file.
        file: String,
        /// Physical page in the file: it begins at 8,192 times this byte.
        physical: u64,
        /// The page that was looked for.
        page: u64,
        /// The error in it.
        fault: PageError,
    },
    /// Something else on storage is not what was written.
    #[error("{file}, byte {offset}: {what}")]
    Corrupt {
        /// The file.
        file: String,
        /// Where in the file.
        offset: u64,
        /// The value found there, and the expected value.
        what: String,
    },
    /// The indexes, which are rebuilt after opening, could not be.
    #[error("the indexes could not be built: {0}")]
    Indexes(std::sync::Arc<Error>),
    /// Nothing has happened for long to the indexes that are rebuilt after opening.
    #[error("waited {waited:?} for the indexes, after {read} pages were read for them")]
    IndexesStalled {
        /// Pages that were read.
        read: u64,
        /// How long no other was.
        waited: std::time::Duration,
    },
    /// There is no room on the disk. Commits that were acknowledged stand, reading continues, and
    /// the same may succeed when there is room.
    #[error("no room for {bytes} more bytes in {file}: {source}; {advice}", advice = NO_ROOM)]
    NoRoom {
        /// The file.
        file: String,
        /// The requested size in bytes.
        bytes: u64,
        /// The system's reason.
        source: std::sync::Arc<io::Error>,
    },
    /// The store was opened read-only ([`Options::read_only`](super::Options::read_only)).
    #[error("the store is open to be read only: it takes no {refused}")]
    ReadOnly {
        /// The attempted operation.
        refused: &'static str,
    },
    /// There is no store that could be read.
    #[error("there is no store to be read: {what}")]
    NoStore {
        /// The missing part.
        what: String,
    },
    /// A near-data update was refused.
    #[error(transparent)]
    NearData(#[from] NearDataError),
    /// The log could not be written or read.
    #[error(transparent)]
    Log(LogError),
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// The request to it.
        what: String,
        /// Its reason.
        source: io::Error,
    },
    /// An option is impossible.
    #[error("{option} = {found}: expected {expected}")]
    Option {
        /// The option.
        option: &'static str,
        /// Its value.
        found: String,
        /// The valid values.
        expected: &'static str,
    },
    /// The caller's own reason to roll a transaction back.
    #[error("rolled back: {0}")]
    RolledBack(String),
}

impl Error {
    /// Whether the same transaction may succeed when it is run again.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Error::Conflict(_))
    }

    /// Whether a lock was not granted within its time limit. Another try is likely to take as long:
    /// the closure API leaves it to the caller.
    pub fn is_time_out(&self) -> bool {
        matches!(self, Error::Conflict(conflict) if conflict.is_time_out())
    }

    /// No snapshot is to blame.
    pub(crate) fn full(what: &'static str, limit: u64) -> Self {
        Error::Full { what, limit, kept_by: None }
    }

    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        move |source| Error::System { what: what.into(), source }
    }

    /// As [`Error::system`], of a call that may find no room for so many bytes in a file.
    pub(crate) fn writing(
        file: &str,
        bytes: u64,
        what: impl Into<String>,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| match is_no_room(&source) {
            true => Error::NoRoom { file: file.into(), bytes, source: source.into() },
            false => Error::system(what)(source),
        }
    }
}

impl From<LogError> for Error {
    fn from(error: LogError) -> Self {
        match error {
            LogError::NoRoom { file, bytes, source } => Error::NoRoom { file, bytes, source },
            LogError::ReadOnly => Error::ReadOnly { refused: "commits" },
            error => Error::Log(error),
        }
    }
}

/// What keeps things in use, at the end of a sentence.
struct Kept<'a>(&'a Option<OldSnapshot>);

impl std::fmt::Display for Kept<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(snapshot) => write!(f, "; {snapshot}"),
            None => Ok(()),
        }
    }
}

/// A conflict that ended a transaction; a retry may succeed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConflictError {
    /// SNAPSHOT, SERIALIZABLE: another transaction has changed the row since the snapshot was taken
    /// (the first updater wins).
    #[error("row {vid} of table {table:?} was changed by commit {by}, after snapshot {snapshot}")]
    Write {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
        /// The transaction's snapshot.
        snapshot: u64,
        /// The transaction that changed it.
        by: u64,
    },
    /// SERIALIZABLE: what the transaction has read was changed before it could commit.
    #[error("what was read of table {table:?} at snapshot {snapshot} was changed by commit {by}")]
    Read {
        /// The table.
        table: String,
        /// The transaction's snapshot.
        snapshot: u64,
        /// The transaction that changed it.
        by: u64,
    },
    /// A row's lock was not granted.
    #[error("row {vid} of table {table:?}: {source}")]
    Lock {
        /// The table.
        table: String,
        /// The row.
        vid: u32,
        /// Why not.
        source: LockError,
    },
}

impl ConflictError {
    /// As [`Error::is_time_out`].
    pub fn is_time_out(&self) -> bool {
        use LockError::{NoRoom, TimedOut};
        matches!(self, ConflictError::Lock { source: TimedOut { .. } | NoRoom { .. }, .. })
    }

    /// The conflicting commit. It may not be published yet: a snapshot from before then does
    /// not show it.
    pub(crate) fn by(&self) -> Option<u64> {
        match *self {
            ConflictError::Write { by, .. } | ConflictError::Read { by, .. } => Some(by),
            ConflictError::Lock { .. } => None,
        }
    }
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its changes stand.
    Committed,
    /// It changed nothing.
    RolledBack,
    /// A conflict ended it; it changed nothing.
    Conflict,
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Ending::Committed => "it was committed",
            Ending::RolledBack => "it was rolled back",
            Ending::Conflict => "a conflict ended it",
        })
    }
}
