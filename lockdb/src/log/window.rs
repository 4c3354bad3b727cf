// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading a file in large chunks, without a copy of each record.

use std::sync::Arc;

use crate::files::{File, Files};

use super::record::{HEADER_BYTES, Header};
use super::{IoError, LogError, RecordError};

/// Large enough that a call to the system costs little, small enough for the processor's cache.
const CHUNK: u64 = 256 << 10;

/// A chunk of a file.
#[derive(Debug)]
pub(super) struct Window {
    file: Arc<dyn File>,
    name: String,
    /// Length of the file: it is not written concurrently.
    len: u64,
    /// Where in the file `bytes` begin.
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    pub fn open(files: &dyn Files, name: &str) -> Result<Self, LogError> {
        let failed = |action, error| LogError::Io(IoError::new(action, name, 0, error));
        let file = files.open(name).map_err(|error| failed("open", error))?;
        let len = file.len().map_err(|error| failed("measure", error))?;
        Ok(Self { file, name: name.to_string(), len, start: 0, bytes: Vec::new() })
    }

    pub fn file(&self) -> &dyn File {
        &*self.file
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// The `count` bytes at `offset`; `None` when the file ends before.
    pub fn bytes(&mut self, offset: u64, count: u64) -> Result<Option<&[u8]>, LogError> {
        let Some(end) = offset.checked_add(count).filter(|end| *end <= self.len) else {
            return Ok(None);
        };
        if offset < self.start || end > self.start + self.bytes.len() as u64 {
            let bytes = count.max(CHUNK).min(self.len - offset);
            self.bytes.resize(bytes as usize, 0);
            self.start = offset;
            let read = self.file.read_at(offset, &mut self.bytes);
            read.map_err(|error| {
                self.bytes.clear();
                LogError::Io(IoError::new("read", &self.name, offset, error))
            })?;
        }
        let from = (offset - self.start) as usize;
        Ok(Some(&self.bytes[from..from + count as usize]))
    }

    /// The record of `lsn`, which stands at `offset`, whole and checked, or what is wrong with it.
    pub fn record(
        &mut self,
        offset: u64,
        lsn: u64,
    ) -> Result<Result<Header, RecordError>, LogError> {
        let left = self.len.saturating_sub(offset);
        let header = match self.header(offset, lsn)? {
            Some(Ok(header)) => header,
            Some(Err(flaw)) => return Ok(Err(flaw)),
            None => {
                return Ok(Err(RecordError::Short { found: left, expected: HEADER_BYTES as u64 }));
            }
        };
        let total = header.total_bytes();
        Ok(match self.bytes(offset, total)? {
            Some(bytes) => header.check(&bytes[HEADER_BYTES..]).map(|()| header),
            None => Err(RecordError::Short { found: left, expected: total }),
        })
    }

    /// The header of the record of `lsn`; `None` when the file ends before.
    pub fn header(
        &mut self,
        offset: u64,
        lsn: u64,
    ) -> Result<Option<Result<Header, RecordError>>, LogError> {
        let bytes = self.bytes(offset, HEADER_BYTES as u64)?;
        Ok(bytes.map(|bytes| {
            let bytes = bytes.try_into().expect("as many as asked for");
            Header::decode(bytes, lsn)
        }))
    }
}
