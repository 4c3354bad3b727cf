// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading the fields of a payload one after the other.

use crate::Error;

/// Which field is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// The field's name.
    pub field: &'static str,
    /// Its value.
    pub found: String,
    /// What would have been right.
    pub expected: String,
}

impl FieldError {
    /// `field` is `found`.
    pub fn new(field: &'static str, found: impl ToString, expected: impl Into<String>) -> Self {
        Self { field, found: found.to_string(), expected: expected.into() }
    }

    /// As an error of the message that `message` names.
    pub(crate) fn of(self, message: impl Into<String>) -> Error {
        let Self { field, found, expected } = self;
        Error::Malformed { message: message.into(), field, found, expected }
    }
}

/// Whether a reply repeats what was `sent`.
pub(crate) fn same<T: PartialEq + ToString>(
    field: &'static str,
    found: T,
    sent: T,
) -> Result<(), FieldError> {
    if found != sent {
        return Err(FieldError::new(
            field,
            found.to_string(),
            format!("{} as sent", sent.to_string()),
        ));
    }
    Ok(())
}

/// The bytes of a payload that have not been read yet.
#[derive(Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// All of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], FieldError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(|| {
            FieldError::new(
                field,
                format!("cut off after {} bytes", self.rest.len()),
                format!("{N} bytes"),
            )
        })?;
        self.rest = rest;
        Ok(*taken)
    }

    /// The next 2 bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn u16(&mut self, field: &'static str) -> Result<u16, FieldError> {
        self.take(field).map(u16::from_le_bytes)
    }

    /// The next 4 bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn u32(&mut self, field: &'static str) -> Result<u32, FieldError> {
        self.take(field).map(u32::from_le_bytes)
    }

    /// The next 8 bytes.
    ///
    /// # Errors
    /// There are fewer.
    pub fn u64(&mut self, field: &'static str) -> Result<u64, FieldError> {
        self.take(field).map(u64::from_le_bytes)
    }

    /// The next 8 bytes as they are.
    ///
    /// # Errors
    /// There are fewer.
    pub fn bytes8(&mut self, field: &'static str) -> Result<[u8; 8], FieldError> {
        self.take(field)
    }

    /// `argsz`, which must be at least `least`.
    ///
    /// # Errors
    /// It is cut off or less.
    pub fn argsz(&mut self, least: u32) -> Result<u32, FieldError> {
        let argsz = self.u32("argsz")?;
        if argsz < least {
            return Err(FieldError::new("argsz", argsz, format!("at least {least}")));
        }
        Ok(argsz)
    }

    /// Flags, of which only those in `known` may be set.
    ///
    /// # Errors
    /// They are cut off, or others are set.
    pub fn flags(&mut self, known: u32) -> Result<u32, FieldError> {
        let flags = self.u32("flags")?;
        if flags & !known != 0 {
            let (found, expected) = (format!("{flags:#x}"), format!("no bit outside {known:#x}"));
            return Err(FieldError::new("flags", found, expected));
        }
        Ok(flags)
    }

    /// Whatever is left.
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }

    /// Whatever is left, which must be `count` bytes.
    ///
    /// # Errors
    /// It is another number.
    pub fn data(self, count: u64) -> Result<&'a [u8], FieldError> {
        if self.rest.len() as u64 != count {
            return Err(FieldError::new(
                "count",
                count,
                format!("the {} bytes sent", self.rest.len()),
            ));
        }
        Ok(self.rest)
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// Something is.
    pub fn end(self) -> Result<(), FieldError> {
        if !self.rest.is_empty() {
            return Err(FieldError::new(
                "size",
                format!("{} bytes too long", self.rest.len()),
                "exact",
            ));
        }
        Ok(())
    }
}
