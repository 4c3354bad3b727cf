// SPDX-License-Identifier: MIT OR Apache-2.0
//! The jobs of the job queue: an engine on a thread of its own, from reset to reset.
//!
//! Submissions leave the board under the function's mutex and wait in the [`Inbox`]. The thread
//! gives them to the engine and puts its completions back on the board. A reset begins another
//! *life*: whatever the engine of the life before still asks for is refused, under the same mutex,
//! and the reset waits until it is gone ([`Inbox::await_rest`]). So nothing of it happens after
//! a reset has returned.

mod card;
mod locks;
mod rtl_element;
mod storage;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ndp_runtime::engine::{Engine, Stepped};
use ndp_runtime::job::{JobCompletion, Submission};
use parking_lot::{Condvar, Mutex};

use crate::function::{BoardOptions, Shared};
use card::BoardCard;
use storage::NativeStorage;

/// How long the engine may take to be gone after a reset: a step of it, and what it has begun to
/// make durable.
const REST_BOUND: Duration = Duration::from_secs(10);

/// How long the thread sleeps at first, and at last, while jobs wait for a lock or for time to pass.
const PAUSES: (Duration, Duration) = (Duration::from_micros(20), Duration::from_micros(200));

/// Bit 24 of word 0: an interrupt is wanted.
const INTERRUPT: u64 = 1 << 24;

/// The connection between the board and the engine.
#[derive(Default)]
pub(crate) struct Inbox {
    state: Mutex<InboxState>,
    /// There are submissions, another life, or the end.
    changed: Condvar,
    /// An engine is gone.
    rested: Condvar,
    /// As in the state, for a look without the mutex.
    life: AtomicU64,
}

#[derive(Default)]
struct InboxState {
    submissions: VecDeque<[u64; 8]>,
    life: u64,
    /// The life whose engine is the oldest that there may be.
    oldest: u64,
    ended: bool,
}

/// What the thread finds when it looks.
enum Found {
    /// These submissions, perhaps none.
    Submissions(VecDeque<[u64; 8]>),
    /// Its engine's life is over.
    Over,
}

impl Inbox {
    /// The board hands a submission over.
    pub fn submit(&self, beat: [u64; 8]) {
        self.state.lock().submissions.push_back(beat);
        self.changed.notify_one();
    }

    /// Another life begins: all submissions are dropped, and soon the engine.
    pub fn begin_life(&self, life: u64) {
        let mut state = self.state.lock();
        state.submissions.clear();
        state.life = life;
        self.life.store(life, Ordering::Release);
        self.changed.notify_one();
    }

    /// The thread shall end.
    pub fn end(&self) {
        self.state.lock().ended = true;
        self.changed.notify_one();
    }

    /// Waits until no engine of an earlier life is left; false when it takes longer than it may.
    pub fn await_rest(&self) -> bool {
        let mut state = self.state.lock();
        let wait = |state: &mut InboxState| state.oldest < state.life && !state.ended;
        !self.rested.wait_while_for(&mut state, wait, REST_BOUND).timed_out()
    }

    fn is_over(&self, life: u64) -> bool {
        self.life.load(Ordering::Acquire) != life
    }

    /// The next life with something to do; `None` at the end.
    fn next_life(&self) -> Option<u64> {
        let mut state = self.state.lock();
        loop {
            state.oldest = state.life;
            self.rested.notify_all();
            if state.ended {
                return None;
            }
            if !state.submissions.is_empty() {
                return Some(state.life);
            }
            self.changed.wait(&mut state);
        }
    }

    /// What there is for the engine of a life. When it has nothing to do it waits for something, at
    /// most so long as `pause` says.
    fn look(&self, life: u64, nothing_to_do: bool, pause: Option<Duration>) -> Found {
        let mut state = self.state.lock();
        let is_still =
            |state: &InboxState| state.submissions.is_empty() && state.life == life && !state.ended;
        if nothing_to_do && is_still(&state) {
            match pause {
                Some(pause) => drop(self.changed.wait_for(&mut state, pause)),
                None => self.changed.wait(&mut state),
            }
        }
        match state.life == life && !state.ended {
            true => Found::Submissions(std::mem::take(&mut state.submissions)),
            false => Found::Over,
        }
    }
}

/// What the thread does until the function ends.
pub(crate) fn work(function: &Arc<Shared>, inbox: &Inbox, options: &BoardOptions) {
    // If it panics nobody shall wait for it.
    let _gone = Gone(inbox);
    let mut storage = NativeStorage::at(options.storage.as_deref());
    while let Some(life) = inbox.next_life() {
        let mut card = BoardCard::new(function, &mut storage, options.elements, life);
        live(function, inbox, &mut card, life);
    }
}

/// Says at the thread's end that no engine is left.
struct Gone<'a>(&'a Inbox);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.state.lock().oldest = u64::MAX;
        self.0.rested.notify_all();
    }
}

/// One engine, from the first submission after a reset to the next reset.
fn live(function: &Shared, inbox: &Inbox, card: &mut BoardCard<'_>, life: u64) {
    let mut engine = Engine::new();
    let mut open = OpenSubmissions::default();
    let (mut nothing_to_do, mut patience) = (false, PAUSES.0);
    loop {
        let pause = (!open.is_empty()).then_some(patience);
        let Found::Submissions(beats) = inbox.look(life, nothing_to_do, pause) else { return };
        for beat in beats {
            open.add(beat);
            engine.submit(Submission::decode(beat));
        }
        nothing_to_do = engine.step(card) == Stepped::Idle;
        patience = if nothing_to_do { PAUSES.1.min(2 * patience) } else { PAUSES.0 };
        if inbox.is_over(life) {
            return;
        }
        while let Some(completion) = engine.completion() {
            function.answer_job(life, open.answer(&completion));
        }
    }
}

/// Submissions without a completion: identifier, and whether an interrupt is wanted.
#[derive(Default)]
struct OpenSubmissions(Vec<(u16, bool)>);

impl OpenSubmissions {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, [word0, ..]: [u64; 8]) {
        self.0.push((word0 as u16, word0 & INTERRUPT != 0));
    }

    /// The beat of a completion, with the wish of its submission. Software that gives an identifier
    /// twice has the wishes in the order of the submissions.
    fn answer(&mut self, completion: &JobCompletion) -> [u64; 2] {
        let [word0, word1] = completion.encode();
        let at = self.0.iter().position(|(identifier, _)| *identifier == completion.identifier);
        let wants = at.is_some_and(|at| self.0.remove(at).1);
        [if wants { word0 | INTERRUPT } else { word0 & !INTERRUPT }, word1]
    }
}

#[cfg(test)]
mod tests;
