// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST's recovery: nodes fail at each message of a transaction and at random times, also while the
//! cluster recovers from others; they come back, and messages are lost, late and delivered twice.

pub mod driver;
mod fasst;
pub mod scenarios;

use cluster::engine::{
    Effects, Ending, Endpoint, Input, Instant, Machine as _, NodeId, Protocol, Span,
};
use cluster::fasst::{Fasst, Mutant, Planted, Settings};
use cluster::membership::{Message, View};
use cluster::recovery;
use driver::{Faults, World};
use fasst::settings;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use scenarios::{
    LIMIT, Scenario, a_reader_is_cut_off, a_record_is_needed_to_the_end, another_fails_meanwhile,
    contended, filled_nodes_take_over, messages_are_lost, messages_are_very_late, one_is_cut_off,
    rows_come_and_go, two_fail, whatever_transactions_do,
};

#[test]
fn without_failures_all_commit_and_no_view_changes() {
    let mut world = World::new(contended(&settings(4), 0, 10), Faults::default(), 0);
    world.run(LIMIT).unwrap();
    world.check().unwrap();
    assert_eq!(world.ended(Ending::Committed), 4 * 4 * 10);
    assert_eq!(world.manager().counts().proposed, 0);
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
fn a_change_of_views_takes_three_message_delays() {
    let mut world = World::new(contended(&settings(4), 3, 10), Faults::default(), 3);
    world.crash_at(Span::from_us(30), NodeId(2));
    let is_changing = |world: &World<Fasst<_>>| world.manager().is_changing();
    world.run_while(LIMIT, |world| !is_changing(world)).unwrap();
    let found = world.now();
    // The lease of 100 us began up to 20 us before the crash, and the manager looks each 15 us.
    assert!((30 + 80..30 + 130).contains(&(found.as_ps() / 1_000_000)), "{found:?}");
    world.run_while(LIMIT, is_changing).unwrap();
    // The proposal, the records, and that they are there, of up to 3 us each.
    let took = world.now().as_ps() - found.as_ps();
    assert!(took < 9_500_000, "{took} ps");
    world.run(LIMIT).unwrap();
    world.check().unwrap();
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
fn a_coordinator_keeps_its_record_until_the_primaries_have_answered() {
    seeds::each!(36, |seed| {
        let ran = a_record_is_needed_to_the_end(seed, Planted::default());
        ran.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
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

/// A message of membership or recovery: as it should be, damaged, or random.
fn strange_message(random: &mut ChaCha8Rng, view: &View) -> Vec<u8> {
    let mut bytes = Vec::new();
    if random.random_bool(0.5) {
        let alive = [0, 1, 3].map(|node| (NodeId(node), 0));
        let next = view.next(random.random_range(2..5), &alive, &[], 2);
        Message::Prepare { view: next }.encode(&mut bytes);
    } else {
        bytes.extend(random.random_range(0..5_u32).to_le_bytes());
        bytes.push(random.random_range(14..38));
        bytes.extend((0..random.random_range(0..60)).map(|_| random.random_range(0..3)));
    }
    for _ in 0..random.random_range(0..3) {
        let at = random.random_range(0..bytes.len());
        bytes[at] ^= 1 << random.random_range(0..8);
    }
    bytes
}

#[test]
fn whatever_comes_nobody_panics() {
    let protocol = contended(&settings(4), 0, 3);
    seeds::each!(100, |seed| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut out = Effects::new();
        let view = View::initial(protocol.layout());
        let mut nodes = [protocol.start(NodeId(1)), protocol.manager().expect("there is one")];
        for time in 0..40 {
            let from = [NodeId(0), NodeId(2), NodeId(3), NodeId(7), NodeId::MANAGER]
                [random.random_range(0..5)];
            let bytes = strange_message(&mut random, &view);
            let input = Input::Message { from: Endpoint::host(from, 0), bytes: &bytes };
            let now = Instant::from_ps(time * 5_000_000);
            for node in &mut nodes {
                out.clear();
                node.parts[0].burst(&mut node.shared, now, &[input], &mut out);
            }
        }
    });
}

#[test]
fn whatever_transactions_do_no_failure_breaks_them() {
    seeds::each!(12, |seed| {
        whatever_transactions_do(seed).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn broken_recoveries_are_noticed() {
    let by: [(Mutant, Scenario); 12] = [
        (Mutant::Recovery(recovery::Mutant::DeadCoordinatorsForgotten), two_fail),
        (Mutant::Recovery(recovery::Mutant::NothingCommitted), two_fail),
        (Mutant::Recovery(recovery::Mutant::LocksKept), two_fail),
        (Mutant::StaleEpochServed, messages_are_very_late),
        (Mutant::LeaseNotChecked, a_reader_is_cut_off),
        (Mutant::Recovery(recovery::Mutant::ReceivedRecordsForgotten), another_fails_meanwhile),
        (Mutant::Recovery(recovery::Mutant::RecoveredTooEarly), two_fail),
        (Mutant::Recovery(recovery::Mutant::FillingMissesUpdates), two_fail),
        (Mutant::Recovery(recovery::Mutant::CopyOverwrites), filled_nodes_take_over),
        (Mutant::Recovery(recovery::Mutant::FilledTooEarly), filled_nodes_take_over),
        (Mutant::Recovery(recovery::Mutant::EvictedTooEarly), a_reader_is_cut_off),
        (Mutant::OwnRecordDroppedEarly, a_record_is_needed_to_the_end),
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
