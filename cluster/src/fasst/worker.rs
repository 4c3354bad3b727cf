// SPDX-License-Identifier: MIT OR Apache-2.0
//! A worker: the coordinator of one transaction after another.
//!
//! It is a coroutine of the paper, written as a state that is entered again when all answers of the
//! step are there. Each step makes a list of requests; what concerns the worker's own node is done at
//! once, without a message, and the rest is sent ([`super::asks`]).

mod commit;

use super::asks::{Ask, What};
use super::context::Context;
use super::mutant::Mutant;
use super::server;
use super::settings::Settings;
use crate::engine::{Ending, Instant, Key, Moment, Point, TransactionId, Work};
use crate::near;
use crate::pause::{Aborted, pause};
use crate::placement::HeaderId;
use crate::rpc::Calls;
use crate::transact::{self, Decision, Intent, Rows, Transactions};

/// What a worker is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// Rows are read, and headers locked.
    Execute,
    /// Headers are locked though reads are validated: a planted bug.
    LateLock,
    /// The versions of what was read only are read again.
    Validate,
    /// The record is written.
    Log,
    /// Backups are updated.
    Backup,
    /// Primaries are updated.
    Primary,
    /// Locks are given back, after which the attempt ends like this.
    Unlock(Ending),
    /// Log replicas are told that they may forget the last record.
    Flush,
    /// The view changed when a record was written already: recovery says how the transaction ends.
    Undecided,
}

/// What a transaction that can commit will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Goal {
    Write,
    Read,
    RollBack,
}

/// A header that the worker's transaction has locked, known by one of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lock {
    pub header: HeaderId,
    pub key: Key,
    pub version: u64,
}

/// A worker. `I` is a transaction's input, `S` what draws them.
///
/// What every answer needs comes first, in one line of the cache: there are thousands of workers, and each
/// waits for longer than the cache keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[repr(C, align(64))]
pub(super) struct Worker<I, S> {
    /// The requests of the step.
    pub calls: Calls<Ask>,
    pub state: State,
    /// Why the attempt cannot go on.
    failure: Option<Ending>,
    goal: Goal,
    /// Whether it begins no other transaction.
    finishing: bool,
    /// Whether log replicas may have a record of it that is of no use any more.
    has_record: bool,
    /// Whether the client was told of the commit too early: a planted bug.
    told: bool,
    pub rows: Rows,
    locks: Vec<Lock>,
    input: Option<I>,
    /// How often in a row the transaction was aborted.
    failures: u8,
    /// When the attempt began; of no meaning between attempts.
    begun: Instant,
    source: S,
}

impl<I, S> Worker<I, S> {
    /// Worker `number`, whose attempts are counted from after `attempt`.
    pub fn new(number: u8, attempt: u32, source: S) -> Self {
        Self {
            calls: Calls::new(number, attempt),
            state: State::Rests,
            finishing: false,
            source,
            input: None,
            begun: Instant::default(),
            failures: 0,
            goal: Goal::Read,
            rows: Rows::new(),
            locks: Vec::new(),
            failure: None,
            has_record: false,
            told: false,
        }
    }

    /// It is told to begin. Says whether it has to be invoked.
    pub fn start(&mut self) -> bool {
        self.finishing = false;
        let rested = self.state == State::Rests;
        if rested {
            self.state = State::Next;
        }
        rested
    }

    /// It is told to begin no further transaction. Says whether it has to be invoked.
    pub fn finish_up(&mut self) -> bool {
        self.finishing = true;
        self.state == State::Next
    }

    /// Fetches the lines that an answer and the next step need.
    #[inline]
    pub fn fetch(&self) {
        let start = std::ptr::from_ref(self).cast::<[u8; 64]>();
        (0..4).for_each(|line| near::fetch(start.wrapping_add(line)));
    }

    /// Fetches what these lines lead to.
    #[inline]
    pub fn fetch_lists(&self) {
        near::fetch_start(&self.calls.asks, 2);
        self.rows.fetch();
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
        while self.calls.open == 0 && self.proceed(cx, &mut has_begun) {}
        self.send(cx);
    }

