// SPDX-License-Identifier: MIT OR Apache-2.0
//! The expected values of the unit's counters.

use driver::lock_unit::Counters;
use driver::lock_unit::stream::{Code, UnitResponse};
use sim::bus::axi4::AccessKind;

/// The events at the pins, counted as the unit counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    counts: Counters,
    beats: u64,
}

/// The expected values of the unit's counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    /// All but `copies_voided`, of which this is the least.
    pub counters: Counters,
    /// The most that `copies_voided` can be: a beat may void copies of requests that are over, and
    /// of reads that stand inside the unit and were not seen at its pins yet.
    pub most_copies_voided: u64,
}

impl Tally {
    pub fn request(&mut self) {
        self.counts.requests += 1;
    }

    pub fn access(&mut self, kind: AccessKind) {
        *match kind {
            AccessKind::ReadLine { .. } => &mut self.counts.line_reads,
            AccessKind::CompareSwap { .. } => &mut self.counts.compare_and_swaps,
            AccessKind::Store { .. } => &mut self.counts.stores,
            AccessKind::ReadBurst(_) | AccessKind::WriteBurst(_) => {
                unreachable!("the unit's port takes no bursts")
            }
        } += 1;
    }

    pub fn poll_read(&mut self) {
        self.counts.polls_that_read += 1;
    }

    pub fn poll_from_copy(&mut self) {
        self.counts.polls_from_copy += 1;
    }

    pub fn beat(&mut self, voids: bool) {
        self.beats += 1;
        self.counts.copies_voided += u64::from(voids);
    }

    /// Errors count for all requests, the rest not for polls.
    pub fn response(&mut self, response: &UnitResponse, to_poll: bool) {
        let counts = &mut self.counts;
        match response.code {
            Code::BusError => counts.bus_errors += 1,
            Code::NotHeld | Code::TagBusy | Code::NotWaiting | Code::BadRequest => {
                counts.requester_errors += 1;
            }
            _ if to_poll => {}
            Code::Granted => {
                counts.granted += 1;
                counts.granted_again += u64::from(response.again);
            }
            Code::Queued => counts.queued += 1,
            Code::RefusedFull | Code::RefusedBusy | Code::RefusedDie | Code::RefusedContended => {
                counts.refused += 1;
            }
            Code::Released => {
                counts.released += 1;
                counts.handed_over += u64::from(response.transaction.is_some());
            }
            Code::Cancelled => counts.cancelled += 1,
        }
    }

    pub fn counted(&self) -> Counted {
        Counted { counters: self.counts, most_copies_voided: self.beats }
    }
}
