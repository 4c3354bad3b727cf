// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the bridge takes bursts and their answers.

use super::super::burst::{Burst, BurstKey, ReadBeat, WriteBeat};
use super::super::bursts::{Bursts, Progress};
use super::super::decode::Malformed;
use super::super::decode_burst;
use super::super::outstanding::Channel;
use super::super::{AccessKind, MemoryAccess, MemoryAnswer, MemoryData};
use super::Axi4Subordinate;
use super::report::shared;
use crate::bus::BusError;
use crate::bus::error::BusModelError;
use crate::bus::pins::{ReadAddress, WriteAddress, WriteData};

const BURST_PORT: &str = "the port takes bursts";

impl Axi4Subordinate {
    /// The beats of W of a write that has had no answer yet, in the order of its beats.
    ///
    /// # Panics
    /// When the burst is not outstanding, or a read.
    pub fn write_beats(&self, burst: BurstKey) -> &[WriteBeat] {
        let bursts = self.bursts.as_ref().expect(BURST_PORT);
        let slot = bursts.slot(burst);
        let kind = self.outstanding.entry(slot).access.kind;
        assert!(matches!(kind, AccessKind::WriteBurst(_)), "beats of W of a {kind:?}");
        bursts.written(slot)
    }

    /// Answers one beat of a read with the line that it lies in, or an error. Beats may be answered
    /// in any order; they go out in theirs, from the first that is there.
    ///
    /// # Panics
    /// When the burst is not outstanding, has no such beat, or has an answer to it.
    pub fn answer_beat(&mut self, cycle: u64, burst: BurstKey, beat: u16, outcome: ReadBeat) {
        let bursts = self.bursts.as_mut().expect(BURST_PORT);
        let slot = bursts.slot(burst);
        match bursts.answer(slot, beat, outcome) {
            Progress::None => {}
            Progress::Fed => self.read.feed(slot),
            Progress::First => {
                self.outstanding.answer_burst(slot, None);
                let id = self.outstanding.entry(slot).access.id;
                self.release(cycle, id);
            }
        }
    }

    /// Answers all beats of a read at once.
    ///
    /// # Panics
    /// As [`answer_beat`](Self::answer_beat), and when there are fewer or more of them.
    pub fn answer_read(
        &mut self,
        cycle: u64,
        burst: BurstKey,
        outcomes: impl IntoIterator<Item = ReadBeat>,
    ) {
        let mut beat = 0;
        for outcome in outcomes {
            self.answer_beat(cycle, burst, beat, outcome);
            beat += 1;
        }
        let bursts = self.bursts.as_ref().expect(BURST_PORT);
        let left = bursts.unanswered(bursts.slot(burst));
        assert!(left.is_empty(), "{beat} beats are the answer, beats {left:?} have none");
    }

    /// Answers a write: B, which there is one of for all its beats.
    ///
    /// # Panics
    /// When the burst is not outstanding, is a read, or has an answer.
    pub fn answer_write(&mut self, cycle: u64, burst: BurstKey, outcome: Result<(), BusError>) {
        let slot = self.bursts.as_ref().expect(BURST_PORT).slot(burst);
        let MemoryAccess { id, kind, .. } = self.outstanding.entry(slot).access;
        assert!(matches!(kind, AccessKind::WriteBurst(_)), "answer to a write, which is {kind:?}");
        self.outstanding.answer_burst(slot, Some(outcome));
        self.release(cycle, id);
    }

    /// An owner that knows nothing of bursts answers them with errors.
    pub(super) fn refuse_oldest(&mut self, cycle: u64, answer: &MemoryAnswer) {
        let access = self.outstanding.entry(self.outstanding.unanswered_of(answer.id)).access;
        match (access.kind, answer.outcome) {
            (AccessKind::ReadBurst(burst), Err(error)) => {
                let beats = std::iter::repeat_n(Err(error), usize::from(burst.length));
                self.answer_read(cycle, burst.key, beats);
            }
            (AccessKind::WriteBurst(burst), Err(_) | Ok(MemoryData::Stored)) => {
                self.answer_write(cycle, burst.key, answer.outcome.map(drop));
            }
            _ => panic!("answer {:?} to {access:?}", answer.outcome),
        }
    }

