// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bursts in the memory: each beat has its turn, its error and its place in the log.

use super::super::BusError;
use super::super::axi4::{
    AccessKind, Axi4Subordinate, Beat, Burst, ID_COUNT, LINE_BYTES, MemoryAccess, MemoryData,
    ReadBeat, WriteBeat, byte_masks,
};
use super::{TestMemory, Turn, WHOLE};
use crate::bus::pins::DATA_WORDS;
use std::ops::Range;

/// When the beats of a burst have their turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BeatOrder {
    /// All in one cycle: the burst is one snapshot.
    #[default]
    Together,
    /// Each after a latency of its own, none before the one in front of it.
    InOrder,
    /// Each after a latency of its own.
    AnyOrder,
}

/// What a memory has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryStatistics {
    /// Reads, each burst counted once.
    pub reads: u64,
    /// Writes, atomics among them, each burst counted once.
    pub writes: u64,
    /// Beats of reads.
    pub read_beats: u64,
    /// Beats of writes.
    pub write_beats: u64,
    /// Bytes that reads asked for and got.
    pub bytes_read: u64,
    /// Bytes that writes stored.
    pub bytes_written: u64,
    /// Beats that met an error.
    pub errors: u64,
}

/// A beat of a burst that was performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PerformedBeat {
    /// The cycle in which it took effect.
    pub cycle: u64,
    /// The burst.
    pub access: MemoryAccess,
    /// Which of its beats.
    pub beat: Beat,
    /// What it stored, if the burst is a write.
    pub written: Option<WriteBeat>,
    /// The line, after the beat.
    pub outcome: ReadBeat,
}

impl TestMemory {
    /// Accesses that touch one of these ranges of addresses are answered with its error, the first
    /// that fits; of a burst, the beats that touch one.
    pub fn with_failures(
        mut self,
        failures: impl IntoIterator<Item = (Range<u64>, BusError)>,
    ) -> Self {
        self.failures = failures.into_iter().collect();
        self
    }

    /// The beats of bursts have their turns in this order. Bursts of one id and direction follow
    /// each other all the same, as AXI demands.
    pub fn with_beat_order(mut self, order: BeatOrder) -> Self {
        self.beat_order = order;
        self
    }

    /// Keeps a log of the beats of bursts.
    pub fn with_beat_log(mut self) -> Self {
        self.beat_log = Some(Vec::new());
        self
    }

