// SPDX-License-Identifier: MIT OR Apache-2.0
//! The answers to a slot's requests, and what it does when all of a step are there.

use super::super::messages::{Header, Kind, Verdict, Version, row, value_bytes};
use super::super::mutant::Mutant;
use super::Burst;
use super::slot::{Ask, Stage, What};
use crate::engine::{Ending, NodeId, Work};
use crate::transact::{Intent, Transactions};
use crate::wire::{Reader, WireError};

impl<T: Transactions> Burst<'_, T> {
    /// Takes an answer, if it is one that is awaited.
    pub(super) fn take_answer(
        &mut self,
        from: NodeId,
        header: Header,
        mut reader: Reader<'_>,
    ) -> Result<(), WireError> {
        let at = usize::from(header.slot);
        if self.core.slots[at].count != header.count || self.core.slots[at].stage == Stage::Free {
            self.dropped().unexpected += 1;
            return Ok(());
        }
        if header.kind == Kind::Log {
            reader.end("the answer to a record")?;
            if self.takes_holder(from, header) {
                return Ok(());
            }
        }
        let asks = &self.core.slots[at].asks;
        let is_of = |ask: &Ask| {
            ask.to == from
                && ask.step == Some(header.step)
                && !ask.is_answered
                && ask.what.kind() == header.kind
        };
        if !asks.iter().any(is_of) {
            self.dropped().unexpected += 1;
            return Ok(());
        }
        self.out.work(Work::Continue, 1);
        // All of it can be read, or none is taken.
        match header.kind {
            Kind::Execute | Kind::Lock => self.take_rows(from, header, reader)?,
            Kind::Validate => {
                let verdict = Verdict::decode(&mut reader)?;
                reader.end("a verdict")?;
                self.take_verdict(header.slot, verdict);
            }
            Kind::Ship => self.take_shipped(header, reader)?,
            _ => reader.end("an answer")?,
        }
        let slot = &mut self.core.slots[at];
        let answered = slot.asks.iter_mut().filter(|ask| is_of(ask));
        let mut number = 0;
        answered.for_each(|ask| {
            ask.is_answered = true;
            number += 1;
        });
        slot.open -= number;
        slot.progress = self.now;
        // What the node has served says that all earlier transactions are over. (It may have a record of this one
        // when it is asked to commit, or to unlock what was not changed.)
        if !matches!(slot.stage, Stage::Log | Stage::Finish) {
            slot.owed.retain(|node| *node != from);
        }
        if slot.open == 0 {
            self.proceed(header.slot);
        }
        Ok(())
    }

    /// Takes the answer of a holder that has no request of this core, or whose answer nobody waits for. Says
    /// whether it was one.
    fn takes_holder(&mut self, from: NodeId, header: Header) -> bool {
        let slot = &mut self.core.slots[usize::from(header.slot)];
        if from == self.core.own && slot.late == Some(header.step) {
            slot.late = None;
            if slot.open == 0 && slot.stage == Stage::Finish {
                self.proceed(header.slot);
            }
            return true;
        }
        let is_of_ship = slot.stage == Stage::Ship
            && slot.shipped.is_some_and(|shipped| shipped.step == header.step);
        if is_of_ship && !slot.holders.contains(&from) {
            self.out.work(Work::Continue, 1);
            slot.holders.push(from);
            slot.progress = self.now;
            self.go_on_when_logged(header.slot);
        }
        is_of_ship
    }

    /// Takes rows, or versions alone.
    fn take_rows(
        &mut self,
        from: NodeId,
        header: Header,
        mut reader: Reader<'_>,
    ) -> Result<(), WireError> {
        let at = usize::from(header.slot);
        let tables = self.fixed.workload.tables();
        let verdict = Verdict::decode(&mut reader)?;
        if verdict != Verdict::Done {
            reader.end("a verdict")?;
            self.take_verdict(header.slot, verdict);
            return Ok(());
        }
        let asks = std::mem::take(&mut self.core.slots[at].asks);
        let is_of = |ask: &&Ask| {
            ask.to == from
                && ask.step == Some(header.step)
                && !ask.is_answered
                && ask.what.kind() == header.kind
        };
        // As in the request: first what is read, then what is locked.
        let of = |what: What| asks.iter().filter(is_of).filter(move |ask| ask.what == what);
        let ordered = || of(What::Read).chain(of(What::Lock)).chain(of(What::LateLock));
        let size = |ask: &Ask| value_bytes(tables, ask.key);
        let mut check = reader;
        let sound = ordered().try_for_each(|ask| match ask.what {
            What::LateLock => Version::decode(&mut check).map(drop),
            _ => row(&mut check, size(ask)).map(drop),
        });
        let sound = sound.and_then(|()| check.end("rows"));
        if sound.is_ok() {
            let mut locks = false;
            for ask in ordered() {
                locks |= ask.what != What::Read;
                if ask.what == What::LateLock {
                    let version = Version::decode(&mut reader)?;
                    if version.number != ask.version {
                        self.core.slots[at].fails(Ending::AbortedByValidation);
                    }
                } else {
                    let (version, value) = row(&mut reader, size(ask))?;
                    let lines = value.map_or(0, |value| value.len().div_ceil(64));
                    self.out.work(Work::CopyLine, lines as u32);
                    self.fetched(header.slot, from, ask, version.number, value);
                }
            }
            let slot = &mut self.core.slots[at];
            slot.reads += 1;
            if locks && !slot.locked.contains(&from) {
                slot.locked.push(from);
            }
        }
        self.core.slots[at].asks = asks;
        sound
    }

    fn fetched(
        &mut self,
        slot: u16,
        from: NodeId,
        Ask { key, intent, .. }: &Ask,
        version: u32,
        value: Option<&[u8]>,
    ) {
        // What another node has read was read before this burst.
        let burst = if from == self.core.own { self.core.burst.0 } else { 0 };
        let slot = &mut self.core.slots[usize::from(slot)];
        // Rounds may find different versions of a row.
        let before = slot.rows.all().iter().find(|row| row.key == *key);
        if before.is_some_and(|row| row.version != u64::from(version)) {
            slot.fails(Ending::AbortedByValidation);
        }
        if *intent == Intent::Read || !self.fixed.settings.combined {
            let first = slot.first_read.0.unwrap_or(burst);
            slot.first_read.0 = Some(first.min(burst));
        }
        slot.rows.fetched(*key, *intent, version.into(), value);
    }

    fn take_verdict(&mut self, slot: u16, verdict: Verdict) {
        let slot = &mut self.core.slots[usize::from(slot)];
        match verdict {
            Verdict::Locked => slot.fails(Ending::AbortedByLock),
            Verdict::Changed => slot.fails(Ending::AbortedByValidation),
            Verdict::Room => slot.fails(Ending::AbortedByRoom),
            Verdict::Refused => slot.fails(Ending::AbortedByMembership),
            Verdict::Done | Verdict::Unchanged | Verdict::RolledBack | Verdict::More => {}
        }
    }

    /// All answers of a step are there.
    pub(super) fn proceed(&mut self, slot: u16) {
        let state = &self.core.slots[usize::from(slot)];
        match (state.stage, state.failure) {
            (Stage::Free | Stage::Host | Stage::Undecided, _) => {}
            (Stage::Execute | Stage::LateLock | Stage::Validate | Stage::ShipOwn, Some(ending)) => {
                self.abort(slot, ending);
            }
            (Stage::Execute, None) if state.local.is_some() => self.compare_local(slot),
            (Stage::Execute, None) if state.input.is_some() => self.think(slot),
            (Stage::Execute, None) => self.send_rows(slot),
            (Stage::LateLock, None) => self.claim_and_validate(slot),
            (Stage::Validate, None) => self.validated(slot),
            (Stage::ShipOwn, None) => self.ship(slot),
            (Stage::Ship, Some(ending)) => {
                if self.has(Mutant::RemoteAbortKeepsLocks) {
                    self.core.slots[usize::from(slot)].locked.clear();
                }
                self.abort(slot, ending);
            }
            (Stage::Ship, None) => self.go_on_when_logged(slot),
            (Stage::Log, _) => self.committed(slot),
            (Stage::Finish, _) if state.late.is_none() => self.free(slot),
            (Stage::Finish, _) => {}
            (Stage::End, _) => self.free(slot),
        }
    }

    /// Sends what is asked, or goes on at once if nothing is.
    pub(super) fn execute(&mut self, slot: u16) {
        let state = &mut self.core.slots[usize::from(slot)];
        // What has failed already is not asked of others.
        if state.failure.is_some() {
            state.asks.clear();
            state.open = 0;
        }
        if state.open == 0 {
            self.proceed(slot);
        } else if self.lacks_steps(slot) || self.exceeds_an_entry(slot) {
            self.dropped().too_large += 1;
            self.core.slots[usize::from(slot)].enter(Stage::Execute);
            self.decide(slot, crate::transact::Decision::RollBack);
        } else {
            self.send(slot);
        }
    }
}
