// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a port that takes bursts knows of them beside the table of outstanding accesses.

use super::super::RESPONSE_OKAY;
use super::super::pins::{Axi4SubordinatePins, DATA_WORDS};
use super::burst::{Burst, BurstKey, ReadBeat, WriteBeat, byte_masks};
use super::config::BurstLimits;
use super::outstanding::{CAPACITY, Channel};
use super::{EMPTY_LANE, ID_BITS};

/// The bursts of one port, by their slot in the table of outstanding accesses.
#[derive(Debug, Clone)]
pub(super) struct Bursts {
    pub limits: BurstLimits,
    slots: Vec<BurstState>,
    /// Bursts that were accepted, to tell apart those that had the same slot.
    accepted: u32,
    /// Reads and writes between their address and their last response.
    reads: u16,
    writes: u16,
    /// Beats of W of the oldest AW whose data are not complete.
    pub collected: Vec<WriteBeat>,
}

/// One burst.
#[derive(Debug, Clone, Default)]
struct BurstState {
    key: BurstKey,
    /// Answers to the beats of a read.
    read: Vec<Option<ReadBeat>>,
    /// Beats of R that were handed over.
    handed: u16,
    /// The next beat may go, and was not answered when that began.
    starved: bool,
    /// Beats of W of a write.
    written: Vec<WriteBeat>,
}

/// What an answer to a beat changes on R.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing yet.
    None,
    /// The first beat is there.
    First,
    /// R has waited for this beat.
    Fed,
}

impl Bursts {
    /// # Panics
    /// When the limits are not those of a port.
    pub fn new(limits: BurstLimits) -> Self {
        let BurstLimits { id_bits, reads, writes } = limits;
        assert!(id_bits <= ID_BITS, "bursts have ids of {id_bits} bits, expected up to 11");
        assert!(reads > 0 && writes > 0, "limits are {reads} reads and {writes} writes, not 0");
        Bursts {
            limits,
            slots: vec![BurstState::default(); CAPACITY],
            accepted: 0,
            reads: 0,
            writes: 0,
            collected: Vec::new(),
        }
    }

    /// Takes up a burst that will have `slot`, and gives it its key.
    pub fn insert_read(&mut self, slot: u16, burst: Burst) -> Burst {
        let burst = self.insert(slot, burst);
        let state = &mut self.slots[usize::from(slot)];
        state.read.clear();
        state.read.resize(usize::from(burst.length), None);
        burst
    }

    /// The same for a write; takes the collected beats.
    pub fn insert_write(&mut self, slot: u16, burst: Burst) -> Burst {
        let burst = self.insert(slot, burst);
        let state = &mut self.slots[usize::from(slot)];
        state.written.clear();
        std::mem::swap(&mut state.written, &mut self.collected);
        burst
    }

    fn insert(&mut self, slot: u16, burst: Burst) -> Burst {
        self.accepted = self.accepted.wrapping_add(1);
        let key = BurstKey(self.accepted << 8 | u32::from(slot));
        let state = &mut self.slots[usize::from(slot)];
        (state.key, state.handed, state.starved) = (key, 0, false);
        Burst { key, ..burst }
    }

    /// The slot of the burst with this key.
    ///
    /// # Panics
    /// When there is none any more.
    pub fn slot(&self, key: BurstKey) -> u16 {
        let slot = key.0 as usize % CAPACITY;
        assert_eq!(self.slots[slot].key, key, "answer to a burst that is not outstanding");
        slot as u16
    }

    pub fn written(&self, slot: u16) -> &[WriteBeat] {
        &self.slots[usize::from(slot)].written
    }

    /// Notes the answer to a beat of a read.
    ///
    /// # Panics
    /// When the beat is not there or has an answer.
    pub fn answer(&mut self, slot: u16, beat: u16, outcome: ReadBeat) -> Progress {
        let state = &mut self.slots[usize::from(slot)];
        let length = state.read.len();
        let answer = state.read.get_mut(usize::from(beat));
        let answer = answer.unwrap_or_else(|| panic!("answer to beat {beat} of {length}"));
        assert!(answer.is_none(), "second answer to beat {beat} of a burst");
        *answer = Some(outcome);
        if beat != state.handed {
            return Progress::None;
        }
        if std::mem::take(&mut state.starved) {
            return Progress::Fed;
        }
        if beat == 0 { Progress::First } else { Progress::None }
    }

    /// Beats of the read that have no answer.
    pub fn unanswered(&self, slot: u16) -> Vec<u16> {
        let read = &self.slots[usize::from(slot)].read;
        (0..).zip(read).filter(|(_, answer)| answer.is_none()).map(|(beat, _)| beat).collect()
    }

    /// How many beats of R were handed over, and whether the next one waits for its answer.
    pub fn handed(&self, slot: u16) -> (u16, bool) {
        let state = &self.slots[usize::from(slot)];
        (state.handed, state.starved)
    }

    /// A beat of R was handed over. Gives whether the next one can go, `None` after the last.
    pub fn hand_over(&mut self, slot: u16) -> Option<bool> {
        let state = &mut self.slots[usize::from(slot)];
        state.handed += 1;
        let next = state.read.get(usize::from(state.handed))?;
        state.starved = next.is_none();
        Some(!state.starved)
    }

    /// Puts the next beat of a read on R.
    pub fn put_read(&self, pins: &mut Axi4SubordinatePins, slot: u16, id: u16, burst: &Burst) {
        let state = &self.slots[usize::from(slot)];
        let outcome = state.read[usize::from(state.handed)].expect("R before the answer");
        pins.rvalid = true;
        pins.rid = id;
        pins.rlast = state.handed + 1 == burst.length;
        (pins.rdata, pins.rresp) = match outcome {
            Ok(line) => (only(&line, burst.beat(state.handed).lanes), RESPONSE_OKAY),
            Err(error) => ([EMPTY_LANE; DATA_WORDS], error.response()),
        };
    }

    /// The burst has had its last response.
    pub fn complete(&mut self, channel: Channel, slot: u16) {
        self.slots[usize::from(slot)].key = BurstKey::default();
        *self.count(channel) -= 1;
    }

    fn count(&mut self, channel: Channel) -> &mut u16 {
        match channel {
            Channel::Read => &mut self.reads,
            Channel::Write => &mut self.writes,
        }
    }

    /// Counts a burst whose address has come, unless that is one more than was promised.
    ///
    /// # Errors
    /// The limit.
    pub fn begin(&mut self, channel: Channel) -> Result<(), u16> {
        let limit = match channel {
            Channel::Read => self.limits.reads,
            Channel::Write => self.limits.writes,
        };
        let count = self.count(channel);
        if *count == limit {
            return Err(limit);
        }
        *count += 1;
        Ok(())
    }
}

/// A line with nothing but these lanes of it.
fn only(line: &[u64; DATA_WORDS], lanes: u64) -> [u64; DATA_WORDS] {
    let masks = byte_masks(lanes);
    std::array::from_fn(|word| line[word] & masks[word] | EMPTY_LANE & !masks[word])
}
