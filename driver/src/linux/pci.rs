// SPDX-License-Identifier: MIT OR Apache-2.0
//! The PCI functions of this machine, as the kernel shows them in sysfs.

mod listing;
mod route;
#[cfg(test)]
pub(super) mod tests;

use std::fs;
use std::io;
use std::path::Path;

pub use listing::listing;
pub use route::atomic_route;

use super::Roots;
use crate::{PciAddress, PciIdentity};

/// What sysfs says of one function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PciFunction {
    /// Where it is.
    pub address: PciAddress,
    /// Who it says it is.
    pub identity: PciIdentity,
    /// Class code: 24 bits of class, subclass, interface.
    pub class: u32,
    /// Revision.
    pub revision: u8,
    /// Bytes behind each BAR.
    pub bar_bytes: [u64; 6],
    /// Whether firmware or kernel gave each BAR an address.
    pub bar_placed: [bool; 6],
    /// The kernel driver that has it.
    pub driver: Option<String>,
    /// Its IOMMU group.
    pub group: Option<IommuGroup>,
}

/// An IOMMU group: the functions that the IOMMU cannot tell apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IommuGroup {
    /// Its number.
    pub number: u32,
    /// How the kernel has the IOMMU translate what no driver of user space has: `identity`, `DMA`,
    /// `DMA-FQ`, or unknown on old kernels.
    pub kind: Option<String>,
    /// VFIO has made it for a function behind no IOMMU, so that addresses are physical.
    pub without_iommu: bool,
}

impl IommuGroup {
    /// The name of its file in `/dev/vfio`.
    pub fn file_name(&self) -> String {
        let prefix = if self.without_iommu { "noiommu-" } else { "" };
        format!("{prefix}{}", self.number)
    }
}

impl PciFunction {
    /// Reads what sysfs says of the function at an address.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] when there is no such function; others when sysfs is not as
    /// expected, naming the file.
    pub fn read(roots: &Roots, address: PciAddress) -> io::Result<Self> {
        let folder = roots.function(address);
        fs::metadata(&folder)?;
        let (bar_bytes, bar_placed) = read_resources(&folder.join("resource"))?;
        Ok(PciFunction {
            address,
            identity: PciIdentity {
                vendor: read_hexadecimal(&folder.join("vendor"))? as u16,
                device: read_hexadecimal(&folder.join("device"))? as u16,
                subsystem_vendor: read_hexadecimal(&folder.join("subsystem_vendor"))? as u16,
                subsystem: read_hexadecimal(&folder.join("subsystem_device"))? as u16,
            },
            class: read_hexadecimal(&folder.join("class"))? as u32,
            revision: read_hexadecimal(&folder.join("revision")).unwrap_or(0) as u8,
            bar_bytes,
            bar_placed,
            driver: link_name(&folder.join("driver")),
            group: read_group(&folder.join("iommu_group")),
        })
    }

    /// Whether VFIO has it, without an IOMMU.
    pub fn is_without_iommu(&self) -> bool {
        self.group.as_ref().is_some_and(|group| group.without_iommu)
    }

    /// Whether it is a Lockstep device.
    pub fn is_ours(&self) -> bool {
        PciIdentity::expected() == Ok(self.identity)
    }
}

/// All functions, by address.
///
/// # Errors
/// When sysfs cannot be read; a machine without a PCI bus has none.
pub fn scan(roots: &Roots) -> io::Result<Vec<PciFunction>> {
    let folder = match fs::read_dir(roots.sys.join("bus/pci/devices")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        folder => folder?,
    };
    let mut functions = Vec::new();
    for entry in folder {
        let name = entry?.file_name();
        let Some(address) = name.to_str().and_then(|name| name.parse().ok()) else { continue };
        match PciFunction::read(roots, address) {
            Ok(function) => functions.push(function),
            // It was unplugged meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    functions.sort_by_key(|function| function.address);
    Ok(functions)
}

/// The name that a symbolic link leads to.
fn link_name(path: &Path) -> Option<String> {
    Some(fs::read_link(path).ok()?.file_name()?.to_str()?.to_string())
}

fn read_group(link: &Path) -> Option<IommuGroup> {
    let number = link_name(link)?.parse().ok()?;
    let read = |name| fs::read_to_string(link.join(name)).ok().map(|text| text.trim().to_string());
    let without_iommu = read("name").as_deref() == Some("vfio-noiommu");
    Some(IommuGroup { number, kind: read("type"), without_iommu })
}

/// Reads a file that holds one hexadecimal number, as `0x10ee`.
fn read_hexadecimal(path: &Path) -> io::Result<u64> {
    let text = fs::read_to_string(path)?;
    parse_hexadecimal(text.trim()).ok_or_else(|| malformed(path, text.trim(), "0x and digits"))
}

fn parse_hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// Reads the file `resource`: a line of first byte, last byte and flags for each BAR.
fn read_resources(path: &Path) -> io::Result<([u64; 6], [bool; 6])> {
    let text = fs::read_to_string(path)?;
    let (mut bytes, mut placed) = ([0; 6], [false; 6]);
    for (bar, line) in text.lines().take(6).enumerate() {
        let fields: Vec<_> = line.split(' ').map(parse_hexadecimal).collect();
        let [Some(first), Some(last), Some(flags)] = fields[..] else {
            return Err(malformed(path, line, "three numbers, as 0x0 0xFFF 0x200"));
        };
        // The size stays when no address was found: then it begins at 0, or is marked as unset.
        const UNSET: u64 = 0x2000_0000;
        if last > first || flags != 0 {
            bytes[bar] = last.wrapping_sub(first).wrapping_add(1);
            placed[bar] = first != 0 && flags & UNSET == 0;
        }
    }
    Ok((bytes, placed))
}

fn malformed(path: &Path, found: &str, expected: &str) -> io::Error {
    let text = format!("{} holds {found:?}, expected {expected}", path.display());
    io::Error::new(io::ErrorKind::InvalidData, text)
}
