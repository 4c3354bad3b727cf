// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host agent's requests, one access to the shared memory at a time.

use std::collections::BTreeMap;

use locks::Timestamp;
use locks::machine::{
    Access, Answer, Bounds, Machine, Outcome, Place, Repair, RepairStep, Request,
};

use crate::agent::{Action, Event};

/// The request that a host is at, and where its waits stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    job: Option<Job>,
    places: BTreeMap<u64, Place>,
}

#[derive(Clone, Debug)]
struct Job {
    serial: u64,
    action: Action,
    work: Work,
    /// Software reads a line word by word.
    words_read: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Work {
    Machine(Machine),
    Repair(Repair),
}

/// One access of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostAccess {
    /// One word of the line.
    Load { word: usize },
    /// Anything that is one access by itself.
    Whole(Access),
}

/// How a job ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub serial: u64,
    pub action: Action,
    pub event: Event,
}

impl Host {
    pub fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// Begins a request of the transaction. A repair may also be of a device's transaction.
    pub fn start(&mut self, serial: u64, transaction: Timestamp, action: Action) {
        let machine = |request| Work::Machine(Machine::new(transaction, request, Bounds::BUCKET));
        let work = match action {
            Action::Acquire { rule, .. } => machine(Request::Acquire(rule)),
            Action::Release { .. } => machine(Request::Release),
            Action::Cancel { wait, .. } => machine(Request::Cancel(self.places[&wait])),
            Action::Poll { wait, .. } => machine(Request::Poll(self.places[&wait])),
            Action::Repair { .. } => Work::Repair(Repair::new(transaction, Bounds::BUCKET)),
            Action::Miss { .. } | Action::Stray(_) => unreachable!("hosts do neither"),
        };
        self.job = Some(Job { serial, action, work, words_read: Vec::new() });
    }

    /// The line and the access that its job makes next.
    pub fn access(&self) -> Option<(usize, HostAccess)> {
        let job = self.job.as_ref()?;
        let (Action::Acquire { line, .. }
        | Action::Release { line, .. }
        | Action::Cancel { line, .. }
        | Action::Poll { line, .. }
        | Action::Repair { line }) = job.action
        else {
            unreachable!("hosts do nothing else")
        };
        let access = match &job.work {
            Work::Machine(machine) => machine.access(),
            Work::Repair(repair) => repair.access(),
        };
        Some((
            line,
            match access {
                Access::ReadLine => HostAccess::Load { word: job.words_read.len() },
                Access::LoadHead => HostAccess::Load { word: 0 },
                whole => HostAccess::Whole(whole),
            },
        ))
    }

    /// Takes the answer to [`Host::access`].
    pub fn resume(&mut self, answer: Answer) -> Option<Finished> {
        let job = self.job.as_mut().expect("an access was made for a job");
        let reads_line = match &job.work {
            Work::Machine(machine) => machine.access() == Access::ReadLine,
            Work::Repair(repair) => repair.access() == Access::ReadLine,
        };
        let answer = match answer {
            Answer::Word(word) if reads_line => {
                job.words_read.push(word);
                let Ok(line) = <[u64; 8]>::try_from(job.words_read.as_slice()) else { return None };
                job.words_read.clear();
                Answer::Line(line)
            }
            other => other,
        };
        let event = match &mut job.work {
            Work::Machine(machine) => match machine.resume(answer)? {
                Outcome::Granted { .. } => Event::Granted,
                Outcome::Queued { place, .. } => {
                    if let Action::Acquire { .. } = job.action {
                        self.places.insert(job.serial, place);
                    }
                    Event::Queued
                }
                _ => Event::Ended,
            },
            Work::Repair(repair) => match repair.resume(answer) {
                RepairStep::Continue => return None,
                RepairStep::Done { .. } => Event::Ended,
                RepairStep::BusError => unreachable!("hosts meet no bus errors"),
            },
        };
        let Job { serial, action, .. } = *job;
        self.job = None;
        Some(Finished { serial, action, event })
    }
}
