// SPDX-License-Identifier: MIT OR Apache-2.0
//! Requests' payloads.

use vfio_bindings::bindings::vfio;

use super::{Command, FieldError, Fields, Version};
use crate::device::IrqAction;

/// A range of device addresses, lent or taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DmaRange {
    /// First device address.
    pub address: u64,
    /// Bytes.
    pub size: u64,
}

impl DmaRange {
    /// The last device address.
    ///
    /// # Errors
    /// The range is empty or wraps round.
    pub fn last(&self) -> Result<u64, FieldError> {
        let Some(more) = self.size.checked_sub(1) else {
            return Err(FieldError::new("size", 0, "at least 1"));
        };
        self.address.checked_add(more).ok_or_else(|| {
            let found = format!("{:#x} from {:#x}", self.size, self.address);
            FieldError::new("size", found, "a range that does not wrap round")
        })
    }
}

/// What part of a region is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionAccess {
    /// First byte, from the region's start.
    pub offset: u64,
    /// The region's index.
    pub region: u32,
    /// Bytes.
    pub count: u32,
}

impl RegionAccess {
    /// Bytes of its encoding.
    pub const SIZE: usize = 16;

    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.offset.to_le_bytes());
        out.extend(self.region.to_le_bytes());
        out.extend(self.count.to_le_bytes());
    }

    pub(super) fn decode(fields: &mut Fields<'_>) -> Result<Self, FieldError> {
        Ok(Self {
            offset: fields.u64("offset")?,
            region: fields.u32("region")?,
            count: fields.u32("count")?,
        })
    }
}

/// What part of the client's memory is read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DmaAccess {
    /// First device address.
    pub address: u64,
    /// Bytes.
    pub count: u64,
}

impl DmaAccess {
    /// Appends it.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.address.to_le_bytes());
        out.extend(self.count.to_le_bytes());
    }

    pub(super) fn decode(fields: &mut Fields<'_>) -> Result<Self, FieldError> {
        Ok(Self { address: fields.u64("address")?, count: fields.u64("count")? })
    }
}

/// A write of at most 8 bytes, one of several in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallWrite {
    /// Where; `count` is at most 8.
    pub access: RegionAccess,
    /// The bytes; those beyond `count` mean nothing.
    pub data: [u8; 8],
}

/// Interrupts to set up, mask or fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetIrqs<'a> {
    /// Which kind.
    pub index: u32,
    /// The first of the range.
    pub start: u32,
    /// How many.
    pub count: u32,
    /// What to do.
    pub action: IrqAction,
    /// To which, or how.
    pub data: SetIrqsData<'a>,
}

/// The data flags of `DEVICE_SET_IRQS`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetIrqsData<'a> {
    /// All of the range.
    None,
    /// One byte for each of the range; not 0: yes.
    Bool(&'a [u8]),
    /// By the descriptors that come along.
    EventFds,
}

