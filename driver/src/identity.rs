// SPDX-License-Identifier: MIT OR Apache-2.0
//! The identifiers by which PCI knows a Lockstep device.

use std::env;
use std::fmt;
use std::str::FromStr;

/// The variable that names other identifiers than the usual ones.
pub const VARIABLE: &str = "LOCKSTEP_PCI_ID";

/// Vendor, device and subsystem, as configuration space has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PciIdentity {
    /// Vendor identifier.
    pub vendor: u16,
    /// Device identifier.
    pub device: u16,
    /// Vendor of the subsystem.
    pub subsystem_vendor: u16,
    /// Subsystem identifier.
    pub subsystem: u16,
}

impl PciIdentity {
    /// What a Lockstep device says if nobody chose otherwise. No vendor identifier is ours:
    /// `docs/function.md` says why these, and who has to choose others.
    pub const LOCKSTEP: PciIdentity =
        PciIdentity { vendor: 0x10EE, device: 0x4C53, subsystem_vendor: 0x10EE, subsystem: 0x4C53 };

    /// What the devices of this machine are to say: what the environment variable [`VARIABLE`] names,
    /// else [`PciIdentity::LOCKSTEP`].
    ///
    /// # Errors
    /// The variable holds something else.
    pub fn expected() -> Result<Self, IdentityError> {
        match env::var_os(VARIABLE) {
            None => Ok(Self::LOCKSTEP),
            Some(text) => text.to_string_lossy().parse(),
        }
    }
}

impl Default for PciIdentity {
    fn default() -> Self {
        Self::LOCKSTEP
    }
}

impl fmt::Display for PciIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PciIdentity { vendor, device, subsystem_vendor, subsystem } = self;
        write!(formatter, "{vendor:04x}:{device:04x}:{subsystem_vendor:04x}:{subsystem:04x}")
    }
}

/// A text that names no identifiers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "PCI identifiers {found:?}: expected vendor, device, vendor of the subsystem and subsystem, four \
     hexadecimal digits each, as {}; or the first two, which then count for the subsystem as well; none \
     of them ffff, no vendor 0000",
    PciIdentity::LOCKSTEP
)]
pub struct IdentityError {
    /// The text.
    pub found: String,
}

impl FromStr for PciIdentity {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        let number = |digits: &str| {
            let hexadecimal = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_hexdigit());
            hexadecimal.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
        };
        let numbers: Option<Vec<u16>> = text.split(':').map(number).collect();
        let identity = match numbers.as_deref() {
            Some(&[vendor, device]) => {
                PciIdentity { vendor, device, subsystem_vendor: vendor, subsystem: device }
            }
            Some(&[vendor, device, subsystem_vendor, subsystem]) => {
                PciIdentity { vendor, device, subsystem_vendor, subsystem }
            }
            _ => return Err(IdentityError { found: text.into() }),
        };
        let PciIdentity { vendor, device, subsystem_vendor, subsystem } = identity;
        // A read that nobody answers gives ones; 0 is what some bridges give.
        let absent = [vendor, device, subsystem_vendor, subsystem].contains(&u16::MAX)
            || vendor == 0
            || subsystem_vendor == 0;
        if absent { Err(IdentityError { found: text.into() }) } else { Ok(identity) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_as_they_are_shown() {
        let other =
            PciIdentity { vendor: 0x1234, device: 0xABCD, subsystem_vendor: 0x8086, subsystem: 0 };
        for identity in [PciIdentity::LOCKSTEP, other] {
            assert_eq!(identity.to_string().parse(), Ok(identity));
        }
        assert_eq!("10EE:4c53".parse(), Ok(PciIdentity::LOCKSTEP));
    }

    #[test]
    fn what_names_none_is_refused() {
        for text in ["", "10ee", "10ee:4c53:1", "10ee:4c5", "+0ee:4c53", "10ee:4c53:10ee:4c53:1"] {
            let error = text.parse::<PciIdentity>().unwrap_err();
            assert_eq!(error.found, text);
        }
        for text in ["ffff:4c53", "10ee:ffff", "0000:4c53", "10ee:4c53:0000:0001"] {
            assert!(text.parse::<PciIdentity>().is_err(), "{text}");
        }
        let text = "7038".parse::<PciIdentity>().unwrap_err().to_string();
        assert!(text.starts_with("PCI identifiers \"7038\": expected vendor, device"), "{text}");
        assert!(text.contains("as 10ee:4c53:10ee:4c53;"), "{text}");
    }
}
