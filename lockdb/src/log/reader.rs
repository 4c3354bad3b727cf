// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading the log after a crash: which records are intact, where the log ends, and whether it may
//! end there.

use std::sync::Arc;

use crate::files::Files;

use super::record::HEADER_BYTES as RECORD_HEADER_BYTES;
use super::segment::{self, Segment};
use super::window::Window;
use super::{Evidence, HeaderError, Kind, LogError, LogPosition, RecordError};

/// One record, as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its commit number.
    pub commit: u64,
    /// Where it begins.
    pub lsn: u64,
    /// Where it ends, and the next begins.
    pub end: u64,
    /// All up to this LSN was durable when it was written.
    pub durable: u64,
    /// What was given to [`Log::write`](super::Log::write).
    pub body: &'a [u8],
}

/// Bytes after the end of the log, which a loss of power explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The segment.
    pub file: String,
    /// Where the whole records end in it.
    pub offset: u64,
    /// Bytes from there to the end of the file.
    pub bytes: u64,
    /// Why they are no record.
    pub flaw: RecordError,
}

/// Reads records one after the other, and believes none that it has not checked.
///
/// Unsynced bytes may be lost with the power, so an invalid record in the last segment is the end
/// of the log, unless a later record says that it had been synced. Everything else that is wrong is
/// damage, and an error.
#[derive(Debug)]
pub struct Reader {
    files: Arc<dyn Files>,
    segments: Vec<Segment>,
    /// The segment being read.
    current: usize,
    window: Window,
    next: LogPosition,
    /// Of the segment being read.
    epoch: u64,
    durable: u64,
    state: State,
}

#[derive(Debug)]
enum State {
    Reading,
    Ended(Option<Torn>),
    Failed(LogError),
}

impl Reader {
    /// A reader of the log of `from.store`, from `from.lsn` on, where commit `from.commit + 1` must
    /// stand.
    ///
    /// # Errors
    /// [`LogError::MissingSegment`], [`LogError::Header`], [`LogError::EndsEarly`],
    /// [`LogError::Io`].
    pub fn open(files: Arc<dyn Files>, from: LogPosition) -> Result<Reader, LogError> {
        let segments = Segment::list(&*files)?;
        let holds = segments.partition_point(|segment| segment.start <= from.lsn);
        let Some(current) = holds.checked_sub(1) else {
            let first = segments.first().map(|segment| segment.name.clone());
            return Err(LogError::MissingSegment { lsn: from.lsn, first });
        };
        let window = Window::open(&*files, &segments[current].name)?;
        let (next, epoch, durable, state) = (from, 0, from.lsn, State::Reading);
        let mut reader = Self { files, segments, current, window, next, epoch, durable, state };
        reader.read_segment_header()?;
        let segment = &reader.segments[current];
        if current + 1 == reader.segments.len() && from.lsn > segment.start {
            let len = reader.window.len();
            if segment.offset(from.lsn) > len {
                let (file, end) = (segment.name.clone(), segment.lsn(len));
                return Err(LogError::EndsEarly { file, end, lsn: from.lsn });
            }
        }
        Ok(reader)
    }

