// SPDX-License-Identifier: MIT OR Apache-2.0
//! The directory: schemas, and where the map pages stand.
//!
//! A stream of bytes over as many directory pages as it takes, each of which names the next:
//!
//! | bytes | what |
//! |---|---|
//! | 4 | number of tables; then for each |
//! | 4 | · bytes of its schema |
//! | … | · its schema |
//! | 4 | · VIDs that have been used |
//! | 8 × ⌈VIDs / 1,016⌉ | · place of each chunk of its VID map; 0: all zero |
//! | 8 | logical pages that have been used, page 0 included |
//! | 8 × ⌈pages / 1,016⌉ | place of each chunk of the L2P map; 0: all zero |

use super::super::layout::MAP_WORDS;
use super::super::schema::Schema;

/// What a directory says.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    pub(crate) tables: Vec<TableEntry>,
    pub(crate) logical_pages: u64,
    pub(crate) page_map: Vec<u64>,
}

/// What it says of one table.
#[derive(Debug)]
pub(crate) struct TableEntry {
    pub(crate) schema: Schema,
    pub(crate) vids: u32,
    pub(crate) vid_map: Vec<u64>,
}

impl Directory {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend((self.tables.len() as u32).to_le_bytes());
        for table in &self.tables {
            let schema = table.schema.encode();
            bytes.extend((schema.len() as u32).to_le_bytes());
            bytes.extend(schema);
            bytes.extend(table.vids.to_le_bytes());
            debug_assert_eq!(table.vid_map.len(), (table.vids as usize).div_ceil(MAP_WORDS));
            bytes.extend(table.vid_map.iter().flat_map(|page| page.to_le_bytes()));
        }
        bytes.extend(self.logical_pages.to_le_bytes());
        bytes.extend(self.page_map.iter().flat_map(|page| page.to_le_bytes()));
        bytes
    }

    /// Reads one; on failure says at which byte, and what is wrong there.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, (usize, String)> {
        let mut rest = Rest { bytes, at: 0 };
        let mut directory = Directory::default();
        for _ in 0..rest.u32("number of tables")? {
            let length = rest.u32("length of a schema")? as usize;
            let at = rest.at;
            let schema = Schema::decode(rest.take(length, "a schema")?);
            let schema = schema.map_err(|error| (at, error.to_string()))?;
            let vids = rest.u32("number of VIDs")?;
            let vid_map = rest.words((vids as usize).div_ceil(MAP_WORDS), "a VID map")?;
            directory.tables.push(TableEntry { schema, vids, vid_map });
        }
        directory.logical_pages = rest.u64("number of logical pages")?;
        let chunks = usize::try_from(directory.logical_pages).unwrap_or(usize::MAX);
        directory.page_map = rest.words(chunks.div_ceil(MAP_WORDS), "the L2P map")?;
        match rest.bytes.len() - rest.at {
            0 => Ok(directory),
            more => Err((rest.at, format!("{more} bytes after the end of the directory"))),
        }
    }
}

struct Rest<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Rest<'a> {
    fn take(&mut self, bytes: usize, what: &str) -> Result<&'a [u8], (usize, String)> {
        let left = &self.bytes[self.at..];
        let taken = left.get(..bytes).ok_or_else(|| {
            (self.at, format!("the directory ends {} bytes into {what} of {bytes}", left.len()))
        })?;
        self.at += bytes;
        Ok(taken)
    }

    fn u32(&mut self, what: &str) -> Result<u32, (usize, String)> {
        Ok(u32::from_le_bytes(self.take(4, what)?.try_into().expect("four bytes")))
    }

    fn u64(&mut self, what: &str) -> Result<u64, (usize, String)> {
        Ok(u64::from_le_bytes(self.take(8, what)?.try_into().expect("eight bytes")))
    }

    fn words(&mut self, words: usize, what: &str) -> Result<Vec<u64>, (usize, String)> {
        let bytes = self.take(words.saturating_mul(8), what)?;
        Ok(bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect())
    }
}
