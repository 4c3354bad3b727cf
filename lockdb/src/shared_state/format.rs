// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of a shared state, as a device finds them (`docs/shared-state.md` has the tables).
//!
//! One contiguous area: header, page images, then the sorted sections that lead into them. Every
//! number is little-endian and naturally aligned. The header's checksum covers the sections'
//! checksum, and the sections cover the checksum of each image. So parts of another hand-over are
//! detected, even if they are intact in themselves.

use std::mem::offset_of;

use crate::layout::{PAGE_BYTES, PageBuffer, PageError};

/// The first 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct AreaHeader {
    /// [`AreaHeader::MAGIC`].
    pub magic: [u8; 8],
    /// [`AreaHeader::VERSION`].
    pub version: u32,
    /// CRC-32C of the header's bytes after this field.
    pub checksum: u32,
    /// Identity of the store.
    pub store: u64,
    /// The checkpoint that it is relative to.
    pub epoch: u64,
    /// The newest snapshot that can be asked for: the area is complete up to this commit.
    pub snapshot: u64,
    /// The oldest one.
    pub oldest: u64,
    /// First physical page of the checkpoint's directory.
    pub directory: u64,
    /// Bytes of that directory.
    pub directory_bytes: u64,
    /// Bytes of the area, this header included.
    pub length: u64,
    /// Number of tables.
    pub tables: u32,
    /// Number of VID entries.
    pub vids: u32,
    /// Number of pages.
    pub pages: u32,
    /// Bytes of all schemas.
    pub schema_bytes: u32,
    /// Offset of the first [`TableEntry`].
    pub tables_at: u32,
    /// Offset of the first [`VidEntry`].
    pub vids_at: u32,
    /// Offset of the first [`PageEntry`].
    pub pages_at: u32,
    /// Offset of the schemas.
    pub schemas_at: u32,
    /// Offset of the first page image.
    pub images_at: u32,
    /// CRC-32C of everything behind the images: tables, VID entries, page entries, schemas.
    pub sections_checksum: u32,
    /// Zero.
    pub reserved: [u8; 16],
}

/// A table. The place in the section is its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct TableEntry {
    /// VIDs below this one have been used.
    pub vids: u32,
    /// Place of its first VID entry in their section.
    pub first: u32,
    /// How many of them there are.
    pub changed: u32,
    /// Offset of its schema in the area; 0 when the directory has it.
    pub schema_at: u32,
    /// Bytes of its schema.
    pub schema_bytes: u32,
    /// Zero.
    pub reserved: [u8; 12],
}

/// A change of a VID map, in the order of tables and VIDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct VidEntry {
    /// The tuple.
    pub vid: u32,
    /// Its table. With the VID as one word it is the key that sorts the entries, and that the lock
    /// table knows the tuple by.
    pub table: u32,
    /// RecordID of the newest version at the area's snapshot; 0: none.
    pub record: u64,
}

/// A change of the L2P map, in the order of logical pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct PageEntry {
    /// The logical page.
    pub page: u64,
    /// Place of its image among the images.
    pub image: u32,
    /// The image's own checksum, again.
    pub checksum: u32,
}

const _: () = {
    assert!(size_of::<AreaHeader>() == 128 && size_of::<TableEntry>() == 32);
    assert!(size_of::<VidEntry>() == 16 && size_of::<PageEntry>() == 16);
    assert!(offset_of!(AreaHeader, version) == 8 && offset_of!(AreaHeader, checksum) == 12);
    assert!(offset_of!(AreaHeader, store) == 16 && offset_of!(AreaHeader, length) == 64);
    assert!(offset_of!(AreaHeader, tables) == 72 && offset_of!(AreaHeader, tables_at) == 88);
    assert!(offset_of!(AreaHeader, images_at) == 104 && offset_of!(AreaHeader, reserved) == 112);
    assert!(offset_of!(TableEntry, schema_at) == 12 && offset_of!(TableEntry, reserved) == 20);
    assert!(offset_of!(VidEntry, table) == 4 && offset_of!(VidEntry, record) == 8);
    assert!(offset_of!(PageEntry, image) == 8 && offset_of!(PageEntry, checksum) == 12);
    assert!(AreaHeader::BYTES.is_multiple_of(align_of::<PageBuffer>()));
};

