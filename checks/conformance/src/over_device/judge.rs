// SPDX-License-Identifier: MIT OR Apache-2.0
//! The legal responses to a request, as far as they follow without knowledge of the unit's
//! accesses. Source: `docs/lock-unit.md`, "Response stream".

use driver::lock_unit::stream::{Code, UnitResponse};
use locks::Timestamp;
use locks::machine::Rule;

use crate::agent::Action;
use crate::case::Stray;

/// Waiters that a bucket has room for.
const SLOTS: u8 = 7;

/// What is known of a request when its response comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub action: Action,
    /// In whose name it was made; `None`: timestamp 0.
    pub transaction: Option<Timestamp>,
    /// Its transaction had the lock when it was sent.
    pub held: bool,
    /// Acquire: its transaction had no other request open for the line, from its sending on.
    pub alone: bool,
    /// Acquire: it has been answered *queued*.
    pub queued: bool,
    /// A cancel was asked for that may have ended it.
    pub leaving: bool,
    /// It used a tag that was open.
    pub intrudes: bool,
    /// Cancel: its target is an acquire of the same transaction that waits, as far as known.
    pub target_waits: bool,
    /// Cancel, poll: its target was an open acquire of the same transaction when it was sent.
    pub aimed: bool,
    /// Stray: a waiting request existed as its target when it was sent.
    pub beside_wait: bool,
}

impl Known {
    /// What is wrong with a response; `None`: nothing that can be seen.
    pub fn fault(&self, response: &UnitResponse) -> Option<&'static str> {
        let Known { action, queued, intrudes, .. } = *self;
        let code = response.code;
        if code == Code::BusError {
            return Some("no bus errors: the table is mapped");
        }
        if code != Code::Released && response.transaction != self.transaction {
            return Some("the timestamp of the request");
        }
        if response.notice != queued {
            return Some("`notice` on the second response of a queued acquire, and on no other");
        }
        let positioned = code == Code::Queued;
        if positioned != (1..=SLOTS).contains(&response.position) {
            return Some("a position from 1 to 7 of a waiter, and 0 otherwise");
        }
        if intrudes && code == Code::TagBusy {
            return None;
        }
        let allowed = match action {
            Action::Acquire { .. } if queued => self.notice_fits(code),
            Action::Acquire { rule, .. } => return self.acquire_fault(response, rule),
            Action::Release { .. } => {
                code == if self.held { Code::Released } else { Code::NotHeld }
            }
            Action::Cancel { .. } | Action::Miss { polls: false, .. } => match code {
                Code::Cancelled | Code::Granted => self.target_waits,
                code => code == Code::NotWaiting,
            },
            Action::Poll { .. } | Action::Miss { polls: true, .. } => match code {
                // The target's own notice may have overtaken it.
                Code::Granted | Code::Queued | Code::Cancelled => self.aimed,
                code => code == Code::NotWaiting,
            },
            Action::Stray(stray) => code == answer_to(stray, self.beside_wait),
            Action::Repair { .. } => unreachable!("nothing fails"),
        };
        (!allowed).then_some("a code that such a request can end with")
    }

    /// The notice of an acquire that waited.
    fn notice_fits(&self, code: Code) -> bool {
        code == Code::Granted || code == Code::Cancelled && self.leaving
    }

    /// The first response of an acquire.
    fn acquire_fault(&self, response: &UnitResponse, rule: Rule) -> Option<&'static str> {
        let again = response.code == Code::Granted && response.again;
        if self.held {
            return (!again).then_some("granted again: the transaction holds the lock");
        }
        if again && self.alone {
            return Some("not granted again: the transaction does not hold the lock");
        }
        let allowed = match response.code {
            Code::Granted | Code::RefusedContended => true,
            // As a shared waiter of another request, which waits, whatever the rule.
            Code::Queued => rule != Rule::NoWait || !self.alone,
            Code::RefusedFull => rule != Rule::NoWait,
            Code::RefusedBusy => rule == Rule::NoWait,
            Code::RefusedDie => rule == Rule::WaitDie,
            _ => false,
        };
        (!allowed).then_some("a code that its rule allows")
    }
}

/// How a request ends that the unit turns away, unless its tag is busy.
fn answer_to(stray: Stray, beside_wait: bool) -> Code {
    match stray {
        Stray::UnknownOperation
        | Stray::UnknownRule
        | Stray::NoTimestamp
        | Stray::OpenTagUnknownOperation => Code::BadRequest,
        Stray::ForeignCancel if beside_wait => Code::NotWaiting,
        // A release by a non-holder.
        Stray::OpenTag | Stray::ForeignCancel => Code::NotHeld,
    }
}

#[cfg(test)]
mod tests {
    use driver::lock_unit::stream::Tag;
    use locks::TupleKey;

    use super::*;

    fn known(action: Action) -> Known {
        Known {
            action,
            transaction: Timestamp::new(7),
            held: false,
            alone: true,
            queued: false,
            leaving: false,
            intrudes: false,
            target_waits: false,
            aimed: false,
            beside_wait: false,
        }
    }

    fn response(code: Code) -> UnitResponse {
        let position = u8::from(code == Code::Queued);
        UnitResponse { position, ..UnitResponse::plain(Tag::of_id(3), code, Timestamp::new(7)) }
    }

    fn acquire(rule: Rule) -> Action {
        Action::Acquire { line: 0, key: TupleKey::new(1, 2), rule }
    }

    #[test]
    fn rules_allow_their_own_refusals_alone() {
        let no_wait = known(acquire(Rule::NoWait));
        assert_eq!(no_wait.fault(&response(Code::RefusedBusy)), None);
        assert!(no_wait.fault(&response(Code::Queued)).is_some());
        let queue = known(acquire(Rule::Queue));
        assert_eq!(queue.fault(&response(Code::Queued)), None);
        assert!(queue.fault(&response(Code::RefusedDie)).is_some());
        assert!(queue.fault(&response(Code::Released)).is_some());
    }

    #[test]
    fn who_holds_a_lock_is_granted_it_again() {
        let held = Known { held: true, ..known(acquire(Rule::Queue)) };
        assert!(held.fault(&response(Code::Granted)).is_some());
        let again = UnitResponse { again: true, ..response(Code::Granted) };
        assert_eq!(held.fault(&again), None);
        assert!(known(acquire(Rule::Queue)).fault(&again).is_some());
    }

    #[test]
    fn a_notice_is_marked_as_one() {
        let waits = Known { queued: true, ..known(acquire(Rule::Queue)) };
        assert!(waits.fault(&response(Code::Granted)).is_some());
        let notice = UnitResponse { notice: true, ..response(Code::Granted) };
        assert_eq!(waits.fault(&notice), None);
        let cancelled = UnitResponse { notice: true, ..response(Code::Cancelled) };
        assert!(waits.fault(&cancelled).is_some());
        assert_eq!(Known { leaving: true, ..waits }.fault(&cancelled), None);
    }

    #[test]
    fn a_release_ends_by_who_held() {
        let release = Action::Release { line: 0, key: TupleKey::new(1, 2) };
        assert!(known(release).fault(&response(Code::Released)).is_some());
        assert_eq!(known(release).fault(&response(Code::NotHeld)), None);
    }
}
