// SPDX-License-Identifier: MIT OR Apache-2.0
//! What messages and verbs are on the wire: packets with the headers of the standard.

/// The kinds of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Packet {
    /// A message by unreliable datagram.
    Datagram,
    /// The request of a READ.
    ReadRequest,
    /// What was read.
    ReadResponse,
    /// A WRITE with its bytes.
    Write,
    /// A compare-and-swap or a fetch-and-add.
    Atomic,
    /// What the word of an atomic held.
    AtomicResponse,
    /// That a WRITE has come, or that a connection is made or given back.
    Acknowledge,
}

/// Bytes of the headers of packets, and how much one packet may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    /// Of the link and the network below the transport, before and behind a packet: for InfiniBand
    /// LRH, ICRC and VCRC; for RoCE Ethernet with preamble and gap, IP, UDP, ICRC and FCS.
    pub link: u64,
    /// Base transport header.
    pub base: u64,
    /// Extended header of a datagram.
    pub datagram: u64,
    /// Extended header of a READ's request and of a WRITE.
    pub remote: u64,
    /// Extended header of an atomic.
    pub atomic: u64,
    /// Extended header of an answer.
    pub answer: u64,
    /// The old value in the answer of an atomic.
    pub held: u64,
    /// The most bytes that a packet may carry.
    pub mtu: u64,
}

impl Framing {
    /// The headers of InfiniBand within a subnet and its largest MTU, for hardware of no platform.
    pub const INFINIBAND: Self = Self {
        link: 14,
        base: 12,
        datagram: 8,
        remote: 16,
        atomic: 28,
        answer: 4,
        held: 8,
        mtu: 4096,
    };

    /// How many packets carry `payload` bytes: at least one.
    pub fn packets(&self, payload: u64) -> u64 {
        // Most are one, without a division.
        if payload <= self.mtu { 1 } else { payload.div_ceil(self.mtu) }
    }

    /// All bytes of a message or verb of this kind with `payload` bytes on the wire. Only the first
    /// packet of a long WRITE and the first and the last of a long answer have the extended header.
    pub fn wire_bytes(&self, packet: Packet, payload: u64) -> u64 {
        let packets = self.packets(payload);
        let extended = match packet {
            Packet::Datagram => self.datagram * packets,
            Packet::ReadRequest | Packet::Write => self.remote,
            Packet::ReadResponse => self.answer * packets.min(2),
            Packet::Atomic => self.atomic,
            Packet::AtomicResponse => self.answer + self.held,
            Packet::Acknowledge => self.answer,
        };
        payload + packets * (self.link + self.base) + extended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_the_sizes_of_the_standard() {
        for (packet, payload, bytes) in [
            (Packet::Datagram, 0, 34),
            (Packet::Datagram, 32, 66),
            (Packet::ReadRequest, 0, 42),
            (Packet::ReadResponse, 32, 62),
            (Packet::ReadResponse, 3 * 4096, 3 * (4096 + 26) + 8),
            (Packet::Write, 8192, 8192 + 2 * 26 + 16),
            (Packet::Atomic, 0, 54),
            (Packet::AtomicResponse, 0, 38),
            (Packet::Acknowledge, 0, 30),
        ] {
            assert_eq!(
                Framing::INFINIBAND.wire_bytes(packet, payload),
                bytes,
                "{packet:?} of {payload} B"
            );
        }
    }
}
