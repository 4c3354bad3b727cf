// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the pins say of flushes and events, clock by clock.

use std::collections::BTreeSet;

use sim::bus::pins::{Axi4ManagerPins, Axi4SubordinatePins};

use crate::dut::Events;

#[derive(Default)]
pub struct Watch {
    /// As the pins of requests and memory show it, and as the block tells it.
    seen: Events<u64>,
    told: Events<u64>,
    /// Fetches of which a beat had an error.
    broken: BTreeSet<u16>,
    write_errors: u64,
    /// In the clock before: a flush was wanted; it was at its end.
    wanted: bool,
    flushed: Option<bool>,
    /// Write errors before the flush that is under way.
    errors_before: u64,
}

impl Watch {
    /// Writes that memory has acknowledged without an error.
    pub fn writes(&self) -> u64 {
        self.seen.write_back
    }

    pub fn fetches(&self) -> u64 {
        self.seen.fetch
    }

    /// Counts what happens in this clock, and what the block tells of the one before.
    pub fn count(
        &mut self,
        accepted: bool,
        events: Events,
        block: &Axi4ManagerPins,
        memory: &Axi4SubordinatePins,
    ) {
        let (seen, told) = (&mut self.seen, &mut self.told);
        told.accepted += u64::from(events.accepted);
        told.fetch += u64::from(events.fetch);
        told.write_back += u64::from(events.write_back);
        told.failed += u64::from(events.failed);
        seen.accepted += u64::from(accepted);
        seen.fetch += u64::from(block.arvalid && memory.arready);
        if memory.rvalid && block.rready {
            if memory.rresp >= 2 {
                self.broken.insert(memory.rid);
            }
            seen.failed += u64::from(memory.rlast && self.broken.remove(&memory.rid));
        }
        if memory.bvalid && block.bready {
            let failed = u64::from(memory.bresp >= 2);
            seen.failed += failed;
            seen.write_back += 1 - failed;
            self.write_errors += failed;
        }
    }

    /// What the block told, when nothing has been under way for some clocks.
    pub fn check_events(&self) -> Result<(), String> {
        let Watch { seen, told, .. } = self;
        if seen == told { Ok(()) } else { Err(format!("told {told:?}, expected {seen:?}")) }
    }

    /// Checks the ports of flushes; says with `Some` that one came to its end in this clock, and whether a
    /// write failed.
    pub fn flush(
        &mut self,
        wanted: bool,
        accepted: bool,
        flushed: Option<bool>,
    ) -> Result<Option<bool>, String> {
        let (was_wanted, was_flushed) = (self.wanted, self.flushed);
        (self.wanted, self.flushed) = (wanted, flushed);
        if wanted && !was_wanted {
            self.errors_before = self.write_errors;
        }
        if was_wanted && accepted {
            return Err("a request was accepted in a flush".into());
        }
        if !was_wanted && flushed.is_some() {
            return Err("flushed, and nobody asked for it".into());
        }
        if was_wanted && was_flushed.is_some() && flushed != was_flushed {
            return Err(format!("flushed was {was_flushed:?} and is {flushed:?}"));
        }
        if flushed == Some(true) && self.write_errors == self.errors_before {
            return Err("a flush failed, and no write did".into());
        }
        Ok(flushed.filter(|_| was_flushed.is_none()))
    }
}
