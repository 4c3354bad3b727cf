// SPDX-License-Identifier: MIT OR Apache-2.0
//! One open request of the unit.

use std::collections::VecDeque;

use driver::lock_unit::stream::{Code, Tag, UnitOperation, UnitResponse};
use locks::machine::{Access, Answer, Bounds, Machine, Outcome, Phase, Place, Refusal, Request};
use locks::{Head, Ring, Timestamp};
use sim::bus::axi4::{AccessKind, MemoryAccess};

use super::{Asked, describe_kind, turned_away};
use crate::case::LockTableShape;
use crate::mismatch::{MismatchError, Property};

pub(super) const INSPECT: u16 = Phase::Inspect as u16;
/// The unit's own phase: a waiter reads its line.
const WATCH: u16 = 11;

/// One open request.
#[derive(Clone, Debug)]
pub(super) struct Context {
    pub serial: u64,
    pub tag: Tag,
    /// `None`: the timestamp is 0.
    pub transaction: Option<Timestamp>,
    /// Byte address of its line.
    pub line: u64,
    pub is_poll: bool,
    /// Where it waits or has waited.
    place: Option<Place>,
    /// Of a cancel: whom it has taken out of the waiters.
    pub target: Option<(Tag, u64)>,
    pub stage: Stage,
    /// It has an access outstanding.
    pub in_flight: bool,
    /// Responses that are due, in this order.
    pub expected: VecDeque<UnitResponse>,
    /// When it last changed.
    since: u64,
}

/// How far a request is.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// A cancel or poll that was not started yet.
    Aiming(Aim),
    /// An acquire, release or cancel goes from access to access.
    Running(Machine),
    /// A poll reads the line.
    Polling(Place),
    /// An acquire waits in the queue.
    Waiting(Waiter),
    /// Only its response is due.
    Over,
}

/// What a cancel or poll will find. It is started at some time between its handshake and what is
/// seen of it next; both flags collect what its target may have looked like at any such time.
#[derive(Clone, Debug)]
pub(super) struct Aim {
    pub tag: Tag,
    /// The request that was open under the tag.
    pub target: Option<u64>,
    pub transaction: Option<Timestamp>,
    pub may_wait: bool,
    pub may_not_wait: bool,
    /// Line and place of the target.
    pub found: Option<(u64, Place)>,
    /// Valid copies of word 0 that the target has had.
    copies: Vec<Head>,
}

impl Aim {
    /// The target may look like this when the cancel or poll is started.
    pub fn sees(&mut self, target: Option<&Context>, presence: Presence) {
        self.may_wait |= presence != Presence::No;
        self.may_not_wait |= presence != Presence::Yes;
        let Some(target) = target.filter(|_| presence != Presence::No) else { return };
        self.found = target.place.map(|place| (target.line, place));
        if let Some(head) = target.copy()
            && !self.copies.contains(&head)
        {
            self.copies.push(head);
        }
    }
}

/// An acquire that waits: after each beat it looks at its line as software's poll does.
#[derive(Clone, Debug)]
pub(super) struct Waiter {
    place: Place,
    machine: Machine,
    /// The *queued* response was handed over.
    told: bool,
    /// The line as it was answered says that the wait is over.
    ended: bool,
    /// The cancel that is at it.
    taken: Option<u64>,
    /// Whose failure it is, a cancel's or its own to leave, that it waits again, and may not yet be
    /// seen to.
    given_back: Option<u64>,
    /// Its valid copy of word 0.
    copy: Option<Head>,
    /// A beat came while the line was being read.
    voided_in_flight: bool,
    /// A beat came while a read of the line may have stood inside the unit: from then on a copy may
    /// be void already.
    unsure: bool,
    /// How often it may still read its line: once, and once for each beat.
    reads_left: u64,
}

/// Whether a request is in the queue, as far as is visible from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    No,
    Maybe,
    Yes,
}

impl Context {
    pub fn new(table: &LockTableShape, cycle: u64, asked: Asked) -> Self {
        let Asked { serial, tag, transaction, operation } = asked;
        let mut context = Self {
            serial,
            tag,
            transaction,
            line: 0,
            is_poll: matches!(operation, Some(UnitOperation::Poll(_))),
            place: None,
            target: None,
            stage: Stage::Over,
            in_flight: false,
            expected: VecDeque::new(),
            since: cycle,
        };
        let (Some(transaction), Some(operation)) = (transaction, operation) else {
            context.expected.push_back(turned_away(&asked, Code::BadRequest));
            return context;
        };
        let start = |request| Stage::Running(Machine::new(transaction, request, Bounds::BUCKET));
        let (key, request) = match operation {
            UnitOperation::Acquire(key, rule) => (key, Request::Acquire(rule)),
            UnitOperation::Release(key) => (key, Request::Release),
            UnitOperation::Cancel(target) | UnitOperation::Poll(target) => {
                context.stage = Stage::Aiming(Aim {
                    tag: target,
                    target: None,
                    transaction: Some(transaction),
                    may_wait: false,
                    may_not_wait: false,
                    found: None,
                    copies: Vec::new(),
                });
                return context;
            }
        };
        context.line = table.address(table.line_of(key));
        context.stage = start(request);
        context
    }

