// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slot of a NIC: PCIe packets in two directions, as arithmetic on the times at which they are free.

use timing::Time;

use super::smart_timing::SmartTiming;

/// A link of PCIe.
///
/// Each call is made with the present time and occupies the link from then on, in the order of calls.
/// Latencies are the caller's, so that a round trip, such as of a read, holds nothing occupied that others
/// could use.
#[derive(Clone, Debug)]
pub struct Pcie {
    bytes_per_second: u64,
    payload: u64,
    read_request: u64,
    write_header: u64,
    request_header: u64,
    completion_header: u64,
    /// Towards the host, and towards the NIC.
    directions: [Direction; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Direction {
    free: Time,
    busy: Time,
    bytes: u64,
}

/// When a transfer has the link, latencies apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transit {
    /// When it begins; for a read, of what begins last.
    pub begins: Time,
    /// When its last byte is sent.
    pub ends: Time,
}

/// Towards what a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    /// The host.
    Host,
    /// The NIC.
    Nic,
}

impl Pcie {
    /// An idle one.
    pub fn new(timing: &SmartTiming) -> Self {
        let pcie = &timing.network.pcie;
        let left = 1_000_000 - pcie.link_layer.get().millionths();
        let raw = u128::from(timing.link.bandwidth.get().bytes_per_second());
        Self {
            // A share of what fitted 64 bits; at least one, as the whole was above 0.
            bytes_per_second: ((raw * u128::from(left) / 1_000_000) as u64).max(1),
            payload: timing.link.max_payload.get().0.max(1),
            read_request: pcie.read_request.get().0,
            write_header: pcie.write_header.get().0,
            request_header: pcie.request_header.get().0,
            completion_header: pcie.completion_header.get().0,
            directions: [Direction::default(); 2],
        }
    }

    /// Bytes a second that are left to packets, headers included.
    pub fn bytes_per_second(&self) -> u64 {
        self.bytes_per_second
    }

    /// One side writes `bytes` into the other's memory.
    pub fn write(&mut self, now: Time, towards: Towards, bytes: u64) -> Transit {
        let packets = bytes.div_ceil(self.payload).max(1);
        self.occupy(now, towards, bytes + packets * self.write_header)
    }

    /// The NIC reads `bytes` of the host's memory: requests towards the host, completions back.
    pub fn read(&mut self, now: Time, bytes: u64) -> Transit {
        let requests = bytes.div_ceil(self.read_request).max(1);
        let asking = self.occupy(now, Towards::Host, requests * self.request_header);
        let completions = bytes.div_ceil(self.payload).max(1);
        let answer = bytes + completions * self.completion_header;
        let answering = self.occupy(now, Towards::Nic, answer);
        Transit {
            begins: asking.begins.max(answering.begins),
            ends: asking.ends.max(answering.ends),
        }
    }

    fn occupy(&mut self, now: Time, towards: Towards, bytes: u64) -> Transit {
        let picoseconds = u128::from(bytes) * 1_000_000_000_000;
        let length = picoseconds.div_ceil(u128::from(self.bytes_per_second));
        let length = Time::from_ps(u64::try_from(length).unwrap_or(u64::MAX / 4));
        let direction = &mut self.directions[towards as usize];
        let begins = now.max(direction.free);
        direction.free = begins + length;
        direction.busy += length;
        direction.bytes += bytes;
        Transit { begins, ends: direction.free }
    }

    /// How long the direction has been busy until `now`.
    pub fn busy(&self, towards: Towards, now: Time) -> Time {
        let direction = &self.directions[towards as usize];
        direction.busy.saturating_sub(direction.free.saturating_sub(now))
    }

    /// Bytes that went in the direction since the start, headers included.
    pub fn bytes(&self, towards: Towards) -> u64 {
        self.directions[towards as usize].bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pcie() -> Pcie {
        Pcie::new(&SmartTiming::usual().expect("valid"))
    }

    #[test]
    fn packets_have_the_headers_of_the_standard() {
        let mut pcie = pcie();
        // 57.88 Gb/s, as the publication has it, are left of 8 lanes.
        let gigabits = pcie.bytes_per_second() as f64 * 8e-9;
        assert!((57.8..58.0).contains(&gigabits), "{gigabits}");
        pcie.write(Time::ZERO, Towards::Host, 300);
        assert_eq!(pcie.bytes(Towards::Host), 300 + 2 * 24);
        assert_eq!(pcie.bytes(Towards::Nic), 0);
        pcie.read(Time::ZERO, 1_000);
        assert_eq!(pcie.bytes(Towards::Host), 348 + 2 * 24, "a request asks for 512 bytes");
        assert_eq!(pcie.bytes(Towards::Nic), 1_000 + 4 * 20);
        pcie.write(Time::ZERO, Towards::Nic, 0);
        assert_eq!(pcie.bytes(Towards::Nic), 1_080 + 24);
    }

    #[test]
    fn a_transfer_waits_for_those_before_it_in_its_direction() {
        let mut pcie = pcie();
        let first = pcie.write(Time::ZERO, Towards::Host, 4096);
        assert_eq!(first.begins, Time::ZERO);
        assert_eq!(pcie.busy(Towards::Host, Time::from_ns(100)), Time::from_ns(100));
        let length = 1e9 * (4096.0 + 16.0 * 24.0) / pcie.bytes_per_second() as f64;
        assert!((first.ends.as_ns_f64() - length).abs() < 0.01, "{first:?}");
        let now = Time::from_ns(100);
        assert_eq!(pcie.write(now, Towards::Host, 16).begins, first.ends);
        assert_eq!(pcie.write(now, Towards::Nic, 16).begins, now);
        assert_eq!(pcie.write(Time::from_us(9), Towards::Host, 16).begins, Time::from_us(9));
        assert!(pcie.busy(Towards::Host, Time::from_us(10)) > first.ends);
    }
}