    /// The beat on R was taken; true when it was the last.
    #[inline]
    pub(super) fn hand_over_beat(&mut self, slot: u16) -> bool {
        match self.bursts.as_mut().and_then(|bursts| bursts.hand_over(slot)) {
            None => true,
            Some(can_go) => {
                self.read.go_on(slot, can_go);
                false
            }
        }
    }

    pub(super) fn accept_read_burst(
        &mut self,
        cycle: u64,
        ar: ReadAddress,
    ) -> Result<(), BusModelError> {
        let ReadAddress { arid: id, araddr: address, .. } = ar;
        let checked = decode_burst::read(&ar, &self.limits())
            .and_then(|burst| self.begin(Channel::Read, "arid", id).map(|()| burst));
        let burst =
            checked.map_err(|field| self.broken_address(cycle, "AR", id, address, field))?;
        let slot = self.outstanding.next_slot();
        let kind = AccessKind::ReadBurst(self.of_bursts().insert_read(slot, burst));
        self.accept(MemoryAccess { id, address, kind, accepted_at_cycle: cycle });
        Ok(())
    }

    pub(super) fn accept_burst_address(
        &mut self,
        cycle: u64,
        aw: WriteAddress,
    ) -> Result<(), BusModelError> {
        let WriteAddress { awid: id, awaddr: address, .. } = aw;
        decode_burst::write_address(&aw, &self.limits())
            .and_then(|_| self.begin(Channel::Write, "awid", id))
            .map_err(|field| self.broken_address(cycle, "AW", id, address, field))?;
        self.addresses.push_back((aw, cycle));
        self.note_age(cycle);
        // Beats that came before their address.
        while !self.addresses.is_empty()
            && let Some((w, _)) = self.data.pop_front()
        {
            self.collect(cycle, w)?;
        }
        Ok(())
    }

    pub(super) fn accept_burst_data(
        &mut self,
        cycle: u64,
        w: WriteData,
    ) -> Result<(), BusModelError> {
        if self.addresses.is_empty() {
            self.data.push_back((w, cycle));
            self.note_age(cycle);
            return Ok(());
        }
        self.collect(cycle, w)
    }

    /// Adds a beat to the oldest write whose data are not complete.
    fn collect(&mut self, cycle: u64, w: WriteData) -> Result<(), BusModelError> {
        let (aw, _) = *self.addresses.front().expect("an address");
        let burst = Burst::new(aw.awaddr, u16::from(aw.awlen) + 1, aw.awsize);
        let collected = &mut self.of_bursts().collected;
        let number = collected.len() as u16;
        collected.push(WriteBeat { data: w.wdata, strobe: w.wstrb });
        decode_burst::write_data(&w, &burst, number).map_err(|field| {
            let text = format!("{}, {burst}", (self.config.describe_id)(aw.awid));
            self.violation_of(cycle, "W", Some(text), field)
        })?;
        if w.wlast {
            self.addresses.pop_front();
            let slot = self.outstanding.next_slot();
            let kind = AccessKind::WriteBurst(self.of_bursts().insert_write(slot, burst));
            let (id, address) = (aw.awid, aw.awaddr);
            self.accept(MemoryAccess { id, address, kind, accepted_at_cycle: cycle });
        }
        Ok(())
    }

    /// Takes the id and counts the burst.
    fn begin(&mut self, channel: Channel, field: &'static str, id: u16) -> Result<(), Malformed> {
        self.claim(id, false).map_err(|expected| shared(field, id, expected))?;
        let bursts = self.of_bursts();
        bursts.begin(channel).map_err(|limit| {
            let kind = if channel == Channel::Read { "reads" } else { "writes" };
            shared(field, id, &format!("at most {limit} {kind} outstanding"))
        })
    }

    fn of_bursts(&mut self) -> &mut Bursts {
        self.bursts.as_mut().expect(BURST_PORT)
    }

    fn limits(&self) -> super::super::BurstLimits {
        self.bursts.as_ref().expect(BURST_PORT).limits
    }

    fn broken_address(
        &self,
        cycle: u64,
        letters: &str,
        id: u16,
        address: u64,
        field: Malformed,
    ) -> BusModelError {
        let text = format!("{} at 0x{address:X}", (self.config.describe_id)(id));
        self.violation_of(cycle, letters, Some(text), field)
    }
}
