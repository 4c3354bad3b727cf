// SPDX-License-Identifier: MIT OR Apache-2.0
//! The texts of the bridge's faults.

use super::super::decode::Malformed;
use super::super::outstanding::Channel;
use super::super::{AccessKind, MemoryAccess};
use super::Axi4Subordinate;
use crate::bus::error::{BusModelError, ProtocolError, TimeoutError};

/// Holds up a channel on our side.
pub(super) const OWN_STALLS: &str = "the memory port's stalls";

/// Holds up a channel on the other side.
const BLOCK: &str = "the block behind the port";

impl Axi4Subordinate {
    /// What is overdue since cycle `since`, and which side has to act.
    pub(super) fn overdue(&self, since: u64) -> BusModelError {
        let describe = self.config.describe_id;
        let timeout = |letters: &str, waiting: String, holder, except: Option<u16>| TimeoutError {
            channel: format!("{} {letters}", self.config.port),
            waiting,
            cycles: self.config.timeout,
            since,
            holder,
            outstanding: self.identifiers(except),
        };
        let found = self.outstanding.iter().find(|entry| entry.access.accepted_at_cycle == since);
        if let Some(entry) = found {
            let letter = if entry.missing() == Channel::Read { "R" } else { "B" };
            let on_pins = match entry.missing() {
                Channel::Read => self.pins.rvalid,
                Channel::Write => self.pins.bvalid,
            };
            // What is still on the pins after a sample was not taken by the block.
            let beats = self.beats_handed(&entry.access);
            let starved = beats.is_some_and(|(_, starved)| starved);
            let holder = match entry.answered && !starved {
                false => "the memory",
                true if on_pins => BLOCK,
                true => OWN_STALLS,
            };
            let id = entry.access.id;
            let waiting = match (entry.access.kind, beats) {
                (AccessKind::ReadBurst(burst), Some((beats, _))) => {
                    format!("{}, {burst}, unanswered from beat {beats} on", describe(id))
                }
                (AccessKind::WriteBurst(burst), _) => {
                    format!("{}, {burst}, unanswered", describe(id))
                }
                _ => format!("{} unanswered", describe(id)),
            };
            return timeout(letter, waiting, holder, Some(id)).into();
        }
        if let Some((aw, _)) = self.addresses.front() {
            let waiting = match self.bursts.as_ref().map(|bursts| bursts.collected.len()) {
                None | Some(0) => format!("{} without its data", describe(aw.awid)),
                Some(beats) => {
                    let all = u16::from(aw.awlen) + 1;
                    format!("{} with {beats} of its {all} beats of data", describe(aw.awid))
                }
            };
            return timeout("W", waiting, BLOCK, Some(aw.awid)).into();
        }
        timeout("AW", "data without their address".into(), BLOCK, None).into()
    }

    /// Of a read burst: how many beats were taken, and whether the next one waits for the memory.
    fn beats_handed(&self, access: &MemoryAccess) -> Option<(u16, bool)> {
        let AccessKind::ReadBurst(burst) = access.kind else { return None };
        self.bursts.as_ref().map(|bursts| bursts.handed(bursts.slot(burst.key)))
    }

    /// Names of the outstanding ids but one, oldest first.
    fn identifiers(&self, except: Option<u16>) -> Vec<String> {
        let started = self.outstanding.iter().map(|entry| {
            let MemoryAccess { accepted_at_cycle, id, .. } = entry.access;
            (accepted_at_cycle, id)
        });
        let addresses = self.addresses.iter().map(|(aw, since)| (*since, aw.awid));
        let mut all: Vec<(u64, u16)> = started.chain(addresses).collect();
        all.sort_unstable();
        let others = all.iter().filter(|(_, id)| Some(*id) != except);
        others.map(|(_, id)| (self.config.describe_id)(*id)).collect()
    }

    /// A rule of the bus that was broken on the channel with these letters.
    pub(super) fn violation(
        &self,
        cycle: u64,
        letters: &str,
        id: Option<u16>,
        malformed: Malformed,
    ) -> BusModelError {
        self.violation_of(cycle, letters, id.map(self.config.describe_id), malformed)
    }

    /// The same, with all that names the access.
    pub(super) fn violation_of(
        &self,
        cycle: u64,
        letters: &str,
        identifier: Option<String>,
        malformed: Malformed,
    ) -> BusModelError {
        let Malformed { field, value, expected } = malformed;
        ProtocolError {
            channel: format!("{} {letters}", self.config.port),
            field,
            value,
            identifier,
            cycle,
            expected,
        }
        .into()
    }
}

/// An id that may not be used now.
pub(super) fn shared(field: &'static str, id: u16, expected: &str) -> Malformed {
    Malformed { field, value: format!("0x{id:03X}"), expected: expected.into() }
}
