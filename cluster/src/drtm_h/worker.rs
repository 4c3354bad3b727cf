// SPDX-License-Identifier: MIT OR Apache-2.0
//! A worker: the coordinator of one transaction after another, a coroutine of the paper as a state that is entered
//! again when all answers and completions of the step are there.
//!
//! All requests and verbs of a step leave at once. What concerns the worker's own node is done in place.

mod commit;
mod verbs;

use super::context::Context;
use super::messages::{Answer, Request};
use super::settings::{Means, Settings};
use crate::engine::{Ending, Instant, Moment, NodeId, Stage, TransactionId, Work};
use crate::pause::{Aborted, pause};
use crate::rpc::{Asked, Call, Calls, Form, Header, Post};
use crate::store::Item;
use crate::transact::{self, Change, Decision, Rows, TableShape, Transactions};
use crate::wire::{Reader, WireError};
use verbs::Verb;

/// What a worker is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It was not told to begin, or has nothing more to do.
    Rests,
    /// It will begin another transaction.
    Next,
    /// It will begin the same transaction again, not before this.
    Again {
        /// When.
        at: Instant,
    },
    /// Rows are read.
    Execute,
    /// Rows that change are locked.
    Lock,
    /// The headers of what was read only are read again.
    Validate,
    /// Records are written to backups.
    Log,
    /// Primaries get the changes and are unlocked.
    Commit,
    /// Locks are given back, after which the attempt ends like this.
    Unlock(Ending),
    /// Backups apply the worker's records.
    Flush,
}

/// What a transaction that can commit will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Write,
    Read,
    RollBack,
}

/// What another node is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Lock,
    Unlock,
    Commit,
    Flush,
}

/// A request to another node, about a row where it is about one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    call: Call,
    wish: Wish,
    row: u16,
}

impl Asked for Ask {
    fn call(&self) -> &Call {
        &self.call
    }

    fn call_mut(&mut self) -> &mut Call {
        &mut self.call
    }
}

/// A worker. `I` is a transaction's input, `S` what draws them.
#[derive(Clone, Debug)]
pub(super) struct Worker<I, S> {
    /// The requests of the step.
    pub calls: Calls<Ask>,
    pub state: State,
    /// The verbs of the step, and how many of them are under way.
    verbs: Vec<Verb>,
    under_way: u16,
    /// The number of the step, by which a completion tells it.
    steps: u8,
    /// Why the attempt cannot go on.
    failure: Option<Ending>,
    goal: Goal,
    /// Whether it begins no other transaction.
    finishing: bool,
    /// Whether the client knows how the attempt has ended.
    told: bool,
    rows: Rows,
    /// The rows that the transaction has locked.
    locked: Vec<u16>,
    /// The nodes that have got records since they were last told to apply all.
    logged: Vec<NodeId>,
    input: Option<I>,
    /// How often in a row the transaction was aborted.
    failures: u8,
    /// When the attempt began.
    begun: Instant,
    source: S,
}

impl<I, S> Worker<I, S> {
    pub fn new(number: u8, source: S) -> Self {
        Self {
            calls: Calls::new(number, 0),
            state: State::Rests,
            verbs: Vec::new(),
            under_way: 0,
            steps: 0,
            failure: None,
            goal: Goal::Read,
            finishing: false,
            told: false,
            rows: Rows::new(),
            locked: Vec::new(),
            logged: Vec::new(),
            input: None,
            failures: 0,
            begun: Instant::default(),
            source,
        }
    }

    /// It is told to begin. Says whether it has to be entered.
    pub fn start(&mut self) -> bool {
        self.finishing = false;
        let rested = self.state == State::Rests;
        if rested {
            self.state = State::Next;
        }
        rested
    }

    /// It is told to begin no further transaction. Says whether it has to be entered.
    pub fn finish_up(&mut self) -> bool {
        self.finishing = true;
        self.state == State::Next
    }

    /// Whether answers or completions are to come.
    pub fn is_waiting(&self) -> bool {
        self.calls.open > 0 || self.under_way > 0
    }

    /// Notes that the attempt cannot commit. The first reason counts.
    fn fails(&mut self, ending: Ending) {
        self.failure.get_or_insert(ending);
    }

    fn step(&mut self, state: State) {
        (self.state, self.steps) = (state, self.steps.wrapping_add(1));
        self.calls.clear();
        self.verbs.clear();
        self.under_way = 0;
    }

