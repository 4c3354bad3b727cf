// SPDX-License-Identifier: MIT OR Apache-2.0
//! When vectors are sent, in which order elements are begun, and what is refused.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const CONFIG: Config =
    Config { idle_time: 10, flush_time: 25, host: Window::ALL, nic: Window::ALL };

fn read(token: u16) -> Element {
    Element { token, direction: Direction::Read, host: 0x1000, nic: 0x2000, bytes: 64 }
}

fn write(token: u16) -> Element {
    Element { direction: Direction::Write, ..read(token) }
}

/// Sends what is due in each clock up to this one, and gives the first of it.
fn first_sent(machine: &mut Vectorizer, clocks: std::ops::RangeInclusive<u64>) -> (u64, Sent) {
    let mut all = clocks.flat_map(|now| machine.send(now).into_iter().map(move |sent| (now, sent)));
    all.next().expect("nothing was sent")
}

#[test]
fn an_isolated_element_leaves_after_the_idle_time() {
    let mut machine = Vectorizer::new(CONFIG);
    machine.accept(100, 3, read(1)).unwrap();
    assert_eq!(machine.due(), Some(110));
    let sent = Sent { queue: 3, direction: Direction::Read, elements: 1, reason: Reason::Idle };
    assert_eq!(first_sent(&mut machine, 100..=200), (110, sent));
    assert_eq!(machine.due(), None);
}

#[test]
fn an_element_leaves_after_the_flush_time_though_others_come() {
    let mut machine = Vectorizer::new(CONFIG);
    machine.accept(100, 0, write(1)).unwrap();
    for now in 101..125 {
        if now % 5 == 0 {
            // Of the other direction, too: the queue is not idle.
            machine.accept(now, 0, if now % 10 == 0 { read(2) } else { write(3) }).unwrap();
        }
        assert_eq!(machine.send(now), []);
    }
    let sent = Sent { queue: 0, direction: Direction::Write, elements: 3, reason: Reason::Flushed };
    assert_eq!(machine.send(125), [sent]);
}

#[test]
fn a_vector_is_sent_with_its_fifteenth_element() {
    let mut machine = Vectorizer::new(CONFIG);
    for now in 0..15 {
        assert_eq!(machine.send(now), []);
        machine.accept(now, 7, read(now as u16)).unwrap();
    }
    let sent = Sent { queue: 7, direction: Direction::Read, elements: 15, reason: Reason::Full };
    assert_eq!(machine.send(14), [sent]);
}

#[test]
fn a_vector_fills_further_while_the_one_before_waits() {
    let mut machine = Vectorizer::new(CONFIG);
    machine.accept(0, 0, read(0)).unwrap();
    assert_eq!(machine.send(10).len(), 1);
    for token in 1..=15 {
        assert!(machine.has_room(0));
        machine.accept(1000, 0, read(token)).unwrap();
        assert_eq!(machine.send(1000), []);
    }
    assert_eq!(machine.accept(1001, 0, write(99)), Err(AcceptError::NoRoom(0)));
    assert_eq!(machine.due(), None);
    assert!(machine.begin(Direction::Read).is_some());
    assert_eq!(machine.send(1001)[0].elements, 15);
    assert!(machine.has_room(0));
}

#[test]
fn vectors_take_turns_and_are_begun_whole() {
    let mut machine = Vectorizer::new(CONFIG);
    for queue in [5, 2, 6] {
        for n in 0..3 {
            machine.accept(0, queue, read(10 * queue as u16 + n)).unwrap();
        }
    }
    assert_eq!(machine.send(10).len(), 3);
    let begun: Vec<_> = std::iter::from_fn(|| machine.begin(Direction::Read)).collect();
    let tokens = begun.iter().map(|begun| match begun {
        Begun::Copy { element, .. } => element.token,
        Begun::Refused(_) => unreachable!("nothing is wrong with it"),
    });
    assert_eq!(tokens.collect::<Vec<_>>(), [20, 21, 22, 50, 51, 52, 60, 61, 62]);
    assert_eq!(machine.turn(Direction::Read), None);
}

