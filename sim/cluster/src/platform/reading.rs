// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading a platform file of a cluster as a whole.

use timing::platform::{Count, Entry, PlatformError, PlatformFile};

/// What `sections` reads of a file, and the file.
///
/// # Errors
/// When `sections` fails, there is more in the file, or an entry has no class.
pub fn read_whole<T>(
    mut file: PlatformFile,
    sections: impl FnOnce(&mut PlatformFile) -> Result<T, PlatformError>,
) -> Result<(T, PlatformFile), PlatformError> {
    let read = sections(&mut file)?;
    file.expect_all_read()?;
    file.expect_classes()?;
    Ok((read, file))
}

/// Numbers that others are divided by, or that memory is made for: each is from 1 up to the one beside it,
/// if there is one, and the error says what was expected.
///
/// # Errors
/// For the first that is not.
pub fn expect_counts(
    file: &PlatformFile,
    counts: &[(&str, &Entry<Count>, Option<u32>, &'static str)],
) -> Result<(), PlatformError> {
    for &(field, entry, most, expected) in counts {
        let Count(count) = entry.get();
        if count == 0 || most.is_some_and(|most| count > most) {
            return Err(file.impossible(field, count.to_string(), expected));
        }
    }
    Ok(())
}