impl SetIrqs<'_> {
    const SIZE: usize = size_of::<vfio::vfio_irq_set>();

    fn encode(&self, out: &mut Vec<u8>) {
        let (data_flag, data): (u32, &[u8]) = match self.data {
            SetIrqsData::None => (vfio::VFIO_IRQ_SET_DATA_NONE, &[]),
            SetIrqsData::Bool(data) => (vfio::VFIO_IRQ_SET_DATA_BOOL, data),
            SetIrqsData::EventFds => (vfio::VFIO_IRQ_SET_DATA_EVENTFD, &[]),
        };
        let action_flag: u32 = match self.action {
            IrqAction::Mask => vfio::VFIO_IRQ_SET_ACTION_MASK,
            IrqAction::Unmask => vfio::VFIO_IRQ_SET_ACTION_UNMASK,
            IrqAction::Trigger => vfio::VFIO_IRQ_SET_ACTION_TRIGGER,
        };
        let argsz = (Self::SIZE + data.len()) as u32;
        for field in [argsz, data_flag | action_flag, self.index, self.start, self.count] {
            out.extend(field.to_le_bytes());
        }
        out.extend(data);
    }

    fn decode(payload: &[u8]) -> Result<SetIrqs<'_>, FieldError> {
        let mut fields = Fields::new(payload);
        fields.argsz(Self::SIZE as u32)?;
        let (actions, kinds) =
            (vfio::VFIO_IRQ_SET_ACTION_TYPE_MASK, vfio::VFIO_IRQ_SET_DATA_TYPE_MASK);
        let flags = fields.flags(actions | kinds)?;
        let (index, start, count) =
            (fields.u32("index")?, fields.u32("start")?, fields.u32("count")?);
        let fault = |expected: &str| FieldError::new("flags", format!("{flags:#x}"), expected);
        let action = match flags & actions {
            vfio::VFIO_IRQ_SET_ACTION_MASK => IrqAction::Mask,
            vfio::VFIO_IRQ_SET_ACTION_UNMASK => IrqAction::Unmask,
            vfio::VFIO_IRQ_SET_ACTION_TRIGGER => IrqAction::Trigger,
            _ => return Err(fault("exactly one of the actions, bits 3 to 5")),
        };
        let data = match flags & kinds {
            vfio::VFIO_IRQ_SET_DATA_NONE => SetIrqsData::None,
            vfio::VFIO_IRQ_SET_DATA_BOOL => SetIrqsData::Bool(fields.data(count.into())?),
            vfio::VFIO_IRQ_SET_DATA_EVENTFD => SetIrqsData::EventFds,
            _ => return Err(fault("exactly one of the kinds of data, bits 0 to 2")),
        };
        Ok(SetIrqs { index, start, count, action, data })
    }
}

