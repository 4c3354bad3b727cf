// SPDX-License-Identifier: MIT OR Apache-2.0
//! The errors of a log.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::files::is_no_room;

/// Why the log refused, or cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum LogError {
    /// An option is impossible.
    #[error("{option} = {found}: expected a power of two from {least} to {most}")]
    Option {
        /// Which.
        option: &'static str,
        /// The requested operation.
        found: u64,
        /// The least possible.
        least: u64,
        /// The greatest possible.
        most: u64,
    },
    /// A body is longer than a record can hold.
    #[error("a log record of {bytes} bytes: expected at most {limit}")]
    TooLarge {
        /// Length of the body in bytes.
        bytes: usize,
        /// The longest possible.
        limit: usize,
    },
    /// The system refused; nothing was begun.
    #[error(transparent)]
    Io(IoError),
    /// There is no room on the disk for more log; nothing was begun.
    #[error("no room for {bytes} more bytes in {file}: {source}; {advice}", advice = NO_ROOM)]
    NoRoom {
        /// The segment.
        file: String,
        /// The requested size in bytes.
        bytes: u64,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// The store was opened read-only.
    #[error("the store is open to be read only, and takes no commits")]
    ReadOnly,
    /// A write or sync failed earlier, and it is unknown which part of it is durable: the store
    /// takes no more commits until it is reopened.
    #[error("the log is closed by an earlier failure and the store must be opened anew: {0}")]
    MustReopen(IoError),
    /// Another thread did not finish what it had begun.
    #[error("waited {waited:?} for {event}")]
    Stalled {
        /// The event that did not happen.
        event: Awaited,
        /// How long.
        waited: Duration,
    },
    /// Asked to make durable what is not yet finished.
    #[error("LSN {lsn} cannot be made durable: records are finished up to {finished}")]
    NotFinished {
        /// The requested operation.
        lsn: u64,
        /// The end of the finished records.
        finished: u64,
    },
    /// A log cannot be started here: records stand beyond this place.
    #[error("cannot begin the log at LSN {lsn}: {file} holds records from {records} on")]
    Occupied {
        /// Where the log was to begin.
        lsn: u64,
        /// The segment in the way.
        file: String,
        /// The LSN of its first record that blocks it.
        records: u64,
    },
    /// The segment that holds this LSN is missing.
    #[error("no log segment holds LSN {lsn}: {}",
        first.as_ref().map_or("there is none".into(), |first| format!("the first is {first}")))]
    MissingSegment {
        /// Where reading was to begin, in bytes.
        lsn: u64,
        /// The first segment there is.
        first: Option<String>,
    },
    /// A segment's header is wrong.
    #[error("log segment {file}, offset {offset}: {flaw}")]
    Header {
        /// The segment.
        file: String,
        /// Where in the file.
        offset: u64,
        /// The error.
        flaw: HeaderError,
    },
    /// A record that had been synced is damaged or missing.
    #[error("log segment {file}, offset {offset}: {flaw}, though {evidence}")]
    Corrupt {
        /// The segment.
        file: String,
        /// Where in the file the record begins.
        offset: u64,
        /// The error.
        flaw: RecordError,
        /// How we know that the record had been synced.
        evidence: Evidence,
    },
    /// A whole record has the wrong commit number.
    #[error("log segment {file}, offset {offset}: commit {found}, expected {expected}")]
    Commit {
        /// The segment.
        file: String,
        /// Where in the file the record begins.
        offset: u64,
        /// Its commit number.
        found: u64,
        /// One more than the record's before it.
        expected: u64,
    },
    /// A segment does not end where the next begins.
    #[error("log segment {file} holds records up to LSN {found}, yet {next} begins at {expected}")]
    Overlap {
        /// The segment.
        file: String,
        /// The next.
        next: String,
        /// The LSN at its end.
        found: u64,
        /// The LSN at which the next begins.
        expected: u64,
    },
    /// The log ends before the place from which it was to be read.
    #[error("the log ends in {file} at LSN {end}, before LSN {lsn}, from which it is needed")]
    EndsEarly {
        /// The last segment.
        file: String,
        /// Where its bytes end.
        end: u64,
        /// Where reading was to begin.
        lsn: u64,
    },
}

/// What to do about a full disk.
pub(crate) const NO_ROOM: &str = "nothing was changed: make room on its file system and try \
    again; until then the store can be read, and one that is not open can be opened to be read only";

/// A call to the system that failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("cannot {action} {file} at offset {offset}: {source}")]
pub struct IoError {
    /// The attempted operation.
    pub action: &'static str,
    /// The file, or the folder.
    pub file: String,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// The system's reason.
    pub source: Arc<io::Error>,
}