    /// One step. Says whether another may follow at once.
    fn proceed<T>(&mut self, cx: &mut Context<'_, T>, has_begun: &mut bool) -> bool
    where
        T: Transactions<Input = I, Source = S>,
    {
        match (self.state, self.failure) {
            (State::Rests | State::Undecided, _) => return false,
            (State::Next | State::Again { .. }, _) => return self.begin(cx, has_begun),
            (State::Execute | State::LateLock | State::Validate, Some(ending)) => {
                self.abort(cx, ending);
            }
            (State::Execute, None) => self.think(cx),
            (State::LateLock, None) => self.log(cx),
            (State::Validate, None) => self.validated(cx),
            (State::Log, _) if cx.has(Mutant::LogAfterBackups) => self.update_primaries(cx),
            (State::Log, _) if cx.has(Mutant::PrimariesBeforeBackups) => self.update_primaries(cx),
            (State::Log, _) => self.update_backups(cx),
            (State::Backup, _) if cx.has(Mutant::LogAfterBackups) => self.append_record(cx),
            (State::Backup, _) if cx.has(Mutant::PrimariesBeforeBackups) => self.complete(cx),
            (State::Backup, _) if cx.has(Mutant::UnlockBeforeBackups) => self.complete(cx),
            (State::Backup, _) => self.update_primaries(cx),
            (State::Primary, _) if cx.has(Mutant::PrimariesBeforeBackups) => {
                self.update_backups(cx);
            }
            (State::Primary, _) => self.complete(cx),
            (State::Unlock(ending), _) => self.finish(cx, ending),
            (State::Flush, _) => return self.rest(cx),
        }
        true
    }

    /// The name of the attempt.
    pub fn transaction<T: Transactions>(&self, cx: &Context<'_, T>) -> TransactionId {
        TransactionId::new(cx.rpc.own(), cx.rpc.thread(), self.calls.number, self.calls.attempt)
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
        // The next process of the node has the numbers from here on. It begins in another view, in
        // which nothing is left of this one.
        if self.calls.attempt.wrapping_add(1).is_multiple_of(cx.fixed.attempts) {
            cx.rpc.dropped.0.out_of_numbers += 1;
            cx.out.kill();
            return false;
        }
        *has_begun = true;
        self.calls.attempt = self.calls.attempt.wrapping_add(1);
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
        let decision =
            transact::think(&cx.fixed.workload, input, &mut self.rows, &mut wanted, cx.out);
        match decision {
            Some(decision) => self.decide(cx, decision),
            None => self.execute(cx, &mut wanted),
        }
        cx.scratch.wanted = wanted;
    }

    /// Reads rows, and locks those to be written in the same trip.
    fn execute<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        wanted: &mut Vec<(Key, Intent)>,
    ) {
        transact::merge(wanted);
        self.step(State::Execute);
        for &(key, intent) in wanted.iter() {
            let locks = intent == Intent::Write && !cx.has(Mutant::ValidateBeforeLocks);
            let what = if locks { What::Lock } else { What::Read };
            match cx.shared.primary_of(cx.fixed.layout.partition_of(key)) {
                None => self.failure = Some(Ending::AbortedByMembership),
                Some(to) if to == cx.rpc.own() => self.fetch_here(cx, key, intent, what),
                Some(to) => self.ask(Ask::new(to, what, key, intent, 0)),
            }
        }
        self.give_up_if_failed();
    }

    fn fetch_here<T: Transactions>(
        &mut self,
        cx: &mut Context<'_, T>,
        key: Key,
        intent: Intent,
        what: What,
    ) {
        let by = self.transaction(cx);
        let mut value = std::mem::take(&mut cx.scratch.value);
        value.clear();
        match server::execute(cx, key, what == What::Lock, by, &mut value) {
            Ok((version, present)) => {
                let value = present.then_some(&value[..]);
                self.fetched(cx, key, intent, what, version, value);
            }
            Err(ending) => self.failure = Some(ending),
        }
        cx.scratch.value = value;
    }

