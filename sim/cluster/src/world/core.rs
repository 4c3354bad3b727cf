// SPDX-License-Identifier: MIT OR Apache-2.0
//! A core: what waits for it, and what it does.

use std::collections::VecDeque;

use cluster::engine::{Effects, Instant, TransactionId};
use timing::Time;

use super::recorder::AttemptIndex;
use super::slab::Handle;
use crate::nic::gather::Gathering;

/// A core of a host or of a NIC, which one part of a node runs on.
#[derive(Default)]
pub(super) struct Core {
    /// What has come through the NIC, in the order in which polls see it.
    pub inbox: VecDeque<Waiting>,
    /// What polls see at once and first: control traffic, and what comes from the same node.
    pub urgent: VecDeque<Handle>,
    /// Workers that may begin or shall finish.
    pub commands: VecDeque<Command>,
    pub state: State,
    /// An event for this core with another stamp than this is void.
    pub stamp: u32,
    /// When the machine wants its deadline, by its clock.
    pub wanted: Option<Instant>,
    /// When the event for a deadline that is not void will come, and its stamp.
    pub alarm: Option<Time>,
    pub alarm_stamp: u32,
    /// The burst under way: its effects, its begin, its number.
    pub effects: Effects,
    /// Its frames, where software makes them.
    pub gathering: Gathering,
    pub begun: Time,
    pub burst: u64,
    /// Whether more than control traffic comes of the burst under way.
    pub active: bool,
    /// How long it was busy in bursts that have ended.
    pub busy: Time,
    /// The workers of a thread, by number.
    pub workers: Vec<Worker>,
}

/// What a core is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// It polls and finds nothing, and has no event.
    #[default]
    Idle,
    /// It polls, and will find something at this time, for which it has an event.
    Waking(Time),
    /// It is in a burst, and has an event for its end.
    Busy,
}

/// A parcel in an inbox.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub seen: Time,
    pub parcel: Handle,
}

/// What a driver tells a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Begin(u8),
    Finish(u8),
}

/// A worker as the world sees it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worker {
    /// It was told to begin, and has not told that it rests.
    pub runs: bool,
    /// Its attempt that has not ended.
    pub open: Option<OpenAttempt>,
    /// When the first attempt at its transaction began.
    pub first_begin: Time,
}

/// An attempt that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenAttempt {
    pub transaction: TransactionId,
    pub kind: u8,
    pub index: AttemptIndex,
}

impl Core {
    /// When a poll would find something: now or later.
    pub fn next_poll(&self, now: Time, shown: Instant) -> Option<Time> {
        let due = self.wanted.is_some_and(|wanted| wanted <= shown);
        if due || !self.urgent.is_empty() || !self.commands.is_empty() {
            return Some(now);
        }
        self.inbox.front().map(|first| first.seen.max(now))
    }

    /// Puts a parcel behind the others of the NIC; none is seen before one that came earlier.
    pub fn put(&mut self, seen: Time, parcel: Handle) -> Time {
        let seen = self.inbox.back().map_or(seen, |last| last.seen.max(seen));
        self.inbox.push_back(Waiting { seen, parcel });
        seen
    }

    /// The worker of this number.
    pub fn worker(&mut self, worker: u8) -> &mut Worker {
        let worker = usize::from(worker);
        if worker >= self.workers.len() {
            self.workers.resize(worker + 1, Worker::default());
        }
        &mut self.workers[worker]
    }
}