    fn ask(&mut self, to: NodeId, wish: Wish, row: usize) {
        self.calls.ask(Ask { call: Call::new(to), wish, row: row as u16 });
    }

    /// Whether a row changes.
    fn changes(&self, row: usize) -> bool {
        self.rows.all()[row].change().is_some()
    }

    /// Whether verbs do for a row what goes by `means`: what makes or deletes a row goes by RPC.
    fn is_by_verbs(&self, means: Means, row: usize) -> bool {
        means == Means::Verbs && self.rows.all()[row].change() == Some(Change::Update)
    }
}

/// The bytes of a worker's requests.
struct Requests<'a> {
    rows: &'a Rows,
    tables: &'a [TableShape],
}

impl Form<Ask> for Requests<'_> {
    fn encode(&self, ask: &Ask, out: &mut Vec<u8>) {
        let at = usize::from(ask.row);
        let row = || &self.rows.all()[at];
        let request = match ask.wish {
            Wish::Lock => Request::Lock { key: row().key, version: row().version },
            Wish::Unlock => Request::Unlock { key: row().key },
            Wish::Commit => match Item::of(self.rows, at) {
                Some(item) => Request::Commit { item },
                None => Request::Unlock { key: row().key },
            },
            Wish::Flush => Request::Flush,
        };
        request.encode(self.tables, out);
    }

    fn answer_bytes(&self, _: &Ask) -> usize {
        1
    }

    fn carries_values(&self, ask: &Ask) -> bool {
        ask.wish == Wish::Commit
    }
}

