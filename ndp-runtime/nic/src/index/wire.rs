// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and answers as the beats of the block's streams.
//!
//! ```text
//! s_axis_req, words of 8 bytes          m_axis_rsp
//!   0  key                                0  address
//!   1  home 63:32, segment 31:0           1  with content: version 63:32; without: directory 37:0
//!   2  of a set-hint: directory 37:0;     2  owner 63:48, epoch 47:32, token 31:16, slots 15:8,
//!      of others: version 63:32              flags 7:4 (bit 4 found, 5 content, 6 locked), status 3:0
//!   3  owner 63:48, epoch 47:32,          3  the words of the value
//!      token 31:16, displacement 15:8,
//!      flags 7:4 (bit 4 exact,
//!      5 directory), operation 3:0
//!   4  the words of the value
//! ```

use super::request::{
    Answer, DIRECTORY_MASK, Found, Hint, Operation, Place, Request, Status, UnknownOperation,
};

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
    /// The beat of this request, with the caller's token. A set-hint has no version, and others no word of the
    /// directory.
    pub fn to_words(&self, token: u16) -> Vec<u64> {
        let mut last = u64::from(self.owner) << 48
            | u64::from(self.epoch) << 32
            | u64::from(token) << 16
            | u64::from(self.hint.displacement) << 8
            | self.operation as u64;
        if self.hint.is_exact {
            last |= EXACT;
        }
        let mut version_or_directory = u64::from(self.version) << 32;
        if self.operation == Operation::SetHint {
            version_or_directory = self.hint.directory.unwrap_or_default() & DIRECTORY_MASK;
            last |= if self.hint.directory.is_some() { DIRECTORY } else { 0 };
        }
        let mut words = vec![
            self.key,
            u64::from(self.home) << 32 | u64::from(self.segment),
            version_or_directory,
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
        let sets_hint = operation == Operation::SetHint;
        let mut value = [0; WORDS];
        value.copy_from_slice(&words[4..request_words(WORDS)]);
        let hint = Hint {
            displacement: (words[3] >> 8) as u8,
            is_exact: words[3] & EXACT != 0,
            directory: (sets_hint && words[3] & DIRECTORY != 0)
                .then_some(words[2] & DIRECTORY_MASK),
        };
        let request = Request {
            operation,
            key: words[0],
            home: (words[1] >> 32) as u32,
            segment: words[1] as u32,
            owner: (words[3] >> 48) as u16,
            version: if sets_hint { 0 } else { (words[2] >> 32) as u32 },
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
        let (mut version_or_directory, mut value) = (self.place.directory, [0; WORDS]);
        if let Some(found) = self.found {
            last |= FOUND;
            if let Some(owner) = found.owner {
                last |= LOCKED | u64::from(owner) << 48;
            }
            if let Some((version, words)) = found.content {
                last |= CONTENT;
                (version_or_directory, value) = (u64::from(version) << 32, words);
            }
        }
        let mut words = vec![self.place.address, version_or_directory, last];
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
        let has_content = last & CONTENT != 0;
        let found = Found {
            content: has_content.then_some(((words[1] >> 32) as u32, value)),
            owner: (last & LOCKED != 0).then_some((last >> 48) as u16),
        };
        let directory = if has_content { 0 } else { words[1] & DIRECTORY_MASK };
        let place = Place { address: words[0], slots: (last >> 8) as u8, directory };
        let answer = Answer {
            status: Status::from_number(last as u8 & 0xF)?,
            found: (last & FOUND != 0).then_some(found),
            epoch: (last >> 32) as u16,
            place,
        };
        Some(((last >> 16) as u16, answer))
    }
}
