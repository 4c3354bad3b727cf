// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes wrong.

use cluster::engine::{NodeId, Span, Stage};
use cluster_sim::faults::{Fate, Happening};
use timing::Time;

use super::ping::{Ping, faulty};

#[test]
fn lost_late_and_doubled_frames_are_survived() {
    seeds::each!(20, |seed| {
        let run = || {
            let mut random = seed | 1;
            let mut world = faulty(Ping { nodes: 3, ..Ping::default() }, 4, vec![], move |_, _| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                match random % 10 {
                    0 => Fate::Drop,
                    1 => Fate::Delay(Time::from_ns(random % 10_000)),
                    2 => {
                        let after = Time::from_ns(random % 10_000);
                        let delay = Time::from_ns(random % 3_000);
                        Fate::Duplicate { delay, after }
                    }
                    _ => Fate::Deliver,
                }
            });
            world.run_for(Time::ZERO, Time::from_us(300));
            world.run_until_rest(Time::from_us(2_000)).expect("pings are repeated");
            world.check_at_rest().expect("nobody waits");
            assert!(world.ledger().lost.dropped > 0);
            (world.digest(), world.ledger().transactions())
        };
        let first = run();
        assert!(first.1 > 100, "{first:?}");
        assert_eq!(first, run());
    });
}

#[test]
fn a_node_comes_back_with_what_its_memory_kept() {
    let (crash, restart) = (Time::from_us(20), Time::from_us(60));
    let happenings =
        vec![(crash, NodeId(1), Happening::Crash), (restart, NodeId(1), Happening::Restart)];
    let mut world = faulty(Ping::default(), 2, happenings, |_, _| Fate::Deliver);
    world.begin();
    world.run_until(Time::from_us(40));
    assert!(world.node(NodeId(1)).is_none());
    let before = world.ledger().transactions();
    world.run_until(Time::from_us(59));
    assert_eq!(world.ledger().transactions(), before, "the other node waits for it");
    assert!(world.ledger().lost.unreachable > 0);
    world.run_until(Time::from_us(200));
    assert_eq!(world.node(NodeId(1)).expect("it is up").shared, 2, "its second life");
    world.run_until_rest(Time::from_us(200)).expect("pings are repeated");
    assert!(world.ledger().transactions() > before + 100);
    let open = world.recorder().attempts().iter().filter(|attempt| attempt.end() == Time::MAX);
    let open: Vec<_> = open.map(|attempt| attempt.transaction.node()).collect();
    assert_eq!(open, [NodeId(1); 2], "the attempts of the node that died never ended");
}

#[test]
fn a_crashed_node_is_not_waited_for() {
    let crash = vec![(Time::from_us(20), NodeId(1), Happening::Crash)];
    let mut world = faulty(Ping { nodes: 3, ..Ping::default() }, 2, crash, |_, _| Fate::Deliver);
    world.run_for(Time::ZERO, Time::from_us(40));
    let unrest = world.run_until_rest(Time::from_us(500)).expect_err("its echoes are missing");
    let text = unrest.to_string();
    assert!(text.starts_with("no rest after 500 us: worker "), "{text}");
    assert!(!text.contains("of node 1 does not rest"), "{text}");
    assert!(text.contains("part 0 of node 0 does not rest, with attempt "), "{text}");
}

#[test]
fn a_slow_node_does_less_and_a_paused_one_nothing() {
    let done_with = |happenings: &[Happening]| {
        let happenings = happenings.iter().map(|it| (Time::ZERO, NodeId(1), *it)).collect();
        let mut world = faulty(Ping::default(), 1, happenings, |_, _| Fate::Deliver);
        world.run_for(Time::ZERO, Time::from_us(40));
        world.ledger().transactions()
    };
    let done = |happening| done_with(&[happening]);
    let usual = done(Happening::Slow { factor: 1000 });
    let slow = done(Happening::Slow { factor: 100_000 });
    assert!(usual > 2 * slow && slow > 4, "{usual} and {slow}");
    assert_eq!(done(Happening::Pause { length: Time::from_us(50) }), 0);
    let half = done(Happening::Pause { length: Time::from_us(20) });
    assert!(half.abs_diff(usual / 2) < 5, "{usual} and {half}");
    let [long, short] = [50, 20].map(|us| Happening::Pause { length: Time::from_us(us) });
    assert_eq!(done_with(&[long, short]), 0, "the shorter pause does not end the longer one");
}

/// Without other pings: each node has one, and the first frame is the ping of node 0.
#[test]
fn a_frame_may_come_late_and_twice() {
    let (delay, after) = (Time::from_us(300), Time::from_us(200));
    let mut is_first = true;
    let ping = Ping { pings: 1, patience: Span::from_us(9_000), ..Ping::default() };
    let mut world =
        faulty(ping, 1, vec![], move |_, _| match std::mem::replace(&mut is_first, false) {
            true => Fate::Duplicate { delay, after },
            false => Fate::Deliver,
        });
    world.begin();
    // Echoes are of this stage: the other node's ping has one at once.
    let echoes = [290, 310, 490, 510].map(|us| {
        world.run_until(Time::from_us(us));
        world.ledger().messages[Stage::Primary as usize].sent
    });
    assert_eq!(echoes, [1, 2, 2, 3]);
}

/// Node 1 never hears of node 0 and repeats its ping by its own clock.
#[test]
fn deadlines_go_by_the_clock_of_the_node() {
    let repeats = |ahead: u64, drift| {
        let ahead = Time::from_us(ahead);
        let happenings = vec![(Time::from_us(1), NodeId(1), Happening::Clock { ahead, drift })];
        let mut world = faulty(Ping::default(), 1, happenings, |_, note| match note.from.node {
            NodeId(1) => Fate::Drop,
            _ => Fate::Deliver,
        });
        world.begin();
        world.run_until(Time::from_us(1_020));
        world.ledger().lost.dropped
    };
    // Echoes to node 0 are dropped, too: as many as it repeats its pings.
    let usual = repeats(0, 0);
    assert!((40..=44).contains(&usual), "{usual}");
    assert_eq!(repeats(30, 0), usual, "a jump brings one repeat forward");
    assert!((59..=64).contains(&repeats(0, 1_000_000)), "twice as fast");
    assert!((29..=33).contains(&repeats(0, -500_000)), "half as fast");
}
