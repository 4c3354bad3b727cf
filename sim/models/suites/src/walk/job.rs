// SPDX-License-Identifier: MIT OR Apache-2.0
//! The job block of an element, as it stands in memory.

/// Page entries of the shared state that an element takes.
pub const MOST_PAGE_ENTRIES: usize = 1024;

/// The request to an element. Fields as in docs/visibility-element.md.
#[derive(Clone, Copy, Debug, Default)]
pub struct Job {
    /// The first VID, and the one behind the last.
    pub vids: (u32, u32),
    /// Commits up to this one are seen.
    pub snapshot: u64,
    /// Where storage begins.
    pub storage_base: u64,
    /// Pages of storage.
    pub storage_pages: u64,
    /// Where the places of the VID map's chunks stand; 0 for none.
    pub vid_chunks: u64,
    /// Where the places of the L2P map's chunks stand; 0 for none.
    pub page_map_chunks: u64,
    /// Logical pages lie below this one.
    pub logical_pages: u64,
    /// Where the changed heads stand.
    pub delta_vids: u64,
    /// How many there are.
    pub delta_vid_count: u32,
    /// How many page entries there are.
    pub delta_page_count: u32,
    /// Where the page entries stand.
    pub delta_pages: u64,
    /// Where the page images begin.
    pub delta_images: u64,
    /// The identity of the store.
    pub store: u64,
    /// The checkpoint.
    pub epoch: u64,
    /// The number of the table.
    pub table: u32,
    /// Whether nothing may be kept of earlier runs.
    pub forgets_pages: bool,
    /// Whether rows carry their payloads.
    pub wants_payloads: bool,
    /// Where the program stands; 0 for none.
    pub program: u64,
}

impl Job {
    /// The words of the block.
    pub fn words(&self) -> [u64; 16] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let flags = u32::from(self.forgets_pages) | u32::from(self.wants_payloads) << 1;
        [
            pair(self.vids.0, self.vids.1),
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
        ]
    }
}
