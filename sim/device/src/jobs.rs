// SPDX-License-Identifier: MIT OR Apache-2.0
//! The jobs of the job queue: an engine on a thread of its own, from reset to reset.
//!
//! Submissions leave the board under the function's mutex and wait in the [`Inbox`]. The thread
//! gives them to the engine and puts its completions back on the board. A reset begins another
//! *generation*: whatever the engine of the generation before still asks for is refused, under the same mutex,
//! and the reset waits until it is gone ([`Inbox::await_idle`]). So nothing of it happens after
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
const IDLE_BOUND: Duration = Duration::from_secs(10);

/// How long the thread sleeps at first, and at last, while jobs wait for a lock or for time to pass.
const PAUSES: (Duration, Duration) = (Duration::from_micros(20), Duration::from_micros(200));

/// Bit 24 of word 0: an interrupt is wanted.
const INTERRUPT: u64 = 1 << 24;

/// The connection between the board and the engine.
#[derive(Default)]
pub(crate) struct Inbox {
    state: Mutex<InboxState>,
    /// There are submissions, another generation, or the end.
    changed: Condvar,
    /// An engine is gone.
    idle: Condvar,
    /// As in the state, for a look without the mutex.
    generation: AtomicU64,
}

#[derive(Default)]
struct InboxState {
    submissions: VecDeque<[u64; 8]>,
    generation: u64,
    /// The generation whose engine is the oldest that there may be.
    oldest: u64,
    ended: bool,
}

/// What the thread finds when it looks.
enum Found {
    /// These submissions, perhaps none.
    Submissions(VecDeque<[u64; 8]>),
    /// Its engine's generation is over.
    Over,
}

impl Inbox {
    /// The board hands a submission over.
    pub fn submit(&self, beat: [u64; 8]) {
        self.state.lock().submissions.push_back(beat);
        self.changed.notify_one();
    }

    /// Another generation begins: all submissions are dropped, and soon the engine.
    pub fn begin_generation(&self, generation: u64) {
        let mut state = self.state.lock();
        state.submissions.clear();
        state.generation = generation;
        self.generation.store(generation, Ordering::Release);
        self.changed.notify_one();
    }

    /// The thread shall end.
    pub fn end(&self) {
        self.state.lock().ended = true;
        self.changed.notify_one();
    }

    /// Waits until no engine of an earlier generation is left; false when it takes longer than it
    /// may.
    pub fn await_idle(&self) -> bool {
        let mut state = self.state.lock();
        let wait = |state: &mut InboxState| state.oldest < state.generation && !state.ended;
        !self.idle.wait_while_for(&mut state, wait, IDLE_BOUND).timed_out()
    }

    fn is_over(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Acquire) != generation
    }

    /// The next generation with something to do; `None` at the end.
    fn next_generation(&self) -> Option<u64> {
        let mut state = self.state.lock();
        loop {
            state.oldest = state.generation;
            self.idle.notify_all();
            if state.ended {
                return None;
            }
            if !state.submissions.is_empty() {
                return Some(state.generation);
            }
            self.changed.wait(&mut state);
        }
    }

    /// What there is for the engine of a generation. When it has nothing to do it waits for
    /// something, at most so long as `pause` says.
    fn look(&self, generation: u64, nothing_to_do: bool, pause: Option<Duration>) -> Found {
        let mut state = self.state.lock();
        let is_still = |state: &InboxState| {
            state.submissions.is_empty() && state.generation == generation && !state.ended
        };
        if nothing_to_do && is_still(&state) {
            match pause {
                Some(pause) => drop(self.changed.wait_for(&mut state, pause)),
                None => self.changed.wait(&mut state),
            }
        }
        match state.generation == generation && !state.ended {
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
    while let Some(generation) = inbox.next_generation() {
        let mut card = BoardCard::new(function, &mut storage, options.elements, generation);
        live(function, inbox, &mut card, generation);
    }
}

/// Says at the thread's end that no engine is left.
struct Gone<'a>(&'a Inbox);

impl Drop for Gone<'_> {
    fn drop(&mut self) {
        self.0.state.lock().oldest = u64::MAX;
        self.0.idle.notify_all();
    }
}

/// One engine, from the first submission after a reset to the next reset.
fn live(function: &Shared, inbox: &Inbox, card: &mut BoardCard<'_>, generation: u64) {
    let mut engine = Engine::new();
    let mut open = OpenSubmissions::default();
    let (mut nothing_to_do, mut next_pause) = (false, PAUSES.0);
    loop {
        let pause = (!open.is_empty()).then_some(next_pause);
        let Found::Submissions(beats) = inbox.look(generation, nothing_to_do, pause) else {
            return;
        };
        for beat in beats {
            open.add(beat);
            engine.submit(Submission::decode(beat));
        }
        nothing_to_do = engine.step(card) == Stepped::Idle;
        next_pause = if nothing_to_do { PAUSES.1.min(2 * next_pause) } else { PAUSES.0 };
        if inbox.is_over(generation) {
            return;
        }
        while let Some(completion) = engine.completion() {
            function.answer_job(generation, open.answer(&completion));
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
