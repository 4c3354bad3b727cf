// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bulk transfers between device and host memory that are not coherent: what the
//! device has to do over PCIe, for the comparison with coherent lines.
//!
//! Timed only: no data is carried, and no cache is asked. Keeping the copy right is
//! software's task, as the ccSLT paper says (section 2.1).

use crate::Time;
use crate::link::Link;
use crate::platform::{DmaTiming, Platform, Side};

/// A DMA engine on the device.
pub struct DmaEngine {
    timing: DmaTiming,
    link: Link,
}

/// How a transfer went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// When the engine was started.
    pub issued: Time,
    /// When the last byte was where it should be.
    pub completed: Time,
    /// Bytes on the link in both directions.
    pub link_bytes: u64,
}

impl DmaEngine {
    /// The idle engine of `platform`, or `None` when that has no DMA.
    pub fn new(platform: &Platform) -> Option<Self> {
        let timing = platform.dma.clone()?;
        Some(DmaEngine { timing, link: Link::new(&platform.link) })
    }

    /// Reads `bytes` of host memory into the device. Calls come in the order of `now`.
    pub fn read(&mut self, now: Time, bytes: u64) -> Transfer {
        let started = now + self.timing.setup.get();
        let (at_host, request) = self.link.send(started, Side::Host, 0);
        let fetched = at_host + self.timing.memory_access.get();
        let (completed, data) = self.link.send(fetched, Side::Device, bytes);
        Transfer { issued: now, completed, link_bytes: request + data }
    }

    /// Writes `bytes` from the device to host memory. Posted: complete when in memory,
    /// without an answer. Calls come in the order of `now`.
    pub fn write(&mut self, now: Time, bytes: u64) -> Transfer {
        let started = now + self.timing.setup.get();
        let (at_host, link_bytes) = self.link.send(started, Side::Host, bytes);
        let completed = at_host + self.timing.memory_access.get();
        Transfer { issued: now, completed, link_bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_read_adds_the_time_on_the_wire() {
        let platform = Platform::named("pcie-gen3").expect("valid");
        let mut engine = DmaEngine::new(&platform).expect("has DMA");
        let small = engine.read(Time::ZERO, 64);
        let later = Time::from_us(10);
        let large = engine.read(later, 8192);
        let wire = platform.link.bandwidth.get();
        let difference = (large.completed - later) - (small.completed - Time::ZERO);
        assert_eq!(difference, wire.time_for(8192 + 32 * 26) - wire.time_for(64 + 26));
        assert_eq!(small.link_bytes, 26 + 64 + 26);
    }

    #[test]
    fn a_coherent_platform_has_none() {
        let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
        assert!(DmaEngine::new(&platform).is_none());
    }
}