impl IoError {
    pub(super) fn new(action: &'static str, file: &str, offset: u64, source: io::Error) -> Self {
        Self { action, file: file.to_string(), offset, source: Arc::new(source) }
    }

    pub(super) fn is_no_room(&self) -> bool {
        is_no_room(&self.source)
    }
}

/// The event that a thread waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// That a commit is published.
    Commit {
        /// The commit.
        commit: u64,
        /// The last one published.
        published: u64,
    },
    /// That the log has room for one more commit or record.
    Room {
        /// The commit that was to be begun.
        commit: u64,
        /// The last one published.
        published: u64,
    },
    /// That another thread's sync ends.
    Durable(u64),
}

impl std::fmt::Display for Awaited {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Awaited::Commit { commit, published } => {
                write!(out, "commit {commit} to be published, while {published} is")
            }
            Awaited::Room { commit, published } => {
                write!(out, "room to begin commit {commit}, while {published} is published")
            }
            Awaited::Durable(lsn) => write!(out, "LSN {lsn} to be durable"),
        }
    }
}

/// The error in a segment's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The file ends within it.
    #[error("the file has {found} bytes, expected a header of 64")]
    Short {
        /// Length of the file.
        found: u64,
    },
    /// It is no segment.
    #[error("magic {found:#018x}, expected {expected:#018x}")]
    Magic {
        /// The first eight bytes.
        found: u64,
        /// The beginning of a segment.
        expected: u64,
    },
    /// It was written by another version of this software.
    #[error("version {found}, expected {expected}")]
    Version {
        /// The version of the file.
        found: u32,
        /// The version that can be read.
        expected: u32,
    },
    /// Its bytes do not give its checksum.
    #[error("header checksum {found:#010x}, expected {expected:#010x}")]
    Checksum {
        /// The value found there.
        found: u32,
        /// The result of decoding its bytes.
        expected: u32,
    },
    /// It belongs to another store.
    #[error("store {found:#x}, expected {expected:#x}")]
    Store {
        /// The store that wrote it.
        found: u64,
        /// The store being opened.
        expected: u64,
    },
    /// It begins elsewhere than its name says.
    #[error("start LSN {found}, expected {expected} as in the name")]
    Start {
        /// The value in the header.
        found: u64,
        /// The value in the name.
        expected: u64,
    },
    /// It is older than the segment before it.
    #[error("epoch {found}, expected at least {least}, that of the segment before")]
    Epoch {
        /// Its epoch.
        found: u64,
        /// The epoch before.
        least: u64,
    },
}

/// Why the bytes at a place are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The file ends within the record.
    #[error("{found} bytes are left in the file, expected {expected} or more")]
    Short {
        /// The rest.
        found: u64,
        /// What the record needs.
        expected: u64,
    },
    /// Only zeros where the header should be.
    #[error("zeros, expected a record")]
    Zeros,
    /// The header's bytes do not give its checksum.
    #[error("header checksum {found:#010x}, expected {expected:#010x}")]
    HeaderChecksum {
        /// The value found there.
        found: u32,
        /// The result of decoding its bytes.
        expected: u32,
    },
    /// A whole header of another place: stale bytes.
    #[error("stale record of LSN {found}, expected {expected}")]
    Stale {
        /// The LSN in the header.
        found: u64,
        /// The LSN of the place.
        expected: u64,
    },
    /// A whole header of a kind or shape that no version writes.
    #[error("record kind {kind}, length {length}, padding {padding}: no such record")]
    Shape {
        /// The kind.
        kind: u8,
        /// The total length in bytes.
        length: u32,
        /// The bytes after the body.
        padding: u8,
    },
    /// The body's bytes do not give its checksum.
    #[error("body checksum {found:#010x}, expected {expected:#010x}")]
    BodyChecksum {
        /// The value in the header.
        found: u32,
        /// The result of the body.
        expected: u32,
    },
    /// The bytes after the body are not zero.
    #[error("padding {found:#x}, expected zeros")]
    Padding {
        /// The bytes, little-endian.
        found: u64,
    },
}

/// How a reader knows that damaged bytes had been synced, so that no loss of power explains them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Evidence {
    /// A later record says so.
    #[error("the record at LSN {lsn} says that all up to {durable} is durable")]
    Record {
        /// The later record.
        lsn: u64,
        /// What was durable when it was written.
        durable: u64,
    },
    /// It was read a moment ago.
    #[error("it was whole when the log was read")]
    Read,
    /// A later segment exists, and none is begun before the one before it is synced.
    #[error("{file} follows")]
    Segment {
        /// The later segment.
        file: String,
    },
}
