// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device agents: the transactions in flight on processing elements, which ask the lock unit.

use std::collections::BTreeMap;

use driver::lock_unit::stream::{Code, TAGS, Tag, UnitOperation, UnitRequest, UnitResponse};
use locks::machine::Refusal;
use timing::Time;
use workloads::Scenario;

use crate::RunError;
use crate::workflow::{Command, Input, Workflow};

/// Tags that an agent needs: its request, and a cancel of it.
const TAGS_EACH: usize = 2;

/// A request that the unit has not answered to the end.
#[derive(Debug)]
struct Open {
    request: UnitRequest,
    /// When it was asked.
    since: Time,
    /// It has been answered *queued*: another response is to come, as late as it likes.
    queued: bool,
}

/// The device's agents, with the tags of the lock unit dealt out among them.
pub(crate) struct DeviceContexts {
    /// By agent: number of its first tag.
    tags: BTreeMap<usize, u8>,
    /// By half of the tag's number: the agent.
    agents: Vec<usize>,
    transactions: BTreeMap<usize, locks::Timestamp>,
    open: BTreeMap<Tag, Open>,
}

impl DeviceContexts {
    /// The contexts of those of `agents` that are on the device.
    ///
    /// # Errors
    /// When there are more of them than tags for them.
    pub fn new(scenario: &Scenario, agents: &[Workflow]) -> Result<Self, RunError> {
        let on_device = agents.iter().enumerate().filter(|(_, agent)| agent.is_on_device());
        let agents: Vec<usize> = on_device.map(|(agent, _)| agent).collect();
        if agents.len() > TAGS / TAGS_EACH {
            let most = TAGS / TAGS_EACH;
            let expected =
                format!("at most {most} transactions in flight on all elements together");
            return Err(scenario.reject("device.transactions_in_flight", expected).into());
        }
        let tag = |(index, &agent)| (agent, (index * TAGS_EACH) as u8);
        let tags = agents.iter().enumerate().map(tag).collect();
        Ok(Self { tags, agents, transactions: BTreeMap::new(), open: BTreeMap::new() })
    }

    /// The request that carries out a command at this time.
    pub fn request(&mut self, agent: usize, command: Command, now: Time) -> UnitRequest {
        let request = self.request_for(agent, command);
        self.open.insert(request.tag, Open { request, since: now, queued: false });
        request
    }

    /// The device's silence, if a request has had no answer at all for longer than `timeout`. One
    /// that was queued has been answered.
    pub fn silence(&self, now: Time, timeout: Time) -> Option<RunError> {
        let is_late = |open: &&Open| !open.queued && now.saturating_sub(open.since) > timeout;
        let Open { request, since, .. } = self.open.values().find(is_late)?;
        Some(RunError::Silent {
            request: format!(
                "tag {} ({:?} of transaction {})",
                request.tag.index(),
                request.operation,
                request.transaction
            ),
            since_ns: since.as_ns(),
            waited_ns: now.saturating_sub(*since).as_ns(),
        })
    }

    fn request_for(&mut self, agent: usize, command: Command) -> UnitRequest {
        let first = self.tags[&agent];
        let tag = |number| Tag::new(number).expect("tags were dealt out below 128");
        match command {
            Command::Acquire { transaction, key, rule, .. } => {
                self.transactions.insert(agent, transaction);
                let operation = UnitOperation::Acquire(key, rule);
                UnitRequest { tag: tag(first), transaction, operation }
            }
            Command::Release { transaction, key, .. } => {
                let operation = UnitOperation::Release(key);
                UnitRequest { tag: tag(first), transaction, operation }
            }
            Command::Cancel => UnitRequest {
                tag: tag(first + 1),
                transaction: self.transactions[&agent],
                operation: UnitOperation::Cancel(tag(first)),
            },
            other => unreachable!("{other:?} is not for the lock unit"),
        }
    }