    /// The beats that were performed so far, in order; clears the log.
    pub fn take_beat_log(&mut self) -> Vec<PerformedBeat> {
        self.beat_log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// What was done so far.
    pub fn statistics(&self) -> MemoryStatistics {
        self.statistics
    }

    /// The bytes from `address` on, as another agent loads them; `None` when some are outside the
    /// memory.
    pub fn read_bytes(&self, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let end = address.checked_add(bytes as u64)?;
        (address..end)
            .map(|address| Some((self.load(address)? >> (8 * (address % 8))) as u8))
            .collect()
    }

    /// Another agent's store of bytes from `address` on.
    ///
    /// # Errors
    /// DECERR when some are outside the memory; then nothing is stored.
    pub fn write_bytes(&mut self, address: u64, bytes: &[u8]) -> Result<(), BusError> {
        let bytes_end = address.checked_add(bytes.len() as u64).ok_or(BusError::DecodeError)?;
        for end in [address, bytes_end.saturating_sub(1)] {
            self.load(end).filter(|_| !bytes.is_empty()).ok_or(BusError::DecodeError)?;
        }
        for (address, byte) in (address..).zip(bytes) {
            let lane = address % 8;
            self.store_bytes(address, u64::from(*byte) << (8 * lane), 1 << lane)?;
        }
        Ok(())
    }

    /// Draws the turns of a burst that arrives in `cycle`.
    pub(super) fn draw_turns(&mut self, cycle: u64, slot: usize, burst: Burst) {
        let access = self.waiting[slot].access;
        // Reads and writes of one id have no order.
        let reads = matches!(access.kind, AccessKind::ReadBurst(_));
        let key = usize::from(access.id) + if reads { ID_COUNT } else { 0 };
        let earliest = self.last_turn[key];
        let mut last = earliest;
        if self.beat_order == BeatOrder::Together {
            last = last.max(self.draw_due(cycle));
            self.add_turn(last, slot, WHOLE);
        } else {
            for beat in 0..burst.length {
                let ordered = self.beat_order == BeatOrder::InOrder;
                let due = self.draw_due(cycle).max(if ordered { last } else { earliest });
                last = last.max(due);
                self.add_turn(due, slot, beat);
            }
        }
        self.last_turn[key] = last;
    }

    /// Performs the beats of a turn and answers them; a write once all were performed.
    pub(super) fn answer_burst(
        &mut self,
        cycle: u64,
        bridge: &mut Axi4Subordinate,
        turn: Turn,
        burst: Burst,
    ) {
        let access = self.waiting[turn.slot].access;
        let writes = matches!(access.kind, AccessKind::WriteBurst(_));
        let beats = if turn.beat == WHOLE { 0..burst.length } else { turn.beat..turn.beat + 1 };
        for number in beats {
            let beat = burst.beat(number);
            let written = writes.then(|| bridge.write_beats(burst.key)[usize::from(number)]);
            let outcome = self.perform_beat(cycle, access, beat, written);
            if !writes {
                bridge.answer_beat(cycle, burst.key, number, outcome);
            } else if let Err(error) = outcome {
                self.waiting[turn.slot].error.get_or_insert(error);
            }
        }
        if self.waiting[turn.slot].turns > 0 {
            return;
        }
        if writes {
            let outcome = self.waiting[turn.slot].error.map_or(Ok(()), Err);
            bridge.answer_write(cycle, burst.key, outcome);
        }
        *(if writes { &mut self.statistics.writes } else { &mut self.statistics.reads }) += 1;
    }

    fn perform_beat(
        &mut self,
        cycle: u64,
        access: MemoryAccess,
        beat: Beat,
        written: Option<WriteBeat>,
    ) -> ReadBeat {
        let outcome = match self.injected_error() {
            Some(error) => Err(error),
            None => self.apply_beat(&beat, written),
        };
        self.performed += 1;
        let counts = &mut self.statistics;
        let (beats, bytes, touched) = match written {
            Some(w) => (&mut counts.write_beats, &mut counts.bytes_written, w.strobe.count_ones()),
            None => (&mut counts.read_beats, &mut counts.bytes_read, beat.lanes.count_ones()),
        };
        *beats += 1;
        if outcome.is_ok() {
            *bytes += u64::from(touched);
        } else {
            counts.errors += 1;
        }
        if let Some(log) = &mut self.beat_log {
            log.push(PerformedBeat { cycle, access, beat, written, outcome });
        }
        outcome
    }

    fn apply_beat(&mut self, beat: &Beat, written: Option<WriteBeat>) -> ReadBeat {
        if let Some(error) = self.failure(beat.address, beat.bytes() as u64) {
            return Err(error);
        }
        let (line, _) = self.place(beat.line()).ok_or(BusError::DecodeError)?;
        let Some(WriteBeat { data, strobe }) = written else { return Ok(self.lines[line]) };
        let masks = byte_masks(strobe);
        for word in 0..DATA_WORDS {
            let stored = &mut self.lines[line][word];
            *stored = *stored & !masks[word] | data[word] & masks[word];
        }
        if strobe != 0 {
            self.void_copies(beat.line());
        }
        Ok(self.lines[line])
    }

    /// The error of an access to these bytes.
    pub(super) fn failure(&self, address: u64, bytes: u64) -> Option<BusError> {
        let last = address.saturating_add(bytes - 1);
        let touches = |range: &Range<u64>| range.start <= last && address < range.end;
        self.failures.iter().find(|(range, _)| touches(range)).map(|(_, error)| *error)
    }

    /// Counts an access that is no burst.
    pub(super) fn count(&mut self, access: &MemoryAccess, outcome: &Result<MemoryData, BusError>) {
        let counts = &mut self.statistics;
        let reads = matches!(access.kind, AccessKind::ReadLine { .. });
        let bytes = match (access.kind, outcome) {
            (_, Err(_)) => 0,
            (AccessKind::ReadLine { .. }, _) => LINE_BYTES,
            (AccessKind::Store { strobe, .. }, _) => u64::from(strobe.count_ones()),
            (AccessKind::CompareSwap { expected, .. }, Ok(MemoryData::OldWord(old)))
                if *old == expected =>
            {
                8
            }
            _ => 0,
        };
        counts.errors += u64::from(outcome.is_err());
        if reads {
            (counts.reads, counts.read_beats) = (counts.reads + 1, counts.read_beats + 1);
            counts.bytes_read += bytes;
        } else {
            (counts.writes, counts.write_beats) = (counts.writes + 1, counts.write_beats + 1);
            counts.bytes_written += bytes;
        }
    }
}