#[test]
fn what_may_not_be_carried_out_is_refused_in_its_turn() {
    let window = Window { first: 4, last: 5 };
    let mut machine = Vectorizer::new(Config { host: window, ..CONFIG });
    let in_host = |host, bytes| Element { host, bytes, ..read(7) };
    let (length, outside) = (Response::SubordinateError, Response::DecodeError);
    let cases = [
        (in_host(0x4000, 0), Some(length)),
        (in_host(0x4000, 4097), Some(length)),
        (in_host(0, u16::MAX), Some(length)),
        (in_host(0x3FFF, 2), Some(outside)),
        (in_host(0x4000, 4096), None),
        (in_host(0x5FFF, 1), None),
        (in_host(0x5FFF, 2), Some(outside)),
        (in_host(0x6000, 1), Some(outside)),
        (Element { nic: u64::MAX, ..in_host(0x4000, 1) }, None),
        (Element { nic: u64::MAX, ..in_host(0x4000, 2) }, Some(outside)),
    ];
    for (now, (element, expected)) in (0..).map(|n| 100 * n).zip(cases) {
        assert_eq!(machine.refusal(&element), expected, "{element:x?}");
        let ticket = machine.accept(now, 1, element).unwrap();
        machine.send(now + 10);
        let completion = |response| Completion { token: 7, queue: 1, response };
        match machine.begin(Direction::Read).unwrap() {
            Begun::Refused(found) => assert_eq!(Some(found), expected.map(completion)),
            Begun::Copy { ticket: found, .. } => {
                assert_eq!((found, expected), (ticket, None));
                assert_eq!(machine.finish(ticket, Response::Okay), Ok(completion(Response::Okay)));
            }
        }
        assert_eq!(machine.finish(ticket, Response::Okay), Err(UnknownElement(ticket)));
        assert!(machine.is_empty());
    }
    let before = machine.clone();
    assert_eq!(machine.accept(0, 8, read(0)), Err(AcceptError::UnknownQueue(8)));
    assert_eq!(machine, before);
}

#[test]
fn each_element_is_begun_once_in_order() {
    seeds::each!(200, random_traffic);
}

/// Random elements and links that are busy; what has to hold of each vector and element.
fn random_traffic(seed: u64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let config = Config {
        idle_time: random.random_range(0..40),
        flush_time: random.random_range(0..80),
        ..CONFIG
    };
    let mut machine = Vectorizer::new(config);
    let (comes, goes) = (random.random_range(0.01..1.0), random.random_range(0.05..1.0));
    let mut expected: BTreeMap<(usize, Direction), VecDeque<(u64, Ticket)>> = BTreeMap::new();
    let mut left = 500;
    for now in 0.. {
        for direction in Direction::ALL {
            if !random.random_bool(goes) {
                continue;
            }
            if let Some(Begun::Copy { ticket, queue, element }) = machine.begin(direction) {
                let (_, first) =
                    expected.get_mut(&(queue, direction)).unwrap().pop_front().unwrap();
                assert_eq!((ticket, element.direction), (first, direction));
                machine.finish(ticket, Response::Okay).unwrap();
            }
        }
        for queue in 0..QUEUES {
            if left > 0 && machine.has_room(queue) && random.random_bool(comes) {
                left -= 1;
                let element = if random.random() { read(left) } else { write(left) };
                let ticket = machine.accept(now, queue, element).unwrap();
                expected.entry((queue, element.direction)).or_default().push_back((now, ticket));
            }
        }
        let due = machine.due();
        let sent = machine.send(now);
        assert_eq!(due.is_some_and(|due| due <= now), !sent.is_empty(), "clock {now}");
        for Sent { queue, direction, elements, reason } in sent {
            let waiting = &expected[&(queue, direction)];
            let waited = now - waiting[0].0;
            assert!((1..=VECTOR).contains(&elements) && elements == waiting.len());
            assert_eq!(elements == VECTOR, reason == Reason::Full);
            let flushed = waited >= u64::from(config.flush_time.max(1));
            assert_eq!(flushed && elements < VECTOR, reason == Reason::Flushed);
        }
        if left == 0 && machine.is_empty() {
            return;
        }
        assert!(now < 100_000, "elements are left after {now} clocks");
    }
}

proptest! {
    #[test]
    fn pieces_are_the_element(host in any::<u64>(), nic in any::<u64>(), bytes in 1u16..=4096) {
        let (host, nic) = (host & !(1 << 63), nic & !(1 << 63));
        let element = Element { host, nic, bytes, ..read(0) };
        let pieces: Vec<_> = Pieces::of(&element).collect();
        let mut next = 0;
        for piece in &pieces {
            prop_assert_eq!((piece.host, piece.nic), (host + next, nic + next));
            prop_assert!((1..=PIECE).contains(&piece.bytes));
            for address in [piece.host, piece.nic] {
                prop_assert_eq!(address / PAGE, (address + piece.bytes - 1) / PAGE);
            }
            next += piece.bytes;
        }
        prop_assert_eq!(next, u64::from(bytes));
        // Two pages on each side: at most two cuts more than the length asks for.
        prop_assert!(pieces.len() as u64 <= u64::from(bytes).div_ceil(PIECE) + 2);
    }
}