/// The error in the bytes of a shared state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AreaError {
    /// The area ends too soon.
    #[error("{found} bytes, expected {expected}")]
    Length {
        /// Bytes that are there.
        found: u64,
        /// Bytes that there should be.
        expected: u64,
    },
    /// It is none.
    #[error("byte 0: magic \"{}\", expected \"{}\"", found.escape_ascii(),
        AreaHeader::MAGIC.escape_ascii())]
    Magic {
        /// The value found there.
        found: [u8; 8],
    },
    /// Another version of the store wrote it.
    #[error("byte 8: format version {found}, this program reads version {expected}")]
    Version {
        /// The value found there.
        found: u32,
        /// The readable data.
        expected: u32,
    },
    /// Bytes have changed.
    #[error("checksum of {what} {found:#010x}, the bytes give {expected:#010x}")]
    Checksum {
        /// Of what.
        what: &'static str,
        /// The value found there.
        found: u32,
        /// Of the bytes.
        expected: u32,
    },
    /// Part of it is not where, or not as, it has to be.
    #[error("byte {offset}: {what} is {found}, expected {expected}")]
    Field {
        /// Where.
        offset: u64,
        /// What.
        what: &'static str,
        /// The value found there.
        found: u64,
        /// The correct value.
        expected: u64,
    },
    /// A section is not in order.
    #[error("byte {offset}: {what} {found:#x} does not come after {before:#x}")]
    Order {
        /// Where.
        offset: u64,
        /// What.
        what: &'static str,
        /// Its key.
        found: u64,
        /// The key before it.
        before: u64,
    },
    /// A page image is damaged, or belongs to another area.
    #[error("byte {offset}, image of page {page}: {fault}")]
    Image {
        /// Where.
        offset: u64,
        /// The logical page.
        page: u64,
        /// The error in it.
        fault: PageError,
    },
}

