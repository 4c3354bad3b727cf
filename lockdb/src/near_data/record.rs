// SPDX-License-Identifier: MIT OR Apache-2.0
//! The near-data part of a log record: which pages a device has written for the commit.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 4 | number of pages |
//! | 4 | 4 | zero |
//! | 8 | 24 each | pages |
//!
//! Each page:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | logical page |
//! | 8 | 8 | its place on native storage |
//! | 16 | 4 | table |
//! | 20 | 4 | its versions |
//!
//! The changes of the record's other rows follow, as in any commit's.

/// A page that a device has written for a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FinalizedPage {
    pub(crate) page: u64,
    pub(crate) place: u64,
    pub(crate) table: u32,
    pub(crate) lines: u32,
}

const HEADER: usize = 8;
const ENTRY: usize = 24;

impl FinalizedPage {
    fn encode(&self, body: &mut Vec<u8>) {
        body.extend_from_slice(&self.page.to_le_bytes());
        body.extend_from_slice(&self.place.to_le_bytes());
        body.extend_from_slice(&self.table.to_le_bytes());
        body.extend_from_slice(&self.lines.to_le_bytes());
    }

    fn decode(bytes: &[u8; ENTRY]) -> Self {
        let u64_at =
            |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let identity = u64_at(16);
        let (table, lines) = (identity as u32, (identity >> 32) as u32);
        Self { page: u64_at(0), place: u64_at(8), table, lines }
    }
}

/// The near-data part of a record's body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sections<'a> {
    pages: &'a [[u8; ENTRY]],
}

impl<'a> Sections<'a> {
    /// Puts it at the end of a body.
    pub(crate) fn encode(pages: &[FinalizedPage], body: &mut Vec<u8>) {
        body.extend_from_slice(&(pages.len() as u64).to_le_bytes());
        pages.iter().for_each(|page| page.encode(body));
    }

    /// Reads it from the beginning of a body; gives the rest, too. `None` when it is not there.
    pub(crate) fn decode(body: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (count, rest) = body.split_first_chunk::<HEADER>()?;
        // The upper half is zero, or the number is beyond every body.
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        let (pages, rest) = rest.split_at_checked(count.checked_mul(ENTRY)?)?;
        Some((Self { pages: pages.as_chunks().0 }, rest))
    }

    pub(crate) fn pages(&self) -> impl Iterator<Item = FinalizedPage> + use<'a> {
        self.pages.iter().map(FinalizedPage::decode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_come_back_as_they_were_put() {
        let first = FinalizedPage { page: 7, place: 1 << 62 | 9, table: 3, lines: 120 };
        let second = FinalizedPage { page: u64::MAX >> 8, place: 2, table: 0, lines: 1 };
        let mut body = Vec::new();
        Sections::encode(&[first, second], &mut body);
        body.extend_from_slice(b"changes");
        let (sections, rest) = Sections::decode(&body).unwrap();
        assert_eq!(
            (sections.pages().collect::<Vec<_>>(), rest),
            (vec![first, second], &b"changes"[..])
        );
        for cut in 0..body.len() - rest.len() {
            assert!(Sections::decode(&body[..cut]).is_none(), "cut at {cut}");
        }
        for count in [3, 1 << 32, u64::MAX] {
            body[..8].copy_from_slice(&count.to_le_bytes());
            assert!(Sections::decode(&body).is_none(), "{count} pages");
        }
    }
}
