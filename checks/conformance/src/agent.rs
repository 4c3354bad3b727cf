// SPDX-License-Identifier: MIT OR Apache-2.0
//! An agent follows its script within the contract of the lock table.
//!
//! It knows what its transaction holds and waits for, and postpones requests that the contract
//! forbids for now (`docs/lock-protocol.md`, "Steps of each request", last paragraphs). It gives
//! up its waits after being blocked for too long, which resolves deadlocks, and releases
//! everything at the end.

use locks::machine::Rule;
use locks::{Timestamp, TupleKey};

use crate::case::{Agent as Plan, Case, Side, Step, Stray};

/// Tags that only cancels and polls may take, so that waits can always be ended.
const TAGS_IN_RESERVE: usize = 2;
/// Acquires and waits of one transaction in one line at once.
const MOST_WAITS: usize = 3;

/// A request of an agent. A wait is named by the serial number of its acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Acquire {
        line: usize,
        key: TupleKey,
        rule: Rule,
    },
    Release {
        line: usize,
        key: TupleKey,
    },
    Cancel {
        line: usize,
        wait: u64,
    },
    Poll {
        line: usize,
        wait: u64,
    },
    /// Cancel or poll of a tag that does not wait, the `nth` in use.
    Miss {
        nth: u8,
        polls: bool,
    },
    Stray(Stray),
    /// Take the transaction out of a line in which an access has failed.
    Repair {
        line: usize,
    },
}

impl Action {
    /// Whether it may end a wait of its transaction without the lock.
    pub fn cancels(self) -> bool {
        matches!(self, Self::Cancel { .. } | Self::Miss { polls: false, .. })
    }
}

/// Its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Granted,
    Queued,
    /// Over; the transaction has gained nothing by it.
    Ended,
    /// Over with a bus error.
    Failed,
}

#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub transaction: Timestamp,
    pub side: Side,
    script: Vec<Step>,
    next: usize,
    /// `Hold` until this cycle.
    paused_until: u64,
    blocked_since: Option<u64>,
    timeout: u64,
    parallel: bool,
    lines: Vec<AtLine>,
    /// Keys by which its lines can be released.
    keys: Vec<TupleKey>,
    /// Which wait a host polls next.
    turn: usize,
}

/// What the transaction has to do with one line.
#[derive(Clone, Debug, Default)]
struct AtLine {
    held: bool,
    /// Acquires that have not been answered.
    acquiring: usize,
    /// A release or repair has not been answered.
    closing: bool,
    /// Cancels and polls that have not been answered.
    asking: usize,
    waits: Vec<Waiting>,
    /// An access has failed; nothing is known until it was repaired.
    broken: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    serial: u64,
    /// A cancel of it is on its way.
    leaving: bool,
}

impl AtLine {
    fn is_quiet(&self) -> bool {
        self.acquiring == 0 && !self.closing && self.asking == 0 && self.waits.is_empty()
    }
}

enum Attempt {
    Act(Action),
    Skip,
    Blocked,
}

impl Agent {
    pub fn new(plan: &Plan, case: &Case) -> Self {
        let keys = (0..case.table.lines)
            .map(|line| {
                let key = case.keys.iter().map(|key| key.tuple());
                key.into_iter().find(|&key| case.table.line_of(key) == line)
            })
            .map(|key| key.unwrap_or(case.key(0)))
            .collect();
        Self {
            transaction: plan.transaction(),
            side: plan.side,
            script: plan.script.clone(),
            next: 0,
            paused_until: 0,
            blocked_since: None,
            timeout: plan.timeout.into(),
            parallel: plan.parallel,
            lines: vec![AtLine::default(); case.table.lines],
            keys,
            turn: 0,
        }
    }

    /// Nothing is left to do.
    pub fn is_done(&self) -> bool {
        let done = |line: &AtLine| line.is_quiet() && !line.held && !line.broken;
        self.next == self.script.len() && self.lines.iter().all(done)
    }

    /// What it does in this cycle, with so many tags free.
    pub fn decide(&mut self, cycle: u64, case: &Case, tags_free: usize) -> Option<Action> {
        if let Some(line) = self.lines.iter().position(|line| line.broken && line.is_quiet()) {
            return Some(Action::Repair { line });
        }
        if cycle < self.paused_until || self.side == Side::Device && tags_free == 0 {
            return None;
        }
        let attempt = match self.script.get(self.next) {
            Some(Step::Hold { cycles }) => {
                self.paused_until = cycle + u64::from(*cycles);
                Attempt::Skip
            }
            Some(step) => self.attempt(*step, case, tags_free),
            None => self.lets_go(tags_free),
        };
        match attempt {
            Attempt::Blocked => self.wait_or_give_up(cycle),
            Attempt::Skip => {
                self.next += 1;
                self.blocked_since = None;
                None
            }
            Attempt::Act(action) => {
                self.next = (self.next + 1).min(self.script.len());
                self.blocked_since = None;
                Some(action)
            }
        }
    }

