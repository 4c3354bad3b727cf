// SPDX-License-Identifier: MIT OR Apache-2.0
//! Map pages: chunks of the VID maps and of the L2P map, and the pages of the directory.

use super::{PAGE_BYTES, Page, PageBuffer, PageHeader, PageKind};

/// Words of a map in one page.
pub const MAP_WORDS: usize = (PAGE_BYTES - PageHeader::BYTES) / 8;

/// Bytes of the directory in one page, after the number of the next.
pub const DIRECTORY_BYTES: usize = PAGE_BYTES - PageHeader::BYTES - 8;

const _: () = assert!(MAP_WORDS == 1016 && DIRECTORY_BYTES == 8120);

/// Number of the map page that holds words `chunk` × 1,016 and on of a table's VID map.
pub fn vid_page(table: u32, chunk: usize) -> u64 {
    u64::from(table) << 32 | chunk as u64
}

impl PageBuffer {
    /// A page with a chunk of a map; what `words` lacks is zero. Not finalized.
    ///
    /// # Panics
    /// When there are more than [`MAP_WORDS`].
    pub fn map(kind: PageKind, page: u64, words: impl Iterator<Item = u64>) -> Self {
        let mut buffer = PageBuffer::ZERO;
        let mut at = PageHeader::BYTES;
        for word in words {
            buffer.0[at..at + 8].copy_from_slice(&word.to_le_bytes());
            at += 8;
        }
        buffer.put_header(PageHeader::new(kind, page, 0));
        buffer
    }

    /// A page of the directory, not finalized.
    ///
    /// # Panics
    /// When there are more than [`DIRECTORY_BYTES`].
    pub fn directory(page: u64, next: u64, bytes: &[u8]) -> Self {
        let mut buffer = PageBuffer::ZERO;
        let at = PageHeader::BYTES;
        buffer.0[at..at + 8].copy_from_slice(&next.to_le_bytes());
        buffer.0[at + 8..at + 8 + bytes.len()].copy_from_slice(bytes);
        buffer.put_header(PageHeader::new(PageKind::Directory, page, 0));
        buffer
    }
}

impl<'a> Page<'a> {
    /// A word of a map page.
    ///
    /// # Panics
    /// When it would lie beyond the page.
    pub fn word(self, word: usize) -> u64 {
        let (words, _) = self.bytes()[PageHeader::BYTES..].as_chunks::<8>();
        u64::from_le_bytes(words[word])
    }

    /// The words of a map page.
    pub fn words(self) -> impl Iterator<Item = u64> + 'a {
        let (words, _) = self.bytes()[PageHeader::BYTES..].as_chunks::<8>();
        words.iter().map(|word| u64::from_le_bytes(*word))
    }

    /// Of a page of the directory, the place of the next one (0: none), and its bytes.
    pub fn directory_bytes(self) -> (u64, &'a [u8]) {
        let (next, bytes) = self.bytes()[PageHeader::BYTES..].split_at(8);
        (u64::from_le_bytes(next.try_into().expect("eight bytes")), bytes)
    }
}
