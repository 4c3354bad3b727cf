//! Device agents: the transactions in flight on processing elements, which ask the lock unit.

use std::collections::BTreeMap;

use lockdb::machine::Refusal;
use sim::lock_unit::stream::{Code, TAGS, Tag, UnitOperation, UnitRequest, UnitResponse};

use workloads::Scenario;

use crate::RunError;
use crate::workflow::{Command, Input, Workflow};

/// Tags that an agent needs: its request, and a cancel of it.
const TAGS_EACH: usize = 2;

/// The device's agents, with the tags of the lock unit dealt out among them.
pub(crate) struct DeviceContexts {
    /// By agent: number of its first tag.
    tags: BTreeMap<usize, u8>,
    /// By half of the tag's number: the agent.
    agents: Vec<usize>,
    transactions: BTreeMap<usize, lockdb::Timestamp>,
    /// By tag: the requests that the unit has not answered at all, and since when, in picoseconds.
    unanswered: BTreeMap<Tag, (UnitRequest, u64)>,
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
        Ok(Self { tags, agents, transactions: BTreeMap::new(), unanswered: BTreeMap::new() })
    }

    /// The request that carries out a command at a time in picoseconds.
    pub fn request(&mut self, agent: usize, command: Command, now: u64) -> UnitRequest {
        let request = self.request_for(agent, command);
        self.unanswered.insert(request.tag, (request, now));
        request
    }

    /// The device's silence, if a request has had no answer at all for longer than `patience`
    /// picoseconds. One that was queued has been answered.
    pub fn silence(&self, now: u64, patience: u64) -> Option<RunError> {
        let (request, since) =
            self.unanswered.values().find(|(_, since)| now.saturating_sub(*since) > patience)?;
        Some(RunError::Silent {
            request: format!(
                "tag {} ({:?} of transaction {})",
                request.tag.index(),
                request.operation,
                request.transaction
            ),
            since_ns: since / 1000,
            waited_ns: (now - since) / 1000,
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
    pub fn responded(&mut self, response: &UnitResponse) -> Option<(usize, Input)> {
        self.unanswered.remove(&response.tag);
        let tag = response.tag.index();
        let agent = self.agents[tag / TAGS_EACH];
        let input = match response.code {
            Code::Granted => Input::Granted { again: response.again },
            Code::Queued => Input::Queued { position: response.position },
            Code::RefusedFull => Input::Refused(Refusal::Full),
            Code::RefusedBusy => Input::Refused(Refusal::Busy),
            Code::RefusedDie => Input::Refused(Refusal::Die),
            Code::RefusedContended => Input::Refused(Refusal::Contended),
            Code::Released => Input::Released,
            Code::Cancelled => Input::Cancelled,
            Code::BusError => Input::Failed,
            // The acquire was granted before its cancel came to it, and has told so.
            Code::NotWaiting if tag % TAGS_EACH == 1 => return None,
            Code::NotHeld | Code::TagBusy | Code::NotWaiting | Code::BadRequest => {
                panic!("the lock unit answered {response} to a lawful request")
            }
        };
        Some((agent, input))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockdb::machine::Rule;
    use lockdb::{Timestamp, TupleKey};
    use workloads::Scenario;

    #[test]
    fn silence_is_told_with_what_was_asked_and_since_when() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
        let scenario = Scenario::load(folder.join("hot-row-storm.toml")).unwrap();
        let (agents, _) = Workflow::all(&scenario).unwrap();
        let agents = &agents[agents.len() - 1..];
        let mut contexts = DeviceContexts::new(&scenario, agents).unwrap();
        let transaction = Timestamp::new(9).unwrap();
        let key = TupleKey::new(5, 0);
        let acquire = Command::Acquire { transaction, key, bucket: 5, rule: Rule::Queue };
        let request = contexts.request(0, acquire, 3_000);
        assert!(contexts.silence(10_000, 7_000).is_none());
        let text = contexts.silence(10_001, 7_000).unwrap().to_string();
        for part in ["tag 0", "Acquire", "transaction 9", "since 3 ns", "m_axis_rsp"] {
            assert!(text.contains(part), "{text}");
        }
        // One that was queued may wait as long as it takes.
        let queued = UnitResponse {
            tag: request.tag,
            code: Code::Queued,
            again: false,
            position: 1,
            notice: false,
            transaction: Some(transaction),
        };
        assert_eq!(contexts.responded(&queued), Some((0, Input::Queued { position: 1 })));
        assert!(contexts.silence(u64::MAX, 7_000).is_none());
    }
}