impl<I, S> Worker<I, S> {
    /// Goes on as far as it can without an answer, and sends what it asks.
    pub fn invoke<T>(&mut self, cx: &mut Context<'_, T>)
    where
        T: Transactions<Input = I, Source = S>,
    {
        cx.out.work(Work::Switch, 1);
        let mut has_begun = false;
        while !self.is_waiting() && self.proceed(cx, &mut has_begun) {}
        self.send(cx);
    }

    /// One step. Says whether another may follow at once.
    fn proceed<T>(&mut self, cx: &mut Context<'_, T>, has_begun: &mut bool) -> bool
    where
        T: Transactions<Input = I, Source = S>,
    {
        match (self.state, self.failure) {
            (State::Rests, _) => return false,
            (State::Next | State::Again { .. }, _) => return self.begin(cx, has_begun),
            (State::Execute | State::Lock | State::Validate, Some(ending)) => {
                self.release(cx, ending);
            }
            (State::Execute, None) => self.think(cx),
            (State::Lock, None) => self.validate(cx),
            (State::Validate, None) => self.validated(cx),
            (State::Log, _) => self.commit(cx),
            (State::Commit, _) => self.finish(cx, Ending::Committed),
            (State::Unlock(ending), _) => self.finish(cx, ending),
            (State::Flush, _) => return self.rest(cx),
        }
        true
    }

    /// The name of the attempt.
    fn transaction<T: Transactions>(&self, cx: &Context<'_, T>) -> TransactionId {
        let Calls { number, attempt, .. } = self.calls;
        TransactionId::new(cx.rpc.own(), cx.rpc.thread(), number, attempt)
    }

    /// Begins an attempt, if it is time. A worker begins at most one in a poll, so that one whose rows
    /// are all on its own node leaves others their turn.
    fn begin<T>(&mut self, cx: &mut Context<'_, T>, has_begun: &mut bool) -> bool
    where
        T: Transactions<Input = I, Source = S>,
    {
        let again = matches!(self.state, State::Again { .. });
        match self.state {
            State::Again { at } if at > cx.now => {
                cx.wake(at);
                return false;
            }
            State::Next if self.finishing => return self.flush(cx),
            _ if *has_begun => {
                cx.scratch.soon.push(self.calls.number);
                return false;
            }
            _ => {}
        }
        if !again {
            self.input = cx.fixed.workload.draw(&mut self.source);
        }
        let Some(input) = &self.input else {
            self.finishing = true;
            return self.flush(cx);
        };
        let Some(attempt) = self.calls.attempt.checked_add(1) else {
            cx.rpc.dropped.0.out_of_numbers += 1;
            cx.out.kill();
            return false;
        };
        *has_begun = true;
        self.calls.attempt = attempt;
        (self.failure, self.told) = (None, false);
        (self.state, self.begun) = (State::Execute, cx.now);
        let (transaction, kind) = (self.transaction(cx), cx.fixed.workload.kind(input));
        cx.out.tell(Moment::Begun { transaction, kind, again });
        cx.out.work(Work::Begin, 1);
        true
    }

    /// Asks the logic for the keys that it wants, until it wants no more.
    fn think<T>(&mut self, cx: &mut Context<'_, T>)
    where
        T: Transactions<Input = I, Source = S>,
    {
        let Some(input) = &self.input else { return };
        let mut wanted = std::mem::take(&mut cx.scratch.wanted);
        match transact::think(&cx.fixed.workload, input, &mut self.rows, &mut wanted, cx.out) {
            Some(decision) => self.decide(cx, decision),
            None => {
                transact::merge(&mut wanted);
                self.execute(cx, &wanted);
            }
        }
        cx.scratch.wanted = wanted;
    }

    fn decide<T: Transactions>(&mut self, cx: &mut Context<'_, T>, decision: Decision) {
        let changes = self.rows.changes().next().is_some();
        self.goal = match decision {
            Decision::RollBack => Goal::RollBack,
            Decision::Commit if changes => Goal::Write,
            Decision::Commit => Goal::Read,
        };
        match self.goal {
            Goal::Write => self.lock(cx),
            Goal::Read | Goal::RollBack => self.validate(cx),
        }
    }

    /// Tells the client how the attempt ended, and chooses what is next.
    fn finish<T: Transactions>(&mut self, cx: &mut Context<'_, T>, ending: Ending) {
        if !self.told {
            let transaction = self.transaction(cx);
            cx.out.tell(Moment::Ended { transaction, ending });
        }
        self.calls.clear();
        self.rows.clear();
        self.locked.clear();
        if ending.is_abort() {
            self.failures = self.failures.saturating_add(1);
            let (attempt, length) = (self.transaction(cx), cx.now.since(self.begun));
            let aborted = Aborted { attempt, ending, length, failures: self.failures };
            let Settings { patience, backoff, .. } = cx.fixed.settings;
            self.state = State::Again { at: cx.now + pause(&aborted, patience, backoff) };
        } else {
            (self.failures, self.input) = (0, None);
            self.state = State::Next;
        }
    }

    /// Rests, unless it was told to begin since it was told to finish. Says whether another step may
    /// follow.
    fn rest<T: Transactions>(&mut self, cx: &mut Context<'_, T>) -> bool {
        if self.finishing {
            self.state = State::Rests;
            cx.out.tell(Moment::Rests { worker: self.calls.number });
        } else {
            self.state = State::Next;
        }
        !self.finishing
    }

    /// Sends what has yet to be sent.
    fn send<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        let stage = match self.state {
            State::Lock => Stage::Execute,
            State::Commit => Stage::Primary,
            State::Flush => Stage::Log,
            _ => Stage::Abort,
        };
        let Self { calls, rows, .. } = self;
        let Context { fixed, rpc, out, now, .. } = cx;
        let requests = Requests { rows, tables: fixed.workload.tables() };
        let mtu = usize::from(fixed.settings.mtu);
        let post = &mut Post { rpc, out, now: *now, stage, mtu, batching: true };
        calls.send(post, &requests);
    }

    /// Takes the answers to a message. Says whether they were awaited.
    ///
    /// # Errors
    /// When they are not the answers to what was asked.
    pub fn answer<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        from: NodeId,
        header: &Header,
        reader: &mut Reader<'_>,
    ) -> Result<bool, WireError> {
        if !self.calls.awaits(from, header) {
            return Ok(false);
        }
        // All of them can be read, or none is taken.
        let mut check = *reader;
        for _ in 0..header.count {
            if Answer::decode(&mut check)? == Answer::Refused {
                return Err(check.unknown("no refusal", Answer::Refused as u8));
            }
        }
        check.end("the answers")?;
        for at in 0..self.calls.asks.len() {
            let ask = self.calls.asks[at];
            if !Calls::is_of(&ask, from, header) {
                continue;
            }
            match Answer::decode(reader)? {
                Answer::Done if ask.wish == Wish::Lock => self.locked.push(ask.row),
                Answer::Done | Answer::Refused => {}
                Answer::Locked => self.fails(Ending::AbortedByLock),
                Answer::Changed => self.fails(Ending::AbortedByValidation),
            }
        }
        self.calls.answered(cx.rpc, cx.now, from, header);
        Ok(true)
    }
}