/// A request's payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request<'a> {
    /// `VERSION`.
    Version(Version),
    /// `DMA_MAP`; the file comes along, or the memory is reached by message.
    DmaMap {
        /// Which device addresses.
        range: DmaRange,
        /// Where in the file the memory starts.
        offset: u64,
        /// The device may read it.
        readable: bool,
        /// The device may write it.
        writable: bool,
    },
    /// `DMA_UNMAP`; `None`: all.
    DmaUnmap(Option<DmaRange>),
    /// `DEVICE_GET_INFO`.
    DeviceGetInfo,
    /// `DEVICE_GET_REGION_INFO`.
    DeviceGetRegionInfo {
        /// The region.
        index: u32,
        /// Longest payload of the reply that the client takes.
        argsz: u32,
    },
    /// `DEVICE_GET_IRQ_INFO`.
    DeviceGetIrqInfo {
        /// The kind of interrupts.
        index: u32,
    },
    /// `DEVICE_SET_IRQS`.
    DeviceSetIrqs(SetIrqs<'a>),
    /// `REGION_READ`.
    RegionRead(RegionAccess),
    /// `REGION_WRITE`, with as many bytes as `count` says.
    RegionWrite(RegionAccess, &'a [u8]),
    /// `DMA_READ`.
    DmaRead(DmaAccess),
    /// `DMA_WRITE`, with as many bytes as `count` says.
    DmaWrite(DmaAccess, &'a [u8]),
    /// `DEVICE_RESET`.
    DeviceReset,
    /// `REGION_WRITE_MULTI`.
    RegionWriteMulti(Vec<SmallWrite>),
    /// A command that this crate does not support; its payload is not looked at.
    Unsupported(Command),
}

const MAP_SIZE: u32 = 32;
const MAP_READ: u32 = vfio::VFIO_DMA_MAP_FLAG_READ;
const MAP_WRITE: u32 = vfio::VFIO_DMA_MAP_FLAG_WRITE;
const UNMAP_SIZE: u32 = 24;
const UNMAP_ALL: u32 = vfio::VFIO_DMA_UNMAP_FLAG_ALL;
const INFO_SIZE: u32 = 16;
const REGION_INFO_SIZE: u32 = size_of::<vfio::vfio_region_info>() as u32;

impl<'a> Request<'a> {
    /// The command.
    pub fn command(&self) -> Command {
        match self {
            Self::Version(_) => Command::Version,
            Self::DmaMap { .. } => Command::DmaMap,
            Self::DmaUnmap(_) => Command::DmaUnmap,
            Self::DeviceGetInfo => Command::DeviceGetInfo,
            Self::DeviceGetRegionInfo { .. } => Command::DeviceGetRegionInfo,
            Self::DeviceGetIrqInfo { .. } => Command::DeviceGetIrqInfo,
            Self::DeviceSetIrqs(_) => Command::DeviceSetIrqs,
            Self::RegionRead(_) => Command::RegionRead,
            Self::RegionWrite(..) => Command::RegionWrite,
            Self::DmaRead(_) => Command::DmaRead,
            Self::DmaWrite(..) => Command::DmaWrite,
            Self::DeviceReset => Command::DeviceReset,
            Self::RegionWriteMulti(_) => Command::RegionWriteMulti,
            Self::Unsupported(command) => *command,
        }
    }

    /// Appends the payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Version(version) => version.encode(out),
            Self::DmaMap { range, offset, readable, writable } => {
                let readable = if *readable { MAP_READ } else { 0 };
                let writable = if *writable { MAP_WRITE } else { 0 };
                let flags = readable | writable;
                put32(out, &[MAP_SIZE, flags]);
                put64(out, &[*offset, range.address, range.size]);
            }
            Self::DmaUnmap(range) => {
                let flags = if range.is_none() { UNMAP_ALL } else { 0 };
                let range = range.unwrap_or(DmaRange { address: 0, size: 0 });
                put32(out, &[UNMAP_SIZE, flags]);
                put64(out, &[range.address, range.size]);
            }
            Self::DeviceGetInfo => put32(out, &[INFO_SIZE, 0, 0, 0]),
            Self::DeviceGetRegionInfo { index, argsz } => {
                put32(out, &[*argsz, 0, *index, 0]);
                put64(out, &[0, 0]);
            }
            Self::DeviceGetIrqInfo { index } => put32(out, &[INFO_SIZE, 0, *index, 0]),
            Self::DeviceSetIrqs(irqs) => irqs.encode(out),
            Self::RegionRead(access) => access.encode(out),
            Self::RegionWrite(access, data) => {
                access.encode(out);
                out.extend(*data);
            }
            Self::DmaRead(access) => access.encode(out),
            Self::DmaWrite(access, data) => {
                access.encode(out);
                out.extend(*data);
            }
            Self::DeviceReset | Self::Unsupported(_) => {}
            Self::RegionWriteMulti(writes) => {
                put64(out, &[writes.len() as u64]);
                for write in writes {
                    write.access.encode(out);
                    out.extend(write.data);
                }
            }
        }
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// It is cut off or too long; a flag is unknown; a range wraps round; a count lies.
    pub fn decode(command: Command, payload: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::new(payload);
        let request = match command {
            Command::Version => return Version::decode(payload).map(Self::Version),
            Command::DmaMap => decode_map(&mut fields)?,
            Command::DmaUnmap => decode_unmap(&mut fields)?,
            Command::DeviceGetInfo => {
                fields.argsz(INFO_SIZE)?;
                // Flags and counts are the reply's; the request's mean nothing.
                fields.u32("flags")?;
                fields.u64("num_regions and num_irqs")?;
                Self::DeviceGetInfo
            }
            Command::DeviceGetRegionInfo => {
                let argsz = fields.argsz(REGION_INFO_SIZE)?;
                fields.u32("flags")?;
                let index = fields.u32("index")?;
                fields.u32("cap_offset")?;
                fields.u64("size")?;
                fields.u64("offset")?;
                Self::DeviceGetRegionInfo { index, argsz }
            }
            Command::DeviceGetIrqInfo => {
                fields.argsz(INFO_SIZE)?;
                fields.u32("flags")?;
                let index = fields.u32("index")?;
                fields.u32("count")?;
                Self::DeviceGetIrqInfo { index }
            }
            Command::DeviceSetIrqs => return SetIrqs::decode(payload).map(Self::DeviceSetIrqs),
            Command::RegionRead => Self::RegionRead(RegionAccess::decode(&mut fields)?),
            Command::RegionWrite => {
                let access = RegionAccess::decode(&mut fields)?;
                return Ok(Self::RegionWrite(access, fields.data(access.count.into())?));
            }
            Command::DmaRead => Self::DmaRead(DmaAccess::decode(&mut fields)?),
            Command::DmaWrite => {
                let access = DmaAccess::decode(&mut fields)?;
                return Ok(Self::DmaWrite(access, fields.data(access.count)?));
            }
            Command::DeviceReset => Self::DeviceReset,
            Command::RegionWriteMulti => return decode_writes(fields),
            Command::DeviceGetRegionIoFds
            | Command::DirtyPages
            | Command::DeviceFeature
            | Command::MigDataRead
            | Command::MigDataWrite => return Ok(Self::Unsupported(command)),
        };
        fields.end()?;
        Ok(request)
    }
}

fn decode_map<'a>(fields: &mut Fields<'_>) -> Result<Request<'a>, FieldError> {
    fields.argsz(MAP_SIZE)?;
    let flags = fields.flags(MAP_READ | MAP_WRITE)?;
    let offset = fields.u64("offset")?;
    let range = DmaRange { address: fields.u64("address")?, size: fields.u64("size")? };
    range.last()?;
    for (field, start) in [("address", range.address), ("offset", offset)] {
        if start.checked_add(range.size).is_none() {
            return Err(FieldError::new(field, format!("{start:#x}"), "the map to end below 2^64"));
        }
    }
    let (readable, writable) = (flags & MAP_READ != 0, flags & MAP_WRITE != 0);
    Ok(Request::DmaMap { range, offset, readable, writable })
}