    /// The next record; `None` at the end of the log.
    ///
    /// # Errors
    /// [`LogError::Corrupt`], [`LogError::Commit`], [`LogError::Header`], [`LogError::Overlap`],
    /// [`LogError::Io`]; the same again when asked again.
    pub fn read(&mut self) -> Result<Option<Record<'_>>, LogError> {
        let header = match &self.state {
            State::Reading => self.advance(),
            State::Ended(_) => return Ok(None),
            State::Failed(error) => return Err(error.clone()),
        };
        let header = match header {
            Ok(Some(header)) => header,
            Ok(None) => return Ok(None),
            Err(error) => {
                self.state = State::Failed(error.clone());
                return Err(error);
            }
        };
        let offset = self.segments[self.current].offset(header.lsn);
        let bytes = self.window.bytes(offset, header.total_bytes())?;
        let bytes = bytes.expect("a whole record, just checked");
        Ok(Some(Record {
            kind: header.kind,
            commit: header.commit,
            lsn: header.lsn,
            end: header.lsn + header.total_bytes(),
            durable: header.durable,
            body: &bytes[RECORD_HEADER_BYTES..RECORD_HEADER_BYTES + header.body_bytes],
        }))
    }

    /// The place after the last record read: at the end, where [`Log::start`](super::Log::start)
    /// continues. Its epoch is the greatest seen, or where reading began.
    pub fn position(&self) -> LogPosition {
        LogPosition { epoch: self.epoch.max(self.next.epoch), ..self.next }
    }

    /// All before this LSN was durable when it was written: a record that was read says so, or it is
    /// where reading began. What follows it is not trusted.
    pub fn durable(&self) -> u64 {
        self.durable
    }

    /// At the end: what a loss of power left after it, if anything.
    pub fn torn(&self) -> Option<&Torn> {
        match &self.state {
            State::Ended(torn) => torn.as_ref(),
            State::Reading | State::Failed(_) => None,
        }
    }

    /// Checks the next record and goes past it.
    fn advance(&mut self) -> Result<Option<super::record::Header>, LogError> {
        while let Some(next) = self.segments.get(self.current + 1)
            && next.start == self.next.lsn
        {
            self.next_segment()?;
        }
        if !matches!(self.state, State::Reading) {
            return Ok(None); // the last segment has not even a header
        }
        let offset = self.segments[self.current].offset(self.next.lsn);
        let header = match self.window.record(offset, self.next.lsn)? {
            Ok(header) => header,
            Err(flaw) => return self.end(offset, flaw).map(|()| None),
        };
        let file = || self.window.name().to_string();
        let (found, expected) = (header.commit, self.next.commit + 1);
        if found != expected {
            return Err(LogError::Commit { file: file(), offset, found, expected });
        }
        let found = self.next.lsn + header.total_bytes();
        if let Some(next) = self.segments.get(self.current + 1)
            && found > next.start
        {
            let (next, expected) = (next.name.clone(), next.start);
            return Err(LogError::Overlap { file: file(), next, found, expected });
        }
        (self.next.commit, self.next.lsn) = (expected, found);
        self.durable = self.durable.max(header.durable);
        Ok(Some(header))
    }

    /// Goes on in the next segment, which begins at the place reached.
    fn next_segment(&mut self) -> Result<(), LogError> {
        let segment = &self.segments[self.current];
        let next = &self.segments[self.current + 1];
        let end = segment.lsn(self.window.len());
        if end != next.start {
            let (file, next_name) = (segment.name.clone(), next.name.clone());
            let (found, expected) = (end, next.start);
            return Err(LogError::Overlap { file, next: next_name, found, expected });
        }
        self.window = Window::open(&*self.files, &next.name)?;
        self.current += 1;
        self.read_segment_header()
    }

    /// Checks the header of the current segment. If that is the last, and the power went while it
    /// was being created, it holds nothing, and the log ends at its start.
    fn read_segment_header(&mut self) -> Result<(), LogError> {
        let segment = &self.segments[self.current];
        let least = segment::Header { store: self.next.store, epoch: self.epoch };
        let header = segment::Header::read(&mut self.window, segment.start, least)?;
        let (offset, flaw) = match header {
            Ok(header) => {
                self.epoch = header.epoch;
                return Ok(());
            }
            Err(wrong) => wrong,
        };
        let unwritten = match flaw {
            HeaderError::Short { .. } => true,
            HeaderError::Magic { found, .. } => found == 0,
            _ => false,
        };
        let is_last = self.current + 1 == self.segments.len();
        // A header is synced before the first record is written.
        if unwritten && is_last && self.next.lsn == segment.start {
            let start = segment.offset(segment.start);
            if !self.any_record_from(start)? {
                let file = self.window.name().to_string();
                let bytes = self.window.len();
                let flaw = match flaw {
                    HeaderError::Short { found } => RecordError::Short { found, expected: start },
                    _ => RecordError::Zeros,
                };
                let torn = Torn { file, offset: 0, bytes, flaw };
                self.state = State::Ended(Some(torn));
                return Ok(());
            }
        }
        Err(LogError::Header { file: self.window.name().to_string(), offset, flaw })
    }

    /// No record stands at `offset`: ends the log there, unless something shows that one did.
    fn end(&mut self, offset: u64, flaw: RecordError) -> Result<(), LogError> {
        let file = self.window.name().to_string();
        let evidence = match self.segments.get(self.current + 1) {
            Some(next) => Some(Evidence::Segment { file: next.name.clone() }),
            None => self.find_evidence(offset)?,
        };
        if let Some(evidence) = evidence {
            return Err(LogError::Corrupt { file, offset, flaw, evidence });
        }
        let bytes = self.window.len().saturating_sub(offset);
        let torn = Torn { file, offset, bytes, flaw };
        self.state = State::Ended((bytes > 0).then_some(torn));
        Ok(())
    }

    /// A record after `offset` that says that the one there was synced.
    fn find_evidence(&mut self, offset: u64) -> Result<Option<Evidence>, LogError> {
        let segment = self.segments[self.current].clone();
        let missing = segment.lsn(offset);
        self.later_headers(offset + 8, |header| {
            let (lsn, durable) = (header.lsn, header.durable);
            (durable > missing).then_some(Evidence::Record { lsn, durable })
        })
    }

    fn any_record_from(&mut self, offset: u64) -> Result<bool, LogError> {
        Ok(self.later_headers(offset, |_| Some(()))?.is_some())
    }

    /// Shows `look` every valid record header from `offset` on, wherever it stands.
    fn later_headers<T>(
        &mut self,
        mut offset: u64,
        mut look: impl FnMut(super::record::Header) -> Option<T>,
    ) -> Result<Option<T>, LogError> {
        let segment = self.segments[self.current].clone();
        while let Some(header) = self.window.header(offset, segment.lsn(offset))? {
            if let Some(found) = header.ok().and_then(&mut look) {
                return Ok(Some(found));
            }
            offset += 8;
        }
        Ok(None)
    }
}