    /// The next access: phase, byte address and kind.
    pub fn wanted(&self) -> Option<(u16, u64, AccessKind)> {
        if self.in_flight {
            return None;
        }
        let read = |keep_copy| AccessKind::ReadLine { keep_copy };
        let of_machine = |machine: &Machine| {
            let (offset, kind) = match machine.access() {
                Access::LoadHead | Access::ReadLine => (0, read(false)),
                Access::CompareSwap { word, expected, new } => {
                    (u64::from(word), AccessKind::CompareSwap { expected, new })
                }
                Access::Clear(slot) => {
                    (u64::from(slot.get()), AccessKind::Store { value: 0, strobe: 0xFF })
                }
            };
            (machine.phase() as u16, self.line + 8 * offset, kind)
        };
        match &self.stage {
            Stage::Running(machine) => Some(of_machine(machine)),
            Stage::Polling(_) => Some((INSPECT, self.line, read(false))),
            Stage::Waiting(waiter) if waiter.taken.is_some() => None,
            Stage::Waiting(waiter) if waiter.ended => Some(of_machine(&waiter.machine)),
            Stage::Waiting(_) => Some((WATCH, self.line, read(true))),
            Stage::Aiming(_) | Stage::Over => None,
        }
    }

    pub fn describe_wanted(&self) -> String {
        let who = match self.transaction {
            Some(transaction) => format!("tag {} of T{transaction}", self.tag.index()),
            None => format!("tag {}", self.tag.index()),
        };
        if let Some(response) = self.expected.front() {
            return format!("of {who} the response {response}");
        }
        if let Some((phase, address, kind)) = self.wanted() {
            let id = phase << 7 | self.tag.index() as u16;
            let id = sim::bus::axi4::describe_lock_unit_id(id);
            return format!("of {who} {id}: {}", describe_kind(address, kind));
        }
        match &self.stage {
            Stage::Aiming(aim) => format!(
                "{who} to start on tag {}{}",
                aim.tag.index(),
                if aim.may_wait { "" } else { ", which does not wait" }
            ),
            _ if self.in_flight => format!("nothing of {who} before its access is answered"),
            _ => format!("nothing of {who}"),
        }
    }

    /// A cancel or poll has found its target, which waits in `place`.
    pub fn aimed(&mut self, line: u64, place: Place, aim: &Aim) {
        self.line = line;
        let transaction = aim.transaction.expect("an aim has a transaction");
        self.stage = if self.is_poll {
            Stage::Polling(place)
        } else {
            self.target = aim.target.map(|serial| (aim.tag, serial));
            Stage::Running(Machine::new(transaction, Request::Cancel(place), Bounds::BUCKET))
        };
    }

    /// Memory answers its access.
    pub fn resume(&mut self, cycle: u64, answer: Answer) {
        self.in_flight = false;
        self.since = cycle;
        match &mut self.stage {
            Stage::Running(machine) => {
                let answer = as_asked(machine, answer);
                if let Some(outcome) = machine.resume(answer) {
                    self.ends(outcome);
                }
            }
            Stage::Polling(place) => {
                let ending = match answer {
                    Answer::Line(line) => poll_ending(
                        Head::from_word(line[0]),
                        self.transaction.expect("a poll has a transaction"),
                        *place,
                    ),
                    _ => (Code::BusError, 0),
                };
                self.expect(ending, false, self.transaction);
                self.stage = Stage::Over;
            }
            Stage::Waiting(waiter) => {
                let answer = as_asked(&waiter.machine, answer);
                if let (Answer::Word(head), Phase::Inspect) = (answer, waiter.machine.phase()) {
                    waiter.copy = Some(Head::from_word(head)).filter(|_| !waiter.voided_in_flight);
                }
                match waiter.machine.resume(answer) {
                    None => waiter.ended = true,
                    // It was about to leave, as its transaction held the lock, and does no more.
                    Some(Outcome::Queued { .. }) if waiter.ended => self.given_back(cycle),
                    Some(Outcome::Queued { .. }) => waiter.look_again(),
                    Some(outcome) => self.ends(outcome),
                }
            }
            Stage::Aiming(_) | Stage::Over => unreachable!("no access of it was let pass"),
        }
    }

