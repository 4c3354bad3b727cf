// SPDX-License-Identifier: MIT OR Apache-2.0
//! The capabilities in a function's configuration space.

use std::fmt;

use crate::pci_regs::{
    CAP_ID_EXP, CAP_ID_MSI, CAP_ID_MSIX, CAP_ID_PM, CAP_LIST_NEXT, CAPABILITY_LIST, EXP_DEVCAP,
    EXP_DEVCAP_FLR, EXP_LNKSTA, EXP_LNKSTA_CLS, EXP_LNKSTA_NLW, MSIX_FLAGS, MSIX_FLAGS_ENABLE,
    MSIX_FLAGS_QSIZE, MSIX_PBA, MSIX_TABLE, MSIX_TABLE_BIR, STATUS, STATUS_CAP_LIST,
};
use crate::{Backend, DeviceError, Space, Width};

/// One capability, decoded as far as matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PciCapability {
    /// Power management.
    PowerManagement,
    /// Message-signalled interrupts of the older kind.
    Msi,
    /// PCI Express.
    Express {
        /// Whether the function can be reset on its own (FLR).
        resettable: bool,
        /// Generation and lanes of the link as it runs: 3 is 8 GT/s.
        link: (u8, u8),
    },
    /// Message-signalled interrupts by a table in a BAR.
    MsiX {
        /// Entries of the table.
        vectors: u16,
        /// Whether it is in use.
        enabled: bool,
        /// BAR and offset of the table.
        table: (u8, u32),
        /// BAR and offset of the pending bits.
        pending: (u8, u32),
    },
    /// Another one, by its identifier.
    Other(u8),
}

impl fmt::Display for PciCapability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PciCapability::PowerManagement => formatter.write_str("power management"),
            PciCapability::Msi => formatter.write_str("MSI"),
            PciCapability::Express { resettable, link: (generation, lanes) } => {
                let reset = if *resettable { "with" } else { "without" };
                write!(formatter, "PCI Express, {reset} function-level reset")?;
                match lanes {
                    0 => Ok(()),
                    _ => write!(formatter, ", link of generation {generation}, {lanes} lanes"),
                }
            }
            PciCapability::MsiX { vectors, enabled, table, pending } => write!(
                formatter,
                "MSI-X {}: {vectors} vectors, table at BAR{} + 0x{:X}, pending bits at BAR{} + \
                 0x{:X}",
                if *enabled { "on" } else { "off" },
                table.0,
                table.1,
                pending.0,
                pending.1
            ),
            PciCapability::Other(identifier) => write!(formatter, "capability 0x{identifier:02X}"),
        }
    }
}

/// Bytes of a configuration space in which the list of capabilities lies.
const LISTED_BYTES: u64 = 256;

/// The capabilities of the device behind any backend, read from its configuration space.
///
/// # Errors
/// What the backend reports.
pub fn discover_capabilities(backend: &dyn Backend) -> Result<Vec<PciCapability>, DeviceError> {
    Ok(pci_capabilities(&read_listed(backend)?))
}

/// Reads that part of configuration space in which the capabilities lie.
///
/// # Errors
/// What the backend reports.
pub(crate) fn read_listed(backend: &dyn Backend) -> Result<Vec<u8>, DeviceError> {
    read_listed_by(|offset| backend.read(Space::Configuration, offset, Width::Four))
}

/// As [`read_listed`], by reads of words.
///
/// # Errors
/// Those of the reads.
pub(crate) fn read_listed_by(
    read: impl Fn(u64) -> Result<u64, DeviceError>,
) -> Result<Vec<u8>, DeviceError> {
    let mut configuration = Vec::with_capacity(LISTED_BYTES as usize);
    for offset in (0..LISTED_BYTES).step_by(4) {
        let word = read(offset)?;
        configuration.extend_from_slice(&(word as u32).to_le_bytes());
    }
    Ok(configuration)
}

/// Decodes the list of capabilities in a configuration space, as much of it as there is: without
/// privileges the kernel shows its first 64 bytes. A list that runs in a circle ends.
pub fn pci_capabilities(configuration: &[u8]) -> Vec<PciCapability> {
    let space = Bytes(configuration);
    places(configuration).map_while(|at| space.decode(at)).collect()
}

/// Where the capability with an identifier begins.
pub(crate) fn find(configuration: &[u8], identifier: u8) -> Option<usize> {
    places(configuration).find(|at| configuration.get(*at) == Some(&identifier))
}

/// Where the capabilities begin, in the order of their list. One that runs in a circle ends.
fn places(configuration: &[u8]) -> impl Iterator<Item = usize> {
    // As many as find room in 256 bytes.
    const COUNT_MAX: usize = 48;
    let space = Bytes(configuration);
    let listed = space.half(STATUS).is_some_and(|status| status & STATUS_CAP_LIST != 0);
    let place = move |pointer| {
        let at = space.byte(pointer).map(|at| usize::from(at & !3));
        at.filter(|at| *at >= 0x40)
    };
    let first = if listed { place(CAPABILITY_LIST) } else { None };
    std::iter::successors(first, move |at| place(at + CAP_LIST_NEXT)).take(COUNT_MAX)
}

/// Bytes of a configuration space; those that are not there read as nothing.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.0.get(at).copied()
    }

    fn half(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.0.get(at..at + 2)?.try_into().ok()?))
    }

    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    fn decode(&self, at: usize) -> Option<PciCapability> {
        Some(match self.byte(at)? {
            CAP_ID_PM => PciCapability::PowerManagement,
            CAP_ID_MSI => PciCapability::Msi,
            CAP_ID_EXP => {
                let link = self.half(at + EXP_LNKSTA)?;
                PciCapability::Express {
                    resettable: self.word(at + EXP_DEVCAP)? & EXP_DEVCAP_FLR != 0,
                    link: ((link & EXP_LNKSTA_CLS) as u8, ((link & EXP_LNKSTA_NLW) >> 4) as u8),
                }
            }
            CAP_ID_MSIX => {
                let control = self.half(at + MSIX_FLAGS)?;
                let place = |word: u32| ((word & MSIX_TABLE_BIR) as u8, word & !MSIX_TABLE_BIR);
                PciCapability::MsiX {
                    vectors: (control & MSIX_FLAGS_QSIZE) + 1,
                    enabled: control & MSIX_FLAGS_ENABLE != 0,
                    table: place(self.word(at + MSIX_TABLE)?),
                    pending: place(self.word(at + MSIX_PBA)?),
                }
            }
            other => PciCapability::Other(other),
        })
    }
}
