//! A host agent on a thread of its own.

use std::hint;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use lockdb::machine::{Outcome, Place, Request};
use lockdb::{Timestamp, WaitsFor};

use super::Shared;
use crate::RunError;
use crate::workflow::{Command, Input, Workflow};

/// Looks at the head, or at the clock, before the thread lets others run.
const SPINS: u32 = 1000;

/// Longer sleeps, in picoseconds, are left to the system; shorter ones are spun through.
const SLEEP_FROM: u64 = 200_000_000;

/// The request that the agent waits for.
struct Wait {
    transaction: Timestamp,
    bucket: usize,
    place: Option<Place>,
}

/// Runs an agent to its end.
pub(super) fn run(shared: &Shared, mut agent: Workflow) -> Result<(), RunError> {
    let _active = Active(shared);
    let result = run_out(shared, &mut agent);
    if result.is_err() {
        // It keeps its locks: nobody should wait for them.
        shared.abandon();
    }
    result
}

fn run_out(shared: &Shared, agent: &mut Workflow) -> Result<(), RunError> {
    let mut command = shared.start(agent)?;
    let mut wait = None;
    while command != Command::Rest && !shared.is_abandoned() {
        let input = match command {
            Command::Write => {
                agent.write()?;
                Some(Input::Written)
            }
            command => carry_out(shared, command, &mut wait),
        };
        let Some(input) = input else { break };
        command = shared.tell(agent, input)?;
    }
    Ok(())
}

/// Counts an agent out, also when its thread panics, so that nobody waits for it.
struct Active<'s>(&'s Shared);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Release);
    }
}

/// Carries a command out; `None` when the run was abandoned meanwhile.
fn carry_out(shared: &Shared, command: Command, waiting: &mut Option<Wait>) -> Option<Input> {
    let table = shared.table();
    let outcome = match command {
        Command::Sleep(until) => {
            sleep(shared, until);
            return Some(Input::Woken);
        }
        Command::Acquire { transaction, bucket, rule, .. } => {
            let bucket = bucket as usize;
            let outcome = table.run(transaction, bucket, Request::Acquire(rule));
            let place = match outcome {
                Outcome::Queued { place, .. } => Some(place),
                _ => None,
            };
            *waiting = Some(Wait { transaction, bucket, place });
            outcome
        }
        Command::Wait { until } => return wait_for_grant(shared, waiting.as_ref()?, until),
        Command::Search { transaction } => {
            let graph = WaitsFor::read(table.buckets());
            return Some(Input::Searched(graph.cycle_through(transaction)));
        }
        Command::Cancel => {
            let wait = waiting.as_ref()?;
            table.run(wait.transaction, wait.bucket, Request::Cancel(wait.place?))
        }
        Command::Release { transaction, bucket, .. } => {
            table.release_bucket(transaction, bucket as usize)
        }
        Command::Rest | Command::Write => return None,
    };
    Some(match outcome {
        Outcome::Granted { again } => Input::Granted { again },
        Outcome::Queued { position, .. } => Input::Queued { position },
        Outcome::Refused(refusal) => Input::Refused(refusal),
        Outcome::Cancelled => Input::Cancelled,
        Outcome::Released { .. } => Input::Released,
        Outcome::NotHeld | Outcome::BusError => {
            unreachable!("{command:?} ended as {outcome:?} on memory of this machine")
        }
    })
}

/// Watches the head until the lock is ours or the time is over.
fn wait_for_grant(shared: &Shared, wait: &Wait, until: Option<u64>) -> Option<Input> {
    let bucket = &shared.table().buckets()[wait.bucket];
    let place = wait.place?;
    loop {
        for _ in 0..SPINS {
            let head = bucket.head();
            if head.is_held_by(wait.transaction) || !head.is_waiting(place.slot) {
                let poll = Request::Poll(place);
                return Some(match shared.table().run(wait.transaction, wait.bucket, poll) {
                    Outcome::Granted { again } => Input::Granted { again },
                    outcome => unreachable!("a waiter whom nobody evicts got {outcome:?}"),
                });
            }
            hint::spin_loop();
        }
        if shared.is_abandoned() {
            return None;
        }
        if until.is_some_and(|until| shared.now() >= until) {
            return Some(Input::Woken);
        }
        thread::yield_now();
    }
}

fn sleep(shared: &Shared, until: u64) {
    loop {
        let left = until.saturating_sub(shared.now());
        if left == 0 || shared.is_closing() || shared.is_abandoned() {
            return;
        }
        if left > SLEEP_FROM {
            thread::sleep(Duration::from_nanos(SLEEP_FROM / 1000 / 2));
        } else {
            hint::spin_loop();
        }
    }
}
