//! The job block of an element, as it stands in memory.

/// What an element is asked for. Fields as in docs/visibility-element.md.
#[derive(Clone, Copy, Debug, Default)]
pub struct Job {
    pub vids: (u32, u32),
    pub snapshot: u64,
    pub storage_base: u64,
    pub storage_pages: u64,
    pub vid_pieces: u64,
    pub page_map_pieces: u64,
    pub logical_pages: u64,
    pub delta_vids: u64,
    pub delta_vid_count: u32,
    pub delta_page_count: u32,
    pub delta_pages: u64,
    pub delta_images: u64,
    pub store: u64,
    pub epoch: u64,
    pub table: u32,
    pub forgets_pages: bool,
    pub wants_payloads: bool,
    pub program: u64,
}

impl Job {
    pub fn words(&self) -> [u64; 16] {
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let flags = u32::from(self.forgets_pages) | u32::from(self.wants_payloads) << 1;
        [
            pair(self.vids.0, self.vids.1),
            self.snapshot,
            self.storage_base,
            self.storage_pages,
            self.vid_pieces,
            self.page_map_pieces,
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