    /// Whom a response is for, and what it says; `None` when it says nothing new.
    ///
    /// # Errors
    /// When no request is open that it can answer: no unit may say so, but one behind a driver can.
    pub fn responded(
        &mut self,
        response: &UnitResponse,
    ) -> Result<Option<(usize, Input)>, RunError> {
        let refused = |expected: &str| {
            let (response, expected) = (response.to_string(), expected.into());
            Err(RunError::Answer { response, expected })
        };
        let Some(open) = self.open.get_mut(&response.tag) else {
            return refused("the tag of an open request");
        };
        let agent = self.agents[response.tag.index() / TAGS_EACH];
        let (operation, queued) = (open.request.operation, open.queued);
        let positions = 1..=7;
        let input = match (operation, response.code) {
            (UnitOperation::Acquire(..), Code::Queued)
                if !queued && positions.contains(&response.position) =>
            {
                open.queued = true;
                return Ok(Some((agent, Input::Queued { position: response.position })));
            }
            (UnitOperation::Acquire(..), Code::Granted) => Input::Granted { again: response.again },
            (UnitOperation::Acquire(..), Code::RefusedFull) if !queued => {
                Input::Refused(Refusal::Full)
            }
            (UnitOperation::Acquire(..), Code::RefusedBusy) if !queued => {
                Input::Refused(Refusal::Busy)
            }
            (UnitOperation::Acquire(..), Code::RefusedDie) if !queued => {
                Input::Refused(Refusal::Die)
            }
            (UnitOperation::Acquire(..), Code::RefusedContended) if !queued => {
                Input::Refused(Refusal::Contended)
            }
            (UnitOperation::Release(_), Code::Released) => Input::Released,
            (UnitOperation::Acquire(..) | UnitOperation::Release(_), Code::BusError) => {
                Input::Failed
            }
            (UnitOperation::Cancel(target), Code::Cancelled | Code::Granted)
                if self.open.get(&target).is_some_and(|target| target.queued) =>
            {
                // Its target gets no other response.
                self.open.remove(&target);
                match response.code {
                    Code::Cancelled => Input::Cancelled,
                    _ => Input::Granted { again: response.again },
                }
            }
            // The acquire was granted before its cancel came to it, or still waits: it tells itself.
            (UnitOperation::Cancel(_), Code::NotWaiting | Code::BusError) => {
                self.open.remove(&response.tag);
                return Ok(None);
            }
            (UnitOperation::Acquire(..), _) if queued => {
                return refused("granted or a bus error for an acquire that waits");
            }
            (operation, _) => return refused(&format!("an answer to {operation:?}")),
        };
        self.open.remove(&response.tag);
        Ok(Some((agent, input)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use locks::machine::Rule;
    use locks::{Timestamp, TupleKey};
    use workloads::Scenario;

    const TRANSACTION: Timestamp = Timestamp::new(9).unwrap();
    const KEY: TupleKey = TupleKey::new(5, 0);
    const ACQUIRE: Command =
        Command::Acquire { transaction: TRANSACTION, key: KEY, bucket: 5, rule: Rule::Queue };

    /// The contexts of one agent.
    fn contexts() -> DeviceContexts {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let scenario = Scenario::load(folder.join("hot-row-storm.toml")).unwrap();
        let (agents, _) = Workflow::all(&scenario, None).unwrap();
        DeviceContexts::new(&scenario, &agents[agents.len() - 1..]).unwrap()
    }

    fn response(tag: Tag, code: Code) -> UnitResponse {
        let position = u8::from(code == Code::Queued);
        UnitResponse { position, ..UnitResponse::plain(tag, code, Some(TRANSACTION)) }
    }

    #[test]
    fn silence_is_told_with_what_was_asked_and_since_when() {
        const TIMEOUT: Time = Time::from_ps(7_000);
        let mut contexts = contexts();
        let request = contexts.request(0, ACQUIRE, Time::from_ps(3_000));
        assert!(contexts.silence(Time::from_ps(10_000), TIMEOUT).is_none());
        let text = contexts.silence(Time::from_ps(10_001), TIMEOUT).unwrap().to_string();
        for part in ["tag 0", "Acquire", "transaction 9", "since 3 ns", "m_axis_rsp"] {
            assert!(text.contains(part), "{text}");
        }
        // One that was queued may wait as long as it takes.
        let queued = response(request.tag, Code::Queued);
        let told = contexts.responded(&queued).unwrap();
        assert_eq!(told, Some((0, Input::Queued { position: 1 })));
        assert!(contexts.silence(Time::MAX, TIMEOUT).is_none());
    }

    /// A unit behind a driver may say anything at any time.
    #[test]
    fn what_answers_no_open_request_is_refused_and_changes_nothing() {
        let mut contexts = contexts();
        let tag = |number| Tag::new(number).unwrap();
        let refuse = |contexts: &mut DeviceContexts, number, code, part: &str| {
            let error = contexts.responded(&response(tag(number), code)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        };
        refuse(&mut contexts, 0, Code::Granted, "expected the tag of an open request");
        refuse(&mut contexts, 127, Code::BadRequest, "tag 127 BadRequest");
        contexts.request(0, ACQUIRE, Time::ZERO);
        for code in [Code::Released, Code::Cancelled, Code::TagBusy, Code::NotHeld] {
            refuse(&mut contexts, 0, code, "expected an answer to Acquire");
        }
        let nowhere = UnitResponse { position: 0, ..response(tag(0), Code::Queued) };
        assert!(contexts.responded(&nowhere).is_err());
        assert!(contexts.responded(&response(tag(0), Code::Queued)).unwrap().is_some());
        refuse(&mut contexts, 0, Code::Queued, "an acquire that waits");
        refuse(&mut contexts, 0, Code::RefusedDie, "an acquire that waits");
        contexts.request(0, Command::Cancel, Time::ZERO);
        refuse(&mut contexts, 1, Code::Released, "expected an answer to Cancel");
        let told = contexts.responded(&response(tag(0), Code::Granted)).unwrap();
        assert_eq!(told, Some((0, Input::Granted { again: false })));
        refuse(&mut contexts, 1, Code::Cancelled, "expected an answer to Cancel");
        assert_eq!(contexts.responded(&response(tag(1), Code::NotWaiting)).unwrap(), None);
        assert!(contexts.open.is_empty());
    }

    #[test]
    fn a_cancel_that_ends_its_target_leaves_nothing_open() {
        for (code, input) in
            [(Code::Cancelled, Input::Cancelled), (Code::Granted, Input::Granted { again: false })]
        {
            let mut contexts = contexts();
            let acquire = contexts.request(0, ACQUIRE, Time::ZERO);
            contexts.responded(&response(acquire.tag, Code::Queued)).unwrap();
            let cancel = contexts.request(0, Command::Cancel, Time::ZERO);
            assert_eq!(contexts.responded(&response(cancel.tag, code)).unwrap(), Some((0, input)));
            assert!(contexts.open.is_empty());
        }
    }
}
