// SPDX-License-Identifier: MIT OR Apache-2.0
//! All ioctls of VFIO and iommufd that are used here.
//!
//! Structures and numbers are those of the kernel's headers, by the crates `vfio-bindings` and
//! `iommufd-bindings`, which bindgen made from them. Each function below gives the kernel either no
//! pointer, or one to a structure that lives on this side for the whole call and says its own size in
//! `argsz` or `size`, past which the kernel does not go.

use std::ffi::{CString, c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use iommufd_bindings as iommufd;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl, opcode};
use vfio_bindings::bindings::vfio;

/// The numbers are in macros of the kernel's `linux/vfio.h`, which bindgen cannot see.
const fn vfio_request(number: u8) -> Opcode {
    opcode::none(vfio::VFIO_TYPE, vfio::VFIO_BASE as u8 + number)
}

const GET_API_VERSION: Opcode = vfio_request(0);
const CHECK_EXTENSION: Opcode = vfio_request(1);
const SET_IOMMU: Opcode = vfio_request(2);
const GROUP_GET_STATUS: Opcode = vfio_request(3);
const GROUP_SET_CONTAINER: Opcode = vfio_request(4);
const GROUP_GET_DEVICE_FD: Opcode = vfio_request(6);
const DEVICE_GET_REGION_INFO: Opcode = vfio_request(8);
const DEVICE_GET_IRQ_INFO: Opcode = vfio_request(9);
const DEVICE_SET_IRQS: Opcode = vfio_request(10);
const DEVICE_RESET: Opcode = vfio_request(11);
const IOMMU_GET_INFO: Opcode = vfio_request(12);
const IOMMU_MAP_DMA: Opcode = vfio_request(13);
const IOMMU_UNMAP_DMA: Opcode = vfio_request(14);
const DEVICE_BIND_IOMMUFD: Opcode = vfio_request(18);
const DEVICE_ATTACH_IOMMUFD_PT: Opcode = vfio_request(19);

/// Words of 64 bits are filled in below as if the first of two halves were the low one.
const _: () = assert!(cfg!(target_endian = "little"));

/// A request with its argument as the kernel takes it, a number or a pointer; gives what it returns.
struct Request {
    opcode: Opcode,
    argument: *mut c_void,
}

// SAFETY: the opcode and the argument go to the kernel as they are, and the kernel may write to what
// the argument points to, as IS_MUTATING says; nothing is read through it here.
unsafe impl Ioctl for Request {
    type Output = c_int;

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        self.opcode
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.argument
    }

    unsafe fn output_from_ptr(returned: IoctlOutput, _: *mut c_void) -> rustix::io::Result<c_int> {
        Ok(returned)
    }
}

/// A request with a plain number.
fn with_number(file: BorrowedFd<'_>, opcode: Opcode, number: u32) -> io::Result<c_int> {
    let argument = std::ptr::without_provenance_mut(number as usize);
    // SAFETY: the requests given here take a number, so the kernel touches no memory of ours.
    Ok(unsafe { ioctl(file, Request { opcode, argument })? })
}

/// A request with a structure, of which `T` is the whole or the beginning.
///
/// # Safety
/// `argument` must point to memory that is initialized, that nothing else refers to, and that is as
/// large as its field `argsz` or `size` says, or as the request takes if there is no such field; and
/// `opcode` must be of a request that takes such a structure.
unsafe fn with_structure<T>(
    file: BorrowedFd<'_>,
    opcode: Opcode,
    argument: *mut T,
) -> io::Result<c_int> {
    // SAFETY: the caller's promise; the kernel reads and writes within the size that the structure
    // states.
    Ok(unsafe { ioctl(file, Request { opcode, argument: argument.cast() })? })
}

/// Bytes of a structure, as they are written into it.
const fn size<T>() -> u32 {
    size_of::<T>() as u32
}

/// The version of the interface; 0 is the only one there is.
pub fn api_version(container: impl AsFd) -> io::Result<c_int> {
    with_number(container.as_fd(), GET_API_VERSION, 0)
}

/// Whether a kind of IOMMU is known.
pub fn knows_iommu(container: impl AsFd, kind: u32) -> io::Result<bool> {
    with_number(container.as_fd(), CHECK_EXTENSION, kind).map(|known| known != 0)
}

