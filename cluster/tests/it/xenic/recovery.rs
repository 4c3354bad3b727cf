// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic's recovery: nodes fail at each message and at random times, come back, and messages are lost and late.

use cluster::engine::{Ending, Node, NodeId, Operation, Part, Span};
use cluster::membership::Manager;
use cluster::placement::Partitioning;
use cluster::recovery;
use cluster::transact::Transactions;
use cluster::workload::{ObjectStore, ObjectStoreSettings, Scripted, SmallBank, SmallBankSettings};
use cluster::xenic::{Machine, Mutant, Planted, Settings, Shared, Xenic};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::recovery::driver::{Faults, Subject, World, membership};
use crate::recovery::scenarios::{LIMIT, fail_twice};
use crate::wild::Wild;

impl<T: Transactions> Subject for Xenic<T> {
    fn layout(&self) -> &Partitioning {
        self.layout()
    }

    fn workers(&self) -> (u8, u8) {
        (self.settings().threads, self.settings().workers)
    }

    fn part(&self, place: usize) -> Part {
        let Settings { threads, log_workers, .. } = *self.settings();
        match (place as u8).checked_sub(threads + log_workers) {
            None => Part::HostThread(place as u8),
            Some(core) => Part::NicCore(core),
        }
    }

    fn place(&self, part: Part) -> usize {
        let Settings { threads, log_workers, .. } = *self.settings();
        match part {
            Part::HostThread(thread) => thread.into(),
            Part::NicCore(core) => (threads + log_workers + core).into(),
            Part::Memory | Part::Switch => panic!("{part:?} has no machine"),
        }
    }

    fn manager_of(machine: &Machine<T>) -> Option<&Manager> {
        machine.manager()
    }

    fn rests(&self, node: &Node<Machine<T>>) -> Result<(), String> {
        Self::rests(node)
    }

    fn is_answer(bytes: &[u8]) -> bool {
        bytes[2] & 0x80 != 0
    }

    fn operate(shared: &mut Shared<T>, operation: Operation, bytes: &mut Vec<u8>) -> bool {
        match operation {
            Operation::Read { at, length } => shared.read_host(at, length, bytes),
            Operation::Write { at } => {
                let written = std::mem::take(bytes);
                shared.write_host(at, &written)
            }
            _ => false,
        }
    }
}

fn settings(nodes: u16, random: &mut ChaCha8Rng) -> Settings {
    let level = random.random_range(0..4);
    Settings {
        nodes,
        threads: random.random_range(1..3),
        workers: 2,
        cores: random.random_range(1..3),
        slots: random.random_range(1..4),
        backups: 2.min(nodes as u8 - 1),
        combined: level >= 1,
        ships: level >= 2,
        multi_hop: level >= 2,
        poll: Span::from_us(5),
        flush: Span::from_us(20),
        loss_timeout: Span::from_us(400),
        membership: Some(membership()),
        ..Settings::default()
    }
}

fn objects(settings: &Settings, seed: u64, count: usize) -> Scripted<ObjectStore> {
    let objects = ObjectStoreSettings {
        objects: 24,
        value_bytes: 16,
        apart: false,
        seed,
        ..ObjectStoreSettings::o(3, 2, settings.nodes, 1)
    };
    let workers =
        u32::from(settings.nodes) * u32::from(settings.threads) * u32::from(settings.workers);
    Scripted::drawn(ObjectStore::new(objects).expect("sound settings"), workers, count)
}

fn world(
    settings: Settings,
    faults: Faults,
    seed: u64,
    count: usize,
) -> World<Xenic<Scripted<ObjectStore>>> {
    let workload = objects(&settings, seed, count);
    World::new(Xenic::new(settings, workload).expect("sound settings"), faults, seed)
}

fn rarely(random: &mut ChaCha8Rng, times: u32) -> u32 {
    if random.random_bool(0.5) { times } else { 0 }
}

/// Faults of messages that harm nobody.
fn harmless(random: &mut ChaCha8Rng) -> Faults {
    Faults {
        lost_control: rarely(random, 10),
        lost_copies: rarely(random, 10),
        twice: rarely(random, 8),
        late: rarely(random, 20),
        lateness: 20,
        ..Faults::default()
    }
}

type Scenario = fn(u64, Planted) -> Result<(), String>;

/// Two nodes fail, as many as f, and may come back.
fn two_fail(seed: u64, planted: Planted) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
    let nodes = random.random_range(4..7);
    let settings = Settings { planted, ..settings(nodes, random) };
    let mut world = world(settings, harmless(random), seed, 25);
    fail_twice(&mut world, random);
    world.run(LIMIT)?;
    world.check()
}

/// A node fails after it has sent some message, with f = 1.
fn one_fails(seed: u64, planted: Planted) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed ^ 0x0e);
    let settings = Settings { planted, backups: 1, ..settings(4, random) };
    let mut world = world(settings, harmless(random), seed, 12);
    world.crash_after = Some((NodeId(random.random_range(0..4)), random.random_range(1..400)));
    world.restarts = random.random();
    world.run(LIMIT)?;
    world.check()
}

/// A node fails in the middle of what it sends, with f = 1.
fn one_stops_short(seed: u64, planted: Planted) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed ^ 0x57);
    let settings = Settings { planted, backups: 1, threads: 1, ..settings(4, random) };
    let mut world = world(settings, Faults::default(), seed, 3);
    world.crash_after = Some((NodeId(random.random_range(0..4)), random.random_range(1..100)));
    world.run(LIMIT)?;
    world.check()
}

