// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs with failures, each drawn from a seed. A run is an error if anything is wrong at its end.

use cluster::engine::{NodeId, Protocol, Span};
use cluster::fasst::{Fasst, Planted, Settings};
use cluster::transact::Intent;
use cluster::workload::{
    ObjectStore, ObjectStoreSettings, ObjectTransaction, Scripted, Tatp, TatpSettings,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::driver::{Faults, Subject, World};
use super::fasst::settings;
use crate::wild::Wild;

pub type Run = Result<World<Fasst<Scripted<ObjectStore>>>, String>;
pub type Scenario = fn(u64, Planted) -> Run;

pub const LIMIT: Span = Span::from_us(20_000);

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
pub fn contended(settings: &Settings, seed: u64, count: usize) -> Fasst<Scripted<ObjectStore>> {
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
) -> World<Fasst<Scripted<ObjectStore>>> {
    let mut settings = settings(random.random_range(4..7));
    settings.planted = planted;
    settings.threads = random.random_range(1..3);
    settings.copies_initial_rows = random.random_bool(0.3);
    let faults = Faults {
        lost_rpcs,
        late_rpcs: 0,
        lost_control: rarely(random, 10),
        twice: rarely(random, 8),
        late: rarely(random, 20),
        lateness: 20,
        lost_copies: rarely(random, 10),
    };
    World::new(contended(&settings, seed, 25), faults, seed)
}

/// Two nodes fail, as many as FaSST's f, and may come back.
pub fn two_fail(seed: u64, planted: Planted) -> Run {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
    let mut world = cluster(&mut random, seed, planted, 0);
    fail_twice(&mut world, &mut random);
    world.run(LIMIT)?;
    world.check()?;
    Ok(world)
}

pub fn fail_twice<P: Subject>(world: &mut World<P>, random: &mut ChaCha8Rng) {
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
}

/// The same with TATP, whose rows are in several tables, and are made and deleted.
pub fn rows_come_and_go(seed: u64) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x7a79);
    let settings = settings(random.random_range(4..6));
    let tatp = Tatp::new(TatpSettings { subscribers: 8, seed }).expect("sound settings");
    let workers = u32::from(settings.nodes) * 4;
    let workload = Scripted::drawn(tatp, workers, 80);
    let protocol = Fasst::new(settings, workload).expect("sound settings").with_buckets(2);
    let faults = Faults { lost_control: rarely(&mut random, 10), ..Faults::default() };
    let mut world = World::new(protocol, faults, seed);
    fail_twice(&mut world, &mut random);
    world.run(LIMIT)?;
    world.check()
}

/// One or two nodes fail under transactions of all kinds, where rows of three tables share few headers.
pub fn whatever_transactions_do(seed: u64) -> Result<(), String> {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x011d);
    let backups = random.random_range(1..3);
    let settings = Settings { backups, ..settings(random.random_range(3..6)) };
    let workers = u32::from(settings.nodes) * 4;
    let workload = Scripted::drawn(Wild { rows: 6, seed }, workers, 30);
    let buckets = random.random_range(1..4);
    let protocol = Fasst::new(settings, workload).expect("sound settings").with_buckets(buckets);
    let faults = Faults { lost_control: rarely(&mut random, 10), ..Faults::default() };
    let mut world = World::new(protocol, faults, seed);
    if backups == 2 {
        fail_twice(&mut world, &mut random);
    } else {
        let node = NodeId(random.random_range(0..world.nodes.len() as u16));
        let at = random.random_range(5..200);
        world.crash_at(Span::from_us(at), node);
        world.restart_at(Span::from_us(at + random.random_range(1..400)), node);
    }
    world.run(LIMIT)?;
    world.check()
}

/// A node hears and says nothing of the membership for a while, and goes on otherwise.
pub fn one_is_cut_off(seed: u64, planted: Planted) -> Run {
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

/// A message is lost now and then: a node ends itself, and begins anew.
pub fn messages_are_lost(seed: u64, planted: Planted) -> Run {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x1057);
    let mut world = cluster(&mut random, seed, planted, 6_000);
    world.restarts = true;
    world.run(LIMIT)?;
    world.check()?;
    Ok(world)
}

/// A second node fails while the cluster recovers from the first.
pub fn another_fails_meanwhile(seed: u64, planted: Planted) -> Run {
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

/// Messages take up to sixty times as long as usual, longer than a change of views, but
/// not so long that they would be taken for lost.
pub fn messages_are_very_late(seed: u64, planted: Planted) -> Run {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x1a7e);
    let settings = Settings { planted, ..settings(4) };
    let faults = Faults { late_rpcs: 15, lateness: 60, ..Faults::default() };
    let mut world = World::new(contended(&settings, seed, 6), faults, seed);
    world.crash_at(Span::from_us(random.random_range(5..100)), NodeId(random.random_range(0..4)));
    world.run(LIMIT)?;
    world.check()?;
    match world.killed {
        0 => Ok(world),
        killed => Err(format!("{killed} nodes ended themselves")),
    }
}