/// Chooses the kind of IOMMU; a group must be in the container.
pub fn set_iommu(container: impl AsFd, kind: u32) -> io::Result<()> {
    with_number(container.as_fd(), SET_IOMMU, kind).map(drop)
}

/// Whether all functions of a group are free for user space.
pub fn is_viable(group: impl AsFd) -> io::Result<bool> {
    let mut status = vfio::vfio_group_status { argsz: size::<vfio::vfio_group_status>(), flags: 0 };
    // SAFETY: a structure of its own, with its own size in argsz.
    unsafe { with_structure(group.as_fd(), GROUP_GET_STATUS, &raw mut status)? };
    Ok(status.flags & vfio::VFIO_GROUP_FLAGS_VIABLE != 0)
}

/// Puts a group into a container.
pub fn set_container(group: impl AsFd, container: impl AsFd) -> io::Result<()> {
    let mut container: RawFd = container.as_fd().as_raw_fd();
    // SAFETY: the kernel reads one int, which lives for the whole call.
    unsafe { with_structure(group.as_fd(), GROUP_SET_CONTAINER, &raw mut container) }.map(drop)
}

/// Opens a device of a group, by its address.
pub fn device_of_group(group: impl AsFd, address: &str) -> io::Result<OwnedFd> {
    let name = CString::new(address)?;
    // SAFETY: the kernel reads a string that ends with 0 and lives for the whole call.
    let file =
        unsafe { with_structure(group.as_fd(), GROUP_GET_DEVICE_FD, name.as_ptr().cast_mut())? };
    // SAFETY: the kernel has made this descriptor for us; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

/// Describes a region: the structure, and it again with what follows it, as words.
pub fn region_info(
    device: impl AsFd,
    index: u32,
) -> io::Result<(vfio::vfio_region_info, Vec<u64>)> {
    let mut info = vfio::vfio_region_info {
        argsz: size::<vfio::vfio_region_info>(),
        index,
        ..Default::default()
    };
    // SAFETY: a structure of its own, with its own size in argsz.
    unsafe { with_structure(device.as_fd(), DEVICE_GET_REGION_INFO, &raw mut info)? };
    let mut words = words_for(info.argsz);
    words[0] = u64::from(8 * words.len() as u32);
    words[1] = index.into();
    // SAFETY: the words are as many bytes as argsz, the low half of the first, says; index is the low
    // half of the second; they are aligned as the structure is, and nothing else refers to them.
    unsafe { with_structure(device.as_fd(), DEVICE_GET_REGION_INFO, words.as_mut_ptr())? };
    Ok((info, words))
}

/// Zeroed room for a structure with what follows it; bounded, whatever the kernel says.
fn words_for(bytes: u32) -> Vec<u64> {
    const BYTES_MAX: u32 = 1 << 16;
    const BYTES_MIN: u32 = 64;
    vec![0; bytes.clamp(BYTES_MIN, BYTES_MAX).div_ceil(8) as usize]
}

/// Describes a kind of interrupts.
pub fn irq_info(device: impl AsFd, index: u32) -> io::Result<vfio::vfio_irq_info> {
    let mut info =
        vfio::vfio_irq_info { argsz: size::<vfio::vfio_irq_info>(), index, ..Default::default() };
    // SAFETY: a structure of its own, with its own size in argsz.
    unsafe { with_structure(device.as_fd(), DEVICE_GET_IRQ_INFO, &raw mut info)? };
    Ok(info)
}

/// Connects event descriptors to interrupts from `start` on, or none.
pub fn set_irqs(
    device: impl AsFd,
    index: u32,
    start: u32,
    events: &[Option<BorrowedFd<'_>>],
) -> io::Result<()> {
    let flags = vfio::VFIO_IRQ_SET_DATA_EVENTFD | vfio::VFIO_IRQ_SET_ACTION_TRIGGER;
    let count = events.len() as u32;
    // As struct vfio_irq_set: five words, then the descriptors, -1 for none.
    let mut words = vec![4 * (5 + count), flags, index, start, count];
    words.extend(events.iter().map(|event| event.map_or(-1, |event| event.as_raw_fd()) as u32));
    // SAFETY: the words are as many bytes as argsz, the first, says, and aligned to 4 as the structure
    // is; the descriptors are borrowed for the whole call.
    unsafe { with_structure(device.as_fd(), DEVICE_SET_IRQS, words.as_mut_ptr()) }.map(drop)
}

/// Resets a device.
pub fn reset(device: impl AsFd) -> io::Result<()> {
    with_number(device.as_fd(), DEVICE_RESET, 0).map(drop)
}

/// Describes the IOMMU of a container: the structure with what follows it, as words.
pub fn iommu_info(container: impl AsFd) -> io::Result<Vec<u64>> {
    let mut info = vfio::vfio_iommu_type1_info {
        argsz: size::<vfio::vfio_iommu_type1_info>(),
        ..Default::default()
    };
    // SAFETY: a structure of its own, with its own size in argsz.
    unsafe { with_structure(container.as_fd(), IOMMU_GET_INFO, &raw mut info)? };
    let mut words = words_for(info.argsz);
    words[0] = u64::from(8 * words.len() as u32);
    // SAFETY: the words are as many bytes as argsz, the low half of the first, says, aligned as the
    // structure is, and nothing else refers to them.
    unsafe { with_structure(container.as_fd(), IOMMU_GET_INFO, words.as_mut_ptr())? };
    Ok(words)
}

/// Memory of this process that a device shall reach.
#[derive(Debug, Clone, Copy)]
pub struct Dma {
    /// The address in this process.
    pub memory: u64,
    /// The address of the device.
    pub address: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Lets the devices of a container reach memory, which the kernel pins.
pub fn map_dma(container: impl AsFd, dma: Dma) -> io::Result<()> {
    let mut map = vfio::vfio_iommu_type1_dma_map {
        argsz: size::<vfio::vfio_iommu_type1_dma_map>(),
        flags: vfio::VFIO_DMA_MAP_FLAG_READ | vfio::VFIO_DMA_MAP_FLAG_WRITE,
        vaddr: dma.memory,
        iova: dma.address,
        size: dma.bytes,
    };
    // SAFETY: a structure of its own, with its own size in argsz. The kernel pins the pages that it
    // names, so that they outlive this process's mapping; a wrong address is an error.
    unsafe { with_structure(container.as_fd(), IOMMU_MAP_DMA, &raw mut map) }.map(drop)
}

/// Takes memory away again; gives the number of bytes.
pub fn unmap_dma(container: impl AsFd, address: u64, bytes: u64) -> io::Result<u64> {
    let mut unmap = vfio::vfio_iommu_type1_dma_unmap {
        argsz: size::<vfio::vfio_iommu_type1_dma_unmap>(),
        iova: address,
        size: bytes,
        ..Default::default()
    };
    // SAFETY: a structure of its own, with its own size in argsz.
    unsafe { with_structure(container.as_fd(), IOMMU_UNMAP_DMA, &raw mut unmap)? };
    Ok(unmap.size)
}

/// Binds a device to an iommufd.
pub fn bind_iommufd(device: impl AsFd, iommufd: impl AsFd) -> io::Result<()> {
    let mut bind = vfio::vfio_device_bind_iommufd {
        argsz: size::<vfio::vfio_device_bind_iommufd>(),
        iommufd: iommufd.as_fd().as_raw_fd(),
        ..Default::default()
    };
    // SAFETY: a structure of its own, with its own size in argsz.
    unsafe { with_structure(device.as_fd(), DEVICE_BIND_IOMMUFD, &raw mut bind) }.map(drop)
}

/// Gives a bound device the addresses of an address space of the iommufd.
pub fn attach_address_space(device: impl AsFd, address_space: u32) -> io::Result<()> {
    let mut attach = vfio::vfio_device_attach_iommufd_pt {
        argsz: size::<vfio::vfio_device_attach_iommufd_pt>(),
        pt_id: address_space,
        ..Default::default()
    };
    // SAFETY: a structure of its own, with its own size in argsz.
    unsafe { with_structure(device.as_fd(), DEVICE_ATTACH_IOMMUFD_PT, &raw mut attach) }.map(drop)
}

/// The number of a request of iommufd.
const fn iommufd_request(number: u32) -> Opcode {
    opcode::none(iommufd::IOMMUFD_TYPE, number as u8)
}

/// Makes an address space in an iommufd; gives its identifier.
pub fn allocate_address_space(iommufd: impl AsFd) -> io::Result<u32> {
    let mut allocate = iommufd::iommu_ioas_alloc {
        size: size::<iommufd::iommu_ioas_alloc>(),
        ..Default::default()
    };
    let request = iommufd_request(iommufd::IOMMUFD_CMD_IOAS_ALLOC);
    // SAFETY: a structure of its own, with its own size.
    unsafe { with_structure(iommufd.as_fd(), request, &raw mut allocate)? };
    Ok(allocate.out_ioas_id)
}

/// The device addresses that an address space can map: first and last bytes.
pub fn usable_addresses(iommufd: impl AsFd, address_space: u32) -> io::Result<Vec<(u64, u64)>> {
    const RANGES_MAX: usize = 64;
    let mut ranges = [iommufd::iommu_iova_range::default(); RANGES_MAX];
    let mut query = iommufd::iommu_ioas_iova_ranges {
        size: size::<iommufd::iommu_ioas_iova_ranges>(),
        ioas_id: address_space,
        num_iovas: RANGES_MAX as u32,
        allowed_iovas: ranges.as_mut_ptr() as u64,
        ..Default::default()
    };
    let request = iommufd_request(iommufd::IOMMUFD_CMD_IOAS_IOVA_RANGES);
    // SAFETY: a structure of its own, with its own size; it points to an array of as many ranges as
    // it says, which lives for the whole call.
    unsafe { with_structure(iommufd.as_fd(), request, &raw mut query)? };
    let count = (query.num_iovas as usize).min(RANGES_MAX);
    Ok(ranges[..count].iter().map(|range| (range.start, range.last)).collect())
}

/// Lets the devices of an address space reach memory, which the kernel pins.
pub fn map_address_space(iommufd: impl AsFd, address_space: u32, dma: Dma) -> io::Result<()> {
    let flags = iommufd::iommufd_ioas_map_flags_IOMMU_IOAS_MAP_FIXED_IOVA
        | iommufd::iommufd_ioas_map_flags_IOMMU_IOAS_MAP_WRITEABLE
        | iommufd::iommufd_ioas_map_flags_IOMMU_IOAS_MAP_READABLE;
    let mut map = iommufd::iommu_ioas_map {
        size: size::<iommufd::iommu_ioas_map>(),
        flags,
        ioas_id: address_space,
        user_va: dma.memory,
        length: dma.bytes,
        iova: dma.address,
        ..Default::default()
    };
    let request = iommufd_request(iommufd::IOMMUFD_CMD_IOAS_MAP);
    // SAFETY: a structure of its own, with its own size. The kernel pins the pages that it names; a
    // wrong address is an error.
    unsafe { with_structure(iommufd.as_fd(), request, &raw mut map) }.map(drop)
}

/// Takes memory away again; gives the number of bytes.
pub fn unmap_address_space(
    iommufd: impl AsFd,
    address_space: u32,
    address: u64,
    bytes: u64,
) -> io::Result<u64> {
    let mut unmap = iommufd::iommu_ioas_unmap {
        size: size::<iommufd::iommu_ioas_unmap>(),
        ioas_id: address_space,
        iova: address,
        length: bytes,
    };
    let request = iommufd_request(iommufd::IOMMUFD_CMD_IOAS_UNMAP);
    // SAFETY: a structure of its own, with its own size.
    unsafe { with_structure(iommufd.as_fd(), request, &raw mut unmap)? };
    Ok(unmap.length)
}

#[cfg(test)]
mod headers;

#[cfg(test)]
mod tests {
    use super::*;

    /// Something that is no VFIO gives an error, and nothing worse.
    #[test]
    fn other_files_are_refused() {
        let file = tempfile::tempfile().unwrap();
        assert!(api_version(&file).is_err());
        assert!(region_info(&file, 0).is_err());
        assert!(irq_info(&file, 2).is_err());
        assert!(set_irqs(&file, 2, 0, &[None, None]).is_err());
        assert!(iommu_info(&file).is_err());
        assert!(map_dma(&file, Dma { memory: 0, address: 0, bytes: 4096 }).is_err());
        assert!(unmap_dma(&file, 0, 4096).is_err());
        assert!(device_of_group(&file, "0000:3b:00.0").is_err());
        assert!(set_container(&file, &file).is_err());
        assert!(bind_iommufd(&file, &file).is_err());
        assert!(attach_address_space(&file, 1).is_err());
        assert!(allocate_address_space(&file).is_err());
        assert!(usable_addresses(&file, 1).is_err());
        assert!(unmap_address_space(&file, 1, 0, 4096).is_err());
    }
}
