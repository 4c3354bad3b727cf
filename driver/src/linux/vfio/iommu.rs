// SPDX-License-Identifier: MIT OR Apache-2.0
//! The two ways to the IOMMU: groups in a container, and iommufd. And VFIO where there is none.

use std::fs;
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use vfio_bindings::bindings::vfio;

use super::{chain, ioctl};
use crate::linux::pci::PciFunction;
use crate::linux::{Roots, cannot_open};
use crate::{OpenError, PciAddress};

/// What device addresses can be mapped if the kernel does not say: what any IOMMU of 39 bits can,
/// without the low megabyte and where x86 has its message-signalled interrupts.
const USUAL_ADDRESSES: [RangeInclusive<u64>; 2] =
    [0x10_0000..=0xFEDF_FFFF, 0x1_0000_0000..=0x7F_FFFF_FFFF];

/// How the names of groups without an IOMMU begin in `/dev/vfio`.
const NO_IOMMU: &[u8] = b"noiommu-";

/// An open way to the IOMMU.
pub enum Iommu {
    /// A container with one group.
    Container {
        container: OwnedFd,
        /// Open as long as the device is in use.
        _group: OwnedFd,
    },
    /// An address space of an iommufd.
    Iommufd { iommufd: OwnedFd, address_space: u32 },
}

impl Iommu {
    /// Opens a function, by iommufd where kernel and device have it, else by its group. The device's
    /// descriptor comes along.
    pub fn open(
        roots: &Roots,
        name: &str,
        function: &PciFunction,
    ) -> Result<(Self, OwnedFd), OpenError> {
        let devices = roots.dev.join("vfio/devices");
        let node = device_node(&roots.function(function.address));
        match node.map(|node| devices.join(node)).filter(|path| path.exists()) {
            Some(device) if roots.dev.join("iommu").exists() => {
                Self::open_iommufd(roots, name, &device)
            }
            _ => Self::open_group(roots, name, function),
        }
    }

    fn open_iommufd(roots: &Roots, name: &str, path: &Path) -> Result<(Self, OwnedFd), OpenError> {
        let device = open(name, path)?;
        let iommufd = open(name, &roots.dev.join("iommu"))?;
        let failed = |attempted| move |source| system(name, attempted, source);
        ioctl::bind_iommufd(&device, &iommufd).map_err(|source| cannot_bind(name, source))?;
        let address_space = ioctl::allocate_address_space(&iommufd)
            .map_err(failed("make an address space of an iommufd"))?;
        ioctl::attach_address_space(&device, address_space)
            .map_err(failed("attach it to its address space"))?;
        Ok((Iommu::Iommufd { iommufd, address_space }, device))
    }

    fn open_group(
        roots: &Roots,
        name: &str,
        function: &PciFunction,
    ) -> Result<(Self, OwnedFd), OpenError> {
        let kind = (
            vfio::VFIO_TYPE1v2_IOMMU,
            "an IOMMU of type 1, version 2",
            "modprobe vfio_iommu_type1",
        );
        let (container, group, device) = open_in_container(roots, name, function, kind)?;
        Ok((Iommu::Container { container, _group: group }, device))
    }

    /// The device addresses that can be mapped.
    pub fn usable_addresses(&self) -> io::Result<Vec<RangeInclusive<u64>>> {
        let ranges = match self {
            Iommu::Container { container, .. } => {
                let words = ioctl::iommu_info(container)?;
                capability_ranges(&words)
            }
            Iommu::Iommufd { iommufd, address_space } => {
                Some(ioctl::usable_addresses(iommufd, *address_space)?)
            }
        };
        Ok(ranges.map_or_else(
            || USUAL_ADDRESSES.to_vec(),
            |ranges| ranges.into_iter().map(|(first, last)| first.max(0x1000)..=last).collect(),
        ))
    }

    /// Lets the device reach memory, which the kernel pins.
    pub fn map(&self, dma: ioctl::Dma) -> io::Result<()> {
        match self {
            Iommu::Container { container, .. } => ioctl::map_dma(container, dma),
            Iommu::Iommufd { iommufd, address_space } => {
                ioctl::map_address_space(iommufd, *address_space, dma)
            }
        }
    }

    /// Takes memory away again; gives the number of bytes.
    pub fn unmap(&self, address: u64, bytes: u64) -> io::Result<u64> {
        match self {
            Iommu::Container { container, .. } => ioctl::unmap_dma(container, address, bytes),
            Iommu::Iommufd { iommufd, address_space } => {
                ioctl::unmap_address_space(iommufd, *address_space, address, bytes)
            }
        }
    }
}

/// VFIO for a function behind no IOMMU, open. The kernel translates and pins nothing; but it signals
/// interrupts, and when the program ends, however it does, it stops the function.
pub struct NoIommu {
    _container: OwnedFd,
    _group: OwnedFd,
}

impl NoIommu {
    /// Opens a function by its group, which the kernel has made for vfio-pci alone. The device's
    /// descriptor comes along.
    pub fn open(
        roots: &Roots,
        name: &str,
        function: &PciFunction,
    ) -> Result<(Self, OwnedFd), OpenError> {
        let kind = (
            vfio::VFIO_NOIOMMU_IOMMU,
            "no-IOMMU mode",
            "echo 1 > /sys/module/vfio/parameters/enable_unsafe_noiommu_mode",
        );
        let (container, group, device) = open_in_container(roots, name, function, kind)?;
        Ok((NoIommu { _container: container, _group: group }, device))
    }
}

