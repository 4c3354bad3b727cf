// SPDX-License-Identifier: MIT OR Apache-2.0
//! A host agent on a thread of its own.

use std::hint;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use locks::machine::{Outcome, Place, Request};
use locks::{Timestamp, WaitsFor};
use timing::Time;

use super::Shared;
use crate::RunError;
use crate::workflow::{Command, Input, Workflow};

/// Looks at the head, or at the clock, before the thread lets others run.
const SPINS: u32 = 1000;

/// Longer sleeps are left to the system; shorter ones are spun through.
const SLEEP_FROM: Time = Time::from_us(200);

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
    while command != Command::Idle && !shared.is_abandoned() {
        let input = match command {
            Command::Write => {
                agent.write()?;
                Some(Input::Written)
            }
            command => carry_out(shared, command, &mut wait)?,
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
fn carry_out(
    shared: &Shared,
    command: Command,
    waiting: &mut Option<Wait>,
) -> Result<Option<Input>, RunError> {
    let table = shared.table();
    let (bucket, outcome) = match command {
        Command::Sleep(until) => {
            sleep(shared, until);
            return Ok(Some(Input::Woken));
        }
        Command::Acquire { transaction, bucket, rule, .. } => {
            let bucket = bucket as usize;
            let outcome = table.run(transaction, bucket, Request::Acquire(rule));
            let place = match outcome {
                Outcome::Queued { place, .. } => Some(place),
                _ => None,
            };
            *waiting = Some(Wait { transaction, bucket, place });
            (bucket, outcome)
        }
        Command::Wait { until } => {
            let Some(wait) = waiting.as_ref() else { return Ok(None) };
            return wait_for_grant(shared, wait, until);
        }
        Command::Search { transaction } => {
            let graph = WaitsFor::read(table.buckets());
            return Ok(Some(Input::Searched(graph.cycle_through(transaction))));
        }
        Command::Cancel => {
            let Some(&Wait { transaction, bucket, place: Some(place) }) = waiting.as_ref() else {
                return Ok(None);
            };
            (bucket, table.run(transaction, bucket, Request::Cancel(place)))
        }
        Command::Release { transaction, bucket, .. } => {
            let bucket = bucket as usize;
            (bucket, table.release_bucket(transaction, bucket))
        }
        Command::Idle | Command::Write => return Ok(None),
    };
    input(outcome).map(Some).ok_or_else(|| damaged(bucket, outcome))
}

/// What an outcome tells the agent; `None` for those that a sound table never gives.
fn input(outcome: Outcome) -> Option<Input> {
    match outcome {
        Outcome::Granted { again } => Some(Input::Granted { again }),
        Outcome::Queued { position, .. } => Some(Input::Queued { position }),
        Outcome::Refused(refusal) => Some(Input::Refused(refusal)),
        Outcome::Cancelled => Some(Input::Cancelled),
        Outcome::Released { .. } => Some(Input::Released),
        Outcome::NotHeld | Outcome::BusError => None,
    }
}

/// The table contains a value that no request writes.
fn damaged(bucket: usize, outcome: Outcome) -> RunError {
    RunError::Damaged { bucket: bucket as u64, outcome: format!("{outcome:?}") }
}

/// Watches the head until the lock is ours or the time is over.
fn wait_for_grant(
    shared: &Shared,
    wait: &Wait,
    until: Option<Time>,
) -> Result<Option<Input>, RunError> {
    let bucket = &shared.table().buckets()[wait.bucket];
    let Some(place) = wait.place else { return Ok(None) };
    loop {
        for _ in 0..SPINS {
            let head = bucket.head();
            if head.is_held_by(wait.transaction) || !head.is_waiting(place.slot) {
                let poll = Request::Poll(place);
                return match shared.table().run(wait.transaction, wait.bucket, poll) {
                    Outcome::Granted { again } => Ok(Some(Input::Granted { again })),
                    // Nobody evicts a waiter.
                    outcome => Err(damaged(wait.bucket, outcome)),
                };
            }
            hint::spin_loop();
        }
        if shared.is_abandoned() {
            return Ok(None);
        }
        if until.is_some_and(|until| shared.now() >= until) {
            return Ok(Some(Input::Woken));
        }
        thread::yield_now();
    }
}

fn sleep(shared: &Shared, until: Time) {
    loop {
        let left = until.saturating_sub(shared.now());
        if left == Time::ZERO || shared.is_closing() || shared.is_abandoned() {
            return;
        }
        if left > SLEEP_FROM {
            thread::sleep(Duration::from_nanos(SLEEP_FROM.as_ns() / 2));
        } else {
            hint::spin_loop();
        }
    }
}
