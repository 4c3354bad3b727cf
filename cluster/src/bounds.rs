// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the settings of all protocols are checked for.

use crate::transact::TableShape;

/// A setting that cannot be: its name, its value, and what it should be.
pub(crate) type Misfit = (&'static str, u64, String);

/// Whether each value lies within its bounds: name, value, least, most. `reason` says why those of a name are such,
/// in brackets, or nothing.
///
/// # Errors
/// The first that does not.
pub(crate) fn check(
    bounds: &[(&'static str, u64, u64, u64)],
    reason: impl FnOnce(&str) -> &'static str,
) -> Result<(), Misfit> {
    match bounds.iter().find(|(_, value, least, most)| !(*least..=*most).contains(value)) {
        Some((field, value, least, most)) => {
            Err((field, *value, format!("{least} to {most}{}", reason(field))))
        }
        None => Ok(()),
    }
}

/// The first table with values of more than `most` bytes.
pub(crate) fn first_too_long(tables: &[TableShape], most: usize) -> Option<&TableShape> {
    tables.iter().find(|table| usize::from(table.value_bytes) > most)
}
