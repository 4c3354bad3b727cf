// SPDX-License-Identifier: MIT OR Apache-2.0
//! Coverage: the situations that runs have reached, so that a suite can show that it reaches all of
//! them.

use std::fmt;

use driver::lock_unit::stream::{Code, UnitResponse};
use sim::bus::axi4::AccessKind;
use sim::bus::test_memory::PerformedAccess;

/// The coverage of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Responses by their code.
    pub responses: [u64; 13],
    /// Bit n: an access of phase n was performed.
    pub phases: u16,
    /// Bit n: an access of phase n failed on the bus.
    pub failed_phases: u16,
    /// Bit n: word n of a line was compared and swapped.
    pub words: u8,
    /// Polls that were answered without an access.
    pub polls_from_copy: u64,
}

/// The phases of `docs/lock-protocol.md`, and Watch.
pub const ALL_PHASES: u16 = 0x1FFF;

impl Coverage {
    /// How many responses had this code.
    pub fn count(&self, code: Code) -> u64 {
        self.responses[code as usize]
    }

    /// Adds what another run has brought about.
    pub fn merge(&mut self, other: &Coverage) {
        for (sum, more) in self.responses.iter_mut().zip(other.responses) {
            *sum += more;
        }
        self.phases |= other.phases;
        self.failed_phases |= other.failed_phases;
        self.words |= other.words;
        self.polls_from_copy += other.polls_from_copy;
    }

    pub(crate) fn response(&mut self, response: &UnitResponse) {
        self.responses[response.code as usize] += 1;
    }

    pub(crate) fn performed(&mut self, performed: &PerformedAccess) {
        let access = performed.access;
        let phase = 1 << (access.id >> 7);
        match performed.outcome {
            Ok(_) => self.phases |= phase,
            Err(_) => self.failed_phases |= phase,
        }
        if let AccessKind::CompareSwap { .. } = access.kind {
            self.words |= 1 << (access.address / 8 % 8);
        }
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { responses, phases, failed_phases, words, polls_from_copy } = self;
        write!(
            f,
            "responses by code {responses:?}, phases {phases:#015b}, failed {failed_phases:#015b}, \
             words {words:#010b}, polls from a copy {polls_from_copy}"
        )
    }
}
