// SPDX-License-Identifier: MIT OR Apache-2.0
//! Running a world: for a time, or until it is at rest.

use cluster::engine::{NodeId, Protocol};
use timing::{Priority, Time};

use super::core::{Command, State as CoreState};
use super::ledger::ResourceUse;
use super::{Event, Kind, Trace, Unrest, World};
use crate::nic::Resource;

/// The most sentences of an error that say what is waited for.
const SENTENCES: usize = 8;
/// How often somebody who waits for rest is asked whether to go on.
const BETWEEN_LOOKS: Time = Time::from_us(1000);

impl<P: Protocol, T: Trace> World<P, T> {
    /// Tells all workers to begin.
    pub fn begin(&mut self) {
        self.begins = true;
        for node in 0..self.nodes.len() {
            self.command_workers(node, Command::Begin);
        }
    }

    /// Tells all workers to finish.
    pub fn finish(&mut self) {
        self.begins = false;
        for node in 0..self.nodes.len() {
            self.command_workers(node, Command::Finish);
        }
    }

    /// Runs up to a point of time.
    pub fn run_until(&mut self, limit: Time) {
        if limit < self.now() {
            return;
        }
        // An event at the limit costs less than a look at the next event's time each time.
        let event = Event { kind: Kind::Limit, part: 0, node: 0, handle: 0 };
        self.kernel.schedule_at(limit, Priority::Observe, event);
        while let Some((now, event)) = self.kernel.pop() {
            if matches!(event.kind, Kind::Limit) {
                break;
            }
            self.fetch_ahead();
            self.happen(now, event);
            if self.failure().is_some() {
                break;
            }
        }
        self.reached = self.reached.max(limit);
    }

    /// Runs for `warm_up`, and then for `measure`, which [`World::ledger`] tells of. Workers are told to
    /// begin if they have not been.
    pub fn run_for(&mut self, warm_up: Time, measure: Time) {
        if !self.begins {
            self.begin();
        }
        let since = self.reached + warm_up;
        self.run_until(since);
        self.ledger.restart(since);
        self.resources_before = self.busy_times(since).into_iter().map(|it| it.1.busy).collect();
        let end = since + measure;
        self.run_until(end);
        let mut measured = self.ledger.clone();
        measured.span = measure;
        measured.resources = self.uses(end, measure);
        self.measured = Some(measured);
    }

    /// Tells all workers to finish, and runs until the cluster is at rest: all workers have told that
    /// they rest, and nothing but control traffic is under way, for as long as
    /// [`Options::quiet`](super::Options::quiet) wants.
    ///
    /// # Errors
    /// When that is not so after `limit`; the error says what is waited for.
    pub fn run_until_rest(&mut self, limit: Time) -> Result<(), Unrest> {
        self.run_until_rest_unless(limit, &|| false).map(|_| ())
    }

