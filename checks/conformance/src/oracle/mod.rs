// SPDX-License-Identifier: MIT OR Apache-2.0
//! The oracle of the lock unit: one pure machine per open request.
//!
//! The oracle receives the events at the unit's pins (a request, a beat, an access, a response) and
//! the answers of memory. It feeds the answers to the machines of `locks`, and so knows the next
//! access and the next response of each tag before the unit makes them. Where the contract leaves
//! the unit a choice, because something inside it can happen a little earlier or later, the oracle
//! allows each order that the pins allow, and no more.
//! Source: `docs/lock-unit.md`, `docs/lock-protocol.md`.

mod context;
mod tally;

use std::collections::VecDeque;

use driver::lock_unit::stream::{Code, TAGS, Tag, UnitOperation, UnitRequest, UnitResponse};
use locks::machine::Answer;
use locks::{Head, Timestamp};
use sim::bus::axi4::{AccessKind, MemoryAccess};
use sim::bus::test_memory::PerformedAccess;

use crate::case::LockTableShape;
use crate::mismatch::{MismatchError, Property};
use context::{Aim, Context, INSPECT, Presence, Stage};

pub(crate) use tally::{Counted, Tally};

/// Cycles within which the unit makes an access or gives a response that it owes.
const OWED_WITHIN: u64 = 1_500;

/// A request as the unit was given it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asked {
    /// Names it for the bench; increases from request to request.
    pub serial: u64,
    pub tag: Tag,
    /// `None`: the timestamp is 0.
    pub transaction: Option<Timestamp>,
    /// `None`: the beat is a bad request.
    pub operation: Option<UnitOperation>,
}

/// The request that a response answers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered {
    pub serial: u64,
    /// The request is over with it.
    pub last: bool,
    /// The waiting acquire that ends with it, of which no response comes.
    pub ends_target: Option<u64>,
}

/// All that is open in the unit.
pub(crate) struct Oracle {
    table: LockTableShape,
    tags: Vec<TagState>,
    tally: Tally,
}

#[derive(Clone, Default)]
struct TagState {
    /// The open request; before it those of which only the last response is on its way.
    contexts: VecDeque<Context>,
    /// Requests that came while the tag was open.
    intruders: VecDeque<(u64, Asked)>,
}

impl Oracle {
    pub fn new(table: LockTableShape) -> Self {
        Self { table, tags: vec![TagState::default(); TAGS], tally: Tally::default() }
    }

    /// The unit took a request.
    pub fn request(&mut self, cycle: u64, asked: Asked) {
        self.tally.request();
        if self.tags[asked.tag.index()].contexts.is_empty() {
            self.open(cycle, asked);
        } else {
            self.tags[asked.tag.index()].intruders.push_back((cycle, asked));
        }
    }

    fn open(&mut self, cycle: u64, asked: Asked) {
        let mut context = Context::new(&self.table, cycle, asked);
        if let Stage::Aiming(aim) = &mut context.stage {
            let target = self.tags[aim.tag.index()].contexts.back();
            aim.target = target.map(|target| target.serial);
        }
        self.tags[asked.tag.index()].contexts.push_back(context);
        self.settle();
    }

    /// The unit took a beat: the copies of this line are void.
    pub fn beat(&mut self, cycle: u64, address: u64) {
        let mut voids = false;
        for context in self.tags.iter_mut().flat_map(|tag| &mut tag.contexts) {
            voids |= context.beat(cycle, address);
        }
        self.tally.beat(voids);
        self.settle();
    }

    /// The unit made an access.
    pub fn access(&mut self, cycle: u64, access: &MemoryAccess) -> Result<(), MismatchError> {
        let tag = Tag::of_id(access.id);
        let found = || describe(access);
        let wrong =
            |expected: String| MismatchError::new(cycle, Property::Access, expected, found());
        let state = &mut self.tags[tag.index()];
        if state.contexts.iter().all(|context| matches!(context.stage, Stage::Over)) {
            let Some((_, intruder)) = state.intruders.pop_front() else {
                return Err(wrong(format!("no access of tag {}", tag.index())));
            };
            self.open(cycle, intruder);
        }
        let context = self.tags[tag.index()].contexts.back_mut().expect("it was opened");
        if let Stage::Aiming(aim) = &context.stage {
            let aim = aim.clone();
            self.hit(cycle, tag, aim, access)?;
        }
        let context = self.tags[tag.index()].contexts.back_mut().expect("it was opened");
        let wanted = context.wanted();
        let made = (access.id >> 7, access.address, access.kind);
        if wanted != Some(made) {
            return Err(wrong(context.describe_wanted()));
        }
        if matches!(context.stage, Stage::Waiting(_)) {
            context.watches(cycle, found)?;
        }
        context.in_flight = true;
        self.tally.access(access.kind);
        self.settle();
        Ok(())
    }

