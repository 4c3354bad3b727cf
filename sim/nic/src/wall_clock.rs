// SPDX-License-Identifier: MIT OR Apache-2.0
//! A run by the wall clock: real threads change a table in real shared memory, while another thread clocks the RTL
//! as fast as it can and reads that memory. The link is modelled in clocks of the RTL, as in virtual time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use tables::memory::{AtomicMemory, RemoteMemory};
use tables::robin_hood::RobinHoodTable;
use tables::{RemoteTable, TableError, Walk};

use crate::churn::{Churn, Step};
use crate::error::RunError;
use crate::job::{Job, Watch};
use crate::judge::Change;
use crate::limit::Needs;
use crate::report::{Raw, Report};
use crate::world::{Beside, World};

/// How long a thread waits for its eviction before it gives up.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a thread tells the card.
enum Told {
    /// It has changed a key; clocks of the end are still to come.
    Changed(usize, Change),
    /// It has ended.
    Ended(usize, Result<(), String>),
}

/// What threads and card share.
struct Shared {
    table: RobinHoodTable<AtomicMemory>,
    /// The card's clock.
    clock: AtomicU64,
    is_ending: AtomicBool,
}

/// The threads, as the card sees them.
struct Threads<'s> {
    shared: &'s Shared,
    told: Receiver<Told>,
    /// To tell each that its eviction was answered.
    answers: Vec<Sender<()>>,
    /// Changes whose eviction is not yet asked for, or not yet answered.
    asked: Vec<(usize, Change)>,
    waiting: Vec<Option<Change>>,
    changes: Vec<Change>,
    running: usize,
}

impl Job {
    /// Runs it through the RTL by the wall clock. What is counted and judged is that of this run; another one
    /// gives others.
    ///
    /// # Errors
    /// When the RTL does not do as it should, an answer is wrong, a thread fails, or there is no room in the table.
    pub fn wall_clock(&self, watch: &mut Watch<'_>) -> Result<Report, RunError> {
        let table = Self::table(&self.contents, &self.settings, AtomicMemory::allocated)?;
        let geometry = self.lookup_geometry(table.geometry())?;
        let needs = Needs::new(&table);
        let needed = self.needed(&needs);
        let known = if self.settings.card.knows_hints { needs.hints() } else { &[] };
        let card = self.card(geometry, known)?;
        drop(needs);
        let (clock, is_ending) = (AtomicU64::new(0), AtomicBool::new(false));
        let shared = Shared { table, clock, is_ending };
        let raw = thread::scope(|scope| {
            let mut threads = self.begin(&shared, scope);
            let start = Instant::now();
            let raw = World::new(self, card, &mut threads).run(watch);
            let took = start.elapsed();
            // Threads that still wait find their channels closed.
            shared.is_ending.store(true, Ordering::Release);
            drop(threads);
            raw.map(|raw| Raw { wall_seconds: Some(took.as_secs_f64()), ..raw })
        })?;
        Report::of(self, raw, &needed)
    }

    fn begin<'s>(&self, shared: &'s Shared, scope: &'s thread::Scope<'s, '_>) -> Threads<'s> {
        let (tell, told) = channel();
        let host = self.settings.host;
        let mut answers = Vec::new();
        for number in 0..host.threads {
            let (answer, answered) = channel();
            answers.push(answer);
            let seed = self.settings.seed;
            let churn = Churn::new(&self.contents, host.share, (number, host.threads), seed);
            let pause = Duration::from_nanos(host.pause_ns);
            let thread = Worker { number: number as usize, shared, churn, pause };
            let tell = tell.clone();
            scope.spawn(move || {
                let end = thread.run(&tell, &answered);
                // Nobody may be there to be told, when the run has failed.
                let _ = tell.send(Told::Ended(thread.number, end));
            });
        }
        Threads {
            shared,
            told,
            asked: Vec::new(),
            waiting: vec![None; answers.len()],
            running: answers.len(),
            answers,
            changes: Vec::new(),
        }
    }
}

struct Worker<'s> {
    number: usize,
    shared: &'s Shared,
    churn: Churn,
    pause: Duration,
}

impl Worker<'_> {
    fn run(&self, tell: &Sender<Told>, answered: &Receiver<()>) -> Result<(), String> {
        for step in self.churn.clone() {
            if self.shared.is_ending.load(Ordering::Acquire) {
                break;
            }
            let change = self.change(step).map_err(|error| error.to_string())?;
            if tell.send(Told::Changed(self.number, change)).is_err() {
                break;
            }
            match answered.recv_timeout(PATIENCE) {
                Ok(()) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let key = step.key;
                    return Err(format!("the eviction of key {key} is not answered for 60 s"));
                }
            }
            thread::sleep(self.pause);
        }
        Ok(())
    }

    fn change(&self, Step { key, content }: Step) -> Result<Change, TableError> {
        // Before the first store: who sees a store sees at least this clock.
        let begun = self.shared.clock.load(Ordering::Acquire);
        match content {
            Some(value) => self.shared.table.insert(key, &value.to_le_bytes())?,
            None => self.shared.table.delete(key)?,
        }
        Ok(Change { key, content, begun, stored: 0, evicted: 0 })
    }
}

impl Beside for Threads<'_> {
    fn advance(&mut self, clock: u64) -> Result<(), RunError> {
        self.shared.clock.store(clock, Ordering::Release);
        loop {
            match self.told.try_recv() {
                // The channel hands over what the thread has stored, so from this clock on it is seen.
                Ok(Told::Changed(thread, change)) => {
                    self.asked.push((thread, Change { stored: clock, ..change }));
                }
                Ok(Told::Ended(_, Ok(()))) => self.running -= 1,
                Ok(Told::Ended(thread, Err(what))) => {
                    return Err(RunError::Thread { thread: thread as u32, what });
                }
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return Ok(()),
            }
        }
    }

    fn take_eviction(&mut self) -> Option<(usize, u64)> {
        if self.asked.is_empty() {
            return None;
        }
        let (thread, change) = self.asked.remove(0);
        self.waiting[thread] = Some(change);
        Some((thread, change.key))
    }

    fn evicted(&mut self, thread: usize, clock: u64) {
        let change = self.waiting[thread].take().expect("the thread waits for an eviction");
        self.changes.push(Change { evicted: clock, ..change });
        // A thread that has given up says so itself.
        let _ = self.answers[thread].send(());
    }

    fn lines(&self) -> u64 {
        self.shared.table.geometry().ground().words() as u64 / 8
    }

    fn line(&self, line: usize) -> [u64; 8] {
        self.shared.table.memory().read_line(line)
    }

    fn end(&mut self) {
        self.shared.is_ending.store(true, Ordering::Release);
    }

    fn is_at_rest(&self) -> bool {
        self.running == 0
    }

    fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }
}
