// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST's recovery: nodes fail at each message of a transaction and at random times, also while the
//! cluster recovers from others; they come back, and messages are lost, late and delivered twice.

mod driver;

use cluster::engine::{Ending, NodeId, Span};
use cluster::fasst::{Fasst, Mutant, Planted, Settings};
use cluster::transact::Intent;
use cluster::workload::{ObjectStore, ObjectStoreSettings, ObjectTransaction, Scripted};
use driver::{Faults, World, settings};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const LIMIT: Span = Span::from_us(20_000);

fn objects(partitions: u16, objects: u64) -> ObjectStore {
    let store = ObjectStoreSettings {
        objects,
        value_bytes: 16,
        apart: false,
        ..ObjectStoreSettings::o(3, 2, partitions, 1)
    };
    ObjectStore::new(store).expect("sound settings")
}

/// Transactions of random objects of a few, for each worker.
fn contended(settings: &Settings, seed: u64, count: usize) -> Fasst<Scripted<ObjectStore>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let workers =
        u64::from(settings.nodes) * u64::from(settings.threads) * u64::from(settings.workers);
    let inputs = (0..workers).map(|worker| {
        let transaction = |number: usize| {
            let rows: Vec<_> = (0..3)
                .map(|_| {
                    let intent = [Intent::Read, Intent::Write][random.random_range(0..2)];
                    (random.random_range(0..24), intent)
                })
                .collect();
            let mut distinct: Vec<(u64, Intent)> = Vec::new();
            for row in rows {
                if distinct.iter().all(|(key, _)| *key != row.0) {
                    distinct.push(row);
                }
            }
            ObjectTransaction::new(worker << 32 | number as u64, &distinct)
        };
        (0..count).map(transaction).collect()
    });
    let inputs: Vec<_> = inputs.collect();
    let workload = Scripted::new(objects(settings.nodes, 24), inputs);
    Fasst::new(settings.clone(), workload).expect("sound settings").with_buckets(2)
}

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
    let mut settings = settings(4);
    (settings.threads, settings.workers) = (1, 2);
    let mut sent = u64::MAX;
    let mut after = 0;
    while after <= sent {
        let mut world = World::new(contended(&settings, 1, 3), Faults::default(), 7);
        world.crash_after = Some((NodeId(1), after));
        let ran = world.run(LIMIT).and_then(|()| world.check());
        assert_eq!(ran, Ok(()), "node 1 failed after {after} messages");
        if after == 0 {
            let mut whole = World::new(contended(&settings, 1, 3), Faults::default(), 7);
            whole.run(LIMIT).unwrap();
            sent = whole.sent[1];
        }
        after += 1;
    }
    assert!(sent > 50, "{sent}");
}

/// One in `times`, or never.
fn rarely(random: &mut ChaCha8Rng, times: u32) -> u32 {
    if random.random_bool(0.5) { times } else { 0 }
}

/// A cluster for one run of random failures.
fn cluster(
    random: &mut ChaCha8Rng,
    seed: u64,
    planted: Planted,
    lost_rpcs: u32,
) -> World<Scripted<ObjectStore>> {
    let mut settings = settings(random.random_range(4..7));
    settings.planted = planted;
    settings.threads = random.random_range(1..3);
    let faults = Faults {
        lost_rpcs,
        lost_control: rarely(random, 10),
        twice: rarely(random, 8),
        late: rarely(random, 20),
    };
    World::new(contended(&settings, seed, 25), faults, seed)
}

/// Two nodes fail, as many as FaSST's f, and may come back.
fn two_fail(seed: u64, planted: Planted) -> Result<World<Scripted<ObjectStore>>, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
    let mut world = cluster(&mut random, seed, planted, 0);
    let nodes = world.nodes.len() as u16;
    let first = random.random_range(0..nodes);
    let second = (first + random.random_range(1..nodes)) % nodes;
    let at = random.random_range(5..150);
    let then = at + random.random_range(0..300);
    world.crash_at(Span::from_us(at), NodeId(first));
    world.crash_at(Span::from_us(then), NodeId(second));
    if random.random_bool(0.6) {
        world.restart_at(Span::from_us(at + random.random_range(1..400)), NodeId(first));
    }
    if random.random_bool(0.3) {
        world.restart_at(Span::from_us(then + random.random_range(1..400)), NodeId(second));
    }
    world.run(LIMIT)?;
    world.check()?;
    Ok(world)
}

