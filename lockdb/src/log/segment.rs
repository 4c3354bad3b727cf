// SPDX-License-Identifier: MIT OR Apache-2.0
//! Segment files: `log-` and the start LSN in 16 hexadecimal digits. The record of LSN `n` stands
//! at offset 64 + `n` - start. Header, little-endian:
//!
//! | offset | | |
//! |---|---|---|
//! | 0 | u64 | magic, "LKSTPLOG" |
//! | 8 | u32 | version, 1 |
//! | 12 | u32 | CRC-32C of bytes 0 to 12 and 16 to 64 |
//! | 16 | u64 | store |
//! | 24 | u64 | start LSN |
//! | 32 | u64 | epoch |
//! | 40 | | 0 |

use std::io;
use std::sync::Arc;

use crate::files::{File, Files};

use super::record::{u32_at, u64_at};
use super::window::Window;
use super::{Evidence, HeaderError, IoError, LogError, LogPosition};

pub(super) const HEADER_BYTES: usize = 64;
const MAGIC: u64 = u64::from_le_bytes(*b"LKSTPLOG");
const VERSION: u32 = 1;
/// Offset of the epoch.
const EPOCH: usize = 32;

/// A segment's place and name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub start: u64,
    pub name: String,
}

impl Segment {
    pub fn at(start: u64) -> Self {
        Self { start, name: format!("log-{start:016x}") }
    }

    /// All segments, in order. Other names are others' files.
    pub fn list(files: &dyn Files) -> Result<Vec<Self>, LogError> {
        let names = files
            .list()
            .map_err(|error| LogError::Io(IoError::new("list", "the store's folder", 0, error)))?;
        let segment = |name: &String| {
            let start = u64::from_str_radix(name.strip_prefix("log-")?, 16).ok()?;
            Some(Self::at(start)).filter(|segment| segment.name == *name)
        };
        Ok(names.iter().filter_map(segment).collect()) // sorted, as names of one length are
    }

    /// Where in the file the record of `lsn` stands.
    pub fn offset(&self, lsn: u64) -> u64 {
        HEADER_BYTES as u64 + lsn - self.start
    }

    /// Of which LSN the record at `offset` is.
    pub fn lsn(&self, offset: u64) -> u64 {
        (self.start + offset).saturating_sub(HEADER_BYTES as u64)
    }
}

/// What a segment's header says, beside its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub store: u64,
    pub epoch: u64,
}

impl Header {
    pub fn encode(&self, start: u64) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.store.to_le_bytes());
        bytes[24..32].copy_from_slice(&start.to_le_bytes());
        bytes[EPOCH..EPOCH + 8].copy_from_slice(&self.epoch.to_le_bytes());
        let checksum = checksum(&bytes);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The header of the segment that begins at `start`; `least` is what it should say, or later.
    /// What is wrong comes with its offset.
    pub fn read(
        window: &mut Window,
        start: u64,
        least: Header,
    ) -> Result<Result<Self, (u64, HeaderError)>, LogError> {
        let found = window.len();
        Ok(match window.bytes(0, HEADER_BYTES as u64)? {
            None => Err((0, HeaderError::Short { found })),
            Some(bytes) => {
                let bytes = bytes.try_into().expect("as many as asked for");
                Self::decode(bytes, start, least)
            }
        })
    }

    fn decode(
        bytes: &[u8; HEADER_BYTES],
        start: u64,
        least: Header,
    ) -> Result<Self, (u64, HeaderError)> {
        let found = u64_at(bytes, 0);
        if found != MAGIC {
            return Err((0, HeaderError::Magic { found, expected: MAGIC }));
        }
        let found = u32_at(bytes, 8);
        if found != VERSION {
            return Err((8, HeaderError::Version { found, expected: VERSION }));
        }
        let (found, expected) = (u32_at(bytes, 12), checksum(bytes));
        if found != expected {
            return Err((12, HeaderError::Checksum { found, expected }));
        }
        let header = Self { store: u64_at(bytes, 16), epoch: u64_at(bytes, EPOCH) };
        if header.store != least.store {
            let (found, expected) = (header.store, least.store);
            return Err((16, HeaderError::Store { found, expected }));
        }
        let found = u64_at(bytes, 24);
        if found != start {
            return Err((24, HeaderError::Start { found, expected: start }));
        }
        if header.epoch < least.epoch {
            return Err((
                EPOCH as u64,
                HeaderError::Epoch { found: header.epoch, least: least.epoch },
            ));
        }
        Ok(header)
    }
}

fn checksum(bytes: &[u8; HEADER_BYTES]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..12]), &bytes[16..])
}

/// Appends to the newest segment.
///
/// Invariant: all segments but the newest are synced, and end where the next begins.
#[derive(Debug)]
pub(super) struct Writer {
    files: Arc<dyn Files>,
    header: Header,
    segment_bytes: u64,
    /// All segments; the last is being written.
    segments: Vec<Segment>,
    file: Arc<dyn File>,
    /// The LSN up to which the files hold the log; between two records.
    written: u64,
    /// The newest segment is followed by another from this LSN on.
    rolls_at: u64,
}

