//! Pages that a job may fill, and room for its next chunk of results.

use lockdb::layout::RecordId;
use lockdb::near_data::PageReservation;

use super::Span;
use super::error::{Check, JobError, checksum};
use super::layout::Field;

/// The most pages that may be reserved for one job in all: 1 GiB of them.
pub const MAX_RESERVATIONS: u32 = 1 << 17;

/// Bytes of a [`PageReservation`]: a page that a job may fill, as host and device exchange it.
pub const BYTES: usize = 16;

/// Name, offset and size of each of its fields.
pub const FIELDS: &[(&str, usize, usize)] = &[("page", 0, 8), ("place", 8, 8)];

/// The bytes of a reservation.
pub fn encode(reservation: &PageReservation) -> [u8; BYTES] {
    let PageReservation { page, place } = reservation;
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&page.to_le_bytes());
    bytes[8..].copy_from_slice(&place.to_le_bytes());
    bytes
}

/// Reads an array of reservations; its length has been checked to be a multiple of their size.
///
/// # Errors
/// When one names a page that no data page can be. The offset is that in the array.
pub fn decode_all(bytes: &[u8]) -> Result<Vec<PageReservation>, JobError> {
    let (all, rest) = bytes.as_chunks::<BYTES>();
    let end = Check::of("grants", FIELDS, (bytes.len() - rest.len()) as u64);
    end.that(rest.is_empty(), "page", rest.len() as u64, "a whole grant")?;
    let read = |(number, bytes): (usize, &[u8; BYTES])| {
        let [page, place] = Field::get(bytes);
        let reservation = PageReservation { page, place };
        let check = Check::of("grants", FIELDS, (number * BYTES) as u64);
        let fits = page != 0 && page >> (64 - RecordId::LINE_BITS) == 0;
        check.that(fits, "page", page, "a logical page, 1 to 2^56 - 1")?;
        // Pages 0 and 1 are the superblocks.
        let physical = reservation.physical();
        check.that(physical > 1, "place", place, "a place behind the superblocks")?;
        Ok(reservation)
    };
    all.iter().enumerate().map(read).collect()
}

layout! {
    /// The bytes of a [`TopUp`].
    pub struct TopUpBlock: 64 {
        /// [`TopUpBlock::MAGIC`].
        pub magic: u32,
        /// [`TopUpBlock::VERSION`].
        pub version: u16,
        /// Zero.
        pub reserved: u16,
        /// CRC-32C of all bytes before and after this field.
        pub checksum: u32,
        /// Number of the chunk that is to come, from 0.
        pub chunk: u32,
        /// Address of the result buffer.
        pub result: u64,
        /// Its size.
        pub result_bytes: u64,
        /// Address of more [`PageReservation`]s.
        pub grants: u64,
        /// How many.
        pub grant_count: u32,
        /// Zero.
        pub reserved_end: [u8; 20],
    }
}

/// With what a job goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TopUp {
    /// Number of the chunk that is to come: one more than that of the last one.
    pub chunk: u32,
    /// The result buffer.
    pub result: Span,
    /// Address of more [`PageReservation`]s.
    pub reservations: u64,
    /// How many.
    pub reservation_count: u32,
}

impl TopUpBlock {
    /// "LKJR".
    pub const MAGIC: u32 = u32::from_le_bytes(*b"LKJR");
    /// The version of this layout.
    pub const VERSION: u16 = 1;
}

impl TopUp {
    /// Its bytes.
    pub fn encode(&self) -> [u8; TopUpBlock::BYTES] {
        let mut block = TopUpBlock {
            magic: TopUpBlock::MAGIC,
            version: TopUpBlock::VERSION,
            chunk: self.chunk,
            result: self.result.address,
            result_bytes: self.result.bytes,
            grants: self.reservations,
            grant_count: self.reservation_count,
            ..TopUpBlock::default()
        };
        block.checksum = checksum(&block.encode());
        block.encode()
    }

    /// Reads and checks it.
    ///
    /// # Errors
    /// The first field that cannot be.
    pub fn decode(bytes: &[u8; TopUpBlock::BYTES]) -> Result<Self, JobError> {
        let block = TopUpBlock::decode(bytes);
        let check = Check::of("top-up", TopUpBlock::FIELDS, 0);
        check.same("magic", block.magic.into(), TopUpBlock::MAGIC.into())?;
        check.same("version", block.version.into(), TopUpBlock::VERSION.into())?;
        check.same("checksum", block.checksum.into(), checksum(bytes).into())?;
        check.same("reserved", block.reserved.into(), 0)?;
        check.same("reserved_end", block.reserved_end.iter().map(|&b| u64::from(b)).sum(), 0)?;
        let result = Span { address: block.result, bytes: block.result_bytes };
        result.check(&check, "result", "result_bytes")?;
        let TopUpBlock { chunk, grants: reservations, grant_count: reservation_count, .. } = block;
        check_reservations(&check, reservations, reservation_count)?;
        Ok(Self { chunk, result, reservations, reservation_count })
    }
}

/// Grants that a header names lie inside the address space and are not too many.
pub(super) fn check_reservations(check: &Check, address: u64, count: u32) -> Result<(), JobError> {
    let most = format!("at most {MAX_RESERVATIONS}");
    check.that(count <= MAX_RESERVATIONS, "grant_count", count.into(), most)?;
    let end = address.checked_add(u64::from(count) * BYTES as u64);
    check.that(end.is_some(), "grants", address, "an array inside the address space")
}
