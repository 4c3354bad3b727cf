// SPDX-License-Identifier: MIT OR Apache-2.0
//! The job block, which an element reads at the start of a run.

/// Flag: forget which pages were verified, as they may have changed.
const FORGET_PAGES: u32 = 1;
/// Flag: packets carry payloads.
const WANT_PAYLOADS: u32 = 2;

/// A part of a table's VID map to visit, and where all that takes stands in device memory.
///
/// Whoever makes it has verified the chunks of the L2P map and the shared state, and validated
/// the program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobBlock {
    /// The first VID.
    pub vid_first: u32,
    /// Behind the last VID.
    pub vid_end: u32,
    /// The snapshot: versions that were created at a later commit are not seen.
    pub snapshot: u64,
    /// Address of physical page 0; others follow, 8,192 bytes each.
    pub storage_base: u64,
    /// Number of physical pages.
    pub storage_pages: u64,
    /// Address of the places of the VID map's chunks; 0: the map is all zero.
    pub vid_chunks: u64,
    /// Address of the places of the L2P map's chunks.
    pub page_map_chunks: u64,
    /// Number of logical pages that the L2P map has.
    pub logical_pages: u64,
    /// Address of the part's VID entries of the shared state, sorted.
    pub delta_vids: u64,
    /// Number of these entries.
    pub delta_vid_count: u32,
    /// Number of page entries of the shared state, at most 1,024.
    pub delta_page_count: u32,
    /// Address of the page entries of the shared state, sorted.
    pub delta_pages: u64,
    /// Address of the shared state's first page image.
    pub delta_images: u64,
    /// Identity of the store.
    pub store: u64,
    /// The store's epoch.
    pub epoch: u64,
    /// The table.
    pub table: u32,
    /// Forget which pages were verified: pages have changed since the last run.
    pub forget_pages: bool,
    /// Packets carry the payloads of their rows.
    pub want_payloads: bool,
    /// Address of the program's image, a multiple of 64; 0: no program, all rows are emitted.
    pub program: u64,
}

impl JobBlock {
    /// Bytes of a block in memory.
    pub const BYTES: usize = 128;

    /// The block as it stands in memory.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let forget = if self.forget_pages { FORGET_PAGES } else { 0 };
        let flags = forget | if self.want_payloads { WANT_PAYLOADS } else { 0 };
        let words = [
            pair(self.vid_first, self.vid_end),
            self.snapshot,
            self.storage_base,
            self.storage_pages,
            self.vid_chunks,
            self.page_map_chunks,
            self.logical_pages,
            self.delta_vids,
            pair(self.delta_vid_count, self.delta_page_count),
            self.delta_pages,
            self.delta_images,
            self.store,
            self.epoch,
            pair(self.table, flags),
            self.program,
            0,
        ];
        let mut bytes = [0; Self::BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}
