//! Device agents: the transactions in flight on processing elements, which ask the lock unit.

use std::collections::BTreeMap;

use lockdb::machine::Refusal;
use sim::lock_unit::stream::{Code, TAGS, Tag, UnitOperation, UnitRequest, UnitResponse};

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
}

impl DeviceContexts {
    /// # Errors
    /// When there are more agents than tags for them: how many there may be.
    pub fn new(agents: &[Workflow]) -> Result<Self, usize> {
        let on_device = agents.iter().enumerate().filter(|(_, agent)| agent.is_on_device());
        let agents: Vec<usize> = on_device.map(|(agent, _)| agent).collect();
        if agents.len() > TAGS / TAGS_EACH {
            return Err(TAGS / TAGS_EACH);
        }
        let tag = |(index, &agent)| (agent, (index * TAGS_EACH) as u8);
        let tags = agents.iter().enumerate().map(tag).collect();
        Ok(Self { tags, agents, transactions: BTreeMap::new() })
    }

    /// The request that carries out a command.
    pub fn request(&mut self, agent: usize, command: Command) -> UnitRequest {
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
