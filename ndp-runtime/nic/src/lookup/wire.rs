// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests and answers as the beats of the top's streams (`docs/nic-lookup.md`, *Requests and answers*).
//!
//! ```text
//! s_axis_req, s_axis_sw, words of 8 bytes     m_axis_rsp, m_axis_swrsp
//!   0  key                                      0  version 63:32, trips 31:24, flags 23:20 (bit 20
//!   1  epoch 63:48, owner 47:32,                   cached, 21 out of line, 22 content, 23 lock),
//!      displacement 31:24, flags 23:20             status 19:16, token 15:0
//!      (bit 20 exact, 21 directory),            1  epoch 47:32, owner 31:16, length 8:0
//!      operation 19:16, token 15:0              2  the words of the value
//!   2  version 31:0; of a set-hint,
//!      word of the directory 37:0
//!   3  the words of the value
//! ```

use crate::index::{DIRECTORY_BITS, Hint, Operation, UnknownOperation};

use super::request::{Answer, Content, Request, Status};

/// In word 1 of a request; the token begins at bit 0.
const OPERATION_AT: u32 = 16;
const REQUEST_EXACT: u64 = 1 << 20;
const REQUEST_DIRECTORY: u64 = 1 << 21;
const DISPLACEMENT_AT: u32 = 24;
const REQUEST_OWNER_AT: u32 = 32;
const REQUEST_EPOCH_AT: u32 = 48;
const DIRECTORY_MASK: u64 = (1 << DIRECTORY_BITS) - 1;

/// In word 0 of an answer; the token begins at bit 0.
const STATUS_AT: u32 = 16;
const CACHED: u64 = 1 << 20;
const OUT_OF_LINE: u64 = 1 << 21;
const CONTENT: u64 = 1 << 22;
const LOCK: u64 = 1 << 23;
const TRIPS_AT: u32 = 24;
const VERSION_AT: u32 = 32;
/// In word 1 of an answer; the length begins at bit 0.
const LENGTH_MASK: u64 = 0x1FF;
const OWNER_AT: u32 = 16;
const EPOCH_AT: u32 = 32;

/// Words of a beat of `s_axis_req` and `s_axis_sw`.
pub const fn request_words(value_words: usize) -> usize {
    3 + value_words
}

/// Words of a beat of `m_axis_rsp` and `m_axis_swrsp`.
pub const fn answer_words(value_words: usize) -> usize {
    2 + value_words
}

fn flag(is_set: bool, bit: u64) -> u64 {
    if is_set { bit } else { 0 }
}

impl<const WORDS: usize> Request<WORDS> {
    /// The beat of this request. Of a set-hint it has no version, of others no word of the directory.
    pub fn to_words(&self) -> Vec<u64> {
        let sets_hint = self.operation == Operation::SetHint;
        let directory = self.hint.directory.filter(|_| sets_hint);
        let second = u64::from(self.token)
            | (self.operation as u64) << OPERATION_AT
            | flag(self.hint.is_exact, REQUEST_EXACT)
            | flag(directory.is_some(), REQUEST_DIRECTORY)
            | u64::from(self.hint.displacement) << DISPLACEMENT_AT
            | u64::from(self.owner) << REQUEST_OWNER_AT
            | u64::from(self.epoch) << REQUEST_EPOCH_AT;
        let third = match sets_hint {
            true => directory.unwrap_or_default() & DIRECTORY_MASK,
            false => self.version.into(),
        };
        let mut words = vec![self.key, second, third];
        words.extend(self.value);
        words
    }

    /// The request of a beat. Reserved bits are ignored.
    ///
    /// # Errors
    /// When no operation has its number. The answer to such a request is *out of range*.
    ///
    /// # Panics
    /// When there are fewer words than [`request_words`].
    pub fn from_words(words: &[u64]) -> Result<Self, UnknownOperation> {
        let second = words[1];
        let operation = Operation::from_number((second >> OPERATION_AT) as u8 & 0xF)?;
        let sets_hint = operation == Operation::SetHint;
        let has_directory = sets_hint && second & REQUEST_DIRECTORY != 0;
        let mut value = [0; WORDS];
        value.copy_from_slice(&words[3..request_words(WORDS)]);
        let hint = Hint {
            displacement: (second >> DISPLACEMENT_AT) as u8,
            is_exact: second & REQUEST_EXACT != 0,
            directory: has_directory.then_some(words[2] & DIRECTORY_MASK),
        };
        Ok(Request {
            key: words[0],
            token: second as u16,
            operation,
            owner: (second >> REQUEST_OWNER_AT) as u16,
            epoch: (second >> REQUEST_EPOCH_AT) as u16,
            version: if sets_hint { 0 } else { words[2] as u32 },
            value,
            hint,
        })
    }
}

impl<const WORDS: usize> Answer<WORDS> {
    /// The beat of this answer.
    pub fn to_words(&self) -> Vec<u64> {
        let mut first = u64::from(self.token)
            | u64::from(self.status.number()) << STATUS_AT
            | flag(self.has_lock, LOCK)
            | u64::from(self.trips) << TRIPS_AT;
        let mut second = u64::from(self.owner) << OWNER_AT | u64::from(self.epoch) << EPOCH_AT;
        let mut value = [0; WORDS];
        if let Some(content) = self.content {
            first |= CONTENT
                | flag(content.is_cached, CACHED)
                | flag(content.is_out_of_line, OUT_OF_LINE)
                | u64::from(content.version) << VERSION_AT;
            second |= u64::from(content.length) & LENGTH_MASK;
            value = content.value;
        }
        let mut words = vec![first, second];
        words.extend(value);
        words
    }

    /// The answer of a beat. Each of its 16 numbers is a status.
    ///
    /// # Panics
    /// When there are fewer words than [`answer_words`].
    pub fn from_words(words: &[u64]) -> Self {
        let (first, second) = (words[0], words[1]);
        let content = || {
            let mut value = [0; WORDS];
            value.copy_from_slice(&words[2..answer_words(WORDS)]);
            Content {
                version: (first >> VERSION_AT) as u32,
                value,
                length: (second & LENGTH_MASK) as u16,
                is_cached: first & CACHED != 0,
                is_out_of_line: first & OUT_OF_LINE != 0,
            }
        };
        let status = Status::from_number((first >> STATUS_AT) as u8 & 0xF);
        Answer {
            token: first as u16,
            status: status.expect("each number of four bits is a status"),
            content: (first & CONTENT != 0).then(content),
            has_lock: first & LOCK != 0,
            trips: (first >> TRIPS_AT) as u8,
            owner: (second >> OWNER_AT) as u16,
            epoch: (second >> EPOCH_AT) as u16,
        }
    }
}