    /// Takes a row that was read, and notes the lock if its header was locked with it.
    pub fn fetched<T: Transactions>(
        &mut self,
        cx: &Context<'_, T>,
        key: Key,
        intent: Intent,
        what: What,
        version: u64,
        value: Option<&[u8]>,
    ) {
        if self.state == State::Execute {
            self.rows.fetched(key, intent, version, value);
        }
        if what == What::Lock {
            let header = cx.fixed.layout.header_of(key);
            if !self.locks.iter().any(|lock| lock.header == header) {
                self.locks.push(Lock { header, key, version });
            }
        }
    }

    /// Notes that the attempt cannot commit. The first reason counts.
    pub fn fails(&mut self, ending: Ending) {
        self.failure.get_or_insert(ending);
    }

    /// Does what the logic has decided: the serialization point, if the reads turn out to be valid.
    fn decide<T: Transactions>(&mut self, cx: &mut Context<'_, T>, decision: Decision) {
        let mut headers = std::mem::take(&mut cx.scratch.headers);
        headers.clear();
        headers.extend(self.rows.all().iter().map(|row| cx.fixed.layout.header_of(row.key)));
        let fits = self.record_bytes(cx) <= usize::from(cx.fixed.settings.mtu);
        cx.rpc.dropped.0.too_large += u64::from(!fits);
        self.goal = match decision {
            Decision::Commit if !fits => Goal::RollBack,
            Decision::RollBack => Goal::RollBack,
            Decision::Commit if self.rows.changes().next().is_some() => Goal::Write,
            Decision::Commit => Goal::Read,
        };
        if !cx.has(Mutant::RoundsNotCompared) && !self.rounds_agree(&headers) {
            self.fails(Ending::AbortedByValidation);
            self.abort(cx, Ending::AbortedByValidation);
        } else {
            self.claim(cx, &headers);
            self.validate(cx, &headers);
        }
        cx.scratch.headers = headers;
    }

    /// Whether all rows below one header were read with the same version of it, and with the one that
    /// was locked: they may have been read in different rounds.
    fn rounds_agree(&self, headers: &[HeaderId]) -> bool {
        let rows = self.rows.all();
        (0..rows.len()).all(|at| {
            let first = headers[..at].iter().position(|header| *header == headers[at]);
            let lock = self.locks.iter().find(|lock| lock.header == headers[at]);
            first.is_none_or(|first| rows[first].version == rows[at].version)
                && lock.is_none_or(|lock| lock.version == rows[at].version)
        })
    }

    /// Tells of the serialization point: all locks are held, and validation has yet to be asked. What
    /// was read below one header without a lock was valid at some time since the begin.
    fn claim<T: Transactions>(&self, cx: &mut Context<'_, T>, headers: &[HeaderId]) {
        let one_header = headers.iter().all(|header| *header == headers[0]);
        let point = match self.locks.is_empty() && one_header {
            true => Point::Within,
            false => Point::Now,
        };
        let transaction = self.transaction(cx);
        match self.goal {
            Goal::Write => cx.out.tell_committing(transaction, point, self.rows.accesses()),
            _ => cx.out.tell_committing(transaction, point, self.rows.reads()),
        }
    }

    /// Reads the versions of what was read and not locked again. One header needs no validation, as its
    /// rows were read at once.
    fn validate<T: Transactions>(&mut self, cx: &mut Context<'_, T>, headers: &[HeaderId]) {
        self.step(State::Validate);
        let one_header = headers.iter().all(|header| *header == headers[0]);
        let skips = cx.has(Mutant::NoValidation)
            || (cx.has(Mutant::ReadOnlySkipsValidation) && self.locks.is_empty());
        if (one_header && !cx.has(Mutant::ValidateBeforeLocks)) || skips {
            return;
        }
        for (at, header) in headers.iter().enumerate() {
            let is_locked = self.locks.iter().any(|lock| lock.header == *header);
            if is_locked || headers[..at].contains(header) {
                continue;
            }
            let key = self.rows.all()[at].key;
            match cx.shared.primary_of(header.partition) {
                None => self.fails(Ending::AbortedByMembership),
                Some(to) if to == cx.rpc.own() => match server::word(cx, key) {
                    Ok(word) => self.compare(cx, at, word),
                    Err(ending) => self.fails(ending),
                },
                Some(to) => self.ask(Ask::new(to, What::Validate, key, Intent::Read, at)),
            }
        }
        self.give_up_if_failed();
    }

