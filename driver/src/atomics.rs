// SPDX-License-Identifier: MIT OR Apache-2.0
//! Atomic operations of the device on host memory: AtomicOps of PCI Express.
//!
//! The lock unit compares and swaps words of 64 bits. Over PCI Express it may do so only once software
//! has set the function's AtomicOp Requester Enable; and it works only if each switch port on the
//! path routes AtomicOps, none blocks them, and the root port completes them. Only a driver checks
//! this. Source: PCI Express Base Specification 4.0, sections 6.15, 7.5.3.15 (Device Capabilities
//! 2) and 7.5.3.16 (Device Control 2).

use std::fmt;

use crate::pci_capabilities::find;
use crate::pci_regs::{
    CAP_ID_EXP, EXP_DEVCAP2, EXP_DEVCAP2_ATOMIC_COMP64, EXP_DEVCAP2_ATOMIC_ROUTE, EXP_DEVCTL2,
    EXP_DEVCTL2_ATOMIC_EGRESS_BLOCK, EXP_DEVCTL2_ATOMIC_REQ, EXP_FLAGS, EXP_FLAGS_TYPE,
    EXP_FLAGS_VERS, EXP_TYPE_DOWNSTREAM, EXP_TYPE_ROOT_PORT, EXP_TYPE_UPSTREAM,
};
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
        let Some(at) = find(configuration, CAP_ID_EXP) else { return Port::Other };
        let half = |offset| {
            let bytes = configuration.get(at + offset..at + offset + 2);
            bytes.map_or(0, |bytes| u16::from_le_bytes([bytes[0], bytes[1]]))
        };
        let flags = half(EXP_FLAGS);
        // Version 1 of the capability ends before Device Capabilities 2.
        let (capabilities, control) = match flags & EXP_FLAGS_VERS {
            0 | 1 => (0, 0),
            _ => (u32::from(half(EXP_DEVCAP2)), half(EXP_DEVCTL2)),
        };
        match (flags & EXP_FLAGS_TYPE) >> 4 {
            EXP_TYPE_ROOT_PORT => {
                Port::Root { completes: capabilities & EXP_DEVCAP2_ATOMIC_COMP64 != 0 }
            }
            // What a switch lets out upwards leaves by its upstream port.
            kind @ (EXP_TYPE_UPSTREAM | EXP_TYPE_DOWNSTREAM) => Port::Switch {
                routes: capabilities & EXP_DEVCAP2_ATOMIC_ROUTE != 0,
                blocks: kind == EXP_TYPE_UPSTREAM && control & EXP_DEVCTL2_ATOMIC_EGRESS_BLOCK != 0,
            },
            _ => Port::Other,
        }
    }
}

/// Lets a function request AtomicOps. False when it says that it never does.
///
/// # Errors
/// What the backend reports.
pub(crate) fn enable(backend: &dyn Backend) -> Result<bool, DeviceError> {
    let listed = crate::pci_capabilities::read_listed(backend)?;
    let Some(at) = find(&listed, CAP_ID_EXP) else { return Ok(false) };
    if listed.get(at + EXP_FLAGS).is_none_or(|flags| u16::from(*flags) & EXP_FLAGS_VERS < 2) {
        return Ok(false);
    }
    let offset = (at + EXP_DEVCTL2) as u64;
    let read = || backend.read(Space::Configuration, offset, Width::Two);
    let is_on = |control: u64| control & u64::from(EXP_DEVCTL2_ATOMIC_REQ) != 0;
    let control = read()?;
    if is_on(control) {
        return Ok(true);
    }
    let enabled = control | u64::from(EXP_DEVCTL2_ATOMIC_REQ);
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
