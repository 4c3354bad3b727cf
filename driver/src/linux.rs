// SPDX-License-Identifier: MIT OR Apache-2.0
//! PCI functions of this machine: through sysfs with physical addresses, or through VFIO.

pub mod pci;
pub mod system;

mod bar;
mod physical;
mod polled;
mod sysfs;
mod untranslated;
mod vfio;

pub use sysfs::Sysfs;
pub use vfio::Vfio;

use std::io;
use std::path::{Path, PathBuf};

use crate::{OpenError, PciAddress, PciIdentity};

/// Where the kernel shows what it knows. Tests put a folder of their own in its place.
#[derive(Debug, Clone)]
pub struct Roots {
    /// `/sys`.
    pub sys: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
    /// `/proc`.
    pub proc: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Roots { sys: "/sys".into(), dev: "/dev".into(), proc: "/proc".into() }
    }
}

impl Roots {
    /// The folder of a function.
    pub fn function(&self, address: PciAddress) -> PathBuf {
        self.sys.join("bus/pci/devices").join(address.to_string())
    }
}

/// What sysfs says of a function, once it is known to be ours: before that it is not touched.
fn describe(roots: &Roots, name: &str, address: PciAddress) -> Result<pci::PciFunction, OpenError> {
    let function = pci::PciFunction::read(roots, address).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => OpenError::NoDevice {
            name: name.into(),
            reason: format!("the kernel shows no function {address}"),
            remedy: "`lockstep doctor` lists those of this machine; a card that was programmed \
                     after boot appears after: echo 1 > /sys/bus/pci/rescan"
                .into(),
        },
        _ => OpenError::System {
            name: name.into(),
            attempted: format!("look at {}", roots.function(address).display()),
            source: error,
        },
    })?;
    let expected = PciIdentity::expected()?;
    if function.identity != expected {
        return Err(OpenError::WrongIdentity {
            name: name.into(),
            what: "vendor:device:subsystem",
            found: function.identity.to_string(),
            expected: expected.to_string(),
        });
    }
    Ok(function)
}

/// A file that could not be opened: by whom it may be, for the kinds of errors that say so.
fn cannot_open(name: &str, path: &Path, remedy: &str, error: rustix::io::Errno) -> OpenError {
    let error = io::Error::from(error);
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            OpenError::PermissionDenied { path: path.into(), remedy: remedy.into() }
        }
        io::ErrorKind::ResourceBusy => OpenError::Busy {
            name: name.into(),
            reason: format!("another process has {} open", path.display()),
        },
        _ => OpenError::System {
            name: name.into(),
            attempted: format!("open {}", path.display()),
            source: error,
        },
    }
}