    /// A machine has come to its end.
    fn ends(&mut self, outcome: Outcome) {
        let own = self.transaction;
        let waited = matches!(self.stage, Stage::Waiting(_));
        self.stage = Stage::Over;
        let mut again_ = false;
        let (ending, transaction) = match outcome {
            Outcome::Granted { again } => {
                again_ = again;
                ((Code::Granted, 0), own)
            }
            Outcome::Queued { place, position } => {
                let transaction = own.expect("a waiter has a transaction");
                self.place = Some(place);
                self.stage = Stage::Waiting(Waiter::new(transaction, place));
                ((Code::Queued, position), own)
            }
            Outcome::Refused(refusal) => ((refused(refusal), 0), own),
            Outcome::Released { next } => ((Code::Released, 0), next),
            Outcome::Cancelled => ((Code::Cancelled, 0), own),
            Outcome::NotHeld => ((Code::NotHeld, 0), own),
            Outcome::BusError => ((Code::BusError, 0), own),
        };
        self.expect(ending, again_, transaction);
        self.expected.back_mut().expect("just pushed").notice = waited;
    }

    fn expect(
        &mut self,
        (code, position): (Code, u8),
        again: bool,
        transaction: Option<Timestamp>,
    ) {
        let plain = UnitResponse::plain(self.tag, code, transaction);
        self.expected.push_back(UnitResponse { again, position, ..plain });
    }

    /// A beat came for the line at `address`. True when it surely voids a copy.
    pub fn beat(&mut self, cycle: u64, address: u64) -> bool {
        let same_line = self.line == address & !63;
        let in_flight = self.in_flight;
        let Stage::Waiting(waiter) = &mut self.stage else { return false };
        // Beats of other lines may void it too: `docs/lock-unit.md`, "Copies".
        waiter.reads_left += 1;
        let reading = in_flight && !waiter.ended;
        let valid = waiter.copy.is_some() || reading && !waiter.voided_in_flight;
        let surely = valid && same_line && !waiter.unsure;
        waiter.unsure |= !valid || !same_line;
        if same_line {
            waiter.copy = None;
            waiter.voided_in_flight |= reading;
        }
        if valid && same_line {
            self.since = self.since.max(cycle);
        }
        surely
    }

    /// A waiter reads its line.
    pub fn watches(&mut self, cycle: u64, found: impl Fn() -> String) -> Result<(), MismatchError> {
        let Stage::Waiting(waiter) = &mut self.stage else { unreachable!("only waiters watch") };
        if waiter.ended {
            return Ok(());
        }
        if waiter.reads_left == 0 {
            let expected = "one read of the line, and one more for each beat";
            return Err(MismatchError::new(cycle, Property::Copy, expected, found()));
        }
        waiter.reads_left -= 1;
        waiter.copy = None;
        waiter.voided_in_flight = false;
        waiter.given_back = None;
        Ok(())
    }

    /// A cancel has started, with this access, on this waiter.
    pub fn taken(
        &mut self,
        cycle: u64,
        by: u64,
        access: &MemoryAccess,
    ) -> Result<(), MismatchError> {
        match &mut self.stage {
            Stage::Waiting(w) if !self.in_flight && !w.ended && w.taken.is_none() => {
                w.taken = Some(by);
                Ok(())
            }
            _ => {
                let expected =
                    "no cancel of a request whose line is being read or whose end was seen";
                let found = super::describe(access);
                Err(MismatchError::new(cycle, Property::Access, expected, found))
            }
        }
    }

    /// It waits again: the cancel that took it has failed, or its own leaving.
    pub fn given_back(&mut self, cycle: u64) {
        let transaction = self.transaction.expect("a waiter has a transaction");
        let serial = self.serial;
        let Stage::Waiting(waiter) = &mut self.stage else { unreachable!("it was taken") };
        let (told, given_back) = (waiter.told, waiter.taken.or(Some(serial)));
        *waiter = Waiter { told, given_back, ..Waiter::new(transaction, waiter.place) };
        self.since = cycle;
    }

    /// The response of that cancel was handed over.
    pub fn waits_again(&mut self, cycle: u64, by: u64) {
        if let Stage::Waiting(waiter) = &mut self.stage
            && waiter.given_back == Some(by)
        {
            waiter.given_back = None;
        }
        self.since = cycle;
    }

    /// The *queued* response was handed over.
    pub fn told(&mut self, cycle: u64) {
        if let Stage::Waiting(waiter) = &mut self.stage {
            waiter.told = true;
        }
        self.since = self.since.max(cycle);
    }