impl Writer {
    /// Begins a new segment at `at`, after the segments that stand, of which all before `durable` is
    /// known to be so. What the last of these holds past `at` is cut off; see [`end_segment_at`].
    pub fn start(
        files: Arc<dyn Files>,
        segment_bytes: u64,
        at: LogPosition,
        durable: u64,
    ) -> Result<Self, LogError> {
        let mut segments = Segment::list(&*files)?;
        match segments.last() {
            Some(last) if last.start > at.lsn => {
                let (file, records) = (last.name.clone(), last.start);
                return Err(LogError::Occupied { lsn: at.lsn, file, records });
            }
            Some(last) if last.start == at.lsn => {
                leave_empty(&*files, last, segments.len() == 1)?;
                segments.pop();
            }
            Some(last) => end_segment_at(&*files, last, at, durable)?,
            None => {}
        }
        let header = Header { store: at.store, epoch: at.epoch };
        let segment = Segment::at(at.lsn);
        let file = create(&*files, &segment, header, 0).map_err(LogError::Io)?;
        segments.push(segment);
        let (written, rolls_at) = (at.lsn, at.lsn + records_of(segment_bytes));
        Ok(Self { files, header, segment_bytes, segments, file, written, rolls_at })
    }

    pub fn written(&self) -> u64 {
        self.written
    }

    pub fn file(&self) -> Arc<dyn File> {
        Arc::clone(&self.file)
    }

    pub fn segment(&self) -> &Segment {
        self.segments.last().expect("the one being written")
    }

    pub fn is_full(&self) -> bool {
        self.written >= self.rolls_at
    }

    /// Has the file keep room for the log from `from`, up to where it has, to `to`.
    pub fn reserve(&self, from: u64, to: u64) -> Result<(), IoError> {
        let (name, offset) = (&self.segment().name, self.segment().offset(from));
        let reserved = self.file.reserve(offset, to - from);
        reserved.map_err(|error| IoError::new("reserve room in", name, offset, error))
    }

    /// Goes on in a new segment, which has room for the log up to `reserved`. The old one must be synced.
    /// If the disk has no room for that, the old one, which has, is used for some time longer.
    pub fn roll(&mut self, reserved: u64) -> Result<(), IoError> {
        let segment = Segment::at(self.written);
        let bytes = records_of(self.segment_bytes);
        match create(&*self.files, &segment, self.header, reserved - self.written) {
            Ok(file) => {
                let old = std::mem::replace(&mut self.file, file);
                // What it has too much is given back now, or when the segment is removed.
                let _ = old.set_len(self.segment().offset(self.written));
                self.segments.push(segment);
                self.rolls_at = self.written + bytes;
            }
            Err(failure) if failure.is_no_room() => {
                // It must not be found again amid the old one's records.
                match self.files.remove(&segment.name) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(IoError::new("remove", &segment.name, 0, error));
                    }
                    _ => sync_directory(&*self.files)?,
                }
                self.rolls_at = self.written + (bytes / 8).max(1);
            }
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Writes `chunks` one after the other; they must end between two records.
    pub fn append(&mut self, chunks: &[&[u8]]) -> Result<(), IoError> {
        let segment = self.segment();
        let mut lsn = self.written;
        for chunk in chunks.iter().filter(|chunk| !chunk.is_empty()) {
            let offset = segment.offset(lsn);
            self.file
                .write_at(offset, chunk)
                .map_err(|error| IoError::new("write", &segment.name, offset, error))?;
            lsn += chunk.len() as u64;
        }
        self.written = lsn;
        Ok(())
    }

    /// Removes the segments of which nothing is at or past `lsn`, the oldest first.
    pub fn remove_before(&mut self, lsn: u64) -> Result<(), IoError> {
        let mut removed = false;
        while self.segments.len() > 1 && self.segments[1].start <= lsn {
            let name = &self.segments[0].name;
            self.files.remove(name).map_err(|error| IoError::new("remove", name, 0, error))?;
            self.segments.remove(0);
            removed = true;
        }
        if removed { sync_directory(&*self.files) } else { Ok(()) }
    }
}

/// A segment without a record, in the place of which one is to be created. It is removed first: its
/// header, or even its name, may be what a failed sync has lost, and what is lost is synced only when
/// it is rebuilt. Not the only one, so that there is a log at any time: those before it were
/// removed when its name was durable.
fn leave_empty(files: &dyn Files, segment: &Segment, is_only: bool) -> Result<(), LogError> {
    let mut window = Window::open(files, &segment.name)?;
    refuse_record(&mut window, segment, segment.start)?;
    if is_only {
        return Ok(());
    }
    let failed = |error| LogError::Io(IoError::new("remove", &segment.name, 0, error));
    files.remove(&segment.name).map_err(failed)
}

