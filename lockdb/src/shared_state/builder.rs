// SPDX-License-Identifier: MIT OR Apache-2.0
//! The builder of a shared state.

use super::format::{AreaHeader, PageEntry, TableEntry, VidEntry};
use crate::layout::{PAGE_BYTES, Page, PageBuffer};

/// A shared state in the making: images first, as they come.
#[derive(Debug)]
pub(crate) struct AreaBuilder {
    bytes: Vec<u8>,
    pages: Vec<PageEntry>,
}

/// A table's part of a shared state.
#[derive(Debug)]
pub(crate) struct TablePart {
    pub(crate) vids: u32,
    /// Its schema, unless the directory has it.
    pub(crate) schema: Option<Vec<u8>>,
}

impl AreaBuilder {
    /// In this memory; what stands there is forgotten.
    pub(crate) fn new(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        bytes.resize(AreaHeader::BYTES, 0);
        Self { bytes, pages: Vec::new() }
    }

    /// Adds a finalized page. Pages come in the order of their numbers.
    pub(crate) fn push_image(&mut self, page: u64, image: &PageBuffer) {
        debug_assert!(self.pages.last().is_none_or(|last| last.page < page));
        let checksum = Page::new(&image.0).header().checksum;
        self.pages.push(PageEntry { page, image: self.pages.len() as u32, checksum });
        self.bytes.extend_from_slice(&image.0);
    }

    /// Forgets the last image.
    pub(crate) fn lose_image(&mut self) {
        if self.pages.pop().is_some() {
            self.bytes.truncate(self.bytes.len() - PAGE_BYTES);
        }
    }

    /// Bytes that it has, and will have for the images that it has.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() + self.pages.len() * PageEntry::BYTES
    }

    /// Puts it together. `vids` are in the order of their keys; of `header` the sizes and offsets
    /// are set here.
    pub(crate) fn finish(
        mut self,
        header: AreaHeader,
        tables: &[TablePart],
        vids: &[VidEntry],
    ) -> (AreaHeader, Vec<u8>) {
        let schema_bytes =
            tables.iter().flat_map(|table| &table.schema).map(Vec::len).sum::<usize>();
        let mut header = AreaHeader {
            tables: tables.len() as u32,
            vids: vids.len() as u32,
            pages: self.pages.len() as u32,
            schema_bytes: schema_bytes as u32,
            ..header
        };
        let [images_at, tables_at, vids_at, pages_at, mut schemas_at, length] = header.places();
        assert!(length <= u64::from(u32::MAX), "offsets have four bytes: {length}");
        debug_assert_eq!(self.bytes.len() as u64, tables_at);
        header.length = length;
        header.images_at = images_at as u32;
        header.tables_at = tables_at as u32;
        header.vids_at = vids_at as u32;
        header.pages_at = pages_at as u32;
        header.schemas_at = schemas_at as u32;
        let into = &mut self.bytes;
        let mut first = 0;
        for (number, table) in tables.iter().enumerate() {
            let rest = vids[first..].partition_point(|entry| entry.table as usize <= number);
            let schema_bytes = table.schema.as_ref().map_or(0, |schema| schema.len() as u32);
            let entry = TableEntry {
                vids: table.vids,
                first: first as u32,
                changed: rest as u32,
                schema_at: if schema_bytes == 0 { 0 } else { schemas_at as u32 },
                schema_bytes,
                ..TableEntry::default()
            };
            entry.encode(into);
            first += rest;
            schemas_at += u64::from(schema_bytes);
        }
        debug_assert_eq!(first, vids.len(), "each VID entry is of one of the tables");
        vids.iter().for_each(|entry| entry.encode(into));
        self.pages.iter().for_each(|entry| entry.encode(into));
        tables.iter().flat_map(|table| &table.schema).for_each(|schema| into.extend(schema));
        debug_assert_eq!(into.len() as u64, length);
        header.sections_checksum = crc32c::crc32c(&into[tables_at as usize..]);
        into[..AreaHeader::BYTES].copy_from_slice(&header.encode());
        // With what is added to it on the way.
        let header = AreaHeader::decode(into).expect("a header as it was made");
        (header, self.bytes)
    }
}
