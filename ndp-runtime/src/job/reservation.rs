// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pages that a job may fill, and room for its next chunk of results.

use lockdb::layout::RecordId;
use lockdb::near_data::PageReservation;

use super::Span;
use super::error::{Check, JobError, checksum};

/// The most pages that may be reserved for one job in all: 1 GiB of them.
pub const MAX_RESERVATIONS: u32 = 1 << 17;

layout! {
    /// A [`PageReservation`], a page that a job may fill, as host and device exchange it.
    pub struct Entry: 16 {
        /// The logical page.
        pub page: u64,
        /// The word of its place on native storage.
        pub place: u64,
    }
}

impl From<&PageReservation> for Entry {
    fn from(reservation: &PageReservation) -> Self {
        let PageReservation { page, place } = *reservation;
        Self { page, place }
    }
}

/// The bytes of an array of reservations.
pub fn encode_all(reservations: &[PageReservation]) -> Vec<u8> {
    reservations.iter().flat_map(|reservation| Entry::from(reservation).encode()).collect()
}

/// The check of the reservation at this place of an array.
fn check(number: usize) -> Check {
    Check::of("page reservations", Entry::FIELDS, (number * Entry::BYTES) as u64)
}

/// The fault of a field of the reservation at this place of an array.
pub(crate) fn fault(
    number: usize,
    field: &'static str,
    found: u64,
    expected: &'static str,
) -> JobError {
    check(number).fault(field, found, expected)
}

/// Reads an array of reservations; its length has been checked to be a multiple of their size.
///
/// # Errors
/// When one names a page that no data page can be. The offset is that in the array.
pub fn decode_all(bytes: &[u8]) -> Result<Vec<PageReservation>, JobError> {
    let (all, rest) = bytes.as_chunks::<{ Entry::BYTES }>();
    check(all.len()).that(
        rest.is_empty(),
        "page",
        rest.len() as u64,
        "a whole page reservation",
    )?;
    let read = |(number, bytes): (usize, &[u8; Entry::BYTES])| {
        let Entry { page, place } = Entry::decode(bytes);
        let reservation = PageReservation { page, place };
        let check = check(number);
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
        pub reservations: u64,
        /// How many.
        pub reservation_count: u32,
        /// Zero.
        pub reserved_end: [u8; 20],
    }
}

/// With what a job continues.
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
            reservations: self.reservations,
            reservation_count: self.reservation_count,
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
        let TopUpBlock { chunk, reservations, reservation_count, .. } = block;
        check_reservations(&check, reservations, reservation_count)?;
        Ok(Self { chunk, result, reservations, reservation_count })
    }
}

/// Page reservations that a header names lie inside the address space and are not too many.
pub(super) fn check_reservations(check: &Check, address: u64, count: u32) -> Result<(), JobError> {
    let most = format!("at most {MAX_RESERVATIONS}");
    check.that(count <= MAX_RESERVATIONS, "reservation_count", count.into(), most)?;
    let end = address.checked_add(u64::from(count) * Entry::BYTES as u64);
    check.that(end.is_some(), "reservations", address, "an array inside the address space")
}
