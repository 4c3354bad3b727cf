// SPDX-License-Identifier: MIT OR Apache-2.0
//! The behaviour of the bridge within the limits of the protocol.

use super::super::stall::StallPattern;

/// Stalls of the five channels: of ready on AW, W and AR, of valid on R and B.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Axi4Stalls {
    /// Of `awready`.
    pub write_address: StallPattern,
    /// Of `wready`.
    pub write_data: StallPattern,
    /// Of `arready`.
    pub read_address: StallPattern,
    /// Of `rvalid`.
    pub read_data: StallPattern,
    /// Of `bvalid`.
    pub write_response: StallPattern,
}

impl Axi4Stalls {
    /// The same pattern on all channels, drawn for each by itself.
    pub const fn all(pattern: StallPattern) -> Self {
        Axi4Stalls {
            write_address: pattern,
            write_data: pattern,
            read_address: pattern,
            read_data: pattern,
            write_response: pattern,
        }
    }
}

/// A number of cycles, drawn evenly between two bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Delay {
    /// Least number of cycles.
    pub minimum: u32,
    /// Greatest number of cycles, not below `minimum`.
    pub maximum: u32,
}

/// In which order answers of different ids go back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseOrder {
    /// As they were given by the owner.
    AsAnswered,
    /// Drawn among those that wait. The beats of a burst follow each other.
    Shuffled,
    /// As `Shuffled`, and drawn again for each beat of R, so that bursts of different ids mix.
    Interleaved,
}

/// Which accesses may be outstanding at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdSharing {
    /// One per value of the low `bits` bits of the id (the lock unit's tag: 7).
    OnePer {
        /// Number of low bits of the id that tell accesses apart.
        bits: u32,
    },
    /// Any number per id, but an atomic shares its id with nothing (AMBA 5 AXI,
    /// "ID use for Atomic transactions").
    Several,
}

/// What the manager of a port that takes bursts has promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BurstLimits {
    /// Width of the ids in bits, at most 11.
    pub id_bits: u32,
    /// Most reads between AR and their last R, at least 1. The port itself takes no more than 256
    /// accesses at once.
    pub reads: u16,
    /// Most writes between AW and their B, at least 1.
    pub writes: u16,
}

/// Everything about an [`Axi4Subordinate`](super::Axi4Subordinate).
#[derive(Debug, Clone)]
pub struct Axi4Config {
    /// Name of the port in messages and for the random streams, e.g. "m_axi".
    pub port: String,
    /// Seed of all draws.
    pub seed: u64,
    /// Stalls of each channel.
    pub stalls: Axi4Stalls,
    /// Cycles between the owner's answer and its response on R or B, drawn for each by
    /// itself, beside one cycle that it always takes.
    pub response_delay: Delay,
    /// Order among different ids.
    pub response_order: ResponseOrder,
    /// Cycles after which a handshake is an error, or an access that was accepted and has not had its
    /// last response.
    pub timeout: u64,
    /// The port takes bursts of type INCR and no atomics (`Some`); or reads of one line, stores to
    /// one word and AtomicCompare, as the lock unit and the device make them (`None`).
    pub bursts: Option<BurstLimits>,
    /// Which ids may be outstanding together.
    pub sharing: IdSharing,
    /// The block promises never to lower `rready` and `bready`.
    pub responses_always_taken: bool,
    /// An atomic that fails has its error on R and B (`false`), or on R, on B or on both, by the
    /// cycle of its acceptance (`true`); the other response is then OKAY.
    pub split_atomic_errors: bool,
    /// Names an id in messages.
    pub describe_id: fn(u16) -> String,
}

impl Axi4Config {
    /// The lock unit's port with no stalls and delays of its own: one access per tag,
    /// responses always taken, timeout 10000 cycles.
    pub fn lock_unit(seed: u64) -> Self {
        Axi4Config {
            port: "m_axi".into(),
            seed,
            stalls: Axi4Stalls::default(),
            response_delay: Delay::default(),
            response_order: ResponseOrder::AsAnswered,
            timeout: 10_000,
            bursts: None,
            sharing: IdSharing::OnePer { bits: 7 },
            responses_always_taken: true,
            split_atomic_errors: false,
            describe_id: describe_lock_unit_id,
        }
    }

    /// A port named `port` that takes bursts, with no stalls and delays of its own: ids of 8 bits, 256
    /// reads and writes outstanding, any number per id, timeout 10000 cycles.
    pub fn bursts(port: &str, seed: u64) -> Self {
        Axi4Config {
            port: port.into(),
            bursts: Some(BurstLimits { id_bits: 8, reads: 256, writes: 256 }),
            sharing: IdSharing::Several,
            responses_always_taken: false,
            describe_id,
            ..Axi4Config::lock_unit(seed)
        }
    }
}

/// An id by itself: "id 0x083".
pub fn describe_id(id: u16) -> String {
    format!("id 0x{id:03X}")
}

/// An id of the lock unit: "id 0x083 (phase 1 Look, tag 3)". Source:
/// `docs/lock-unit.md`, "Memory"; the phases are those of `docs/lock-protocol.md`.
pub fn describe_lock_unit_id(id: u16) -> String {
    const PHASES: [&str; 13] = [
        "Take", "Look", "Place", "Register", "Withdraw", "Free", "Survey", "HandOver", "Inspect",
        "Leave", "Clear", "Watch", "Review",
    ];
    let (phase, tag) = (id >> 7, id & 0x7F);
    let name = PHASES.get(usize::from(phase)).unwrap_or(&"unknown");
    format!("id 0x{id:03X} (phase {phase} {name}, tag {tag})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use locks::machine::Phase;

    #[test]
    fn the_phases_are_named_as_in_the_machine() {
        let phases = [
            Phase::Take,
            Phase::Look,
            Phase::Place,
            Phase::Register,
            Phase::Withdraw,
            Phase::Free,
            Phase::Survey,
            Phase::HandOver,
            Phase::Inspect,
            Phase::Leave,
            Phase::Clear,
            Phase::Review,
        ];
        for phase in phases {
            let id = (phase as u16) << 7 | 3;
            let text = format!("id 0x{id:03X} (phase {} {phase:?}, tag 3)", phase as u8);
            assert_eq!(describe_lock_unit_id(id), text);
        }
        assert_eq!(describe_lock_unit_id(0x5FF), "id 0x5FF (phase 11 Watch, tag 127)");
        assert_eq!(describe_lock_unit_id(0x680), "id 0x680 (phase 13 unknown, tag 0)");
    }
}
