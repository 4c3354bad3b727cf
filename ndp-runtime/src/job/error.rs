// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors in the other side's bytes.

/// A field that cannot be, in a descriptor, a top-up, a reservation or a result set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}, byte {offset}: {field} is {found:#x}, expected {expected}")]
pub struct JobError {
    /// Of what.
    pub what: &'static str,
    /// Where in it.
    pub offset: u64,
    /// The field.
    pub field: &'static str,
    /// The value found there.
    pub found: u64,
    /// The values allowed there.
    pub expected: String,
}

/// CRC-32C of bytes whose checksum stands at byte 8: of all others.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&bytes[..8]), &bytes[12..])
}

/// The check of one kind of bytes, field by field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    what: &'static str,
    fields: &'static [(&'static str, usize, usize)],
    /// Where the fields begin.
    base: u64,
}

impl Check {
    pub(super) fn of(
        what: &'static str,
        fields: &'static [(&'static str, usize, usize)],
        base: u64,
    ) -> Self {
        Self { what, fields, base }
    }

    /// The named field has to be as it should.
    pub(super) fn that(
        &self,
        holds: bool,
        field: &'static str,
        found: u64,
        expected: impl Into<String>,
    ) -> Result<(), JobError> {
        if holds { Ok(()) } else { Err(self.fault(field, found, expected)) }
    }

    /// The named field cannot be.
    pub(super) fn fault(
        &self,
        field: &'static str,
        found: u64,
        expected: impl Into<String>,
    ) -> JobError {
        let offset = self.fields.iter().find(|(name, ..)| *name == field);
        let offset = self.base + offset.map_or(0, |&(_, offset, _)| offset as u64);
        JobError { what: self.what, offset, field, found, expected: expected.into() }
    }

    /// The named field has to have this value.
    pub(super) fn same(
        &self,
        field: &'static str,
        found: u64,
        expected: u64,
    ) -> Result<(), JobError> {
        self.that(found == expected, field, found, format!("{expected:#x}"))
    }
}
