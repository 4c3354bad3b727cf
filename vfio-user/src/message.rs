//! The messages.

/// What a message asks for, or answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u16)]
#[expect(missing_docs, reason = "named as in the specification, which describes each")]
pub enum Command {
    Version = 1,
    DmaMap = 2,
    DmaUnmap = 3,
    DeviceGetInfo = 4,
    DeviceGetRegionInfo = 5,
    DeviceGetRegionIoFds = 6,
    DeviceGetIrqInfo = 7,
    DeviceSetIrqs = 8,
    RegionRead = 9,
    RegionWrite = 10,
    DmaRead = 11,
    DmaWrite = 12,
    DeviceReset = 13,
    RegionWriteMulti = 15,
    DeviceFeature = 16,
    MigDataRead = 17,
    MigDataWrite = 18,
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = match self {
            Self::Version => "VERSION",
            Self::DmaMap => "DMA_MAP",
            Self::DmaUnmap => "DMA_UNMAP",
            Self::DeviceGetInfo => "DEVICE_GET_INFO",
            Self::DeviceGetRegionInfo => "DEVICE_GET_REGION_INFO",
            Self::DeviceGetRegionIoFds => "DEVICE_GET_REGION_IO_FDS",
            Self::DeviceGetIrqInfo => "DEVICE_GET_IRQ_INFO",
            Self::DeviceSetIrqs => "DEVICE_SET_IRQS",
            Self::RegionRead => "REGION_READ",
            Self::RegionWrite => "REGION_WRITE",
            Self::DmaRead => "DMA_READ",
            Self::DmaWrite => "DMA_WRITE",
            Self::DeviceReset => "DEVICE_RESET",
            Self::RegionWriteMulti => "REGION_WRITE_MULTI",
            Self::DeviceFeature => "DEVICE_FEATURE",
            Self::MigDataRead => "MIG_DATA_READ",
            Self::MigDataWrite => "MIG_DATA_WRITE",
        };
        f.write_str(name)
    }
}
