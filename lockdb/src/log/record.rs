// SPDX-License-Identifier: MIT OR Apache-2.0
//! A record's bytes. Little-endian:
//!
//! | offset | | |
//! |---|---|---|
//! | 0 | u8 | kind |
//! | 1 | u8 | padding: zeros after the body, 0 to 7 |
//! | 2 | u16 | 0 |
//! | 4 | u32 | length of header, body and padding in bytes |
//! | 8 | u64 | LSN of this record: stale bytes of another place never pass for one |
//! | 16 | u64 | commit number |
//! | 24 | u64 | durable: all up to this LSN was synced before this was written |
//! | 32 | u32 | CRC-32C of the body |
//! | 36 | u32 | CRC-32C of bytes 0 to 36 |
//! | 40 | | body, padding |

use super::{Kind, RecordError};

pub(super) const HEADER_BYTES: usize = 40;

/// The longest body. (A length is 32 bits; a gigabyte in one commit is a mistake.)
pub(super) const BODY_LIMIT: usize = 1 << 30;

/// Length of header, body and padding.
pub(super) fn total_bytes(body_bytes: usize) -> u64 {
    (HEADER_BYTES + body_bytes).next_multiple_of(8) as u64
}

/// What a header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub kind: Kind,
    pub body_bytes: usize,
    pub lsn: u64,
    pub commit: u64,
    pub durable: u64,
    pub body_checksum: u32,
}

impl Header {
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let length = total_bytes(self.body_bytes);
        let padding = length as usize - HEADER_BYTES - self.body_bytes;
        let mut bytes = [0; HEADER_BYTES];
        bytes[0] = self.kind as u8;
        bytes[1] = padding as u8;
        bytes[4..8].copy_from_slice(&(length as u32).to_le_bytes());
        bytes[8..16].copy_from_slice(&self.lsn.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.commit.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.durable.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.body_checksum.to_le_bytes());
        let checksum = crc32c::crc32c(&bytes[..36]);
        bytes[36..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// The header that stands at `lsn`.
    pub fn decode(bytes: &[u8; HEADER_BYTES], lsn: u64) -> Result<Self, RecordError> {
        if bytes.iter().all(|&byte| byte == 0) {
            return Err(RecordError::Zeros);
        }
        let (found, expected) = (u32_at(bytes, 36), crc32c::crc32c(&bytes[..36]));
        if found != expected {
            return Err(RecordError::HeaderChecksum { found, expected });
        }
        let found = u64_at(bytes, 8);
        if found != lsn {
            return Err(RecordError::Stale { found, expected: lsn });
        }
        let (kind, padding, length) = (bytes[0], bytes[1], u32_at(bytes, 4));
        let body_bytes = (length as usize).checked_sub(HEADER_BYTES + padding as usize);
        match (Kind::of(kind), body_bytes) {
            (Some(kind), Some(body_bytes)) if total_bytes(body_bytes) == u64::from(length) => {
                Ok(Self {
                    kind,
                    body_bytes,
                    lsn,
                    commit: u64_at(bytes, 16),
                    durable: u64_at(bytes, 24),
                    body_checksum: u32_at(bytes, 32),
                })
            }
            _ => Err(RecordError::Shape { kind, length, padding }),
        }
    }

    /// Length of header, body and padding.
    pub fn total_bytes(&self) -> u64 {
        total_bytes(self.body_bytes)
    }

    /// Whether `bytes`, body and padding, are what the header says.
    pub fn check(&self, bytes: &[u8]) -> Result<(), RecordError> {
        let (body, padding) = bytes.split_at(self.body_bytes);
        let expected = crc32c::crc32c(body);
        if self.body_checksum != expected {
            return Err(RecordError::BodyChecksum { found: self.body_checksum, expected });
        }
        let mut tail = [0; 8];
        tail[..padding.len()].copy_from_slice(padding);
        match u64::from_le_bytes(tail) {
            0 => Ok(()),
            found => Err(RecordError::Padding { found }),
        }
    }
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}
