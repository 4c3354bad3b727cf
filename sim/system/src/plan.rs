// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plan of an agent: generated and replayed transactions in one form.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use locks::TupleKey;
use timing::Time;
use workloads::Generator;
use workloads::scenario::{Scenario, TraceSettings, Versions, Workload};
use workloads::trace::{self, TraceOp, TraceTransaction};

use crate::RunError;

/// When a step is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// So long after the step before.
    After(Time),
    /// Not before this time of the run.
    Until(Time),
}

/// One step of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Lock the latest version of a row, and its successor if it changes during the wait.
    LockLatest(u64),
    /// Lock exactly this version.
    LockVersion(TupleKey),
    /// Give a lock back early.
    Unlock(TupleKey),
    /// Give the locks of a row back early, whatever versions they are of.
    UnlockRow(u64),
    /// Write and commit.
    Commit,
    /// Abort by the workload's own wish.
    Abort,
}

/// A transaction before it is begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Before the transaction begins.
    pub pause: Pause,
    /// Its steps; the last is commit or abort.
    pub steps: Vec<(Pause, Operation)>,
}

/// Where an agent's plans come from.
#[derive(Debug)]
pub(crate) enum Source {
    Generated {
        generator: Box<Generator>,
        /// Transactions to come; `None`: no end of them.
        left: Option<u64>,
    },
    Replayed {
        transactions: VecDeque<TraceTransaction>,
        time_scale: f64,
        versions: Versions,
        /// By how much the agent is later than the trace says.
        later: Time,
    },
}

impl Source {
    /// One source for each agent of the scenario, in their order.
    pub fn all(scenario: &Scenario) -> Result<Vec<Source>, RunError> {
        let agents = scenario.agents().count();
        if let Workload::Trace(settings) = &scenario.workload {
            let mut by_agent = trace::load_transactions(&settings.file)?;
            if let Some(first) = settings.transactions {
                trace::keep_first(&mut by_agent, first);
            }
            return replayed(scenario, settings, by_agent, agents);
        }
        let left = scenario.stop.transactions_per_agent;
        let generated = |agent| {
            let generator = Generator::new(scenario, agent).expect("this is no replay");
            Source::Generated { generator: Box::new(generator), left }
        };
        Ok((0..agents as u32).map(generated).collect())
    }

    /// The next transaction; `None` when the agent is done.
    pub fn next_plan(&mut self) -> Option<Plan> {
        match self {
            Source::Generated { left: Some(0), .. } => None,
            Source::Generated { generator, left } => {
                *left = left.map(|left| left - 1);
                let transaction = generator.next_transaction();
                let lock =
                    |key: &TupleKey| (Pause::After(Time::ZERO), Operation::LockLatest(key.vid));
                let end = if transaction.aborts { Operation::Abort } else { Operation::Commit };
                let end = (Pause::After(Time::saturating_from_ns(transaction.hold_ns)), end);
                let steps = transaction.locks.iter().map(lock).chain([end]).collect();
                let pause = Pause::After(Time::saturating_from_ns(transaction.think_ns));
                Some(Plan { pause, steps })
            }
            Source::Replayed { transactions, time_scale, versions, later } => {
                let transaction = transactions.pop_front()?;
                let at = |time_ns: u64| {
                    let time = Time::from_ps((time_ns as f64 * *time_scale * 1000.0) as u64);
                    Pause::Until(time.saturating_add(*later))
                };
                let timed = |step: &trace::TraceStep| (at(step.time_ns), step.op);
                let steps = transaction.steps.iter().map(timed);
                let steps: Vec<_> = match versions {
                    Versions::Recorded => steps.map(|(at, op)| (at, recorded(op))).collect(),
                    Versions::Latest => latest(steps),
                };
                Some(Plan { pause: steps[0].0, steps })
            }
        }
    }

    /// The rows that it is known to lock: those of a replay.
    pub fn rows(&self) -> impl Iterator<Item = u64> {
        let transactions = match self {
            Source::Generated { .. } => None,
            Source::Replayed { transactions, .. } => Some(transactions),
        };
        let steps = transactions.into_iter().flatten().flat_map(|transaction| &transaction.steps);
        steps.filter_map(|step| match step.op {
            TraceOp::Lock(key) => Some(key.vid),
            TraceOp::Unlock(_) | TraceOp::Commit | TraceOp::Abort => None,
        })
    }

    /// How many transactions are to come, if that is known.
    pub fn left(&self) -> Option<u64> {
        match self {
            Source::Generated { left, .. } => *left,
            Source::Replayed { transactions, .. } => Some(transactions.len() as u64),
        }
    }
}

/// A transaction's steps by rows alone. A second lock of a row that it has would be of the successor
/// that came while the server waited, and whether there is one is for the replay to find out.
fn latest(steps: impl Iterator<Item = (Pause, TraceOp)>) -> Vec<(Pause, Operation)> {
    let mut locked = BTreeSet::new();
    let operation = |(at, op)| {
        let operation = match op {
            TraceOp::Lock(key) if locked.insert(key.vid) => Operation::LockLatest(key.vid),
            TraceOp::Unlock(key) if locked.remove(&key.vid) => Operation::UnlockRow(key.vid),
            TraceOp::Lock(_) | TraceOp::Unlock(_) => return None,
            ends => recorded(ends),
        };
        Some((at, operation))
    };
    steps.filter_map(operation).collect()
}

fn recorded(op: TraceOp) -> Operation {
    match op {
        TraceOp::Lock(key) => Operation::LockVersion(key),
        TraceOp::Unlock(key) => Operation::Unlock(key),
        TraceOp::Commit => Operation::Commit,
        TraceOp::Abort => Operation::Abort,
    }
}

/// The trace's agents, by ascending number, take the scenario's places.
fn replayed(
    scenario: &Scenario,
    settings: &TraceSettings,
    by_agent: BTreeMap<u32, Vec<TraceTransaction>>,
    agents: usize,
) -> Result<Vec<Source>, RunError> {
    let TraceSettings { file, time_scale, versions, clock_step_ns, .. } = settings;
    let (time_scale, versions) = (*time_scale, *versions);
    let step_ps = (*clock_step_ns as f64 * time_scale * 1000.0) as u64;
    if by_agent.len() > agents {
        let expected = format!(
            "a trace of at most {agents} agents, as many as the scenario has; {} has {}",
            file.display(),
            by_agent.len()
        );
        return Err(scenario.reject("workload.trace.file", expected).into());
    }
    let mut transactions = by_agent.into_values().map(VecDeque::from);
    let replay = |agent| Source::Replayed {
        transactions: transactions.next().unwrap_or_default(),
        time_scale,
        versions,
        later: Time::from_ps(trace::draw_start(scenario.seed, agent, step_ps)),
    };
    Ok((0..agents as u32).map(replay).collect())
}