#[test]
fn two_nodes_may_fail_at_any_time_and_come_back() {
    let (mut decided, mut undecided) = (0, 0);
    seeds::each!(30, |seed| {
        let world = two_fail(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
        for course in world.courses.values().filter(|course| course.ending.is_none()) {
            decided += u64::from(course.stands());
            undecided += u64::from(!course.stands());
        }
    });
    println!("of dead coordinators: {decided} committed by recovery, {undecided} not");
}

/// A node hears and says nothing of the membership for a while, and goes on otherwise.
fn one_is_cut_off(seed: u64, planted: Planted) -> Result<World<Scripted<ObjectStore>>, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xc0ff);
    let mut world = cluster(&mut random, seed, planted, 0);
    let node = NodeId(random.random_range(0..world.nodes.len() as u16));
    let from = random.random_range(1..100);
    let until = from + random.random_range(50..500);
    world.cut = Some((node, Span::from_us(from)..Span::from_us(until)));
    world.restarts = true;
    world.run(LIMIT)?;
    world.check()?;
    Ok(world)
}

#[test]
fn a_node_that_is_cut_off_does_no_harm() {
    let mut killed = 0;
    let seeds = seeds::of!(20);
    for seed in &seeds {
        let world = one_is_cut_off(seed, Planted::default());
        killed += world.unwrap_or_else(|error| panic!("seed {seed}: {error}")).killed;
    }
    assert!(killed > 0 || !seeds.is_whole());
}

/// A message is lost now and then: a node ends itself, and begins anew.
fn messages_are_lost(seed: u64, planted: Planted) -> Result<World<Scripted<ObjectStore>>, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x1057);
    let mut world = cluster(&mut random, seed, planted, 6_000);
    world.restarts = true;
    world.run(LIMIT)?;
    world.check()?;
    Ok(world)
}

#[test]
fn nodes_that_lose_a_message_end_themselves_and_come_back() {
    seeds::each!(20, |seed| {
        messages_are_lost(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

/// A second node fails while the cluster recovers from the first.
fn another_fails_meanwhile(
    seed: u64,
    planted: Planted,
) -> Result<World<Scripted<ObjectStore>>, String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xd0b1);
    let mut world = cluster(&mut random, seed, planted, 0);
    let nodes = world.nodes.len() as u16;
    let first = random.random_range(0..nodes);
    let second = (first + random.random_range(1..nodes)) % nodes;
    world.crash_at(Span::from_us(random.random_range(5..60)), NodeId(first));
    while !world.manager.parts[0].manager().is_some_and(|manager| manager.is_changing()) {
        world.step();
    }
    world.crash_after =
        Some((NodeId(second), world.sent[usize::from(second)] + random.random_range(0..12)));
    world.run(LIMIT)?;
    world.check()?;
    Ok(world)
}

#[test]
fn another_node_may_fail_during_recovery() {
    seeds::each!(30, |seed| {
        another_fails_meanwhile(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn broken_recoveries_are_noticed() {
    let mutants = [
        Mutant::RecoveryForgetsDeadCoordinators,
        Mutant::RecoveryCommitsNothing,
        Mutant::LockKeptAfterRecovery,
        Mutant::StaleEpochServed,
        Mutant::LeaseNotChecked,
    ];
    let most = if std::env::var_os("LOCKSTEP_CASES").is_some() { 3_000 } else { 150 };
    let mut missed = Vec::new();
    for mutant in mutants.into_iter().chain(Mutant::OF_RECOVERY) {
        let planted = Planted::new(mutant);
        let found = (0..most).find_map(|seed| {
            let kinds = [two_fail, one_is_cut_off, another_fails_meanwhile];
            let mut errors = kinds.iter().filter_map(|run| run(seed, planted).err());
            Some((seed, errors.next()?))
        });
        println!("{mutant:?}: {found:.150?}");
        if found.is_none() {
            missed.push(mutant);
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
}