    /// Compares the word of a header with what was read below it.
    pub fn compare<T: Transactions>(&mut self, cx: &Context<'_, T>, row: usize, word: u64) {
        let Some(row) = self.rows.all().get(row) else { return };
        let found = match cx.has(Mutant::ValidationIgnoresLocks) {
            true => word & !super::messages::LOCK_BIT,
            false => word,
        };
        if found != row.version {
            self.fails(Ending::AbortedByValidation);
        }
    }

    fn validated<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        match self.goal {
            Goal::Write if cx.has(Mutant::ValidateBeforeLocks) => self.lock_late(cx),
            Goal::Write if cx.has(Mutant::LogAfterBackups) => self.update_backups(cx),
            Goal::Write => self.log(cx),
            Goal::Read => self.release(cx, Ending::Committed),
            Goal::RollBack => self.release(cx, Ending::RolledBack),
        }
    }

    /// The planted bug that locks after validation.
    fn lock_late<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        self.step(State::LateLock);
        for at in 0..self.rows.all().len() {
            let (key, intent) = (self.rows.all()[at].key, self.rows.all()[at].intent);
            match cx.shared.primary_of(cx.fixed.layout.partition_of(key)) {
                _ if intent == Intent::Read => {}
                None => self.fails(Ending::AbortedByMembership),
                Some(to) if to == cx.rpc.own() => self.fetch_here(cx, key, intent, What::Lock),
                Some(to) => self.ask(Ask::new(to, What::Lock, key, intent, at)),
            }
        }
        self.give_up_if_failed();
    }

    /// Tells the client how the attempt ended, and chooses what is next.
    fn finish<T: Transactions>(&mut self, cx: &mut Context<'_, T>, ending: Ending) {
        if !self.told {
            let transaction = self.transaction(cx);
            cx.out.tell(Moment::Ended { transaction, ending });
        }
        // What is done leaves nothing behind that would tell two equal states apart.
        self.calls.asks.clear();
        self.rows.clear();
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
        self.begun = Instant::default();
    }

    /// Tells the log replicas to forget the last record, and rests then.
    fn flush<T: Transactions>(&mut self, cx: &mut Context<'_, T>) -> bool {
        self.step(State::Flush);
        if std::mem::take(&mut self.has_record) {
            for place in 0.. {
                match cx.shared.log_replica(cx.rpc.own(), place) {
                    Some(to) => {
                        self.ask(Ask::new(to, What::Truncate, Key::default(), Intent::Read, 0))
                    }
                    None => break,
                }
            }
        }
        true
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

    /// The view has changed. No answer will come any more, all locks are void, and sequence numbers begin
    /// anew. An attempt that has written no record is aborted; about another one, recovery decides.
    pub fn leave_view<T: Transactions>(&mut self, cx: &mut Context<'_, T>) {
        self.calls.sequence = 0;
        self.has_record = false;
        self.locks.clear();
        let state = self.state;
        self.step(state);
        match state {
            State::Rests | State::Next | State::Again { .. } | State::Undecided => {}
            State::Execute | State::LateLock | State::Validate => {
                self.finish(cx, Ending::AbortedByMembership);
            }
            State::Unlock(ending) => self.finish(cx, ending),
            State::Log | State::Backup | State::Primary => self.state = State::Undecided,
            State::Flush => {
                self.rest(cx);
            }
        }
    }

    /// Recovery is done, and all survivors have the changes of all records: the transaction that was
    /// undecided has committed. Says whether the worker has to be invoked.
    pub fn resume<T: Transactions>(&mut self, cx: &mut Context<'_, T>) -> bool {
        if self.state == State::Undecided {
            self.finish(cx, Ending::Committed);
        }
        matches!(self.state, State::Next | State::Again { .. })
    }

    fn step(&mut self, state: State) {
        self.state = state;
        self.calls.clear();
    }

    fn ask(&mut self, ask: Ask) {
        self.calls.ask(ask);
    }

    /// What has failed on the own node already is not asked of others.
    fn give_up_if_failed(&mut self) {
        if self.failure.is_some() {
            self.calls.clear();
        }
    }
}
