// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rest, and how it is waited for.

use std::cell::Cell;

use cluster_sim::faults::Fate;
use cluster_sim::world::{Options, World};
use timing::Time;

use super::ping::{Ping, faulty, hardware, options, world};

#[test]
fn workers_that_are_at_their_end_rest() {
    let mut world = world(Ping { nodes: 3, threads: 2, pings: 5, ..Ping::default() }, 3);
    world.begin();
    world.run_until(Time::from_us(50));
    world.run_until_rest(Time::from_us(1)).expect("they were at their end");
    assert_eq!(world.ledger().transactions(), 3 * 2 * 3 * 5);
}

#[test]
fn a_rest_is_quiet_for_as_long_as_is_wanted() {
    let quiet = Time::from_us(70);
    let options = Options { quiet, ..options(1, 1) };
    let mut world = World::new(Ping::default(), hardware(), None, options).expect("they fit");
    world.run_for(Time::ZERO, Time::from_us(10));
    world.run_until_rest(Time::from_us(100)).expect("in time");
    let last = world.recorder().attempts().iter().map(|attempt| attempt.end()).max();
    assert!(last.expect("some ended") < Time::from_us(20));
}

/// Echoes never come, so that all pings are repeated for ever.
#[test]
fn who_waits_for_rest_is_asked_whether_to_go_on() {
    let mut world = faulty(Ping::default(), 1, vec![], |_, _| Fate::Drop);
    world.begin();
    let asked = Cell::new(0);
    let is_interrupted = || {
        asked.set(asked.get() + 1);
        asked.get() == 3
    };
    let rested = world.run_until_rest_unless(Time::from_us(10_000), &is_interrupted);
    assert_eq!((rested.expect("it ends early"), asked.get()), (false, 3));
    assert!(world.now() < Time::from_us(4_000), "{}", world.now());
    let rested = world.run_until_rest_unless(Time::from_us(5_000), &|| false);
    rested.expect_err("nobody rests");
}