/// A node fails, with f = 1, while COMMITs are slower than the change of views.
fn commits_are_slow(seed: u64, planted: Planted) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed ^ 0x510);
    let settings = Settings { planted, backups: 1, threads: 1, ..settings(4, random) };
    let mut world = world(settings, Faults::default(), seed, 4);
    world.slow_updates = Some(Span::from_us(350));
    world.crash_at(Span::from_us(random.random_range(10..60)), NodeId(random.random_range(0..4)));
    world.run(LIMIT)?;
    world.check()
}

/// Messages are lost, so that nodes end themselves, and come back.
fn messages_are_lost(seed: u64, planted: Planted) -> Result<(), String> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed ^ 0x1057);
    let settings = Settings { planted, ..settings(5, random) };
    let faults = Faults { lost_rpcs: 6_000, ..harmless(random) };
    let mut world = world(settings, faults, seed, 25);
    world.restarts = true;
    let run = world.run(LIMIT);
    // By chance, more than f nodes end themselves in one view. Nothing is promised then.
    if !world.manager().lost().is_empty() {
        return Ok(());
    }
    run.and_then(|()| world.check())
}

#[test]
fn without_failures_all_commit_and_no_view_changes() {
    seeds::each!(4, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let settings = settings(4, random);
        let all = 4 * usize::from(settings.threads) * 2 * 10;
        let mut world = world(settings, Faults::default(), seed, 10);
        world.run(LIMIT).unwrap();
        world.check().unwrap();
        assert_eq!(world.ended(Ending::Committed), all);
        assert_eq!(world.manager().counts().proposed, 0);
    });
}

#[test]
fn a_node_may_fail_after_any_message() {
    seeds::each!(1, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let settings = Settings { threads: 1, ..settings(4, random) };
        let node = NodeId((seed % 4 + 1) as u16 % 4);
        let begin = || world(settings.clone(), Faults::default(), seed, 3);
        let mut whole = begin();
        whole.run(LIMIT).unwrap();
        let sent = whole.sent[node.index()];
        for after in (0..sent).step_by(3) {
            let mut world = begin();
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
    seeds::each!(10, |seed| two_fail(seed, Planted::default()).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn a_node_may_fail_where_there_is_one_backup() {
    seeds::each!(10, |seed| one_fails(seed, Planted::default()).unwrap_or_else(|e| panic!("{e}")));
}

#[test]
fn nodes_that_lose_a_message_end_themselves_and_come_back() {
    seeds::each!(6, |seed| {
        messages_are_lost(seed, Planted::default()).unwrap_or_else(|e| panic!("{e}"));
    });
}

#[test]
fn whatever_transactions_do_no_failure_breaks_them() {
    seeds::each!(6, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed ^ 0x011d);
        let settings = settings(5, random);
        let workers = 5 * u32::from(settings.threads) * 2;
        let workload = Scripted::drawn(Wild { rows: 6, seed }, workers, 20);
        let protocol = Xenic::new(settings, workload).expect("sound settings");
        let mut world = World::new(protocol, harmless(random), seed);
        fail_twice(&mut world, random);
        world.run(LIMIT).and_then(|()| world.check()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn accounts_survive() {
    seeds::each!(6, |seed| {
        let random = &mut ChaCha8Rng::seed_from_u64(seed ^ 0xba);
        let settings = settings(5, random);
        let access = workloads::scenario::SmallBankAccess::Hot10;
        let bank = SmallBankSettings {
            accounts: 30,
            hot_accounts: 2,
            access,
            initial_cents: 500,
            balance_bytes: 4,
            seed,
        };
        let bank = SmallBank::new(bank).expect("sound settings");
        let workers = 5 * u32::from(settings.threads) * 2;
        let workload = Scripted::drawn(bank, workers, 25);
        let protocol = Xenic::new(settings, workload).expect("sound settings");
        let mut world = World::new(protocol, harmless(random), seed);
        fail_twice(&mut world, random);
        world.run(LIMIT).and_then(|()| world.check()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn a_node_may_stop_in_the_middle_of_what_it_sends() {
    seeds::each!(20, |seed| {
        one_stops_short(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

#[test]
fn a_commit_that_was_told_survives_though_no_primary_has_it() {
    seeds::each!(20, |seed| {
        commits_are_slow(seed, Planted::default()).unwrap_or_else(|error| panic!("{error}"));
    });
}

const BROKEN: [(Mutant, Scenario); 11] = [
    (Mutant::EndedBeforeLog, commits_are_slow),
    (Mutant::CoordinatorIsHolder, commits_are_slow),
    (Mutant::LogAppliedUndecided, one_stops_short),
    (Mutant::PartialRecordsCommit, one_stops_short),
    (Mutant::CountsNotCompared, one_stops_short),
    (Mutant::LossNotDetected, messages_are_lost),
    (Mutant::Recovery(recovery::Mutant::DeadCoordinatorsForgotten), two_fail),
    (Mutant::Recovery(recovery::Mutant::NothingCommitted), two_fail),
    (Mutant::Recovery(recovery::Mutant::RecoveredTooEarly), two_fail),
    (Mutant::Recovery(recovery::Mutant::FillingMissesUpdates), two_fail),
    (Mutant::Recovery(recovery::Mutant::RecordsNotMerged), two_fail),
];

/// Some of the bugs by default, each of them in a long run.
#[test]
fn broken_recoveries_are_noticed() {
    seeds::each!(3, |seed| {
        let Some((mutant, run)) = BROKEN.get((seed * 4) as usize % BROKEN.len()) else {
            return Ok(());
        };
        let found = (0..120).find_map(|at| Some((at, run(at, Planted::new(*mutant)).err()?)));
        println!("{mutant:?}: {found:.200?}");
        found.map(drop).ok_or_else(|| format!("{mutant:?} is not noticed"))
    });
}
