// SPDX-License-Identifier: MIT OR Apache-2.0
//! Transactions that take and release locks: what they ask for, and whether the answers can be.

use std::collections::BTreeMap;

use driver::lock_unit::stream::{Code, Tag, UnitOperation, UnitRequest, UnitResponse};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Acquiring,
    Waiting,
    Holding,
    Releasing,
}

#[derive(Clone, Copy, Debug)]
struct Transaction {
    key: TupleKey,
    state: State,
}

/// Transactions, each of which takes one lock and releases it.
#[derive(Default)]
pub struct Locks {
    begun: u64,
    open: BTreeMap<u64, Transaction>,
    /// Transaction of each tag in use.
    tags: BTreeMap<usize, u64>,
    pub finished: u64,
    pub notices: u64,
}

/// At most so many at once: fewer than a bucket has slots.
const AT_ONCE: usize = 6;

impl Locks {
    /// The next request, unless all wait; of at most `transactions` in all.
    pub fn next(&mut self, transactions: u64, draw: &mut ChaCha8Rng) -> Option<UnitRequest> {
        let holding = self.open.iter().find(|(_, one)| one.state == State::Holding);
        let holding = holding.map(|(number, one)| (*number, *one));
        let (number, key, operation, state) = match holding {
            Some((number, one)) => {
                (number, one.key, UnitOperation::Release(one.key), State::Releasing)
            }
            None if self.begun < transactions && self.open.len() < AT_ONCE => {
                self.begun += 1;
                let key = TupleKey::new(draw.random_range(0..3), 1);
                (self.begun, key, UnitOperation::Acquire(key, Rule::Queue), State::Acquiring)
            }
            None => return None,
        };
        let first = draw.random_range(0..128);
        let tag = (0..128).map(|step| (first + step) % 128).find(|n| !self.tags.contains_key(n))?;
        self.tags.insert(tag, number);
        self.open.insert(number, Transaction { key, state });
        let transaction = Timestamp::new(number).expect("counted from 1");
        Some(UnitRequest { tag: Tag::new(tag as u8).expect("below 128"), transaction, operation })
    }

    /// A response; says why it cannot be.
    pub fn answer(&mut self, beat: u64) -> Result<(), String> {
        let response = UnitResponse::decode(beat).map_err(|bad| bad.to_string())?;
        let wrong = |why: &str| Err(format!("response {response}: {why}"));
        let tag = response.tag.index();
        let Some(&number) = self.tags.get(&tag) else {
            return wrong("its tag is not open");
        };
        let one = self.open[&number];
        let state = match (one.state, response.code, response.notice) {
            (State::Acquiring, Code::Queued, false) => State::Waiting,
            (State::Acquiring, Code::Granted, false) | (State::Waiting, Code::Granted, true) => {
                self.notices += u64::from(response.notice);
                let holder = self.open.values().find(|other| {
                    other.key == one.key && matches!(other.state, State::Holding | State::Releasing)
                });
                // The holder's release may be on its way while the next is told.
                if holder.is_some_and(|other| other.state == State::Holding) {
                    return wrong("somebody else holds the lock");
                }
                State::Holding
            }
            // A lock that could not be obtained: the transaction gives up.
            (State::Releasing, Code::Released, false)
            | (State::Acquiring, Code::RefusedFull | Code::RefusedContended, false) => {
                self.tags.remove(&tag);
                self.open.remove(&number);
                self.finished += 1;
                return Ok(());
            }
            (state, ..) => return wrong(&format!("the transaction is {state:?}")),
        };
        if state != State::Waiting {
            self.tags.remove(&tag);
        }
        self.open.insert(number, Transaction { state, ..one });
        Ok(())
    }

    /// Requests without their last response.
    pub fn open_requests(&self) -> usize {
        self.tags.len()
    }
}