    /// As [`World::run_until_rest`], and asks after each millisecond of virtual time whether it is to end
    /// early. Says whether the cluster has come to rest.
    ///
    /// # Errors
    /// As [`World::run_until_rest`].
    pub fn run_until_rest_unless(
        &mut self,
        limit: Time,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<bool, Unrest> {
        self.finish();
        let end = self.reached + limit;
        self.last_active = self.reached;
        let mut look = self.reached + BETWEEN_LOOKS;
        loop {
            let active = self.is_active();
            if active {
                self.last_active = self.now().max(self.reached);
            }
            // Then nobody waits for an answer that does not come; the caller asks for the failure.
            if self.failure().is_some() {
                return Ok(true);
            }
            let next = self.kernel.next_time();
            let rested = self.last_active + self.options.quiet;
            if !active && next.is_none_or(|next| next > rested) {
                self.reached = self.reached.max(rested);
                return Ok(true);
            }
            if next.is_some_and(|next| next > look) {
                if is_interrupted() {
                    return Ok(false);
                }
                look += BETWEEN_LOOKS;
            }
            if !self.step(end) {
                return Err(Unrest { limit, waits: self.waits() });
            }
        }
    }

    /// Asks the protocol whether the nodes that are up are as they should be at rest.
    ///
    /// # Errors
    /// What the protocol says, or that no node is up.
    pub fn check_at_rest(&self) -> Result<(), String> {
        let up = self.up();
        if up.is_empty() {
            return Err("no node is up, so nothing could be checked".into());
        }
        self.protocol.check_at_rest(&up)
    }

    fn is_active(&self) -> bool {
        self.running > 0
            || self.active_bursts > 0
            || self.slab.ordinary() > 0
            || self.has_commands()
    }

    /// Whether a worker was commanded something that its core has not taken.
    fn has_commands(&self) -> bool {
        let mut cores = self.nodes.iter().flat_map(|node| &node.cores);
        cores.any(|core| !core.commands.is_empty())
    }

    /// What a rest waits for.
    fn waits(&self) -> Vec<String> {
        let mut waits = Vec::new();
        for state in &self.nodes {
            for (part, core) in state.cores.iter().enumerate() {
                let running = core.workers.iter().enumerate().filter(|(_, worker)| worker.runs);
                for (number, worker) in running {
                    let place = place(state.id, part);
                    let open = worker.open.map_or("no attempt".to_owned(), |open| {
                        format!("attempt {} of kind {}", open.transaction.count(), open.kind)
                    });
                    waits.push(format!("worker {number} of {place} does not rest, with {open}"));
                }
                if !core.commands.is_empty() {
                    waits.push(format!("{} has not taken its commands", place(state.id, part)));
                }
            }
        }
        waits.extend(self.slab.all_ordinary().map(|parcel| {
            let [from, to] = [parcel.from, parcel.to].map(|it| format!("{:?}", it.part));
            let [source, target] = [parcel.from.node, parcel.to.node].map(name);
            let stage = parcel.stage.name();
            format!("a message ({stage}) from {from} of {source} to {to} of {target} is under way")
        }));
        if waits.is_empty() {
            waits.push("other traffic than control goes on".to_owned());
        }
        let more = waits.len().saturating_sub(SENTENCES);
        waits.truncate(SENTENCES);
        if more > 0 {
            waits.push(format!("and {more} more"));
        }
        waits
    }

    /// How long each resource of each node has been busy until `now`.
    fn busy_times(&self, now: Time) -> Vec<(NodeId, Resource)> {
        let mut all = Vec::new();
        let mut of_card = Vec::new();
        for (index, state) in self.nodes.iter().enumerate() {
            let busy = state.cores.iter().map(|core| match core.state {
                CoreState::Busy => core.busy + now.saturating_sub(core.begun),
                CoreState::Idle | CoreState::Waking(_) => core.busy,
            });
            let busy: Vec<Time> = busy.collect();
            let (host, nic) = busy.split_at(state.host_threads);
            let with_workers = self.options.threads_with_workers.map_or(host.len(), usize::from);
            let (host, log_workers) = host.split_at(with_workers.min(host.len()));
            // They do work of one kind each, so that one kind can bind while the other idles.
            for (name, cores) in
                [("host cores", host), ("log workers", log_workers), ("NIC cores", nic)]
            {
                if !cores.is_empty() {
                    let busy = cores.iter().fold(Time::ZERO, |sum, busy| sum + *busy);
                    all.push((state.id, Resource { name, busy, count: cores.len() as u32 }));
                }
            }
            let [out, inward] = self.fabric.busy(index, now);
            let count = self.fabric.timing().ports;
            all.push((state.id, Resource { name: "link out", busy: out, count }));
            all.push((state.id, Resource { name: "link in", busy: inward, count }));
            if self.fabric.has_leaves() {
                let [up, down] = self.fabric.busy_above(index, now);
                all.push((state.id, Resource { name: "leaf up", busy: up, count: 1 }));
                all.push((state.id, Resource { name: "leaf down", busy: down, count: 1 }));
            }
            state.card.resources(now, &mut of_card);
            all.extend(of_card.drain(..).map(|resource| (state.id, resource)));
        }
        all
    }

    /// How busy each resource was since counting began.
    fn uses(&self, now: Time, span: Time) -> Vec<ResourceUse> {
        let times = self.busy_times(now);
        let since = times.into_iter().zip(&self.resources_before);
        let share = |busy: Time, before: Time, count: u32| {
            let all = span.as_ns_f64() * f64::from(count.max(1));
            if all == 0.0 { 0.0 } else { busy.saturating_sub(before).as_ns_f64() / all }
        };
        since
            .map(|((node, resource), before)| ResourceUse {
                node,
                name: resource.name,
                share: share(resource.busy, *before, resource.count),
            })
            .collect()
    }
}

fn place(node: NodeId, part: usize) -> String {
    format!("part {part} of {}", name(node))
}

fn name(node: NodeId) -> String {
    match node {
        NodeId::MANAGER => "the manager".to_owned(),
        NodeId(node) => format!("node {node}"),
    }
}
