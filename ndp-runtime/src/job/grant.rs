//! Pages that a job may fill, and room for its next chunk of results.

use lockdb::layout::{Place, RecordId};

use super::Span;
use super::fault::{Check, JobFault, checksum};

/// The most pages that one job may be granted in all: 1 GiB of them.
pub const MAX_GRANTS: u32 = 1 << 17;

layout! {
    /// A page that a job may fill: the logical page that its versions name, and where it is to stand.
    pub struct Grant: 16 {
        /// The logical page.
        pub page: u64,
        /// The word of its [`Place`].
        pub place: u64,
    }
}

impl Grant {
    /// The physical page.
    pub fn physical(&self) -> u64 {
        Place::from_word(self.place).physical()
    }

    /// Whether its place is one of the checkpoint of this epoch.
    pub fn is_of(&self, epoch: u64) -> bool {
        Place::from_word(self.place).is_of(epoch)
    }

    /// Reads an array of grants; its length has been checked to be a multiple of their size.
    ///
    /// # Errors
    /// When one names a page that no data page can be. The offset is that in the array.
    pub fn decode_all(bytes: &[u8]) -> Result<Vec<Grant>, JobFault> {
        let (all, rest) = bytes.as_chunks();
        let end = Check::of("grants", Grant::FIELDS, (bytes.len() - rest.len()) as u64);
        end.that(rest.is_empty(), "page", rest.len() as u64, "a whole grant")?;
        let read = |(number, bytes)| {
            let grant = Grant::decode(bytes);
            let check = Check::of("grants", Grant::FIELDS, (number * Grant::BYTES) as u64);
            let page = grant.page;
            let fits = page != 0 && page >> (64 - RecordId::LINE_BITS) == 0;
            check.that(fits, "page", page, "a logical page, 1 to 2^56 - 1")?;
            // Pages 0 and 1 are the superblocks.
            let physical = grant.physical();
            check.that(physical > 1, "place", grant.place, "a place behind the superblocks")?;
            Ok(grant)
        };
        all.iter().enumerate().map(read).collect()
    }
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
        /// Address of more [`Grant`]s.
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
    /// Address of more [`Grant`]s.
    pub grants: u64,
    /// How many.
    pub grant_count: u32,
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
            grants: self.grants,
            grant_count: self.grant_count,
            ..TopUpBlock::default()
        };
        block.checksum = checksum(&block.encode());
        block.encode()
    }

    /// Reads and checks it.
    ///
    /// # Errors
    /// The first field that cannot be.
    pub fn decode(bytes: &[u8; TopUpBlock::BYTES]) -> Result<Self, JobFault> {
        let block = TopUpBlock::decode(bytes);
        let check = Check::of("top-up", TopUpBlock::FIELDS, 0);
        check.same("magic", block.magic.into(), TopUpBlock::MAGIC.into())?;
        check.same("version", block.version.into(), TopUpBlock::VERSION.into())?;
        check.same("checksum", block.checksum.into(), checksum(bytes).into())?;
        check.same("reserved", block.reserved.into(), 0)?;
        check.same("reserved_end", block.reserved_end.iter().map(|&b| u64::from(b)).sum(), 0)?;
        let result = Span { address: block.result, bytes: block.result_bytes };
        result.check(&check, "result", "result_bytes")?;
        let TopUpBlock { chunk, grants, grant_count, .. } = block;
        check_grants(&check, grants, grant_count)?;
        Ok(Self { chunk, result, grants, grant_count })
    }
}

/// Grants that a header names lie inside the address space and are not too many.
pub(super) fn check_grants(check: &Check, address: u64, count: u32) -> Result<(), JobFault> {
    let most = format!("at most {MAX_GRANTS}");
    check.that(count <= MAX_GRANTS, "grant_count", count.into(), most)?;
    let end = address.checked_add(u64::from(count) * Grant::BYTES as u64);
    check.that(end.is_some(), "grants", address, "an array inside the address space")
}
