// SPDX-License-Identifier: MIT OR Apache-2.0
//! How scans and answers lie in the `tdata` of the streams (`docs/nic-lookup.md`, tables of `probe_scan`).
//! `hw/rtl/nic/probe_scan_pkg.sv` says the same.

use tables::slot::Meta;
use thiserror::Error;

use super::{Answer, MOST_SLOTS, MOST_VALUE_WORDS, Scan, ScanError, Status};

/// 64-bit words of `s_axis_key_tdata`; word 0 has its bits 63 to 0.
pub const SCAN_WORDS: usize = 3;
/// 64-bit words of `m_axis_hit_tdata` before those of the value.
pub const ANSWER_HEADER_WORDS: usize = 2;

/// In word 1 of a scan; the sum begins at bit 0.
const SCAN_DISPLACEMENT: u32 = 32;
const SCAN_LIMIT: u32 = 48;
/// In word 2 of a scan; the token begins at bit 0.
const SCAN_MORE_SLOTS: u32 = 8;
const SCAN_OVERFLOW: u32 = 14;
const SCAN_TORN: u32 = 15;
const SCAN_FIRST_WORD: u32 = 16;

/// In word 0 of an answer; the sum begins at bit 0. Word 1 is the meta word.
const ANSWER_DISPLACEMENT: u32 = 32;
const ANSWER_TOKEN: u32 = 48;
const ANSWER_STATUS: u32 = 56;
const ANSWER_TORN: u32 = 59;

const STATUS_MASK: u64 = 7;

impl Scan {
    /// The words of `s_axis_key_tdata`.
    ///
    /// # Errors
    /// When the scan has no slots or more than [`MOST_SLOTS`], or its first word is not in a line.
    pub fn to_words(&self) -> Result<[u64; SCAN_WORDS], ScanError> {
        self.check()?;
        let place = u64::from(self.sum)
            | u64::from(self.displacement) << SCAN_DISPLACEMENT
            | u64::from(self.limit) << SCAN_LIMIT;
        let rest = u64::from(self.token)
            | u64::from(self.slots - 1) << SCAN_MORE_SLOTS
            | u64::from(self.is_overflow) << SCAN_OVERFLOW
            | u64::from(self.torn) << SCAN_TORN
            | u64::from(self.first_word) << SCAN_FIRST_WORD;
        Ok([self.key, place, rest])
    }

    /// The scan that these words of `s_axis_key_tdata` are. Reserved bits are ignored.
    pub const fn from_words(words: [u64; SCAN_WORDS]) -> Self {
        let [key, place, rest] = words;
        Self {
            token: rest as u8,
            key,
            first_word: (rest >> SCAN_FIRST_WORD) as u8 % 8,
            slots: (rest >> SCAN_MORE_SLOTS) as u8 % MOST_SLOTS + 1,
            displacement: (place >> SCAN_DISPLACEMENT) as u16,
            limit: (place >> SCAN_LIMIT) as u16,
            is_overflow: rest >> SCAN_OVERFLOW & 1 == 1,
            sum: place as u32,
            torn: rest >> SCAN_TORN & 1 == 1,
        }
    }
}

impl Answer {
    /// The words of `m_axis_hit_tdata`. A scanner leaves out those of the value that its answers do not
    /// carry.
    pub fn to_words(&self) -> [u64; ANSWER_HEADER_WORDS + MOST_VALUE_WORDS] {
        let mut words = [0; ANSWER_HEADER_WORDS + MOST_VALUE_WORDS];
        words[0] = u64::from(self.sum)
            | u64::from(self.displacement) << ANSWER_DISPLACEMENT
            | u64::from(self.token) << ANSWER_TOKEN
            | (self.status as u64) << ANSWER_STATUS
            | u64::from(self.torn) << ANSWER_TORN;
        words[1] = self.meta.0;
        words[ANSWER_HEADER_WORDS..].copy_from_slice(&self.value);
        words
    }

    /// The answer that these words of `m_axis_hit_tdata` are, header first. Reserved bits are ignored.
    ///
    /// # Errors
    /// When the status is none.
    ///
    /// # Panics
    /// When there are fewer than [`ANSWER_HEADER_WORDS`] words, or more than those and [`MOST_VALUE_WORDS`].
    pub fn from_words(words: &[u64]) -> Result<Self, UnknownStatus> {
        let (header, carried) = words.split_at(ANSWER_HEADER_WORDS);
        let mut value = [0; MOST_VALUE_WORDS];
        value[..carried.len()].copy_from_slice(carried);
        Ok(Self {
            token: (header[0] >> ANSWER_TOKEN) as u8,
            status: Status::try_from((header[0] >> ANSWER_STATUS & STATUS_MASK) as u8)?,
            displacement: (header[0] >> ANSWER_DISPLACEMENT) as u16,
            meta: Meta(header[1]),
            value,
            sum: header[0] as u32,
            torn: header[0] >> ANSWER_TORN & 1 == 1,
        })
    }
}

/// A number that is no [`Status`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
#[error("status {0} of an answer, expected 0 to 5")]
pub struct UnknownStatus(pub u8);

impl TryFrom<u8> for Status {
    type Error = UnknownStatus;

    fn try_from(number: u8) -> Result<Self, UnknownStatus> {
        let all = [
            Status::Found,
            Status::More,
            Status::Overflow,
            Status::Absent,
            Status::Torn,
            Status::Error,
        ];
        all.into_iter().find(|&status| status as u8 == number).ok_or(UnknownStatus(number))
    }
}
