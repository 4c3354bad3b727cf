// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and answers as the beats of the block's streams.
//!
//! ```text
//! s_axis_req, words of 8 bytes          m_axis_rsp
//!   0  key                                0  address
//!   1  home 63:32, segment 31:0           1  version 63:32, directory 31:0
//!   2  version 63:32, directory 31:0      2  owner 63:48, epoch 47:32, token 31:16, slots 15:8,
//!   3  owner 63:48, epoch 47:32,             flags 7:4 (bit 4 found, 5 content, 6 locked), status 3:0
//!      token 31:16, displacement 15:8,    3  the words of the value
//!      flags 7:4 (bit 4 exact,
//!      5 directory), operation 3:0
//!   4  the words of the value
//! ```

use super::request::Hint;
use super::request::{Answer, Found, Operation, Place, Request, Status, UnknownOperation};

const EXACT: u64 = 1 << 4;
const DIRECTORY: u64 = 1 << 5;
const FOUND: u64 = 1 << 4;
const CONTENT: u64 = 1 << 5;
const LOCKED: u64 = 1 << 6;

/// Words of a beat of `s_axis_req`.
pub const fn request_words(value_words: usize) -> usize {
    4 + value_words
}

/// Words of a beat of `m_axis_rsp`.
pub const fn answer_words(value_words: usize) -> usize {
    3 + value_words
}

impl<const WORDS: usize> Request<WORDS> {
    /// The beat of this request, with the caller's token.
    pub fn to_words(&self, token: u16) -> Vec<u64> {
        let mut last = u64::from(self.owner) << 48
            | u64::from(self.epoch) << 32
            | u64::from(token) << 16
            | u64::from(self.hint.displacement) << 8
            | self.operation as u64;
        if self.hint.is_exact {
            last |= EXACT;
        }
        if self.hint.directory.is_some() {
            last |= DIRECTORY;
        }
        let directory = self.hint.directory.unwrap_or_default();
        let mut words = vec![
            self.key,
            u64::from(self.home) << 32 | u64::from(self.segment),
            u64::from(self.version) << 32 | u64::from(directory),
            last,
        ];
        words.extend(self.value);
        words
    }

    /// The token and the request of a beat.
    ///
    /// # Errors
    /// When no operation has its number.
    ///
    /// # Panics
    /// When there are fewer words than [`request_words`].
    pub fn from_words(words: &[u64]) -> Result<(u16, Self), UnknownOperation> {
        let operation = Operation::from_number(words[3] as u8 & 0xF)?;
        let mut value = [0; WORDS];
        value.copy_from_slice(&words[4..request_words(WORDS)]);
        let hint = Hint {
            displacement: (words[3] >> 8) as u8,
            is_exact: words[3] & EXACT != 0,
            directory: (words[3] & DIRECTORY != 0).then_some(words[2] as u32),
        };
        let request = Request {
            operation,
            key: words[0],
            home: (words[1] >> 32) as u32,
            segment: words[1] as u32,
            owner: (words[3] >> 48) as u16,
            version: (words[2] >> 32) as u32,
            value,
            epoch: (words[3] >> 32) as u16,
            hint,
        };
        Ok(((words[3] >> 16) as u16, request))
    }
}

impl<const WORDS: usize> Answer<WORDS> {
    /// The beat of this answer.
    pub fn to_words(&self, token: u16) -> Vec<u64> {
        let mut last = u64::from(self.epoch) << 32
            | u64::from(token) << 16
            | u64::from(self.place.slots) << 8
            | self.status as u64;
        let (mut version, mut value) = (0, [0; WORDS]);
        if let Some(found) = self.found {
            last |= FOUND;
            if let Some(owner) = found.owner {
                last |= LOCKED | u64::from(owner) << 48;
            }
            if let Some(content) = found.content {
                last |= CONTENT;
                (version, value) = content;
            }
        }
        let directory = u64::from(self.place.directory);
        let mut words = vec![self.place.address, u64::from(version) << 32 | directory, last];
        words.extend(value);
        words
    }

    /// The token and the answer of a beat; nothing when no status has its number.
    ///
    /// # Panics
    /// When there are fewer words than [`answer_words`].
    pub fn from_words(words: &[u64]) -> Option<(u16, Self)> {
        let last = words[2];
        let mut value = [0; WORDS];
        value.copy_from_slice(&words[3..answer_words(WORDS)]);
        let version = (words[1] >> 32) as u32;
        let found = Found {
            content: (last & CONTENT != 0).then_some((version, value)),
            owner: (last & LOCKED != 0).then_some((last >> 48) as u16),
        };
        let place =
            Place { address: words[0], slots: (last >> 8) as u8, directory: words[1] as u32 };
        let answer = Answer {
            status: Status::from_number(last as u8 & 0xF)?,
            found: (last & FOUND != 0).then_some(found),
            epoch: (last >> 32) as u16,
            place,
        };
        Some(((last >> 16) as u16, answer))
    }
}
