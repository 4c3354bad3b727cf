// SPDX-License-Identifier: MIT OR Apache-2.0
//! The link between host and device: each direction a first-in first-out pipe with a
//! latency and a rate.

use crate::Time;
use crate::platform::{LinkTiming, Side};

/// One link, both directions.
///
/// What is sent in one direction arrives in the order in which it was sent; the
/// coherence protocol relies on that.
pub struct Link {
    timing: LinkTiming,
    /// When the wire towards the host, and towards the device, is free again.
    free: [Time; 2],
    /// Bytes sent towards the host, and towards the device.
    bytes: [u64; 2],
}

impl Link {
    /// An idle link.
    pub fn new(timing: &LinkTiming) -> Self {
        Link { timing: timing.clone(), free: [Time::ZERO; 2], bytes: [0; 2] }
    }

    /// Sends `payload` bytes towards `side`, in as many packets as they need.
    /// Returns when the last byte is there, and the bytes that went over the wire.
    pub fn send(&mut self, now: Time, towards: Side, payload: u64) -> (Time, u64) {
        let packets = payload.div_ceil(self.timing.max_payload.get().0).max(1);
        let bytes = payload + packets * self.timing.packet_overhead.get().0;
        let latency = match towards {
            Side::Host => self.timing.latency_to_host.get(),
            Side::Device => self.timing.latency_to_device.get(),
        };
        let free = &mut self.free[towards as usize];
        *free = now.max(*free) + self.timing.bandwidth.get().time_for(bytes);
        self.bytes[towards as usize] += bytes;
        (*free + latency, bytes)
    }

    /// Bytes sent towards `side` so far, packet overhead included.
    pub fn bytes_towards(&self, side: Side) -> u64 {
        self.bytes[side as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::Platform;

    #[test]
    fn the_wire_is_shared_and_the_order_kept() {
        let platform = Platform::named("pcie-gen3").expect("valid");
        let mut link = Link::new(&platform.link);
        let wire = |bytes| platform.link.bandwidth.get().time_for(bytes);
        let latency = platform.link.latency_to_host.get();
        // 8 KiB are 32 packets of 256 bytes with 26 bytes each beside.
        let (bulk, bytes) = link.send(Time::ZERO, Side::Host, 8192);
        assert_eq!(bytes, 8192 + 32 * 26);
        assert_eq!(bulk, wire(bytes) + latency);
        // A small message behind it waits for the wire; the other way it does not.
        let (behind, _) = link.send(Time::from_ns(1), Side::Host, 0);
        assert_eq!(behind, wire(bytes) + wire(26) + latency);
        let (across, _) = link.send(Time::from_ns(1), Side::Device, 0);
        assert_eq!(across, Time::from_ns(1) + wire(26) + platform.link.latency_to_device.get());
        assert_eq!(link.bytes_towards(Side::Host), bytes + 26);
    }
}