fn half(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

impl AreaHeader {
    /// Size of the header.
    pub const BYTES: usize = size_of::<Self>();
    /// The first bytes.
    pub const MAGIC: [u8; 8] = *b"LKDELTA1";
    /// The layout that this program writes and reads.
    pub const VERSION: u32 = 1;

    /// Its bytes, with magic, version and checksum.
    pub fn encode(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let words = [
            self.store,
            self.epoch,
            self.snapshot,
            self.oldest,
            self.directory,
            self.directory_bytes,
            self.length,
        ];
        let halves = [
            self.tables,
            self.vids,
            self.pages,
            self.schema_bytes,
            self.tables_at,
            self.vids_at,
            self.pages_at,
            self.schemas_at,
            self.images_at,
            self.sections_checksum,
        ];
        bytes[0..8].copy_from_slice(&Self::MAGIC);
        bytes[8..12].copy_from_slice(&Self::VERSION.to_le_bytes());
        for (word, at) in words.iter().zip((16..).step_by(8)) {
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        for (half, at) in halves.iter().zip((72..).step_by(4)) {
            bytes[at..at + 4].copy_from_slice(&half.to_le_bytes());
        }
        let checksum = crc32c::crc32c(&bytes[16..]);
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads the header of an area, and checks all that it says of itself.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, AreaError> {
        let length = bytes.len() as u64;
        let Some(head) = bytes.first_chunk::<{ Self::BYTES }>() else {
            return Err(AreaError::Length { found: length, expected: Self::BYTES as u64 });
        };
        let magic = *head.first_chunk().expect("eight bytes");
        if magic != Self::MAGIC {
            return Err(AreaError::Magic { found: magic });
        }
        if half(head, 8) != Self::VERSION {
            return Err(AreaError::Version { found: half(head, 8), expected: Self::VERSION });
        }
        let (found, expected) = (half(head, 12), crc32c::crc32c(&head[16..]));
        if found != expected {
            return Err(AreaError::Checksum { what: "the header", found, expected });
        }
        let header = Self {
            magic,
            version: half(head, 8),
            checksum: found,
            store: word(head, 16),
            epoch: word(head, 24),
            snapshot: word(head, 32),
            oldest: word(head, 40),
            directory: word(head, 48),
            directory_bytes: word(head, 56),
            length: word(head, 64),
            tables: half(head, 72),
            vids: half(head, 76),
            pages: half(head, 80),
            schema_bytes: half(head, 84),
            tables_at: half(head, 88),
            vids_at: half(head, 92),
            pages_at: half(head, 96),
            schemas_at: half(head, 100),
            images_at: half(head, 104),
            sections_checksum: half(head, 108),
            reserved: *head.last_chunk().expect("sixteen bytes"),
        };
        header.check_places()?;
        match header.length <= length {
            true => Ok(header),
            false => Err(AreaError::Length { found: length, expected: header.length }),
        }
    }

    /// There is one place for each section, given how large the others are.
    fn check_places(&self) -> Result<(), AreaError> {
        let places = self.places();
        let found = [
            (104, "offset of the images", self.images_at.into()),
            (88, "offset of the tables", self.tables_at.into()),
            (92, "offset of the VID entries", self.vids_at.into()),
            (96, "offset of the page entries", self.pages_at.into()),
            (100, "offset of the schemas", self.schemas_at.into()),
            (64, "length", self.length),
        ];
        for ((offset, what, found), expected) in found.into_iter().zip(places) {
            if found != expected {
                return Err(AreaError::Field { offset, what, found, expected });
            }
        }
        if self.oldest > self.snapshot {
            let (found, expected) = (self.oldest, self.snapshot);
            return Err(AreaError::Field { offset: 40, what: "oldest snapshot", found, expected });
        }
        Ok(())
    }

    /// Where the sections begin and the last one ends, given their sizes: images, tables, VID
    /// entries, page entries, schemas, end.
    pub(super) fn places(&self) -> [u64; 6] {
        let images = Self::BYTES as u64;
        let tables = images + u64::from(self.pages) * PAGE_BYTES as u64;
        let vids = tables + u64::from(self.tables) * TableEntry::BYTES as u64;
        let pages = vids + u64::from(self.vids) * VidEntry::BYTES as u64;
        let schemas = pages + u64::from(self.pages) * PageEntry::BYTES as u64;
        [images, tables, vids, pages, schemas, schemas + u64::from(self.schema_bytes)]
    }
}

impl TableEntry {
    /// Size of an entry.
    pub const BYTES: usize = size_of::<Self>();

    pub(super) fn encode(&self, into: &mut Vec<u8>) {
        for half in [self.vids, self.first, self.changed, self.schema_at, self.schema_bytes] {
            into.extend(half.to_le_bytes());
        }
        into.extend(self.reserved);
    }

    pub(super) fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        Self {
            vids: half(bytes, 0),
            first: half(bytes, 4),
            changed: half(bytes, 8),
            schema_at: half(bytes, 12),
            schema_bytes: half(bytes, 16),
            reserved: *bytes.last_chunk().expect("twelve bytes"),
        }
    }
}

impl VidEntry {
    /// Size of an entry.
    pub const BYTES: usize = size_of::<Self>();

    /// What sorts the entries.
    pub fn key(&self) -> u64 {
        u64::from(self.table) << 32 | u64::from(self.vid)
    }

    pub(super) fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.key().to_le_bytes());
        into.extend(self.record.to_le_bytes());
    }

    pub(super) fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        Self { vid: half(bytes, 0), table: half(bytes, 4), record: word(bytes, 8) }
    }
}

impl PageEntry {
    /// Size of an entry.
    pub const BYTES: usize = size_of::<Self>();

    pub(super) fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.page.to_le_bytes());
        into.extend(self.image.to_le_bytes());
        into.extend(self.checksum.to_le_bytes());
    }

    pub(super) fn decode(bytes: &[u8; Self::BYTES]) -> Self {
        Self { page: word(bytes, 0), image: half(bytes, 8), checksum: half(bytes, 12) }
    }
}