/// Refuses if a whole record stands at `lsn`.
fn refuse_record(window: &mut Window, segment: &Segment, lsn: u64) -> Result<(), LogError> {
    match window.record(segment.offset(lsn), lsn)? {
        Ok(_) => Err(LogError::Occupied { lsn, file: segment.name.clone(), records: lsn }),
        Err(_) => Ok(()),
    }
}

impl Drop for Writer {
    /// Gives back room that was not used.
    fn drop(&mut self) {
        let _ = self.file.set_len(self.segment().offset(self.written));
    }
}

/// Makes the segment durable up to `at`, and nothing after: what stands there was lost with the
/// power, and must not be found again. Refuses if a whole record stands there, or if the segment
/// could not come before one that begins at `at`.
///
/// What follows `durable` is written again before it is synced. A process that died may have left it
/// unsynced; or a sync of it has failed, and the system has it in its cache alone, and believes that
/// the disk has it. The same holds of the length.
fn end_segment_at(
    files: &dyn Files,
    segment: &Segment,
    at: LogPosition,
    durable: u64,
) -> Result<(), LogError> {
    let LogPosition { lsn, .. } = at;
    let file = || segment.name.clone();
    let failed = |action, error| LogError::Io(IoError::new(action, &segment.name, 0, error));
    let mut window = Window::open(files, &segment.name)?;
    let (offset, len) = (segment.offset(lsn), window.len());
    if lsn > segment.start {
        check_successor(&mut window, segment, at)?;
        if len < offset {
            return Err(LogError::EndsEarly { file: file(), end: segment.lsn(len), lsn });
        }
    }
    refuse_record(&mut window, segment, lsn)?;
    rewrite(&mut window, segment, durable.clamp(segment.start, lsn), lsn)?;
    window.file().set_len(offset).map_err(|error| failed("shorten", error))?;
    window.file().sync().map_err(|error| failed("sync", error))
}

/// Bytes that are written again at a time.
const REWRITTEN: usize = 256 << 10;

/// Writes the records from `from` to `to` again, in their place: were the power lost meanwhile, each
/// byte of them would be what it is. They are checked once more, for a cache that holds what the disk
/// does not may be dropped at any time.
fn rewrite(window: &mut Window, segment: &Segment, from: u64, to: u64) -> Result<(), LogError> {
    let (mut lsn, mut chunk) = (from, Vec::new());
    while lsn < to {
        let (first, file) = (segment.offset(lsn), window.name().to_string());
        chunk.clear();
        while lsn < to && chunk.len() < REWRITTEN {
            let offset = segment.offset(lsn);
            let header = window.record(offset, lsn)?.map_err(|flaw| {
                let (file, evidence) = (file.clone(), Evidence::Read);
                LogError::Corrupt { file, offset, flaw, evidence }
            })?;
            let record = window.bytes(offset, header.total_bytes())?;
            chunk.extend_from_slice(record.expect("a whole record, just checked"));
            lsn += header.total_bytes();
        }
        let written = window.file().write_at(first, &chunk);
        written.map_err(|error| LogError::Io(IoError::new("rewrite", &file, first, error)))?;
    }
    Ok(())
}

/// Whether a segment of this store and epoch may follow `segment`.
fn check_successor(
    window: &mut Window,
    segment: &Segment,
    at: LogPosition,
) -> Result<(), LogError> {
    let wrong = |file: &str, (offset, flaw)| {
        let file = file.to_string();
        Err(LogError::Header { file, offset, flaw })
    };
    let any = Header { store: at.store, epoch: 0 };
    match Header::read(window, segment.start, any)? {
        Err(flaw) => wrong(&segment.name, flaw),
        Ok(Header { epoch, .. }) if epoch > at.epoch => {
            let flaw = HeaderError::Epoch { found: at.epoch, least: epoch };
            wrong(&Segment::at(at.lsn).name, (EPOCH as u64, flaw))
        }
        Ok(_) => Ok(()),
    }
}

/// Bytes of records in a segment of this size, one at least.
fn records_of(segment_bytes: u64) -> u64 {
    segment_bytes.saturating_sub(HEADER_BYTES as u64).max(1)
}

/// Creates an empty segment with room for `bytes` bytes of records, and makes it durable.
fn create(
    files: &dyn Files,
    segment: &Segment,
    header: Header,
    bytes: u64,
) -> Result<Arc<dyn File>, IoError> {
    let name = &segment.name;
    let failed = |action, error| IoError::new(action, name, 0, error);
    let file = files.create(name).map_err(|error| failed("create", error))?;
    let reserved = file.reserve(0, HEADER_BYTES as u64 + bytes);
    reserved.map_err(|error| failed("reserve room in", error))?;
    file.write_at(0, &header.encode(segment.start)).map_err(|error| failed("write", error))?;
    file.sync().map_err(|error| failed("sync", error))?;
    sync_directory(files)?;
    Ok(file)
}

fn sync_directory(files: &dyn Files) -> Result<(), IoError> {
    let failed = |error| IoError::new("sync", "the store's folder", 0, error);
    files.sync_directory().map_err(failed)
}
