// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device that a URI names.

use driver::{Device, DeviceUri, OpenError};

use crate::error::CommandError;
use crate::output::Output;

/// The valid arguments, for the help of commands.
pub const URIS: &str = "\
A device is named by a URI:
  sim:                            the simulated device, in this process; sim:?card=64M,
                                  sim:?storage=/path/to/store&elements=rtl
  vfio-user:/path/to/socket       a device that `lockstep serve` has at this socket
  pci:0000:3b:00.0?mode=vfio      a PCI function, through VFIO and the IOMMU
  pci:0000:3b:00.0?mode=sysfs     a PCI function, with physical addresses; for root, without IOMMU";

/// Reads a URI.
///
/// # Errors
/// Names the part that is wrong, and what was expected.
pub fn parse(text: &str) -> Result<DeviceUri, String> {
    text.parse().map_err(|error: driver::DeviceUriError| error.to_string())
}

/// Opens the device, and sees that it is one of ours.
///
/// # Errors
/// Says what is in the way and what to do about it.
pub fn open(uri: &DeviceUri) -> Result<Device, OpenError> {
    Device::new(device::open_backend(uri)?)
}

/// As [`open`], for commands in which the device takes locks; says why that may fail, if there is
/// reason to think so.
///
/// # Errors
/// As [`open`].
pub fn open_for_locks(uri: &DeviceUri, out: &Output) -> Result<Device, OpenError> {
    let device = open(uri)?;
    if let Some(doubt) = device.atomics().doubt() {
        out.note(format_args!("note: {uri}: {doubt}"));
    }
    Ok(device)
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        Self::Input(error.to_string())
    }
}