    /// Its valid copy of word 0.
    pub fn copy(&self) -> Option<Head> {
        match &self.stage {
            Stage::Waiting(waiter) if waiter.taken.is_none() && !waiter.ended => waiter.copy,
            _ => None,
        }
    }

    /// Whether it waits, as a cancel or poll would find it; `contested` when an earlier cancel of
    /// it may have started unseen.
    pub fn presence(&self, contested: bool) -> Presence {
        let Stage::Waiting(waiter) = &self.stage else {
            // Its end was answered, and may not have reached the unit.
            let ends = self.place.is_some() && !self.expected.is_empty();
            return if ends { Presence::Maybe } else { Presence::No };
        };
        let sure = waiter.told && !waiter.ended && waiter.given_back.is_none() && !contested;
        match waiter.taken {
            Some(_) => Presence::No,
            None if waiter.ended && self.in_flight => Presence::No,
            None if sure => Presence::Yes,
            None => Presence::Maybe,
        }
    }

    /// A response comes for a cancel or poll that was not seen to start.
    pub fn answers_at_once(
        &mut self,
        cycle: u64,
        found: &UnitResponse,
    ) -> Result<(), MismatchError> {
        let Stage::Aiming(aim) = &self.stage else {
            unreachable!("only aims are answered at once")
        };
        let wrong = |property, expected: String| {
            Err(MismatchError::new(cycle, property, expected, found.to_string()))
        };
        let plain = |code| UnitResponse::plain(self.tag, code, self.transaction);
        if *found == plain(Code::NotWaiting) {
            return match aim.may_not_wait {
                true => Ok(()),
                false => wrong(Property::Response, format!("tag {} waits", aim.tag.index())),
            };
        }
        if !self.is_poll || !aim.may_wait {
            return wrong(Property::Response, self.describe_wanted());
        }
        let (_, target) = aim.found.expect("a target that may wait has a place");
        let transaction = self.transaction.expect("a poll has a transaction");
        let told = |head: &Head| {
            let (code, position) = poll_ending(*head, transaction, target);
            UnitResponse { position, ..plain(code) } == *found
        };
        if aim.copies.iter().any(told) {
            return Ok(());
        }
        let copies = match aim.copies.as_slice() {
            [] => "a read of the line, as no copy is valid".to_owned(),
            copies => format!("an answer from a valid copy, {copies:?}"),
        };
        wrong(Property::Copy, copies)
    }

    /// Since when the unit owes an access or a response of this request.
    pub fn owed_since(&self) -> Option<u64> {
        let owes = match &self.stage {
            _ if self.in_flight => false,
            Stage::Waiting(waiter) => {
                !self.expected.is_empty() || waiter.taken.is_none() && waiter.copy.is_none()
            }
            Stage::Over => !self.expected.is_empty(),
            Stage::Aiming(_) | Stage::Running(_) | Stage::Polling(_) => true,
        };
        owes.then_some(self.since)
    }
}

impl Waiter {
    fn new(transaction: Timestamp, place: Place) -> Self {
        Self {
            place,
            machine: Machine::new(transaction, Request::Poll(place), Bounds::BUCKET),
            told: false,
            ended: false,
            taken: None,
            given_back: None,
            copy: None,
            voided_in_flight: false,
            unsure: false,
            reads_left: 1,
        }
    }

    fn look_again(&mut self) {
        let (transaction, request) = (self.machine.transaction(), self.machine.request());
        self.machine = Machine::new(transaction, request, Bounds::BUCKET);
    }
}

/// The unit reads lines where a machine loads the head alone.
fn as_asked(machine: &Machine, answer: Answer) -> Answer {
    match (machine.access(), answer) {
        (Access::LoadHead, Answer::Line(line)) => Answer::Word(line[0]),
        _ => answer,
    }
}

/// What a poll says, from word 0 alone. Unlike software's it changes nothing.
/// Source: `docs/lock-unit.md`, "Response stream".
fn poll_ending(head: Head, transaction: Timestamp, place: Place) -> (Code, u8) {
    if head.is_held_by(transaction) {
        return (Code::Granted, 0);
    }
    match head.position(place.slot, Ring::FULL) {
        Some(position) => (Code::Queued, position),
        None => (Code::Cancelled, 0),
    }
}

fn refused(refusal: Refusal) -> Code {
    match refusal {
        Refusal::Full => Code::RefusedFull,
        Refusal::Busy => Code::RefusedBusy,
        Refusal::Die => Code::RefusedDie,
        Refusal::Contended => Code::RefusedContended,
    }
}
