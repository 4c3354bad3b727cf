//! Atomic operations of the device on host memory: AtomicOps of PCI Express.
//!
//! The lock unit compares and swaps words of 64 bits. Over PCI Express it may do so only once software
//! has set the function's AtomicOp Requester Enable; and it works only if each switch port on the
//! path routes AtomicOps, none blocks them, and the root port completes them. Only a driver checks
//! this. Source: PCI Express Base Specification 4.0, sections 6.15, 7.5.3.15 (Device Capabilities
//! 2) and 7.5.3.16 (Device Control 2).

use std::fmt;

use crate::pci_capabilities::{EXPRESS, find};
use crate::{Backend, DeviceError, PciAddress, Space, Width};

/// What is known of the way that AtomicOps take from a function to host memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AtomicRoute {
    /// No PCI Express is in between: whoever plays the device compares and swaps by the atomic
    /// operations of the host's own processors.
    Direct,
    /// Every port routes them, and the root port completes those of 64 bits.
    Complete {
        /// The root port.
        root_port: PciAddress,
    },
    /// A port says of itself that it does not.
    Broken {
        /// Which, and what it says.
        reason: String,
    },
    /// It could not be found out.
    Unknown {
        /// Why.
        reason: String,
    },
}

impl fmt::Display for AtomicRoute {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AtomicRoute::Direct => formatter.write_str("the host's own atomic operations"),
            AtomicRoute::Complete { root_port } => {
                write!(formatter, "routed to root port {root_port}, which completes them")
            }
            AtomicRoute::Broken { reason } => formatter.write_str(reason),
            AtomicRoute::Unknown { reason } => write!(formatter, "not known: {reason}"),
        }
    }
}

/// Bit of Device Capabilities 2: the port routes AtomicOps.
const ROUTING: u32 = 1 << 6;
/// Bit of Device Capabilities 2: it completes AtomicOps of 64 bits, which are those of the lock unit.
const COMPLETER_64: u32 = 1 << 8;
/// Bit of Device Control 2: the function may request AtomicOps.
const REQUESTER_ENABLE: u16 = 1 << 6;
/// Bit of Device Control 2: the port lets no AtomicOp out.
const EGRESS_BLOCKING: u16 = 1 << 7;

/// Offsets in the capability.
const FLAGS: usize = 2;
const CAPABILITIES_2: usize = 0x24;
const CONTROL_2: usize = 0x28;

/// What a port on the way says of AtomicOps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Port {
    /// The end of the way.
    Root { completes: bool },
    /// A port of a switch.
    Switch { routes: bool, blocks: bool },
    /// Something else, such as a bridge to conventional PCI, which knows no AtomicOps.
    Other,
}

impl Port {
    /// What stands in a port's configuration space, which must be there in full.
    pub fn decode(configuration: &[u8]) -> Port {
        const ROOT: u16 = 4;
        const UPSTREAM: u16 = 5;
        const DOWNSTREAM: u16 = 6;
        let Some(at) = find(configuration, EXPRESS) else { return Port::Other };
        let half = |offset| {
            let bytes = configuration.get(at + offset..at + offset + 2);
            bytes.map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let flags = half(FLAGS);
        // Version 1 of the capability ends before Device Capabilities 2.
        let (capabilities, control) = match flags & 0xF {
            0 | 1 => (0, 0),
            _ => (u32::from(half(CAPABILITIES_2)), half(CONTROL_2)),
        };
        match flags >> 4 & 0xF {
            ROOT => Port::Root { completes: capabilities & COMPLETER_64 != 0 },
            // What a switch lets out upwards leaves by its upstream port.
            kind @ (UPSTREAM | DOWNSTREAM) => Port::Switch {
                routes: capabilities & ROUTING != 0,
                blocks: kind == UPSTREAM && control & EGRESS_BLOCKING != 0,
            },
            _ => Port::Other,
        }
    }
}

/// Lets a function request AtomicOps. False when it says that it never does.
///
/// # Errors
/// What the door reports.
pub(crate) fn enable(backend: &dyn Backend) -> Result<bool, DeviceError> {
    let listed = crate::pci_capabilities::read_listed(backend)?;
    let Some(at) = find(&listed, EXPRESS) else { return Ok(false) };
    if listed.get(at + FLAGS).is_none_or(|flags| flags & 0xF < 2) {
        return Ok(false);
    }
    let offset = (at + CONTROL_2) as u64;
    let read = || backend.read(Space::Configuration, offset, Width::Two);
    let is_on = |control: u64| control & u64::from(REQUESTER_ENABLE) != 0;
    let control = read()?;
    if is_on(control) {
        return Ok(true);
    }
    let enabled = control | u64::from(REQUESTER_ENABLE);
    backend.write(Space::Configuration, offset, Width::Two, enabled)?;
    // Wired to 0 where the function has no requester of AtomicOps.
    Ok(is_on(read()?))
}

/// What a device can do of AtomicOps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Atomics {
    /// The function may request them: it can, and software lets it.
    pub requester: bool,
    /// The way to host memory.
    pub route: AtomicRoute,
}

impl Atomics {
    /// Why requests for locks may end as bus errors, if there is reason to think so. Copies and jobs
    /// that take no locks work all the same.
    pub fn doubt(&self) -> Option<String> {
        const CONSEQUENCE: &str = "where AtomicOps do not reach host memory, the device's requests for \
                                   locks end as bus errors; all else works";
        let reason = match (&self.route, self.requester) {
            (AtomicRoute::Direct | AtomicRoute::Complete { .. }, true) => return None,
            (_, false) => {
                "the function requests no AtomicOps (AtomicOp Requester Enable, bit 6 of \
                           its Device Control 2, stays 0)"
                    .to_string()
            }
            (AtomicRoute::Broken { reason }, true) => reason.clone(),
            (AtomicRoute::Unknown { reason }, true) => {
                format!("whether AtomicOps reach host memory is not known: {reason}")
            }
        };
        Some(format!("{reason}; {CONSEQUENCE}"))
    }
}

#[cfg(test)]
pub(crate) mod tests;
