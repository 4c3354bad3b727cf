// SPDX-License-Identifier: MIT OR Apache-2.0
//! Where the parts of a host's table lie, and how much of them one read takes.

use tables::robin_hood::RobinHood;
use tables::slot::{LINE_BYTES, SlotLayout};
use tables::{Link, Walk, hash};
use thiserror::Error;

use crate::index::{Table, TableError};
use crate::scan::{MOST_SLOTS, ScanError, Shape};

/// The longest value that fits into a slot of each size.
const LONGEST_VALUES: [usize; 7] = [0, 16, 48, 104, 160, 216, 256];
/// The least number of readings of a look-up: one to see that the key is absent, and one to confirm it.
pub const LEAST_READINGS: u8 = 2;

/// Where the parts of a table are that the index does not know.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Places {
    /// Base-2 logarithm of the homes in a segment.
    pub log2_segment: u32,
    /// Address of the directory, which has one [`Link`] of 8 bytes a segment.
    pub directory: u64,
    /// Address of the overflow area.
    pub overflow: u64,
    /// Its slots.
    pub overflow_slots: u32,
}

/// How look-ups are made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Settings {
    /// Bytes of the values that are cached; others are only read.
    pub value_bytes: u16,
    /// Readings of all places after which a look-up gives up, at least [`LEAST_READINGS`].
    pub most_readings: u8,
    /// Lines of 64 bytes that one read of a row or of a bucket may touch.
    pub landing_lines: u16,
}

/// A table in host memory and the way to read it, for cached values of `WORDS` words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Geometry<const WORDS: usize> {
    table: Table,
    shape: Shape,
    places: Places,
    settings: Settings,
}

/// A table that cannot be searched, or not so.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum GeometryError {
    /// What the index says of the table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// What the scanner says of the values.
    #[error(transparent)]
    Scan(#[from] ScanError),
    /// The table has no largest displacement, so the places of a key have no end.
    #[error("a table without a limit of displacements, expected one of 1 to 63")]
    NoLimit,
    /// An address.
    #[error("{name} at {address:#x}, expected a multiple of {expected} bytes")]
    Misaligned {
        /// Of what.
        name: &'static str,
        /// Where it is.
        address: u64,
        /// What the address has to be a multiple of.
        expected: u64,
    },
    /// An area is not within 64-bit addresses.
    #[error("{name} of {bytes} bytes from {address:#x} on reaches beyond 64-bit addresses")]
    Beyond {
        /// Which.
        name: &'static str,
        /// Where it begins.
        address: u64,
        /// Its length.
        bytes: u64,
    },
    /// The homes are in more or fewer segments than the index has.
    #[error("{slots} homes in segments of 2^{log2_segment}, expected {segments} segments")]
    Segments {
        /// Homes.
        slots: u32,
        /// Of the homes in a segment.
        log2_segment: u32,
        /// Segments of the index.
        segments: u32,
    },
    /// Cached values.
    #[error("cached values of {bytes} bytes, expected at most {most}")]
    ValueBytes {
        /// Their length.
        bytes: u16,
        /// What the index takes.
        most: usize,
    },
    /// Readings.
    #[error("at most {0} readings, expected {LEAST_READINGS} to 255")]
    Readings(u8),
    /// Lines of a read.
    #[error("reads of {lines} lines, expected at least {least}, for one slot")]
    LandingLines {
        /// Lines of a read.
        lines: u16,
        /// Lines of a slot.
        least: usize,
    },
}

/// An overflow bucket of the area.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bucket {
    /// Its first slot, counted in the area.
    pub place: u32,
    /// It has 2 to the power of this many slots.
    pub order: u32,
}

impl Bucket {
    /// Its slots.
    pub const fn slots(self) -> u32 {
        1 << self.order
    }
}

/// What a word of the directory names.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Named {
    /// No bucket.
    None,
    /// This one.
    Bucket(Bucket),
    /// None of the area: the word is torn, or no writer's.
    Outside,
}

impl Named {
    /// The bucket, if it is one of the area.
    pub const fn bucket(self) -> Option<Bucket> {
        match self {
            Named::Bucket(bucket) => Some(bucket),
            Named::None | Named::Outside => None,
        }
    }
}

impl<const WORDS: usize> Geometry<WORDS> {
    /// A table as the index knows it, with its other places.
    ///
    /// # Errors
    /// What does not fit, with its value.
    pub fn new(table: Table, places: Places, settings: Settings) -> Result<Self, GeometryError> {
        let slot_bytes = usize::from(table.slot_bytes());
        let layouts = LONGEST_VALUES.map(SlotLayout::for_values_of);
        let layout = layouts.into_iter().find(|layout| layout.bytes() == slot_bytes);
        let layout = layout.ok_or(TableError::SlotBytes(table.slot_bytes()))?;
        let shape = Shape::new(layout, WORDS)?;
        let geometry = Geometry { table, shape, places, settings };
        geometry.check_places()?;
        geometry.check_settings()?;
        Ok(geometry)
    }

