// SPDX-License-Identifier: MIT OR Apache-2.0
//! Campaigns of faults: small clusters under contention, each drawn from a seed with its
//! workload and its faults, run for a while under them, healed, and judged.
//!
//! A case has two phases. In the first there are faults. Then they stop: cuts are healed, nodes have
//! their speed again, and what has crashed stays so unless the plan restarts it. Now each node that runs
//! has to commit something within a bound, and all have to come to rest. In the end the run is judged
//! by [`Judge`](crate::check::Judge): each claim of a serialization point, the history without any
//! claim, the rows of all replicas, and the sums of the workload.
//!
//! If more processes have ended than rows have backups, the case is *beyond f*: nobody has to go on then, and what
//! is judged is what had happened before, and that acknowledged changes stand of which a record must have survived.
//!
//! [`Case::run`] is a function of the case: the same seed gives the same digest of all that happened.

mod case;
#[cfg(test)]
mod duels;
pub(crate) mod judge;
mod promise;

pub use case::Case;
use promise::Promise;

use cluster::engine::{NodeId, Protocol, Span};
use cluster::membership::{self, Phase};
use cluster::mutant::Planted;
use cluster::recovery::Keeps;
use timing::Time;

use crate::faults::{ActivePlan, FaultPlan, Hits};
use crate::protocols::{Campaigns, Cluster};
use crate::world::World;
use crate::world::recorder::Recorder;

/// How long a lease lasts.
pub(crate) const LEASE_NS: u64 = 60_000;
/// How long a process waits for an answer until it ends itself.
pub(crate) const LOSS_NS: u64 = 300_000;
/// How far clocks may be apart.
pub(crate) const SKEW_NS: u64 = 8_000;
/// How leases are kept.
pub(crate) fn membership() -> membership::Settings {
    let span = Span::from_ns;
    membership::Settings {
        lease: span(LEASE_NS),
        renew: span(LEASE_NS / 6),
        skew: span(SKEW_NS),
        retry: span(LEASE_NS / 6),
    }
}

/// How long there are faults.
pub(crate) const FAULTS_NS: u64 = 400_000;
/// How long a cluster has afterwards to find out what has failed, and to recover.
const RECOVERY_NS: u64 = LOSS_NS + 6 * LEASE_NS;
/// Within this time each node then commits a transaction, or others do. Protocols are not fair: a worker that
/// has lost pauses, and meets the locks of the next transaction of one that has won and goes on at
/// once. With all rows below a few headers, it may lose a thousand times in a row. So a node that others
/// starve has to commit when these begin nothing more.
const PROGRESS_NS: u64 = 4_000_000;
/// How often it is looked whether they have.
const LOOK_NS: u64 = 200_000;
/// How long a cluster may take to come to rest.
const REST_NS: u64 = 2_000_000;

/// What a case has come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What is wrong, if anything is.
    pub failure: Option<String>,
    /// Whether more processes have ended than rows have backups, before the cluster had recovered and filled new
    /// replicas.
    pub is_beyond: bool,
    /// The digest (SHA-256) of all frames and endings.
    pub digest: [u8; 32],
    /// How often each kind of fault met each stage.
    pub hits: Hits,
    /// Transactions that their clients know as committed.
    pub committed: u64,
    /// Transactions that recovery alone has committed.
    pub recovered: u64,
    /// Attempts that were aborted.
    pub aborted: u64,
    /// Nodes whose processes had ended when the faults stopped or later, and were not begun anew.
    pub down: u64,
    /// The number of the last view that began.
    pub epoch: u32,
}

impl Case {
    /// Runs the case with the protocol whose planted bugs `M` names, and judges it. With `planted`, the protocol
    /// has that bug.
    pub fn run<M: Campaigns>(&self, planted: Planted<M>) -> Outcome {
        match self.build(planted) {
            Ok(cluster) => self.run_on::<M, _>(cluster),
            Err(error) => Outcome { failure: Some(error), ..Outcome::default() },
        }
    }

    /// The same cluster under other faults.
    #[must_use]
    pub fn with_plan(&self, plan: &FaultPlan) -> Self {
        Self { plan: plan.clone(), ..self.clone() }
    }

    /// Leaves faults out of the plan as long as the case still fails; runs it at most `most` times.
    #[must_use]
    pub fn shrink<M: Campaigns>(&self, planted: Planted<M>, most: usize) -> FaultPlan {
        self.plan.shrink(most, |plan| self.with_plan(plan).run(planted).failure.is_some())
    }

