// SPDX-License-Identifier: MIT OR Apache-2.0
//! The messages: their header and every command's payload, encoded and decoded. No input or output
//! happens here.
//!
//! Layouts are those of the [specification], revision 0.x: little-endian, packed, each message
//! preceded by a header of 16 bytes. A decoder accepts exactly what its encoder makes, plus whatever
//! the specification tells receivers to ignore.
//!
//! [specification]: https://www.qemu.org/docs/master/interop/vfio-user.html

pub(crate) mod fields;
mod reply;
mod request;
mod version;

pub use fields::{FieldError, Fields};
pub use reply::{MAX_AREAS, REGION_INFO_LIMIT, RegionDescription, Reply};
pub use request::{DmaAccess, DmaRange, RegionAccess, Request, SetIrqs, SetIrqsData, SmallWrite};
pub use version::{Capabilities, MAJOR, MINOR, Version};

/// Bytes of a header.
pub const HEADER: usize = 16;

/// Bytes that a message may have besides the data it transfers: header, fixed part, capabilities of
/// a region, version data, interrupts' booleans, coalesced writes.
pub const OVERHEAD: usize = 8192;

/// Descriptors that one message may carry (QEMU allows at most 16).
pub const MAX_DESCRIPTORS: usize = 16;

/// Largest count of a read or write message that may be negotiated, bytes (QEMU's limit).
pub const MAX_TRANSFER: u32 = 64 << 20;

/// Count of a read or write message that every peer takes, bytes (the specification's default).
pub const DEFAULT_TRANSFER: u32 = 1 << 20;

/// Page size that maps are made of, bytes.
pub const PAGE: u64 = 4096;

/// Maps of memory that a client may have at a time.
pub const MAX_MAPS: usize = 65535;

macro_rules! commands {
    ($($(#[$doc:meta])* $variant:ident = $number:literal $name:literal,)*) => {
        /// What a message asks for, or answers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Command {
            $($(#[$doc])* $variant = $number,)*
        }

        impl Command {
            /// All commands of the protocol.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The command of that number.
            pub fn from_number(number: u16) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// Its name in the specification, without the prefix.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

commands! {
    /// Agrees upon a version and limits; the first message.
    Version = 1 "VERSION",
    /// Lends memory to the device.
    DmaMap = 2 "DMA_MAP",
    /// Takes memory back.
    DmaUnmap = 3 "DMA_UNMAP",
    /// Asks what the device is.
    DeviceGetInfo = 4 "DEVICE_GET_INFO",
    /// Asks for a region's description.
    DeviceGetRegionInfo = 5 "DEVICE_GET_REGION_INFO",
    /// Asks for descriptors that stand for parts of a region. Not supported.
    DeviceGetRegionIoFds = 6 "DEVICE_GET_REGION_IO_FDS",
    /// Asks for a kind of interrupts.
    DeviceGetIrqInfo = 7 "DEVICE_GET_IRQ_INFO",
    /// Sets up interrupts.
    DeviceSetIrqs = 8 "DEVICE_SET_IRQS",
    /// Reads a region.
    RegionRead = 9 "REGION_READ",
    /// Writes a region.
    RegionWrite = 10 "REGION_WRITE",
    /// The server reads the client's memory.
    DmaRead = 11 "DMA_READ",
    /// The server writes the client's memory.
    DmaWrite = 12 "DMA_WRITE",
    /// Resets the device.
    DeviceReset = 13 "DEVICE_RESET",
    /// Dirty pages, of older revisions. Not supported.
    DirtyPages = 14 "DIRTY_PAGES",
    /// Several small writes at once.
    RegionWriteMulti = 15 "REGION_WRITE_MULTI",
    /// Migration and the like. Not supported.
    DeviceFeature = 16 "DEVICE_FEATURE",
    /// Migration. Not supported.
    MigDataRead = 17 "MIG_DATA_READ",
    /// Migration. Not supported.
    MigDataWrite = 18 "MIG_DATA_WRITE",
}

impl std::fmt::Display for Command {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a message asks or answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It asks; no reply is wanted if `no_reply`.
    Request {
        /// The sender wants no reply.
        no_reply: bool,
    },
    /// It answers; with an error number, if it is a refusal (0: without a reason).
    Reply {
        /// Why it was refused.
        error: Option<u32>,
    },
}

/// A message's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Chosen by the sender of the request, repeated in the reply.
    pub id: u16,
    /// The command's number; the receiver may not know it ([`Command::from_number`]).
    pub command: u16,
    /// Bytes of the whole message, header and all.
    pub size: u32,
    /// Request or reply.
    pub kind: Kind,
}

impl Header {
    const TYPE_MASK: u32 = 0xf;
    const NO_REPLY: u32 = 1 << 4;
    const ERROR: u32 = 1 << 5;

    /// The header's bytes.
    pub fn encode(&self) -> [u8; HEADER] {
        let (flags, error) = match self.kind {
            Kind::Request { no_reply: false } => (0, 0),
            Kind::Request { no_reply: true } => (Self::NO_REPLY, 0),
            Kind::Reply { error: None } => (1, 0),
            Kind::Reply { error: Some(error) } => (1 | Self::ERROR, error),
        };
        let mut bytes = [0; HEADER];
        bytes[0..2].copy_from_slice(&self.id.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.command.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..12].copy_from_slice(&flags.to_le_bytes());
        bytes[12..16].copy_from_slice(&error.to_le_bytes());
        bytes
    }

    /// Reads a header whose message may be at most `limit` bytes long.
    ///
    /// # Errors
    /// The size is less than a header's or more than `limit`; the type is neither request nor reply.
    pub fn decode(bytes: &[u8; HEADER], limit: usize) -> Result<Self, FieldError> {
        let mut fields = Fields::new(bytes);
        let (id, command) = (fields.u16("id")?, fields.u16("command")?);
        let (size, flags, error) =
            (fields.u32("size")?, fields.u32("flags")?, fields.u32("error")?);
        if (size as usize) < HEADER || size as usize > limit {
            return Err(FieldError::new("size", size, format!("{HEADER} to {limit}")));
        }
        let kind = match flags & Self::TYPE_MASK {
            0 => Kind::Request { no_reply: flags & Self::NO_REPLY != 0 },
            1 => Kind::Reply { error: (flags & Self::ERROR != 0).then_some(error) },
            other => return Err(FieldError::new("type", other, "0 (request) or 1 (reply)")),
        };
        Ok(Self { id, command, size, kind })
    }

    /// How the message is called in errors.
    pub fn describe(&self) -> String {
        let name = Command::from_number(self.command)
            .map_or_else(|| format!("command {}", self.command), |command| command.to_string());
        match self.kind {
            Kind::Request { .. } => name,
            Kind::Reply { .. } => format!("reply to {name}"),
        }
    }
}

/// Longest message that may come where `max_transfer` bytes of data were agreed upon.
pub fn size_limit(max_transfer: u32) -> usize {
    max_transfer as usize + OVERHEAD
}
