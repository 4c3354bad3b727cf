// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of the store, as a device finds them: one definition of each layout.
//!
//! Everything is little-endian and at a fixed offset, so that hardware can parse it
//! (`docs/store-layouts.md` has the tables).

mod map_page;
mod page;
mod place;
mod record_id;
mod superblock;

pub use map_page::{DIRECTORY_BYTES, MAP_WORDS, vid_page};
pub use page::{
    LAST_VERSION, LinePointer, PAGE_BYTES, Page, PageBuffer, PageError, PageHeader, PageKind,
    VERSION_BYTES, VersionHeader, next_version, placed_bytes,
};
pub use place::Place;
pub use record_id::RecordId;
pub use superblock::{Superblock, SuperblockError};
