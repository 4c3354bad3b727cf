// SPDX-License-Identifier: MIT OR Apache-2.0
//! `VERSION`: the capabilities of the peers, as JSON.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{DEFAULT_TRANSFER, FieldError, Fields, MAX_MAPS, MAX_TRANSFER, PAGE};

/// Major version of the protocol that is spoken.
pub const MAJOR: u16 = 0;

/// Minor version of the protocol that is spoken. QEMU proposes 0 and takes nothing higher.
pub const MINOR: u16 = 0;

/// Longest version data that are read, bytes.
const MAX_DATA: usize = 4096;

/// What a side can do. `None`: the side did not say, and the specification's default holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Capabilities {
    /// Descriptors that the sender takes in one message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_msg_fds: Option<u64>,
    /// Largest count of a read or write message, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_data_xfer_size: Option<u64>,
    /// Page sizes of maps, or'ed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pgsizes: Option<u64>,
    /// Maps at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_dma_maps: Option<u64>,
    /// `REGION_WRITE_MULTI` is understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_multiple: Option<bool>,
    /// The sender is QEMU, by a capability that only QEMU announces. Its messages for memory
    /// (`DMA_READ`, `DMA_WRITE`) have a count of 4 bytes and their data 4 bytes before the place that
    /// the specification says (`VFIOUserDMARW` of `hw/vfio-user/protocol.h`, QEMU 10.1). Never sent.
    #[serde(skip)]
    pub qemu: bool,
}

impl Capabilities {
    /// All that this crate can do, with transfers of up to `max_transfer` bytes.
    pub fn ours(max_transfer: u32) -> Self {
        Self {
            max_msg_fds: Some(super::MAX_DESCRIPTORS as u64),
            max_data_xfer_size: Some(max_transfer.into()),
            pgsizes: Some(PAGE),
            max_dma_maps: Some(MAX_MAPS as u64),
            write_multiple: Some(true),
            qemu: false,
        }
    }

    /// What of ours may be said to a client that proposed these: the specification wants a subset,
    /// and QEMU takes no reply longer than its request.
    pub fn reply(&self, max_transfer: u32) -> Self {
        let ours = Self::ours(max_transfer);
        Self {
            max_msg_fds: self.max_msg_fds.and(ours.max_msg_fds),
            max_data_xfer_size: self.max_data_xfer_size.and(ours.max_data_xfer_size),
            pgsizes: self.pgsizes.and(ours.pgsizes),
            max_dma_maps: self.max_dma_maps.and(ours.max_dma_maps),
            write_multiple: self.write_multiple.and(ours.write_multiple),
            qemu: false,
        }
    }

    /// Largest count that may be sent to the side that said this, by a side that allows
    /// `max_transfer` itself.
    pub fn transfer(&self, max_transfer: u32) -> u32 {
        let theirs = self.max_data_xfer_size.unwrap_or(DEFAULT_TRANSFER.into());
        let limit = max_transfer.min(MAX_TRANSFER);
        u32::try_from(theirs).unwrap_or(u32::MAX).min(limit)
    }

    /// Descriptors that may be sent in one message to the side that said this.
    pub fn descriptors(&self) -> usize {
        let theirs = self.max_msg_fds.unwrap_or(1);
        usize::try_from(theirs).unwrap_or(usize::MAX).min(super::MAX_DESCRIPTORS)
    }
}

/// The one key of the version data.
const CAPABILITIES: &str = "capabilities";

/// A proposal, or its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    /// Incompatible revisions differ in this.
    pub major: u16,
    /// Compatible revisions differ in this.
    pub minor: u16,
    /// What the sender can do.
    pub capabilities: Capabilities,
}

impl Version {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.major.to_le_bytes());
        out.extend(self.minor.to_le_bytes());
        let data = BTreeMap::from([(CAPABILITIES, self.capabilities)]);
        serde_json::to_writer(&mut *out, &data).expect("numbers and booleans always serialise");
        out.push(0);
    }

    pub(super) fn decode(payload: &[u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::new(payload);
        let (major, minor) = (fields.u16("major")?, fields.u16("minor")?);
        let capabilities = match fields.rest() {
            [] => Capabilities::default(),
            data => Self::decode_data(data)?,
        };
        Ok(Self { major, minor, capabilities })
    }

    fn decode_data(data: &[u8]) -> Result<Capabilities, FieldError> {
        const FIELD: &str = "version data";
        if data.len() > MAX_DATA {
            return Err(FieldError::new(FIELD, data.len(), format!("at most {MAX_DATA} bytes")));
        }
        let Some((0, text)) = data.split_last() else {
            return Err(FieldError::new(FIELD, "without an end", "a NUL at the end"));
        };
        let wrong = |error| FieldError::new(FIELD, error, "JSON with the capabilities' types");
        // As maps first, for a derived structure may be written as an array, too.
        let data: BTreeMap<String, Value> = serde_json::from_slice(text).map_err(wrong)?;
        let said: BTreeMap<String, Value> = match data.get(CAPABILITIES) {
            Some(said) => Deserialize::deserialize(said).map_err(wrong)?,
            None => return Ok(Capabilities::default()),
        };
        let migration = said.get("migration");
        let qemu = migration.is_some_and(|migration| migration.get("max_bitmap_size").is_some());
        let said = Value::Object(said.into_iter().collect());
        let capabilities: Capabilities = serde_json::from_value(said).map_err(wrong)?;
        let capabilities = Capabilities { qemu, ..capabilities };
        for (field, value) in [
            ("max_msg_fds", capabilities.max_msg_fds),
            ("max_data_xfer_size", capabilities.max_data_xfer_size),
        ] {
            if value == Some(0) {
                return Err(FieldError::new(field, 0, "at least 1"));
            }
        }
        Ok(capabilities)
    }
}
