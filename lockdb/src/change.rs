// SPDX-License-Identifier: MIT OR Apache-2.0
//! A change of one tuple, as it stands in the body of a log record.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 4 | table |
//! | 4 | 4 | VID |
//! | 8 | 4 | number of the new version |
//! | 12 | 2 | bytes of the payload; bit 15 set: a tombstone |
//! | 14 | … | payload |
//!
//! A commit's record holds its changes one behind the other.

/// One new version of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change<'a> {
    pub(crate) table: u32,
    pub(crate) vid: u32,
    pub(crate) number: u32,
    pub(crate) tombstone: bool,
    pub(crate) payload: &'a [u8],
}

/// Bytes before the payload.
const HEADER: usize = 14;
const TOMBSTONE: u16 = 1 << 15;

impl<'a> Change<'a> {
    #[inline]
    pub(crate) fn encode(&self, body: &mut Vec<u8>) {
        let flag = if self.tombstone { TOMBSTONE } else { 0 };
        let mut header = [0; HEADER];
        header[0..4].copy_from_slice(&self.table.to_le_bytes());
        header[4..8].copy_from_slice(&self.vid.to_le_bytes());
        header[8..12].copy_from_slice(&self.number.to_le_bytes());
        header[12..14].copy_from_slice(&(self.payload.len() as u16 | flag).to_le_bytes());
        body.extend_from_slice(&header);
        body.extend_from_slice(self.payload);
    }

    /// The first change of a body, and the rest; `None` when it does not hold one.
    pub(crate) fn decode(body: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (header, rest) = body.split_first_chunk::<HEADER>()?;
        let word =
            |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let length = u16::from_le_bytes([header[12], header[13]]);
        let (payload, rest) = rest.split_at_checked(usize::from(length & !TOMBSTONE))?;
        let tombstone = length & TOMBSTONE != 0;
        Some((Self { table: word(0), vid: word(4), number: word(8), tombstone, payload }, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_come_back_as_they_were_put() {
        let first = Change { table: 3, vid: 9, number: 2, tombstone: true, payload: b"row" };
        let second = Change { table: 0, vid: u32::MAX, number: 1, tombstone: false, payload: b"" };
        let mut body = Vec::new();
        first.encode(&mut body);
        second.encode(&mut body);
        let (change, rest) = Change::decode(&body).unwrap();
        assert_eq!(change, first);
        assert_eq!(Change::decode(rest), Some((second, &[][..])));
        for cut in 1..rest.len() {
            assert_eq!(Change::decode(&rest[..cut]), None);
        }
        assert_eq!(Change::decode(&body[..HEADER + 2]), None);
    }
}