    /// A cancel or a poll goes to its target with the read of the line.
    fn hit(
        &mut self,
        cycle: u64,
        tag: Tag,
        aim: Aim,
        access: &MemoryAccess,
    ) -> Result<(), MismatchError> {
        let asks = self.tags[tag.index()].contexts.back().expect("it aims");
        let (by, is_poll) = (asks.serial, asks.is_poll);
        let wrong = |expected: &str| {
            Err(MismatchError::new(cycle, Property::Access, expected, describe(access)))
        };
        if access.id >> 7 != INSPECT {
            return wrong("the first access of a cancel or poll to be Inspect");
        }
        let Some((line, place)) = aim.found else {
            return wrong("no access of a cancel or poll whose target does not wait");
        };
        if is_poll {
            self.tally.poll_read();
        } else {
            match aim.target.and_then(|serial| self.find_mut(aim.tag, serial)) {
                Some(target) => target.taken(cycle, by, access)?,
                None => return wrong("no cancel of a request that is over"),
            }
        }
        let context = self.tags[tag.index()].contexts.back_mut().expect("it aims");
        context.aimed(line, place, &aim);
        Ok(())
    }

    /// Memory has performed an access of the unit, as `answer` tells.
    pub fn answered(&mut self, cycle: u64, performed: &PerformedAccess) {
        let tag = Tag::of_id(performed.access.id);
        let answer = performed.outcome.map_or(Answer::BusError, Answer::from);
        let context = self.tags[tag.index()].contexts.back_mut().expect("its access was checked");
        context.resume(cycle, answer);
        // The target of a cancel that took it out ends with it.
        if let (Stage::Over, Some((target, serial))) = (&context.stage, context.target) {
            let decided = context.expected.back().expect("a cancel that is over has its response");
            let failed = decided.code == Code::BusError;
            let target = self.find_mut(target, serial).expect("a taken target stays");
            if failed {
                target.given_back(cycle)
            } else {
                target.stage = Stage::Over
            };
        }
        self.settle();
    }

    /// The unit gave a response.
    pub fn response(&mut self, cycle: u64, found: UnitResponse) -> Result<Answered, MismatchError> {
        let state = &mut self.tags[found.tag.index()];
        if found.code == Code::TagBusy
            && let Some((_, intruder)) = state.intruders.pop_front()
        {
            let expected = turned_away(&intruder, Code::TagBusy);
            check_response(cycle, &expected, &found)?;
            self.tally.response(&found, false);
            return Ok(Answered { serial: intruder.serial, last: true, ends_target: None });
        }
        if state.contexts.is_empty()
            && let Some((_, intruder)) = state.intruders.pop_front()
        {
            self.open(cycle, intruder);
        }
        let state = &mut self.tags[found.tag.index()];
        let due = state.contexts.iter().position(|c| !c.expected.is_empty());
        let aiming = state.contexts.iter().position(|c| matches!(c.stage, Stage::Aiming(_)));
        let Some(index) = due.or(aiming) else {
            let expected = match state.contexts.back() {
                Some(context) => format!("no response; rather {}", context.describe_wanted()),
                None => format!("no response to tag {}, which is not open", found.tag.index()),
            };
            return Err(MismatchError::new(cycle, Property::Response, expected, found.to_string()));
        };
        let context = &mut state.contexts[index];
        match context.expected.pop_front() {
            Some(expected) => check_response(cycle, &expected, &found)?,
            None => {
                context.answers_at_once(cycle, &found)?;
                if context.is_poll && found.code != Code::NotWaiting {
                    self.tally.poll_from_copy();
                }
            }
        }
        self.tally.response(&found, context.is_poll);
        let (serial, target) = (context.serial, context.target);
        let last = context.is_poll || found.is_last();
        if last {
            state.contexts.remove(index);
        } else {
            context.told(cycle);
        }
        let ends_target = self.end_of_cancel(cycle, serial, target, &found);
        self.settle();
        Ok(Answered { serial, last, ends_target })
    }

    /// The last response of a cancel is also its target's, or the target waits again.
    fn end_of_cancel(
        &mut self,
        cycle: u64,
        cancel: u64,
        target: Option<(Tag, u64)>,
        found: &UnitResponse,
    ) -> Option<u64> {
        let (tag, serial) = target?;
        if found.code == Code::BusError {
            if let Some(target) = self.find_mut(tag, serial) {
                target.waits_again(cycle, cancel);
            }
            return None;
        }
        self.tags[tag.index()].contexts.retain(|context| context.serial != serial);
        Some(serial)
    }

