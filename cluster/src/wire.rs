// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bytes of messages: a reader that fails in place of panicking, and the writing of numbers. All
//! numbers are little-endian, and nothing is padded.

use std::ops::RangeInclusive;

use thiserror::Error;

/// Why bytes are not the message that they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// The bytes end too early.
    #[error("byte {at}: {expected} expected, and the message ends")]
    Short {
        /// What should have come.
        expected: &'static str,
        /// Where, in bytes from the beginning.
        at: usize,
    },
    /// A byte says what it cannot.
    #[error("byte {at}: {expected} expected, found {found}")]
    Unknown {
        /// What should have come.
        expected: &'static str,
        /// What came.
        found: u64,
        /// Where, in bytes from the beginning.
        at: usize,
    },
    /// There are bytes after the end.
    #[error("byte {at}: the end expected after {after}, and there is more")]
    Long {
        /// What came last.
        after: &'static str,
        /// Where the end should have been.
        at: usize,
    },
}

/// Reads a message from its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

macro_rules! numbers {
    ($($name:ident $name_in:ident: $number:ty),*) => { $(
        #[doc = concat!("A `", stringify!($number), "`.")]
        ///
        /// # Errors
        /// When the message ends before it.
        #[inline]
        pub fn $name(&mut self, expected: &'static str) -> Result<$number, WireError> {
            match self.bytes[self.at..].first_chunk() {
                Some(bytes) => {
                    self.at += bytes.len();
                    Ok(<$number>::from_le_bytes(*bytes))
                }
                None => Err(WireError::Short { expected, at: self.at }),
            }
        }

        #[doc = concat!("A `", stringify!($number), "` of this range.")]
        ///
        /// # Errors
        /// When the message ends before it, or it is another.
        #[inline]
        pub fn $name_in(
            &mut self,
            range: RangeInclusive<$number>,
            expected: &'static str,
        ) -> Result<$number, WireError> {
            let at = self.at;
            let found = self.$name(expected)?;
            match range.contains(&found) {
                true => Ok(found),
                false => Err(WireError::Unknown { expected, found: found.into(), at }),
            }
        }
    )* };
}

impl<'a> Reader<'a> {
    /// At the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    numbers!(u8 u8_in: u8, u16 u16_in: u16, u32 u32_in: u32, u64 u64_in: u64);

    /// So many bytes.
    ///
    /// # Errors
    /// When the message has fewer.
    #[inline]
    pub fn bytes(&mut self, length: usize, expected: &'static str) -> Result<&'a [u8], WireError> {
        match self.bytes[self.at..].get(..length) {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => Err(WireError::Short { expected, at: self.at }),
        }
    }

    /// All bytes that have not been read yet; they count as read.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    /// How many bytes have been read.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Whether all bytes have been read.
    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// That nothing follows.
    ///
    /// # Errors
    /// When there are more bytes.
    pub fn end(&self, after: &'static str) -> Result<(), WireError> {
        match self.is_at_end() {
            true => Ok(()),
            false => Err(WireError::Long { after, at: self.at }),
        }
    }

    /// The error for a number of one byte that was just read and means nothing.
    pub fn unknown(&self, expected: &'static str, found: u8) -> WireError {
        WireError::Unknown { expected, found: u64::from(found), at: self.at - 1 }
    }
}

/// Appends numbers to a message.
pub trait Writer {
    /// A byte.
    fn put_u8(&mut self, number: u8);
    /// How many of something follow, in a byte.
    ///
    /// # Panics
    /// Above 255: what reads the message would take the rest for something else.
    fn put_count(&mut self, count: usize) {
        self.put_u8(u8::try_from(count).expect("a message counts at most 255 of a kind"));
    }
    /// Two bytes.
    fn put_u16(&mut self, number: u16);
    /// Four bytes.
    fn put_u32(&mut self, number: u32);
    /// Eight bytes.
    fn put_u64(&mut self, number: u64);
    /// A field of exactly `length` bytes: `bytes`, cut off or filled up with zeros.
    fn put_field(&mut self, bytes: &[u8], length: usize);
}

impl Writer for Vec<u8> {
    #[inline]
    fn put_u8(&mut self, number: u8) {
        self.push(number);
    }

    #[inline]
    fn put_u16(&mut self, number: u16) {
        self.extend_from_slice(&number.to_le_bytes());
    }

    #[inline]
    fn put_u32(&mut self, number: u32) {
        self.extend_from_slice(&number.to_le_bytes());
    }

    #[inline]
    fn put_u64(&mut self, number: u64) {
        self.extend_from_slice(&number.to_le_bytes());
    }

    #[inline]
    fn put_field(&mut self, bytes: &[u8], length: usize) {
        let end = self.len() + length;
        self.extend_from_slice(&bytes[..bytes.len().min(length)]);
        self.resize(end, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_errors_name_what_was_expected() {
        let mut bytes = Vec::new();
        bytes.put_u8(1);
        bytes.put_u16(2);
        bytes.put_u32(3);
        bytes.put_u64(4);
        bytes.put_field(&[5, 6, 7], 2);
        bytes.put_field(&[8], 2);
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.u8("a"), Ok(1));
        assert_eq!(reader.u16("b"), Ok(2));
        assert_eq!(reader.u32("c"), Ok(3));
        assert_eq!(reader.u64("d"), Ok(4));
        assert_eq!(reader.end("d"), Err(WireError::Long { after: "d", at: 15 }));
        assert_eq!(reader.bytes(4, "e"), Ok(&[5, 6, 8, 0][..]));
        assert_eq!(reader.end("e"), Ok(()));
        let error = reader.u64("a version").unwrap_err();
        assert_eq!(error.to_string(), "byte 19: a version expected, and the message ends");
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.u8_in(1..=1, "a"), Ok(1));
        let error = reader.u16_in(3..=4, "three or four").unwrap_err();
        assert_eq!(error.to_string(), "byte 1: three or four expected, found 2");
    }
}