    fn attempt(&self, step: Step, case: &Case, tags_free: usize) -> Attempt {
        match step {
            Step::Acquire { key, rule } => {
                let key = case.key(key);
                let line = case.table.line_of(key);
                let state = &self.lines[line];
                match () {
                    () if state.waits.len() + state.acquiring >= MOST_WAITS => Attempt::Skip,
                    () if state.acquiring > 0 && !self.parallel => Attempt::Blocked,
                    () if state.closing || state.broken => Attempt::Blocked,
                    () if !self.may_start(tags_free) => Attempt::Blocked,
                    () => Attempt::Act(Action::Acquire { line, key, rule }),
                }
            }
            Step::Release { key } => {
                let key = case.key(key);
                self.release(case.table.line_of(key), key, tags_free)
            }
            Step::Cancel { nth } | Step::Poll { nth } => {
                let polls = matches!(step, Step::Poll { .. });
                match self.nth_wait(nth.into()) {
                    Some((line, wait)) if polls => Attempt::Act(Action::Poll { line, wait }),
                    Some((line, wait)) => Attempt::Act(Action::Cancel { line, wait }),
                    None if self.side == Side::Host => Attempt::Skip,
                    None => Attempt::Act(Action::Miss { nth, polls }),
                }
            }
            Step::Stray(_) if self.side == Side::Host => Attempt::Skip,
            Step::Stray(stray) => Attempt::Act(Action::Stray(stray)),
            Step::Hold { .. } => Attempt::Skip,
        }
    }

    fn may_start(&self, tags_free: usize) -> bool {
        self.side == Side::Host || tags_free > TAGS_IN_RESERVE
    }

    fn release(&self, line: usize, key: TupleKey, tags_free: usize) -> Attempt {
        let state = &self.lines[line];
        match state.is_quiet() && !state.broken && self.may_start(tags_free) {
            true => Attempt::Act(Action::Release { line, key }),
            false => Attempt::Blocked,
        }
    }

    /// The script has ended: whatever is held is released, one line after the other.
    fn lets_go(&self, tags_free: usize) -> Attempt {
        if self.lines.iter().any(|line| !line.waits.is_empty()) {
            return Attempt::Blocked;
        }
        match self.lines.iter().position(|line| line.held) {
            Some(line) => self.release(line, self.keys[line], tags_free),
            None => Attempt::Blocked,
        }
    }

    /// Hosts look after their waits while they are blocked; the lock unit does so by itself.
    fn wait_or_give_up(&mut self, cycle: u64) -> Option<Action> {
        let since = *self.blocked_since.get_or_insert(cycle);
        let waits =
            || self.lines.iter().enumerate().flat_map(|(l, s)| s.waits.iter().map(move |w| (l, w)));
        if cycle - since >= self.timeout
            && let Some((line, wait)) = waits().find(|(_, wait)| !wait.leaving)
        {
            return Some(Action::Cancel { line, wait: wait.serial });
        }
        if self.side == Side::Device || waits().count() == 0 {
            return None;
        }
        self.turn += 1;
        let (line, wait) = self.nth_wait(self.turn)?;
        Some(Action::Poll { line, wait })
    }

    fn nth_wait(&self, nth: usize) -> Option<(usize, u64)> {
        let waits =
            || self.lines.iter().enumerate().flat_map(|(l, s)| s.waits.iter().map(move |w| (l, w)));
        let count = waits().count();
        let (line, wait) = waits().nth(nth.checked_rem(count)?)?;
        Some((line, wait.serial))
    }

    /// One of its waits, or of none.
    pub fn any_wait(&self) -> Option<u64> {
        self.nth_wait(0).map(|(_, serial)| serial)
    }

    /// An action was started.
    pub fn started(&mut self, action: Action) {
        match action {
            Action::Acquire { line, .. } => self.lines[line].acquiring += 1,
            Action::Release { line, .. } | Action::Repair { line } => {
                self.lines[line].closing = true;
                self.lines[line].held = false;
            }
            Action::Cancel { line, wait } => {
                self.lines[line].asking += 1;
                self.mark(line, wait, true);
            }
            Action::Poll { line, .. } => self.lines[line].asking += 1,
            Action::Miss { .. } | Action::Stray(_) => {}
        }
    }

    /// An acquire, a release or a repair of a line was answered for the first time.
    pub fn answered(&mut self, line: usize, serial: u64, event: Event) {
        let state = &mut self.lines[line];
        match state.closing {
            true => state.closing = false,
            false => state.acquiring -= 1,
        }
        match event {
            Event::Granted => state.held = true,
            Event::Queued => state.waits.push(Waiting { serial, leaving: false }),
            Event::Ended => {}
            Event::Failed => state.broken = true,
        }
    }

    /// A line is as if the transaction had never been there.
    pub fn repaired(&mut self, line: usize, serial: u64) {
        self.answered(line, serial, Event::Ended);
        self.lines[line].broken = false;
    }

    /// A wait has come to its end.
    pub fn wait_ends(&mut self, line: usize, wait: u64, event: Event) {
        let state = &mut self.lines[line];
        state.waits.retain(|w| w.serial != wait);
        match event {
            Event::Granted => state.held = true,
            Event::Failed => state.broken = true,
            Event::Queued | Event::Ended => {}
        }
    }

    /// A cancel or poll was answered, and its target may still wait.
    pub fn told(&mut self, line: usize, wait: u64, of_cancel: bool) {
        self.lines[line].asking -= 1;
        if of_cancel {
            self.mark(line, wait, false);
        }
    }

    fn mark(&mut self, line: usize, wait: u64, leaving: bool) {
        for waiting in &mut self.lines[line].waits {
            if waiting.serial == wait {
                waiting.leaving = leaving;
            }
        }
    }
}
