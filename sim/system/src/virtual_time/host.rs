// SPDX-License-Identifier: MIT OR Apache-2.0
//! Host agents: each runs the lock machine over its core's cache, one access at a time.
//!
//! A waiter watches its core's copy of the line, as spinning does: it costs nothing until the line
//! is taken away, then the next look misses.

use std::collections::BTreeMap;

use locks::Timestamp;
use locks::machine::{Access, Answer, Bounds, Machine, Outcome, Phase, Place, Request};
use sim::models::LockUnit;
use sim::system::System;

use crate::workflow::{Command, Input};

/// The host's agents by their numbers; workers share cores when there are more of them.
pub(crate) struct HostThreads {
    threads: BTreeMap<usize, Thread>,
}

struct Thread {
    core: u32,
    bucket: u64,
    running: Option<Machine>,
    waiting: Option<Wait>,
}

/// A place in a queue.
#[derive(Clone, Copy)]
struct Wait {
    transaction: Timestamp,
    place: Place,
    /// The copy went stale while the last look at it was under way.
    stale: bool,
}

impl HostThreads {
    /// Agents, each with the core that it runs on.
    pub fn new(agents: impl IntoIterator<Item = (usize, u32)>) -> Self {
        let threads = agents
            .into_iter()
            .map(|(agent, core)| (agent, Thread { core, bucket: 0, running: None, waiting: None }));
        Self { threads: threads.collect() }
    }

    pub fn carry_out<M: LockUnit>(
        &mut self,
        system: &mut System<M>,
        agent: usize,
        command: Command,
    ) {
        let thread = self.thread(agent);
        let machine = match command {
            Command::Acquire { transaction, bucket, rule, .. } => {
                thread.bucket = bucket;
                Machine::new(transaction, Request::Acquire(rule), Bounds::BUCKET)
            }
            Command::Release { transaction, bucket, .. } => {
                thread.bucket = bucket;
                Machine::new(transaction, Request::Release, Bounds::BUCKET)
            }
            Command::Cancel => {
                let wait = thread.waiting.as_mut().expect("only a waiter cancels");
                let machine = cancel(wait);
                match &mut thread.running {
                    None => machine,
                    // The head is being read already: its answer will do for the cancel.
                    Some(look) if look.phase() == Phase::Inspect => {
                        *look = machine;
                        return;
                    }
                    // The wait has just ended: too late to cancel.
                    Some(_) => return,
                }
            }
            other => unreachable!("{other:?} is not for the lock table"),
        };
        thread.run(system, agent, machine);
    }

    /// The access of an agent has been made. Returns the answer for the agent.
    pub fn answered<M: LockUnit>(
        &mut self,
        system: &mut System<M>,
        agent: usize,
        answer: Answer,
    ) -> Option<Input> {
        let thread = self.thread(agent);
        let mut machine = thread.running.take().expect("an answer follows an access");
        let wrote = matches!(machine.access(), Access::CompareSwap { .. } | Access::Clear(_));
        let outcome = machine.resume(answer);
        let (core, bucket) = (thread.core, thread.bucket);
        let input = match outcome {
            Some(outcome) => thread.ended(system, agent, machine, outcome),
            None => {
                thread.run(system, agent, machine);
                None
            }
        };
        if wrote {
            // The core keeps its copy when it writes itself; others on it must look all the same.
            self.look_again(system, core, bucket, Some(agent));
        }
        input
    }

    /// A core has lost its copy of a line.
    pub fn line_changed<M: LockUnit>(&mut self, system: &mut System<M>, core: u32, bucket: u64) {
        self.look_again(system, core, bucket, None);
    }

    fn look_again<M: LockUnit>(
        &mut self,
        system: &mut System<M>,
        core: u32,
        bucket: u64,
        except: Option<usize>,
    ) {
        for (&agent, thread) in &mut self.threads {
            if thread.core != core || thread.bucket != bucket || Some(agent) == except {
                continue;
            }
            let Some(wait) = &mut thread.waiting else { continue };
            if thread.running.is_some() {
                wait.stale = true;
            } else {
                let machine = poll(wait);
                thread.run(system, agent, machine);
            }
        }
    }

    fn thread(&mut self, agent: usize) -> &mut Thread {
        self.threads.get_mut(&agent).expect("the agent is on the host")
    }
}

impl Thread {
    fn run<M: LockUnit>(&mut self, system: &mut System<M>, agent: usize, machine: Machine) {
        let keep_copy = self.waiting.is_some();
        system.host_access(self.core, agent as u64, self.bucket, machine.access(), keep_copy);
        self.running = Some(machine);
    }

    fn ended<M: LockUnit>(
        &mut self,
        system: &mut System<M>,
        agent: usize,
        machine: Machine,
        outcome: Outcome,
    ) -> Option<Input> {
        let transaction = machine.transaction();
        let input = match outcome {
            Outcome::Queued { place, position } => {
                let watched = self.waiting.is_some_and(|wait| !wait.stale);
                let first = self.waiting.is_none();
                self.waiting = Some(Wait { transaction, place, stale: false });
                if !watched {
                    // The first look obtains the copy that is watched from then on.
                    let machine = poll(self.waiting.as_mut().expect("just set"));
                    self.run(system, agent, machine);
                }
                return first.then_some(Input::Queued { position });
            }
            Outcome::Granted { again } => Input::Granted { again },
            Outcome::Refused(refusal) => Input::Refused(refusal),
            Outcome::Released { .. } => Input::Released,
            Outcome::Cancelled => Input::Cancelled,
            Outcome::NotHeld => unreachable!("workflows release what they hold"),
            Outcome::BusError => Input::Failed,
        };
        self.waiting = None;
        Some(input)
    }
}

fn poll(wait: &mut Wait) -> Machine {
    wait.stale = false;
    Machine::new(wait.transaction, Request::Poll(wait.place), Bounds::BUCKET)
}

fn cancel(wait: &mut Wait) -> Machine {
    Machine::new(wait.transaction, Request::Cancel(wait.place), Bounds::BUCKET)
}
