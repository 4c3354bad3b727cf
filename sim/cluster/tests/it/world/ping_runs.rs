// SPDX-License-Identifier: MIT OR Apache-2.0
//! Times, order, and equal runs.

use cluster::engine::{Class, Ending, Stage};
use cluster_sim::world::{Options, World, WorldError};
use timing::Time;

use super::ping::{Ping, hardware, options, world};

/// 32 and 6 bytes with 34 bytes of headers are 6.6 and 4 ns on the link, and the card is done with them
/// later than they are there.
#[test]
fn a_ping_takes_the_sum_of_its_parts() {
    let mut world = world(Ping { pings: 1, ..Ping::default() }, 1);
    world.begin();
    world.run_until_rest(Time::from_us(10)).expect("one ping each");
    let counts = &world.ledger().kinds[0];
    assert_eq!(counts.endings[Ending::Committed as usize], 2);
    // A side: card 20, slot 200. Way 300. Both directions of pings run at once, but meet nowhere.
    let way = 2 * (20 + 200) + 300;
    // The echo's burst: poll, send, doorbell; the last one: poll alone.
    let exact = way + 30 + way + 10;
    assert_eq!([counts.latency.min(), counts.latency.max()], [exact, exact]);
    let execute = world.ledger().messages[Stage::Execute as usize];
    assert_eq!((execute.sent, execute.sent_bytes, execute.wire_bytes), (2, 64, 2 * 66));
    assert_eq!((execute.received, execute.received_bytes), (2, 64));
    world.check_at_rest().expect("nobody waits");
}

#[test]
fn a_seed_gives_the_same_run_twice() {
    let run = |pings: usize| {
        let mut world = world(Ping { nodes: 5, threads: 3, bytes: pings, ..Ping::default() }, 4);
        world.run_for(Time::from_us(10), Time::from_us(100));
        world.run_until_rest(Time::from_us(100)).expect("all end");
        (world.digest(), world.ledger().transactions(), world.recorder().attempts().len())
    };
    let first = run(32);
    assert!(first.1 > 1_000, "{first:?}");
    assert_eq!(first, run(32));
    assert_ne!(first.0, run(33).0);
}

/// A world is moved to another thread, and gives the same there.
#[test]
fn a_world_can_be_sent() {
    let digest = |mut world: World<Ping>| {
        world.run_for(Time::ZERO, Time::from_us(20));
        world.digest()
    };
    let moved = world(Ping::default(), 2);
    let there = std::thread::spawn(move || digest(moved)).join().expect("it does not panic");
    assert_eq!(there, digest(world(Ping::default(), 2)));
}

/// A ping passes each of the two cards twice, for 20 ns each time.
#[test]
fn throughput_is_bound_by_what_is_busiest() {
    let mut world = world(Ping { nodes: 2, ..Ping::default() }, 60);
    world.run_for(Time::from_us(20), Time::from_us(200));
    let ledger = world.ledger();
    let (name, share) = ledger.busiest().expect("resources");
    assert_eq!(name, "engine");
    assert!((0.98..=1.0).contains(&share), "{share}: {:?}", ledger.resources);
    let most = 2.0 * 1e9 / 80.0;
    assert!((0.98..1.01).contains(&(ledger.throughput() / most)), "{}", ledger.throughput());
    let waits = ledger.latency().mean() * ledger.throughput() / 1e9;
    assert!((110.0..=121.0).contains(&waits), "Little's law: {waits} of 120 workers");
}

#[test]
fn messages_between_two_threads_keep_their_order() {
    let mut world = world(Ping { nodes: 2, bytes: 4000, ..Ping::default() }, 8);
    world.run_for(Time::ZERO, Time::from_us(50));
    let attempts = world.recorder().attempts();
    let mut counts = [0; 2 * 8];
    for attempt in attempts {
        let id = attempt.transaction;
        let last = &mut counts[id.node().index() * 8 + usize::from(id.worker())];
        *last += 1;
        assert_eq!(id.count(), *last);
    }
    assert!(world.ledger().busiest().expect("resources").0 == "link out");
}

/// Many long messages fill the link; control traffic passes them.
#[test]
fn control_traffic_is_not_queued() {
    let latency = |class| {
        let ping = Ping { nodes: 2, bytes: 4000, class, ..Ping::default() };
        let mut world = world(ping, 8);
        world.run_for(Time::from_us(20), Time::from_us(100));
        world.ledger().latency().mean()
    };
    let (queued, control) = (latency(Class::Foreground), latency(Class::Control));
    assert!(control * 1.5 < queued, "{control} ns against {queued} ns");
}

/// How a run is divided changes nothing.
#[test]
fn a_run_can_be_divided() {
    let digest = |steps: u64| {
        let mut world = world(Ping { nodes: 3, ..Ping::default() }, 4);
        world.begin();
        (1..=steps).for_each(|step| world.run_until(Time::from_ns(24_000 / steps * step)));
        world.digest()
    };
    let whole = digest(1);
    assert_eq!([digest(2), digest(600)], [whole; 2]);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let error = |options: Options| {
        World::new(Ping::default(), hardware(), None, options).map(|_| ()).expect_err("refused")
    };
    let more = error(options(2, 1));
    assert_eq!(more.to_string(), "host_threads = 2, expected at most 1, the parts of node 0");
    assert_eq!(error(Options { burst: 0, ..options(1, 1) }), WorldError::EmptyBurst);
    let none = error(options(0, 1)).to_string();
    assert!(none.contains("expected hardware with cores of the NIC"), "{none}");
}
