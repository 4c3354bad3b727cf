// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verilator's version: how it is written, read and compared.

use std::fmt;
use std::path::Path;

/// A Verilator release, such as 5.006.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The part before the point.
    pub major: u32,
    /// The part after the point as a number: 6 for `5.006`, 49 for `5.049` and for `5.49`.
    pub minor: u32,
}

/// The oldest Verilator that the kit is built and tested with (Debian 12 ships it).
pub const OLDEST: Version = Version { major: 5, minor: 6 };

impl Version {
    /// Reads the first `digits.digits` that follows the word `Verilator`, as in
    /// `Verilator 5.006 2023-01-22 rev (Debian 5.006-3)`.
    ///
    /// `None` when there is no such text: builds from a source archive print a
    /// version line that holds a revision and no number.
    pub fn from_banner(banner: &str) -> Option<Version> {
        let (_, after) = banner.split_once("Verilator")?;
        Version::from_number(after.split_whitespace().next()?)
    }

    /// Reads `#define VERILATOR_VERSION "5.49"` out of `verilated_config.h`.
    pub fn from_config_header(text: &str) -> Option<Version> {
        text.lines()
            .filter_map(|line| line.trim().strip_prefix("#define VERILATOR_VERSION "))
            .find_map(|value| Version::from_number(value.trim().trim_matches('"')))
    }

    /// Reads the version from `include/verilated_config.h` below `root`.
    pub(crate) fn from_root(root: &Path) -> Option<Version> {
        let text = std::fs::read_to_string(root.join("include/verilated_config.h")).ok()?;
        Version::from_config_header(&text)
    }

    fn from_number(text: &str) -> Option<Version> {
        let (major, rest) = text.split_once('.')?;
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        Some(Version { major: major.parse().ok()?, minor: rest[..digits].parse().ok()? })
    }
}

impl fmt::Display for Version {
    /// As Verilator writes it itself: `5.006`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(major: u32, minor: u32) -> Option<Version> {
        Some(Version { major, minor })
    }

    #[test]
    fn banner_of_a_distribution() {
        let banner = "Verilator 5.006 2023-01-22 rev (Debian 5.006-3)\n";
        assert_eq!(Version::from_banner(banner), version(5, 6));
    }

    #[test]
    fn banner_of_an_old_release() {
        let banner = "Verilator 4.038 2020-07-11 rev v4.036-114-g0cd4a57ad";
        assert_eq!(Version::from_banner(banner), version(4, 38));
        assert!(Version::from_banner(banner).unwrap() < OLDEST);
    }

    #[test]
    fn banner_without_a_number() {
        assert_eq!(Version::from_banner(" rev vUNKNOWN-built20260516-4e853d8"), None);
        assert_eq!(Version::from_banner("Verilator rev vUNKNOWN"), None);
        assert_eq!(Version::from_banner(""), None);
    }

    #[test]
    fn config_header() {
        let text = "// comment\n#define VERILATOR_PRODUCT \"Verilator\"\n\
                    #define VERILATOR_VERSION \"5.49\"\n#define VERILATOR_VERSION_INTEGER \n";
        assert_eq!(Version::from_config_header(text), version(5, 49));
        assert_eq!(Version::from_config_header("#define VERILATOR_VERSION \"\"\n"), None);
    }

    #[test]
    fn order_is_by_number_not_by_text() {
        assert!(version(5, 6) < version(5, 49));
        assert!(version(4, 228) < version(5, 6));
        assert_eq!(OLDEST.to_string(), "5.006");
    }
}