    /// The overdue response of the unit.
    pub fn check_progress(&self, cycle: u64) -> Result<(), MismatchError> {
        for context in self.tags.iter().flat_map(|tag| &tag.contexts) {
            if let Some(since) = context.owed_since()
                && cycle - since > OWED_WITHIN
            {
                let found = format!("neither in {OWED_WITHIN} cycles since cycle {since}");
                let expected = context.describe_wanted();
                return Err(MismatchError::new(cycle, Property::Progress, expected, found));
            }
        }
        for (since, intruder) in self.tags.iter().flat_map(|tag| &tag.intruders) {
            if cycle - since > OWED_WITHIN {
                let expected =
                    format!("tag {}, which was busy, to be answered", intruder.tag.index());
                let found = format!("no response in {OWED_WITHIN} cycles since cycle {since}");
                return Err(MismatchError::new(cycle, Property::Progress, expected, found));
            }
        }
        Ok(())
    }

    /// No request is open.
    pub fn is_idle(&self) -> bool {
        self.tags.iter().all(|tag| tag.contexts.is_empty() && tag.intruders.is_empty())
    }

    /// The expected values of the unit's counters.
    pub fn counted(&self) -> Counted {
        self.tally.counted()
    }

    fn find_mut(&mut self, tag: Tag, serial: u64) -> Option<&mut Context> {
        self.tags[tag.index()].contexts.iter_mut().find(|context| context.serial == serial)
    }

    /// Something changed: notes for each cancel and poll that was not started yet what its target
    /// may look like when it is.
    fn settle(&mut self) {
        for index in 0..TAGS {
            let Some(context) = self.tags[index].contexts.back() else { continue };
            let Stage::Aiming(aim) = &context.stage else { continue };
            let mut aim = aim.clone();
            let target = self.tags[aim.tag.index()]
                .contexts
                .iter()
                .find(|target| Some(target.serial) == aim.target);
            let presence = match target {
                Some(target) if target.transaction == aim.transaction => {
                    target.presence(self.is_cancelled_before(target.serial, context.serial))
                }
                _ => Presence::No,
            };
            aim.sees(target, presence);
            let context = self.tags[index].contexts.back_mut().expect("it aims");
            context.stage = Stage::Aiming(aim);
        }
    }

    /// Whether a cancel of `target` that came before request `serial` is not started yet.
    fn is_cancelled_before(&self, target: u64, serial: u64) -> bool {
        self.tags.iter().filter_map(|tag| tag.contexts.back()).any(|context| {
            let Stage::Aiming(aim) = &context.stage else { return false };
            !context.is_poll && context.serial < serial && aim.target == Some(target)
        })
    }
}

fn check_response(
    cycle: u64,
    expected: &UnitResponse,
    found: &UnitResponse,
) -> Result<(), MismatchError> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (expected.to_string(), found.to_string());
    Err(MismatchError::new(cycle, Property::Response, expected, found))
}

/// The answer to a request that is not started.
fn turned_away(asked: &Asked, code: Code) -> UnitResponse {
    UnitResponse::plain(asked.tag, code, asked.transaction)
}

/// The request of a good beat.
impl From<(u64, UnitRequest)> for Asked {
    fn from((serial, request): (u64, UnitRequest)) -> Self {
        let UnitRequest { tag, transaction, operation } = request;
        Self { serial, tag, transaction: Some(transaction), operation: Some(operation) }
    }
}

pub(crate) fn describe(access: &MemoryAccess) -> String {
    let MemoryAccess { id, address, kind, .. } = access;
    format!("{}: {}", sim::bus::axi4::describe_lock_unit_id(*id), describe_kind(*address, *kind))
}

fn describe_kind(address: u64, kind: AccessKind) -> String {
    let head = |word: u64| format!("{word:#x} ({:?})", Head::from_word(word));
    match kind {
        AccessKind::ReadBurst(burst) => format!("read {burst}"),
        AccessKind::WriteBurst(burst) => format!("write {burst}"),
        AccessKind::ReadLine { keep_copy: true } => format!("read {address:#x}, copy kept"),
        AccessKind::ReadLine { keep_copy: false } => format!("read {address:#x}"),
        AccessKind::Store { value, strobe } => {
            format!("store {value:#x} at {address:#x}, strobe {strobe:#x}")
        }
        AccessKind::CompareSwap { expected, new } if address.is_multiple_of(64) => {
            format!("compare-and-swap at {address:#x} from {} to {}", head(expected), head(new))
        }
        AccessKind::CompareSwap { expected, new } => {
            format!("compare-and-swap at {address:#x} from {expected:#x} to {new:#x}")
        }
    }
}