    /// The geometry of a Robin Hood table whose memory begins at the address `base`. A first read has `more`
    /// slots beyond the known displacement; 2 is the paper's k = 1.
    ///
    /// # Errors
    /// When the table has no limit, the base is not that of a line, and as [`Geometry::new`].
    pub fn of_table(
        table: &RobinHood,
        base: u64,
        more: u8,
        settings: Settings,
    ) -> Result<Self, GeometryError> {
        let limit = table.limit().ok_or(GeometryError::NoLimit)? as u8;
        check_aligned("the table", base, LINE_BYTES as u64)?;
        let bytes = 8 * table.ground().words() as u64;
        check_inside("the table", base, bytes)?;
        let slot_bytes = table.ground().layout().bytes() as u16;
        let segments = table.segments();
        let index = Table::new(base, table.homes(), slot_bytes, limit, more, segments)?;
        let address = |word: usize| base + 8 * word as u64;
        let places = Places {
            log2_segment: table.homes_in_segment().trailing_zeros(),
            directory: address(table.directory_word(0)),
            overflow: address(table.overflow_word(0)),
            overflow_slots: table.overflow_slots(),
        };
        Geometry::new(index, places, settings)
    }

    fn check_places(&self) -> Result<(), GeometryError> {
        let Places { log2_segment, directory, overflow, overflow_slots } = self.places;
        let (slots, segments) = (self.table.slots(), self.table.segments());
        let fits = 1_u32.checked_shl(log2_segment).map(|homes| slots.div_ceil(homes));
        if fits != Some(segments) {
            return Err(GeometryError::Segments { slots, log2_segment, segments });
        }
        let part = self.slot_bytes().min(LINE_BYTES as u64);
        check_aligned("the row of slots", self.table.base(), part)?;
        check_aligned("the directory", directory, 8)?;
        check_aligned("the overflow area", overflow, part)?;
        check_inside("the directory", directory, 8 * u64::from(segments))?;
        let bytes = u64::from(overflow_slots) * self.slot_bytes();
        check_inside("the overflow area", overflow, bytes)
    }

    fn check_settings(&self) -> Result<(), GeometryError> {
        let Settings { value_bytes: bytes, most_readings, landing_lines: lines } = self.settings;
        let most = 8 * WORDS;
        if usize::from(bytes) > most {
            return Err(GeometryError::ValueBytes { bytes, most });
        }
        if most_readings < LEAST_READINGS {
            return Err(GeometryError::Readings(most_readings));
        }
        let least = self.shape.slot().parts();
        if usize::from(lines) < least {
            return Err(GeometryError::LandingLines { lines, least });
        }
        Ok(())
    }

    /// The table as the index knows it.
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// What the scanner is made for.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Where the rest of the table is.
    pub const fn places(&self) -> Places {
        self.places
    }

    /// How look-ups are made.
    pub const fn settings(&self) -> Settings {
        self.settings
    }

    /// The home of a key.
    pub const fn home(&self, key: u64) -> u32 {
        hash::home(key, self.table.slots())
    }

    /// The segment of a home.
    pub const fn segment(&self, home: u32) -> u32 {
        home >> self.places.log2_segment
    }

    /// Address of a segment's word of the directory.
    pub const fn directory_address(&self, segment: u32) -> u64 {
        self.places.directory + 8 * segment as u64
    }

    /// What a word of the directory names; its bits above the 38 of place and order do not matter.
    pub fn named(&self, word: u64) -> Named {
        let link = Link(word);
        match link.bucket() {
            None if link.is_unreadable() => Named::Outside,
            None => Named::None,
            Some((place, order)) => {
                let end = u64::from(place) + (1 << order);
                let inside = end <= u64::from(self.places.overflow_slots);
                if inside { Named::Bucket(Bucket { place, order }) } else { Named::Outside }
            }
        }
    }

    /// Address of the first slot of a bucket.
    pub fn bucket_address(&self, bucket: Bucket) -> u64 {
        self.places.overflow + u64::from(bucket.place) * self.slot_bytes()
    }

    /// Bytes of a slot.
    pub fn slot_bytes(&self) -> u64 {
        self.table.slot_bytes().into()
    }

    /// How many of `wanted` slots from an address on one read brings: those that fit the landing lines, at most
    /// [`MOST_SLOTS`], at least 1.
    pub fn fitting(&self, address: u64, wanted: u32) -> u8 {
        let line = LINE_BYTES as u64;
        let room = u64::from(self.settings.landing_lines) * line - address % line;
        (room / self.slot_bytes()).min(wanted.into()).min(MOST_SLOTS.into()) as u8
    }
}

fn check_aligned(name: &'static str, address: u64, expected: u64) -> Result<(), GeometryError> {
    match address.is_multiple_of(expected) {
        true => Ok(()),
        false => Err(GeometryError::Misaligned { name, address, expected }),
    }
}

fn check_inside(name: &'static str, address: u64, bytes: u64) -> Result<(), GeometryError> {
    match address.checked_add(bytes) {
        Some(_) => Ok(()),
        None => Err(GeometryError::Beyond { name, address, bytes }),
    }
}
