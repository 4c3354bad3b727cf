// SPDX-License-Identifier: MIT OR Apache-2.0
//! Replies' payloads.

use vfio_bindings::bindings::vfio;

use super::request::{DmaAccess, DmaRange, RegionAccess, put32, put64};
use super::{Command, FieldError, Fields, OVERHEAD, Version};
use crate::device::{Area, DeviceInfo, IrqInfo};

/// A region as `DEVICE_GET_REGION_INFO` describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionDescription {
    /// The region's index.
    pub index: u32,
    /// Bytes.
    pub size: u64,
    /// Where in the file the region starts.
    pub offset: u64,
    /// May be read by message.
    pub readable: bool,
    /// May be written by message.
    pub writable: bool,
    /// May be mapped.
    pub mappable: bool,
    /// What may be mapped; empty and `mappable`: all of it.
    pub sparse: Vec<Area>,
}

/// A reply's payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply<'a> {
    /// `VERSION`.
    Version(Version),
    /// `DMA_MAP`, `DEVICE_SET_IRQS`, `DEVICE_RESET`, and `DMA_WRITE` by QEMU: nothing to say.
    Done(Command),
    /// `DMA_UNMAP`: where, and how many bytes had been mapped there.
    DmaUnmap(DmaRange),
    /// `DEVICE_GET_INFO`.
    DeviceInfo(DeviceInfo),
    /// `DEVICE_GET_REGION_INFO`.
    RegionInfo(RegionDescription),
    /// `DEVICE_GET_REGION_INFO` to a client that takes less than it needs: the same without
    /// capabilities nor their flag (QEMU refuses the flag without them), and the size it should
    /// have asked for.
    RegionInfoTooLong(RegionDescription, u32),
    /// `DEVICE_GET_IRQ_INFO` of an index.
    IrqInfo(u32, IrqInfo),
    /// `REGION_READ`, with as many bytes as `count` says.
    RegionRead(RegionAccess, &'a [u8]),
    /// `REGION_WRITE`.
    RegionWrite(RegionAccess),
    /// `DMA_READ`, with as many bytes as `count` says.
    DmaRead(DmaAccess, &'a [u8]),
    /// `DMA_WRITE`.
    DmaWrite(DmaAccess),
    /// `REGION_WRITE_MULTI`: how many writes were done.
    RegionWriteMulti(u64),
}

const SPARSE_MMAP: u16 = vfio::VFIO_REGION_INFO_CAP_SPARSE_MMAP as u16;
const REGION_INFO_SIZE: usize = size_of::<vfio::vfio_region_info>();
const CAPABILITY_HEADER: usize = size_of::<vfio::vfio_info_cap_header>();
const AREA_SIZE: usize = size_of::<vfio::vfio_region_sparse_mmap_area>();

/// Longest payload of a region's description: the fixed part, and as many areas as fit.
pub const REGION_INFO_LIMIT: u32 = 4096;

/// Areas of a region that fit its description.
pub const MAX_AREAS: usize =
    (REGION_INFO_LIMIT as usize - REGION_INFO_SIZE - 2 * CAPABILITY_HEADER) / AREA_SIZE;

const _: () = assert!(REGION_INFO_LIMIT as usize + super::HEADER <= OVERHEAD);

impl RegionDescription {
    /// Bytes of its payload, capabilities and all.
    pub fn payload_size(&self) -> u32 {
        let areas = match self.sparse.len() {
            0 => 0,
            areas => 2 * CAPABILITY_HEADER + areas * AREA_SIZE,
        };
        (REGION_INFO_SIZE + areas) as u32
    }

    fn encode_fixed(&self, argsz: u32, capabilities: bool, out: &mut Vec<u8>) {
        let mut flags = 0;
        for (is, flag) in [
            (self.readable, vfio::VFIO_REGION_INFO_FLAG_READ),
            (self.writable, vfio::VFIO_REGION_INFO_FLAG_WRITE),
            (self.mappable, vfio::VFIO_REGION_INFO_FLAG_MMAP),
            (capabilities, vfio::VFIO_REGION_INFO_FLAG_CAPS),
        ] {
            flags |= if is { flag } else { 0 };
        }
        let at = if capabilities { REGION_INFO_SIZE as u32 } else { 0 };
        put32(out, &[argsz, flags, self.index, at]);
        put64(out, &[self.size, self.offset]);
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.encode_fixed(self.payload_size(), !self.sparse.is_empty(), out);
        if self.sparse.is_empty() {
            return;
        }
        out.extend(SPARSE_MMAP.to_le_bytes());
        out.extend(1u16.to_le_bytes());
        // No further capability; number of areas; reserved.
        put32(out, &[0, self.sparse.len() as u32, 0]);
        for area in &self.sparse {
            put64(out, &[area.offset, area.size]);
        }
    }

    fn decode(payload: &[u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::new(payload);
        let argsz = fields.argsz(REGION_INFO_SIZE as u32)?;
        // Bits that newer revisions may add concern nobody who does not know them.
        let flags = fields.u32("flags")?;
        let (index, cap_offset) = (fields.u32("index")?, fields.u32("cap_offset")?);
        let (size, offset) = (fields.u64("size")?, fields.u64("offset")?);
        if argsz as usize > payload.len() {
            let expected = format!("at most the {} bytes sent", payload.len());
            return Err(FieldError::new("argsz", argsz, expected));
        }
        let sparse = match flags & vfio::VFIO_REGION_INFO_FLAG_CAPS {
            0 => Vec::new(),
            _ => Self::decode_capabilities(payload, cap_offset, size)?,
        };
        Ok(Self {
            index,
            size,
            offset,
            readable: flags & vfio::VFIO_REGION_INFO_FLAG_READ != 0,
            writable: flags & vfio::VFIO_REGION_INFO_FLAG_WRITE != 0,
            mappable: flags & vfio::VFIO_REGION_INFO_FLAG_MMAP != 0,
            sparse,
        })
    }

    /// Follows the list of capabilities, which must run towards the payload's end: so it ends.
    fn decode_capabilities(payload: &[u8], first: u32, size: u64) -> Result<Vec<Area>, FieldError> {
        let mut at = first;
        let mut least = REGION_INFO_SIZE;
        loop {
            let bytes = payload.get(at as usize..).filter(|_| at as usize >= least);
            let bytes = bytes.ok_or_else(|| {
                let expected = format!("{least} to {}", payload.len());
                FieldError::new("offset of a capability", at, expected)
            })?;
            let mut fields = Fields::new(bytes);
            let (id, version) = (fields.u16("capability id")?, fields.u16("capability version")?);
            let next = fields.u32("next capability")?;
            if id == SPARSE_MMAP && version == 1 {
                return Self::decode_areas(fields, size);
            }
            if next == 0 {
                return Ok(Vec::new());
            }
            least = at as usize + CAPABILITY_HEADER;
            at = next;
        }
    }

    fn decode_areas(mut fields: Fields<'_>, size: u64) -> Result<Vec<Area>, FieldError> {
        let count = fields.u32("nr_areas")?;
        fields.u32("reserved")?;
        let bytes = fields.rest();
        if count as usize > bytes.len() / AREA_SIZE {
            let expected = format!("at most the {} bytes left / {AREA_SIZE}", bytes.len());
            return Err(FieldError::new("nr_areas", count, expected));
        }
        let areas = bytes.chunks_exact(AREA_SIZE).take(count as usize).map(|bytes| {
            let mut fields = Fields::new(bytes);
            let area = Area { offset: fields.u64("area offset")?, size: fields.u64("area size")? };
            match area.offset.checked_add(area.size) {
                Some(end) if end <= size => Ok(area),
                _ => {
                    let found = format!("{:#x} bytes from {:#x}", area.size, area.offset);
                    Err(FieldError::new(
                        "area",
                        found,
                        format!("inside the region's {size:#x} bytes"),
                    ))
                }
            }
        });
        areas.collect()
    }
}

impl Reply<'_> {
    /// The command that is answered.
    pub fn command(&self) -> Command {
        match self {
            Self::Version(_) => Command::Version,
            Self::Done(command) => *command,
            Self::DmaUnmap(_) => Command::DmaUnmap,
            Self::DeviceInfo(_) => Command::DeviceGetInfo,
            Self::RegionInfo(_) | Self::RegionInfoTooLong(..) => Command::DeviceGetRegionInfo,
            Self::IrqInfo(..) => Command::DeviceGetIrqInfo,
            Self::RegionRead(..) => Command::RegionRead,
            Self::RegionWrite(_) => Command::RegionWrite,
            Self::DmaRead(..) => Command::DmaRead,
            Self::DmaWrite(_) => Command::DmaWrite,
            Self::RegionWriteMulti(_) => Command::RegionWriteMulti,
        }
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Version(version) => version.encode(out),
            Self::Done(_) => {}
            Self::DmaUnmap(range) => {
                put32(out, &[24, 0]);
                put64(out, &[range.address, range.size]);
            }
            Self::DeviceInfo(info) => {
                let reset = if info.resettable { vfio::VFIO_DEVICE_FLAGS_RESET } else { 0 };
                let pci = if info.pci { vfio::VFIO_DEVICE_FLAGS_PCI } else { 0 };
                let flags = reset | pci;
                put32(out, &[16, flags, info.regions, info.irqs]);
            }
            Self::RegionInfo(region) => region.encode(out),
            Self::RegionInfoTooLong(region, argsz) => region.encode_fixed(*argsz, false, out),
            Self::IrqInfo(index, info) => {
                let mut flags = 0;
                for (is, flag) in [
                    (info.eventfd, vfio::VFIO_IRQ_INFO_EVENTFD),
                    (info.maskable, vfio::VFIO_IRQ_INFO_MASKABLE),
                    (info.automasked, vfio::VFIO_IRQ_INFO_AUTOMASKED),
                    (info.noresize, vfio::VFIO_IRQ_INFO_NORESIZE),
                ] {
                    flags |= if is { flag } else { 0 };
                }
                put32(out, &[16, flags, *index, info.count]);
            }
            Self::RegionRead(access, data) => {
                access.encode(out);
                out.extend(*data);
            }
            Self::RegionWrite(access) => access.encode(out),
            Self::DmaRead(access, data) => {
                access.encode(out);
                out.extend(*data);
            }
            Self::DmaWrite(access) => access.encode(out),
            Self::RegionWriteMulti(written) => put64(out, &[*written]),
        }
    }

    /// Reads a payload. Of commands that this crate never sends, there is no reply to read.
    ///
    /// # Errors
    /// It is cut off or too long; a count lies; a capability or an area is out of bounds.
    pub fn decode(command: Command, payload: &[u8]) -> Result<Reply<'_>, FieldError> {
        let mut fields = Fields::new(payload);
        let reply = match command {
            Command::Version => return Version::decode(payload).map(Reply::Version),
            Command::DmaMap | Command::DeviceSetIrqs | Command::DeviceReset => Reply::Done(command),
            Command::DmaUnmap => {
                fields.argsz(24)?;
                fields.u32("flags")?;
                let (address, size) = (fields.u64("address")?, fields.u64("size")?);
                Reply::DmaUnmap(DmaRange { address, size })
            }
            Command::DeviceGetInfo => {
                fields.argsz(16)?;
                let flags = fields.u32("flags")?;
                let (regions, irqs) = (fields.u32("num_regions")?, fields.u32("num_irqs")?);
                let (resettable, pci) = (
                    flags & vfio::VFIO_DEVICE_FLAGS_RESET != 0,
                    flags & vfio::VFIO_DEVICE_FLAGS_PCI != 0,
                );
                Reply::DeviceInfo(DeviceInfo { resettable, pci, regions, irqs })
            }
            Command::DeviceGetRegionInfo => {
                return RegionDescription::decode(payload).map(Reply::RegionInfo);
            }
            Command::DeviceGetIrqInfo => {
                fields.argsz(16)?;
                let flags = fields.u32("flags")?;
                let (index, count) = (fields.u32("index")?, fields.u32("count")?);
                let info = IrqInfo {
                    count,
                    eventfd: flags & vfio::VFIO_IRQ_INFO_EVENTFD != 0,
                    maskable: flags & vfio::VFIO_IRQ_INFO_MASKABLE != 0,
                    automasked: flags & vfio::VFIO_IRQ_INFO_AUTOMASKED != 0,
                    noresize: flags & vfio::VFIO_IRQ_INFO_NORESIZE != 0,
                };
                Reply::IrqInfo(index, info)
            }
            Command::RegionRead => {
                let access = RegionAccess::decode(&mut fields)?;
                return Ok(Reply::RegionRead(access, fields.data(access.count.into())?));
            }
            Command::RegionWrite => Reply::RegionWrite(RegionAccess::decode(&mut fields)?),
            Command::DmaRead => {
                let access = DmaAccess::decode(&mut fields)?;
                return Ok(Reply::DmaRead(access, fields.data(access.count)?));
            }
            Command::DmaWrite => return Self::decode_dma_write(payload),
            Command::RegionWriteMulti => Reply::RegionWriteMulti(fields.u64("wr_cnt")?),
            Command::DeviceGetRegionIoFds
            | Command::DirtyPages
            | Command::DeviceFeature
            | Command::MigDataRead
            | Command::MigDataWrite => {
                return Err(FieldError::new("command", command, "one that is supported"));
            }
        };
        fields.end()?;
        Ok(reply)
    }

    /// The specification gives the count 8 bytes in the request and 4 in the reply, libvfio-user
    /// sends 8, and QEMU the header alone; so any of the three is taken.
    fn decode_dma_write(payload: &[u8]) -> Result<Reply<'_>, FieldError> {
        let mut fields = Fields::new(payload);
        let reply = match payload.len() {
            0 => Reply::Done(Command::DmaWrite),
            12 => {
                let (address, count) = (fields.u64("address")?, fields.u32("count")?.into());
                Reply::DmaWrite(DmaAccess { address, count })
            }
            _ => Reply::DmaWrite(DmaAccess::decode(&mut fields)?),
        };
        fields.end()?;
        Ok(reply)
    }
}