fn decode_unmap<'a>(fields: &mut Fields<'_>) -> Result<Request<'a>, FieldError> {
    fields.argsz(UNMAP_SIZE)?;
    let flags = fields.flags(UNMAP_ALL)?;
    let range = DmaRange { address: fields.u64("address")?, size: fields.u64("size")? };
    if flags & UNMAP_ALL == 0 {
        range.last()?;
        return Ok(Request::DmaUnmap(Some(range)));
    }
    if range != (DmaRange { address: 0, size: 0 }) {
        let found = format!("{:#x} from {:#x}", range.size, range.address);
        return Err(FieldError::new("size", found, "0 from 0, for all is to be unmapped"));
    }
    Ok(Request::DmaUnmap(None))
}

fn decode_writes(mut fields: Fields<'_>) -> Result<Request<'_>, FieldError> {
    const EACH: usize = RegionAccess::SIZE + 8;
    let count = fields.u64("wr_cnt")?;
    let rest = fields.rest();
    // Compared by division, for the product may overflow.
    if !rest.len().is_multiple_of(EACH) || count != (rest.len() / EACH) as u64 {
        return Err(FieldError::new(
            "wr_cnt",
            count,
            format!("the {} bytes sent / {EACH}", rest.len()),
        ));
    }
    let writes = rest.chunks_exact(EACH).map(|bytes| {
        let mut fields = Fields::new(bytes);
        let access = RegionAccess::decode(&mut fields)?;
        if access.count > 8 {
            return Err(FieldError::new("count", access.count, "at most 8"));
        }
        Ok(SmallWrite { access, data: fields.bytes8("data")? })
    });
    writes.collect::<Result<_, _>>().map(Request::RegionWriteMulti)
}

pub(super) fn put32(out: &mut Vec<u8>, fields: &[u32]) {
    fields.iter().for_each(|field| out.extend(field.to_le_bytes()));
}

pub(super) fn put64(out: &mut Vec<u8>, fields: &[u64]) {
    fields.iter().for_each(|field| out.extend(field.to_le_bytes()));
}
