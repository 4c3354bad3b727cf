// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opens the backend of a URI, with the possible errors.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use crate::linux::{Roots, Sysfs, Vfio};
use crate::vfio_user::VfioUser;
use crate::{Backend, DeviceError, DeviceUri, PciAddress, PciMode};

/// Opens the backend that a URI names.
///
/// # Errors
/// [`OpenError`], which says what to do next. A simulated device is
/// [`OpenError::NoSimulator`]: programs that carry a simulator ask it first.
pub fn open_backend(uri: &DeviceUri) -> Result<Arc<dyn Backend>, OpenError> {
    match uri {
        DeviceUri::Simulated { .. } => Err(OpenError::NoSimulator),
        DeviceUri::VfioUser(path) => Ok(Arc::new(VfioUser::open(path)?)),
        DeviceUri::Pci { .. } if cfg!(not(target_arch = "x86_64")) => Err(OpenError::Unsuitable {
            name: uri.to_string(),
            reason: "the order in which this processor's stores reach a device is not seen to \
                         (docs/driver.md, \"Other processors\")"
                .into(),
            remedy: "use a machine with an x86-64 processor".into(),
        }),
        DeviceUri::Pci { address, mode: PciMode::Sysfs } => {
            Ok(Arc::new(Sysfs::open(&Roots::default(), *address)?))
        }
        DeviceUri::Pci { address, mode: PciMode::Vfio } => {
            Ok(Arc::new(Vfio::open(&Roots::default(), *address)?))
        }
    }
}

/// Why a device cannot be opened, and what to do next.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// `sim:` in a program without a simulator.
    #[error(
        "this program carries no simulator; give vfio-user:/path/to/socket of a running \
         `lockstep serve`, or pci:0000:3b:00.0"
    )]
    NoSimulator,
    /// There is no such device.
    #[error("{name}: no such device: {reason}; {remedy}")]
    NoDevice {
        /// The URI.
        name: String,
        /// What was looked for and not found.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// The path is there and is something else.
    #[error(
        "{} is not a socket, expected the one that a server listens at; start one with \
         `lockstep serve`, and give its path", path.display()
    )]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// This user may not.
    #[error("{}: permission denied; {remedy}", path.display())]
    PermissionDenied {
        /// The file.
        path: PathBuf,
        /// Who may, and how.
        remedy: String,
    },
    /// Another process has the device.
    #[error("{name} is in use: {reason}; end the other program first")]
    Busy {
        /// The URI.
        name: String,
        /// Who, as far as is known.
        reason: String,
    },
    /// The environment names no identifiers.
    #[error("{}: {source}", crate::PCI_ID_VARIABLE)]
    Identity {
        /// What is wrong.
        #[from]
        source: crate::IdentityError,
    },
    /// It is some other device.
    #[error("{name}: {what} is {found}, expected {expected}: another device; check the address")]
    WrongIdentity {
        /// The URI.
        name: String,
        /// Where it was read.
        what: &'static str,
        /// What it is.
        found: String,
        /// What a Lockstep device has there.
        expected: String,
    },
    /// A Lockstep device whose register map this driver does not know.
    #[error(
        "{name}: the register map of the {block} has version {found_major}.{found_minor}, this \
         program knows {known_major}.x; {}",
        if found_major > known_major { "bring this program up to date" }
        else { "load a newer bitstream" }
    )]
    Version {
        /// The URI.
        name: String,
        /// Which block.
        block: &'static str,
        /// Major version of the device.
        found_major: u16,
        /// Minor version of the device.
        found_minor: u16,
        /// The major version that this driver knows.
        known_major: u16,
    },
    /// Everything reads all-ones.
    #[error(
        "{name} answers all-ones: its link is down, it is in reset, or its bitstream is not loaded; \
         load it, then rescan the bus"
    )]
    AllOnes {
        /// The URI.
        name: String,
    },
    /// The register map does not fit.
    #[error(
        "{name}: BAR{bar} has {bytes} bytes, expected at least {needed}: another bitstream, or the \
         firmware gave it no address; check `lockstep doctor`"
    )]
    BarTooSmall {
        /// The URI.
        name: String,
        /// Which.
        bar: u8,
        /// Its size.
        bytes: u64,
        /// What it must have.
        needed: u64,
    },
    /// VFIO needs an IOMMU group, and the function is in none.
    #[error(
        "{address} is in no IOMMU group: switch the IOMMU on in the firmware and boot with \
         intel_iommu=on or amd_iommu=on; where there is none, let VFIO do without: as root: modprobe \
         vfio; echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode; where the kernel \
         knows no such parameter, use ?mode=sysfs"
    )]
    NoIommuGroup {
        /// The function.
        address: PciAddress,
    },
    /// Physical addresses would be translated.
    #[error(
        "{address}: the IOMMU translates what this device accesses (its group {group} is of type \
         {kind}), so physical addresses mean nothing to it; use ?mode=vfio, or boot with iommu=pt"
    )]
    Translated {
        /// The function.
        address: PciAddress,
        /// Its IOMMU group.
        group: u32,
        /// The type of the group, as the kernel names it.
        kind: String,
    },
    /// The wrong kernel driver has the function, or none where one is needed.
    #[error("{address} is bound to {}, expected {expected}; {remedy}", bound_to(.found))]
    KernelDriver {
        /// The function.
        address: PciAddress,
        /// The driver.
        found: Option<String>,
        /// What it should be.
        expected: &'static str,
        /// How to bind it.
        remedy: String,
    },
    /// The device or its server does not do what is needed.
    #[error("{name}: {reason}; {remedy}")]
    Unsuitable {
        /// The URI.
        name: String,
        /// What is wrong.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// The operating system reported an error.
    #[error("{name}: cannot {attempted}: {source}")]
    System {
        /// The URI.
        name: String,
        /// What was asked of it.
        attempted: String,
        /// What it said.
        source: io::Error,
    },
    /// The device failed while it was looked at.
    #[error("{name}: {source}")]
    Device {
        /// The URI.
        name: String,
        /// How it failed.
        source: DeviceError,
    },
}

fn bound_to(driver: &Option<String>) -> String {
    driver.as_ref().map_or("no kernel driver".into(), |name| format!("the kernel driver {name}"))
}