    fn run_on<M: Campaigns, C: Cluster>(&self, cluster: C) -> Outcome {
        let plan = ActivePlan::new(&self.plan, Time::from_ns(FAULTS_NS));
        let view = plan.view();
        let made =
            World::new(cluster.clone(), M::hardware(self), Some(Box::new(plan)), M::options(self));
        let mut world = match (made, C::memory()) {
            (Ok(world), Some(memory_of)) => world.with_memory(memory_of),
            (Ok(world), None) => world,
            (Err(error), _) => {
                return Outcome { failure: Some(error.to_string()), ..Outcome::default() };
            }
        };
        let mut promise = Promise::new(self.backups);
        let failure = self.phases(&cluster, &mut world, &mut promise).err();
        let attempts = world.recorder().attempts();
        let is_told = |attempt: &&crate::world::recorder::Attempt| attempt.ending().is_some();
        let stands = attempts.iter().filter(|attempt| attempt.is_committed());
        let committed = stands.clone().filter(is_told).count() as u64;
        let up = world.up();
        let epochs = up.iter().map(|(_, node)| node.shared.recovery().member.epoch());
        let aborts = attempts.iter().filter_map(|attempt| attempt.ending());
        Outcome {
            failure,
            is_beyond: promise.beyond().is_some(),
            digest: world.digest(),
            hits: view.get(),
            committed,
            recovered: stands.count() as u64 - committed,
            aborted: aborts.filter(|ending| ending.is_abort()).count() as u64,
            down: u64::from(self.nodes) - up.len() as u64,
            epoch: epochs.max().unwrap_or(0),
        }
    }

    fn phases<C: Cluster>(
        &self,
        cluster: &C,
        world: &mut World<C>,
        promise: &mut Promise,
    ) -> Result<(), String> {
        world.begin();
        promise.run_until(world, Time::from_ns(FAULTS_NS + RECOVERY_NS));
        let went_on = go_on(world, promise);
        if let Some(beyond) = promise.beyond() {
            let rests = world.run_until_rest(Time::from_ns(REST_NS)).is_ok();
            return judge::judge_beyond(self, cluster, world, beyond, rests);
        }
        went_on?;
        judge::judge(self, cluster, world)
    }
}

/// All nodes that run have to commit something, and to come to rest, as long as not too many end.
fn go_on<C: Cluster>(world: &mut World<C>, promise: &mut Promise) -> Result<(), String> {
    let since = world.now();
    let most = since + Time::from_ns(PROGRESS_NS);
    while let (None, Some(idle)) = (promise.beyond(), idle_node(world, since)?) {
        if world.now() >= most {
            if !anybody_has_committed(world, most) {
                return Err(no_progress(world, idle));
            }
            break;
        }
        promise.run_until(world, world.now() + Time::from_ns(LOOK_NS));
    }
    let rest = world.run_until_rest(Time::from_ns(REST_NS));
    promise.look(world);
    rest.map_err(|unrest| format!("{unrest}; {}", unrest_of(world)))?;
    match idle_node(world, since)? {
        Some(idle) => Err(no_progress(world, idle)),
        None => Ok(()),
    }
}

/// A node that runs and has committed nothing since then, if there is one.
fn idle_node<P: Protocol>(world: &World<P>, since: Time) -> Result<Option<NodeId>, String> {
    let up: Vec<NodeId> = world.up().iter().map(|(node, _)| *node).collect();
    if up.is_empty() {
        return Err("no process is left".into());
    }
    Ok(up.into_iter().find(|node| !has_committed(world.recorder(), *node, since)))
}

/// Whether a transaction has ended well shortly before this time.
fn anybody_has_committed<P: Protocol>(world: &World<P>, time: Time) -> bool {
    let since = time - Time::from_ns(PROGRESS_NS / 4);
    world.up().iter().any(|(node, _)| has_committed(world.recorder(), *node, since))
}

fn no_progress<C: Cluster>(world: &World<C>, idle: NodeId) -> String {
    let views = world.up().into_iter().map(|(node, up)| {
        let member = &up.shared.recovery().member;
        format!("node {} in view {}, {:?}", node.0, member.epoch(), Phase::clone(member.phase()))
    });
    let views: Vec<String> = views.collect();
    let of_idle = world.recorder().attempts().iter().rev();
    let of_idle = of_idle.filter(|attempt| attempt.transaction.node() == idle).take(3);
    let endings: Vec<_> = of_idle.map(|attempt| attempt.ending()).collect();
    format!(
        "no progress: node {} has committed nothing for {} ns, {RECOVERY_NS} ns after the last fault; \
         its last attempts: {endings:?}; {}; {}",
        idle.0,
        PROGRESS_NS,
        views.join("; "),
        unrest_of(world)
    )
}

/// What helps to understand why a cluster does not come to rest: the locks, and the latest
/// endings.
fn unrest_of<C: Cluster>(world: &World<C>) -> String {
    let locks = world.up().into_iter().filter_map(|(node, up)| {
        let (header, by) = up.shared.store().locked()?;
        let header = up.shared.store().layout().name_of(header);
        Some(format!("node {}: {header} by {:#018x}", node.0, by.0))
    });
    let locks: Vec<String> = locks.collect();
    let latest = world.recorder().attempts().iter().rev().take(8);
    let latest: Vec<String> = latest
        .map(|attempt| format!("{:#018x} {:?}", attempt.transaction.0, attempt.ending()))
        .collect();
    format!("locks: [{}]; latest attempts: {}", locks.join(", "), latest.join(", "))
}

fn has_committed(recorder: &Recorder, node: NodeId, since: Time) -> bool {
    recorder.attempts().iter().rev().any(|attempt| {
        let is_acknowledged = attempt.ending().is_some_and(|ending| !ending.is_abort());
        attempt.transaction.node() == node && is_acknowledged && attempt.end() >= since
    })
}