/// Opens a function by its group, in a container with a kind of IOMMU: its number, its name, and how
/// to get it. Gives the descriptors of container, group and device.
fn open_in_container(
    roots: &Roots,
    name: &str,
    function: &PciFunction,
    (kind, kind_name, remedy): (u32, &str, &str),
) -> Result<(OwnedFd, OwnedFd, OwnedFd), OpenError> {
    let address = function.address;
    let Some(group) = &function.group else {
        return Err(OpenError::NoIommuGroup { address });
    };
    let container = open(name, &roots.dev.join("vfio/vfio"))?;
    let file = open(name, &roots.dev.join("vfio").join(group.file_name()))?;
    let failed = |attempted| move |source| system(name, attempted, source);
    let version = ioctl::api_version(&container).map_err(failed("ask VFIO for its version"))?;
    let known = ioctl::knows_iommu(&container, kind).map_err(failed("ask VFIO for its IOMMU"))?;
    if version != 0 || !known {
        return Err(OpenError::Unsuitable {
            name: name.into(),
            reason: format!("VFIO has version {version} and does not offer {kind_name}"),
            remedy: format!("as root: {remedy}"),
        });
    }
    if !ioctl::is_viable(&file).map_err(failed("look at its IOMMU group"))? {
        return Err(not_viable(roots, name, group.number, address));
    }
    ioctl::set_container(&file, &container).map_err(failed("put its group in a container"))?;
    ioctl::set_iommu(&container, kind).map_err(failed("give the container its IOMMU"))?;
    let device = ioctl::device_of_group(&file, &address.to_string())
        .map_err(failed("open it through its group"))?;
    Ok((container, file, device))
}

/// The ranges in what the kernel says of a container's IOMMU, if it does.
fn capability_ranges(words: &[u64]) -> Option<Vec<(u64, u64)>> {
    // Where struct vfio_iommu_type1_info has cap_offset: the low half of its third word.
    let first = words.get(2)?.to_ne_bytes();
    let first = u32::from_ne_bytes([first[0], first[1], first[2], first[3]]);
    chain::pairs(words, first, vfio::VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE)
}

/// The name of the device's own file below `/dev/vfio/devices`, where the kernel has such.
fn device_node(function: &Path) -> Option<String> {
    let mut entries = fs::read_dir(function.join("vfio-dev")).ok()?;
    entries.find_map(|entry| entry.ok()?.file_name().into_string().ok())
}

fn open(name: &str, path: &Path) -> Result<OwnedFd, OpenError> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| not_opened(name, path, errno))
}

fn not_opened(name: &str, path: &Path, errno: rustix::io::Errno) -> OpenError {
    let no_iommu =
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(NO_IOMMU));
    let remedy = match no_iommu {
        true => {
            "run as root: without an IOMMU a program reaches all memory through its device".into()
        }
        false => format!(
            "as root: chown $USER {} (or run as root); a udev rule makes it last",
            path.display()
        ),
    };
    match errno {
        rustix::io::Errno::NOENT | rustix::io::Errno::NODEV => OpenError::Unsuitable {
            name: name.into(),
            reason: format!("{} is not there", path.display()),
            remedy: "as root: modprobe vfio-pci, then bind the function to it".into(),
        },
        _ => cannot_open(name, path, &remedy, errno),
    }
}

/// Of a device that another process has bound, the kernel says that the argument is invalid.
fn cannot_bind(name: &str, source: io::Error) -> OpenError {
    let taken = source.kind() == io::ErrorKind::InvalidInput;
    let source = if taken { io::ErrorKind::ResourceBusy.into() } else { source };
    system(name, "bind it to an iommufd", source)
}

fn system(name: &str, attempted: &str, source: io::Error) -> OpenError {
    match source.kind() {
        io::ErrorKind::ResourceBusy => OpenError::Busy {
            name: name.into(),
            reason: format!("cannot {attempted}: another process has it"),
        },
        _ => OpenError::System { name: name.into(), attempted: attempted.into(), source },
    }
}

/// Names the functions of the group that a kernel driver still has.
fn not_viable(roots: &Roots, name: &str, group: u32, address: PciAddress) -> OpenError {
    let folder = roots.sys.join(format!("kernel/iommu_groups/{group}/devices"));
    let mut others: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|other| *other != address.to_string())
        .collect();
    others.sort();
    OpenError::Unsuitable {
        name: name.into(),
        reason: format!(
            "its IOMMU group {group} also holds {}, of which a kernel driver has some",
            others.join(", ")
        ),
        remedy: "unbind them, or bind them to vfio-pci as well".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_where_the_kernel_puts_them() {
        // As Linux 6.1 says it: cap_offset 24, then capability 1 with two ranges.
        let words = [
            72 | 3 << 32,
            0x4020_1000,
            24,
            1 | 1 << 16,
            2,
            0,
            0xFEDF_FFFF,
            0xFEF0_0000,
            0x7F_FFFF_FFFF,
        ];
        assert_eq!(
            capability_ranges(&words),
            Some(vec![(0, 0xFEDF_FFFF), (0xFEF0_0000, 0x7F_FFFF_FFFF)])
        );
        assert_eq!(capability_ranges(&[32, 0, 0, 0]), None);
        assert_eq!(capability_ranges(&[]), None);
    }

    #[test]
    fn who_may_not_open_a_group_is_told_how_to_get_it() {
        for errno in [rustix::io::Errno::ACCESS, rustix::io::Errno::PERM] {
            let path = Path::new("/dev/vfio/12");
            let error = not_opened("pci:0000:3b:00.0?mode=vfio", path, errno);
            assert!(matches!(&error, OpenError::PermissionDenied { path: at, .. } if at == path));
            assert_eq!(
                error.to_string(),
                "/dev/vfio/12: permission denied; as root: chown $USER /dev/vfio/12 (or run as \
                 root); a udev rule makes it last"
            );
        }
    }
}
