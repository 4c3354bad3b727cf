// SPDX-License-Identifier: MIT OR Apache-2.0
//! What is mapped for a device behind address translation, and where.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::iova::Addresses;
use crate::{DeviceError, HostMemory};

/// Memory by device address. It stays alive as long as the device may reach it.
pub struct Mappings {
    addresses: Addresses,
    mapped: BTreeMap<u64, Arc<HostMemory>>,
}

impl Mappings {
    /// Nothing is mapped; device addresses may come from `usable`.
    pub fn new(usable: impl IntoIterator<Item = RangeInclusive<u64>>) -> Self {
        Mappings { addresses: Addresses::new(usable), mapped: BTreeMap::new() }
    }

    /// Finds an address for `memory`, and has `work` map it there.
    pub fn map(
        &mut self,
        memory: &Arc<HostMemory>,
        work: impl FnOnce(u64) -> Result<(), DeviceError>,
    ) -> Result<u64, DeviceError> {
        let bytes = memory.bytes() as u64;
        let alignment = memory.page_bytes() as u64;
        let address =
            self.addresses.allocate(bytes, alignment).ok_or_else(|| DeviceError::Refused {
                attempted: format!("map {bytes} bytes"),
                reason: "no device addresses are left".into(),
            })?;
        match work(address) {
            Ok(()) => {
                self.mapped.insert(address, memory.clone());
                Ok(address)
            }
            Err(error) => {
                self.addresses.free(address);
                Err(error)
            }
        }
    }

    /// Has `work` take the memory at an address away. If it fails the memory is kept, for the device
    /// may still reach it.
    pub fn unmap(
        &mut self,
        address: u64,
        work: impl FnOnce(&HostMemory) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let memory = self.mapped.get(&address).ok_or(DeviceError::OutOfRange {
            field: "device address",
            value: address,
            expected: "the first of a mapping".into(),
        })?;
        work(memory)?;
        self.mapped.remove(&address);
        self.addresses.free(address);
        Ok(())
    }
}
