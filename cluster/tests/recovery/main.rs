// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST's recovery: nodes fail at each message of a transaction and at random times, also while the
//! cluster recovers from others; they come back, and messages are lost, late and delivered twice.

mod driver;
mod scenarios;

use cluster::engine::{Ending, NodeId};
use cluster::fasst::{Mutant, Planted, Settings};
use driver::{Faults, World, settings};
use scenarios::{
    LIMIT, Scenario, a_reader_is_cut_off, another_fails_meanwhile, contended,
    filled_nodes_take_over, messages_are_lost, messages_are_very_late, one_is_cut_off,
    rows_come_and_go, two_fail,
};

#[test]
fn without_failures_all_commit_and_no_view_changes() {
    let mut world = World::new(contended(&settings(4), 0, 10), Faults::default(), 0);
    world.run(LIMIT).unwrap();
    world.check().unwrap();
    assert_eq!(world.ended(Ending::Committed), 4 * 4 * 10);
    assert_eq!(world.manager.parts[0].manager().unwrap().counts().proposed, 0);
}

#[test]
fn a_node_may_fail_after_any_message() {
    seeds::each!(1, |seed| {
        let node = NodeId((seed % 4 + 1) as u16 % 4);
        let settings = Settings { threads: 1, ..settings(4) };
        let world = || World::new(contended(&settings, seed + 1, 3), Faults::default(), seed + 7);
        let mut whole = world();
        whole.run(LIMIT).unwrap();
        let sent = whole.sent[node.index()];
        assert!(sent > 50, "{sent}");
        for after in 0..sent {
            let mut world = world();
            world.crash_after = Some((node, after));
            // Every second time it comes back.
            world.restarts = after % 2 == 1;
            let ran = world.run(LIMIT).and_then(|()| world.check());
            assert_eq!(ran, Ok(()), "{node:?} failed after {after} messages");
        }
    });
}

#[test]
fn two_nodes_may_fail_at_any_time_and_come_back() {
    let (mut decided, mut undecided) = (0, 0);
    seeds::each!(20, |seed| {
        let world = two_fail(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
        for course in world.courses.values().filter(|course| course.ending.is_none()) {
            decided += u64::from(course.stands());
            undecided += u64::from(!course.stands());
        }
    });
    println!("of dead coordinators: {decided} committed by recovery, {undecided} not");
}

#[test]
fn a_node_that_is_cut_off_does_no_harm() {
    let mut killed = 0;
    let seeds = seeds::of!(12);
    for seed in &seeds {
        let world = one_is_cut_off(seed, Planted::default());
        killed += world.unwrap_or_else(|error| panic!("seed {seed}: {error}")).killed;
    }
    assert!(killed > 0 || !seeds.is_whole());
}

#[test]
fn nodes_that_lose_a_message_end_themselves_and_come_back() {
    seeds::each!(8, |seed| {
        messages_are_lost(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn another_node_may_fail_during_recovery() {
    seeds::each!(20, |seed| {
        another_fails_meanwhile(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn messages_of_an_old_view_may_come_in_the_next() {
    seeds::each!(15, |seed| {
        messages_are_very_late(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn a_node_without_a_lease_does_not_read_its_own_rows() {
    seeds::each!(3, |seed| {
        a_reader_is_cut_off(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn filled_replicas_are_as_good_as_others() {
    seeds::each!(15, |seed| {
        filled_nodes_take_over(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn rows_of_several_tables_come_and_go() {
    seeds::each!(10, |seed| rows_come_and_go(seed).unwrap_or_else(|error| panic!("{error}")));
}

#[test]
fn broken_recoveries_are_noticed() {
    let by: [(Mutant, Scenario); 11] = [
        (Mutant::RecoveryForgetsDeadCoordinators, two_fail),
        (Mutant::RecoveryCommitsNothing, two_fail),
        (Mutant::LockKeptAfterRecovery, two_fail),
        (Mutant::StaleEpochServed, messages_are_very_late),
        (Mutant::LeaseNotChecked, a_reader_is_cut_off),
        (Mutant::ReceivedRecordsForgotten, another_fails_meanwhile),
        (Mutant::RecoveredTooEarly, two_fail),
        (Mutant::FillingMissesUpdates, two_fail),
        (Mutant::CopyOverwrites, filled_nodes_take_over),
        (Mutant::FilledTooEarly, filled_nodes_take_over),
        (Mutant::EvictedTooEarly, a_reader_is_cut_off),
    ];
    let mut missed = Vec::new();
    for (mutant, run) in by {
        let found = (0..40).find_map(|seed| {
            let error = run(seed, Planted::new(mutant)).err()?;
            Some((seed, error))
        });
        println!("{mutant:?}: {found:.200?}");
        if found.is_none() {
            missed.push(mutant);
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