/// Node 0 reads its own rows, in a loop, and has nothing to do with others; they write these rows. It is
/// cut off from the manager. If it did not mind its lease, it would read what is no longer so.
pub fn a_reader_is_cut_off(seed: u64, planted: Planted) -> Run {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0x2ead);
    let settings = Settings { planted, threads: 1, ..settings(4) };
    let (store, nodes) = (objects(4, 400), settings.nodes);
    let own = |row: &u64| cluster::placement::partition_of(*row, nodes).0 == 0;
    let rows: Vec<u64> = (0..400).filter(own).take(6).collect();
    let mut pair = |intent: Intent, writer| {
        let first = random.random_range(0..rows.len());
        let second = (first + random.random_range(1..rows.len())) % rows.len();
        ObjectTransaction::new(writer, &[(rows[first], intent), (rows[second], intent)])
    };
    let inputs: Vec<Vec<_>> = (0..u64::from(nodes) * 2)
        .map(|worker| match worker {
            0..2 => (0..6_000).map(|_| pair(Intent::Read, 0)).collect(),
            _ => (0..40).map(|number| pair(Intent::Write, worker << 32 | number)).collect(),
        })
        .collect();
    let protocol = Fasst::new(settings, Scripted::new(store, inputs)).expect("sound settings");
    let mut world = World::new(protocol.with_buckets(32), Faults::default(), seed);
    world.cut = Some((NodeId(0), Span::from_us(1)..Span::from_us(600)));
    world.run(LIMIT)?;
    world.check()?;
    Ok(world)
}

/// Nodes fail only when all replicas have been filled, but then two at once, and twice. So the rows of
/// some partitions are on nodes that were filled alone.
pub fn filled_nodes_take_over(seed: u64, planted: Planted) -> Run {
    let mut random = ChaCha8Rng::seed_from_u64(seed ^ 0xf111);
    let mut settings = Settings { planted, threads: 1, mtu: 160, ..settings(7) };
    settings.workers = 4;
    let workers = u64::from(settings.nodes) * u64::from(settings.workers);
    let transaction = |random: &mut ChaCha8Rng, writer| {
        ObjectTransaction::new(writer, &[(random.random_range(0..300), Intent::Write)])
    };
    let inputs: Vec<Vec<_>> = (0..workers)
        .map(|worker| {
            (0..60).map(|number| transaction(&mut random, worker << 32 | number)).collect()
        })
        .collect();
    let workload = Scripted::new(objects(settings.nodes, 300), inputs);
    let protocol = Fasst::new(settings, workload).expect("sound settings").with_buckets(8);
    let faults = Faults { lost_copies: 5, ..Faults::default() };
    let mut world = World::new(protocol, faults, seed);
    let mut nodes: Vec<_> = (0..world.protocol.nodes()).map(NodeId).collect();
    world.run_until(Span::from_us(random.random_range(50..250)));
    for _ in 0..2 {
        for _ in 0..2 {
            let node = nodes.swap_remove(random.random_range(0..nodes.len()));
            world.crash(node);
        }
        let up = nodes.len();
        world.run_while(LIMIT, |world| {
            let manager = world.manager.parts[0].manager().expect("it is the manager");
            manager.view().members().len() > up || manager.is_changing() || !manager.is_filled()
        })?;
    }
    world.run(LIMIT)?;
    world.check()?;
    Ok(world)
}

/// A node writes a row of another's, with one backup. When it has asked the primary to change the row,
/// its log replica fails, and the request comes later than the change of views that follows. Then the
/// coordinator's own record is the only one from which the primary can learn of the change.
pub fn a_record_is_needed_to_the_end(seed: u64, planted: Planted) -> Run {
    let nodes = 4 + (seed / 12 % 3) as u16;
    let coordinator = (seed % u64::from(nodes)) as u16;
    // Neither the coordinator's row nor that of its log replica, which is the next node.
    let primary = (coordinator + 2 + (seed / 4 % u64::from(nodes - 2)) as u16) % nodes;
    let settings = Settings { planted, threads: 1, workers: 1, backups: 1, ..settings(nodes) };
    let row = (0..400).find(|row| cluster::placement::partition_of(*row, nodes).0 == primary);
    let write = ObjectTransaction::new(1, &[(row.expect("a row of each node"), Intent::Write)]);
    let mut inputs = vec![Vec::new(); nodes.into()];
    inputs[usize::from(coordinator)].push(write);
    let workload = Scripted::new(objects(nodes, 400), inputs);
    let protocol = Fasst::new(settings, workload).expect("sound settings");
    let mut world = World::new(protocol, Faults::default(), seed);
    world.slow_updates = Some(Span::from_us(300));
    world.run_while(LIMIT, |world| world.updates == 0)?;
    world.crash(NodeId((coordinator + 1) % nodes));
    world.run(LIMIT)?;
    world.check()?;
    let is_committed = world.courses.values().all(super::driver::Course::stands);
    if world.killed > 0 || !is_committed || world.courses.is_empty() {
        return Err(format!("{} nodes ended themselves; {:?}", world.killed, world.courses));
    }
    Ok(world)
}
