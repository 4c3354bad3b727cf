// SPDX-License-Identifier: MIT OR Apache-2.0
//! One agent's stream of update transactions.

use locks::TupleKey;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::hot_row::HotRows;
use crate::random::agent_stream;
use crate::scenario::{AgentSettings, Scenario, Side, Span, Workload};
use crate::smallbank::SmallBank;
use crate::ycsb::Ycsb;

/// One update transaction as its agent is to execute it: think, begin, lock the rows, hold,
/// write, commit or abort, release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionPlan {
    /// The rows to lock, all different, each in the version at the start of a run (a runner that
    /// counts committed updates puts the latest there), in the order of the requests. Empty for a transaction
    /// that only reads (SmallBank's Balance): under multi-versioning it locks nothing.
    pub locks: Vec<TupleKey>,
    /// Time before the transaction begins, in nanoseconds.
    pub think_ns: u64,
    /// Time from the last lock granted to commit or abort, in nanoseconds.
    pub hold_ns: u64,
    /// Whether the transaction aborts by itself at its end.
    pub aborts: bool,
}

/// The endless stream of one agent's transactions: a pure function of the scenario, its seed
/// and the agent, whatever the other agents do.
#[derive(Clone, Debug)]
pub struct Generator {
    random: ChaCha8Rng,
    settings: AgentSettings,
    rows: Rows,
}

/// Where the rows come from.
#[derive(Clone, Debug)]
enum Rows {
    Ycsb(Ycsb),
    SmallBank(SmallBank),
    HotRows(HotRows),
}

impl Generator {
    /// The stream of agent number `agent` (see [`Scenario::agents`]).
    ///
    /// `None` when the scenario replays a trace: its transactions come from
    /// [`trace::load_transactions`](crate::trace::load_transactions).
    ///
    /// # Panics
    /// When the scenario has no agent of that number.
    pub fn new(scenario: &Scenario, agent: u32) -> Option<Self> {
        let rows = match &scenario.workload {
            Workload::Ycsb(ycsb) => Rows::Ycsb(Ycsb::new(ycsb, scenario.seed)),
            Workload::SmallBank(smallbank) => Rows::SmallBank(SmallBank::new(smallbank)),
            Workload::HotRow(hot) => Rows::HotRows(HotRows::new(hot)),
            Workload::Trace(_) => return None,
        };
        let settings = match scenario.agents().nth(agent as usize) {
            Some(Side::Host { .. }) => scenario.host.agents.clone(),
            Some(Side::Device { .. }) => scenario.device.agents.clone(),
            None => panic!("agent {agent} of a scenario with {}", scenario.agents().count()),
        };
        let random = agent_stream(scenario.seed, agent);
        Some(Self { random, settings, rows })
    }

    /// The next transaction.
    pub fn next_transaction(&mut self) -> TransactionPlan {
        let random = &mut self.random;
        let settings = &self.settings;
        let locks = match &self.rows {
            Rows::Ycsb(ycsb) => {
                ycsb.locks(draw(settings.rows_per_transaction, random) as usize, random)
            }
            Rows::HotRows(hot) => {
                hot.locks(draw(settings.rows_per_transaction, random) as usize, random)
            }
            Rows::SmallBank(smallbank) => smallbank.locks(random),
        };
        let think_ns = draw(settings.think_ns, random);
        let hold_ns = draw(settings.hold_ns, random);
        let aborts = random.random_bool(settings.abort_probability);
        TransactionPlan { locks, think_ns, hold_ns, aborts }
    }
}

impl Iterator for Generator {
    type Item = TransactionPlan;

    fn next(&mut self) -> Option<TransactionPlan> {
        Some(self.next_transaction())
    }
}

/// A number of the span, every one alike.
fn draw(span: Span, random: &mut ChaCha8Rng) -> u64 {
    random.random_range(span.least..=span.most)
}
