// SPDX-License-Identifier: MIT OR Apache-2.0
//! Cases at the edges of what machines take: long waits for the budget, orders that cross each other,
//! messages that are damaged, and nodes that begin anew more than once.

use cluster::engine::{
    Effects, Endpoint, Input, Instant, Machine as _, Moment, Node, NodeId, Part, Protocol, Span,
};
use cluster::fasst::messages::{Header, Kind};
use cluster::fasst::{Fasst, Machine, Settings, SettingsError};
use cluster::membership::{self, Manager, Message};
use cluster::placement::{PartitionId, Partitioning, partition_of};
use cluster::transact::Intent::{self, Read, Write};
use cluster::transact::TableShape;
use cluster::workload::{ObjectStore, ObjectStoreSettings, ObjectTransaction, Scripted};

const NODES: u16 = 2;
const TIMEOUT: Span = Span::from_us(100);

/// A message under way.
#[derive(Clone, Debug)]
struct Flight {
    from: Endpoint,
    to: Endpoint,
    bytes: Vec<u8>,
}

/// Two nodes of one thread, between which a test carries the messages.
struct Pair {
    nodes: Vec<Node<Machine<Scripted<ObjectStore>>>>,
    flying: Vec<Flight>,
    moments: Vec<Moment>,
    is_killed: bool,
}

/// Object number `number` of those with their primary on `node`.
fn object(node: u16, number: usize) -> u64 {
    (0..600).filter(|row| partition_of(*row, NODES).0 == node).nth(number).expect("so many")
}

fn transaction(objects: &[(u64, Intent)]) -> ObjectTransaction {
    ObjectTransaction::new(1, objects)
}

fn settings() -> Settings {
    Settings {
        nodes: NODES,
        threads: 1,
        workers: 2,
        budget: 1,
        backups: 1,
        loss_timeout: TIMEOUT,
        ..Settings::default()
    }
}

fn at(us: u64) -> Instant {
    Instant::default() + Span::from_us(us)
}

fn cluster(
    inputs: impl IntoIterator<Item = Vec<ObjectTransaction>>,
) -> Fasst<Scripted<ObjectStore>> {
    let store = ObjectStoreSettings { objects: 600, ..ObjectStoreSettings::o(2, 1, NODES, 1) };
    let workload = Scripted::new(ObjectStore::new(store).unwrap(), inputs);
    Fasst::new(settings(), workload).unwrap()
}

impl Pair {
    /// Workers of node 0 have these inputs.
    fn new(inputs: impl IntoIterator<Item = Vec<ObjectTransaction>>) -> Self {
        Self::of(&cluster(inputs))
    }

    fn of(protocol: &Fasst<Scripted<ObjectStore>>) -> Self {
        Self {
            nodes: (0..NODES).map(|node| protocol.start(NodeId(node))).collect(),
            flying: Vec::new(),
            moments: Vec::new(),
            is_killed: false,
        }
    }

    fn burst(&mut self, node: u16, now: Instant, inputs: &[Input<'_>]) {
        let mut out = Effects::new();
        let at = &mut self.nodes[usize::from(node)];
        at.parts[0].burst(&mut at.shared, now, inputs, &mut out);
        let from = Endpoint::host(NodeId(node), 0);
        self.flying.extend(out.sends().iter().map(|send| Flight {
            from,
            to: send.to,
            bytes: out.bytes_of(&send.bytes).to_vec(),
        }));
        self.moments.extend(out.moments().iter().cloned());
        self.is_killed |= out.is_killed();
    }

    fn deliver(&mut self, now: Instant, flight: &Flight) {
        let input = Input::Message { from: flight.from, bytes: &flight.bytes };
        self.burst(flight.to.node.0, now, &[input]);
    }

    /// Delivers what is under way once, and not what comes of it.
    fn carry(&mut self, now: Instant) {
        for flight in std::mem::take(&mut self.flying) {
            self.deliver(now, &flight);
        }
    }

    fn begun(&self) -> usize {
        self.moments.iter().filter(|moment| matches!(moment, Moment::Begun { .. })).count()
    }

    fn ended(&self) -> usize {
        self.moments.iter().filter(|moment| matches!(moment, Moment::Ended { .. })).count()
    }

    fn deadline(&self) -> Option<Instant> {
        self.nodes[0].parts[0].deadline()
    }
}

#[test]
fn a_message_that_only_waits_for_the_budget_is_not_lost() {
    let far = |number| transaction(&[(object(1, number), Read)]);
    let mut pair = Pair::new([vec![far(0), far(1)], vec![far(2)]]);
    // Worker 0 sends, and has its answer just before it would count as lost. It sends again.
    pair.burst(0, at(1000), &[Input::Begin { worker: 0 }]);
    pair.carry(at(1090));
    pair.carry(at(1090));
    assert_eq!((pair.ended(), pair.flying.len()), (1, 1));
    // Worker 1 begins its first transaction, for which the budget has no place.
    pair.burst(0, at(1095), &[Input::Begin { worker: 1 }]);
    assert_eq!((pair.begun(), pair.flying.len()), (3, 1));
    // The time of the first message would be over now. The second is ten microseconds old.
    assert!(pair.deadline().is_some_and(|deadline| deadline <= at(1100)));
    pair.burst(0, at(1100), &[Input::Deadline]);
    assert!(!pair.is_killed, "nothing has been lost");
    for _ in 0..6 {
        pair.carry(at(1101));
    }
    assert_eq!(pair.ended(), 3);
}

#[test]
fn a_worker_that_is_told_to_begin_while_it_comes_to_rest_goes_on() {
    let write = |number| transaction(&[(object(1, number), Write)]);
    let mut pair = Pair::new([vec![write(0), write(1)]]);
    pair.burst(0, at(1), &[Input::Begin { worker: 0 }]);
    pair.burst(0, at(1), &[Input::Finish { worker: 0 }]);
    while pair.ended() == 0 {
        pair.carry(at(2));
    }
    // It tells the log replica to forget its record, and is told to begin before that has answered.
    assert_eq!(pair.flying.len(), 1);
    pair.burst(0, at(3), &[Input::Begin { worker: 0 }]);
    for _ in 0..20 {
        pair.carry(at(4));
    }
    assert_eq!((pair.begun(), pair.ended()), (2, 2));
}

/// The numbers of the attempts that node 0 makes, until its process ends or its worker rests.
fn numbers(pair: &mut Pair) -> Vec<u32> {
    (pair.is_killed, pair.moments) = (false, Vec::new());
    pair.burst(0, at(1), &[Input::Begin { worker: 0 }]);
    for _ in 0..100 {
        pair.burst(0, at(2), &[]);
        pair.carry(at(2));
    }
    let begun = pair.moments.iter().filter_map(|moment| match moment {
        Moment::Begun { transaction, .. } => Some(transaction.count()),
        _ => None,
    });
    begun.collect()
}

#[test]
fn a_process_ends_itself_when_its_numbers_are_used_up() {
    let inputs = || vec![transaction(&[(object(1, 0), Write)]); 7];
    // Numbers for as many attempts as there are transactions, and for one less.
    let mut pair = Pair::of(&cluster([inputs()]).with_attempts(8));
    assert_eq!(numbers(&mut pair), [1, 2, 3, 4, 5, 6, 7]);
    assert!(!pair.is_killed);
    let mut pair = Pair::of(&cluster([inputs()]).with_attempts(7));
    assert_eq!(numbers(&mut pair), [1, 2, 3, 4, 5, 6]);
    assert!(pair.is_killed);
    let thread = pair.nodes[0].parts[0].thread().expect("it is a thread");
    assert!(thread.dropped().out_of_numbers > 0);
}

#[test]
fn no_two_processes_of_a_node_have_a_number_in_common_and_the_last_has_none() {
    // The 32 bits are enough for four processes. The last number of all is not used.
    let attempts = 1 << 30;
    let protocol = cluster([vec![transaction(&[(object(0, 0), Read)]); 2]]).with_attempts(attempts);
    let mut pair = Pair::of(&protocol);
    for process in 0..4 {
        let first = process * attempts + 1;
        assert_eq!(numbers(&mut pair), [first, first + 1], "process {process}");
        assert!(!pair.is_killed);
        let kept = pair.nodes[0].shared.clone();
        pair.nodes[0] = protocol.restart(NodeId(0), kept);
    }
    for _ in 4..7 {
        assert_eq!(numbers(&mut pair), [0; 0], "numbers come again");
        assert!(pair.is_killed);
        let kept = pair.nodes[0].shared.clone();
        pair.nodes[0] = protocol.restart(NodeId(0), kept);
    }
}

/// The next message of each node.
fn first(flying: &mut Vec<Flight>) -> Flight {
    assert!(!flying.is_empty());
    flying.remove(0)
}

#[test]
fn a_damaged_request_does_not_stand_for_the_whole_one() {
    let mut pair = Pair::new([vec![transaction(&[(object(1, 0), Read), (object(1, 1), Read)])]]);
    pair.burst(0, at(1), &[Input::Begin { worker: 0 }]);
    let whole = first(&mut pair.flying);
    for end in 0..whole.bytes.len() {
        let part = Flight { bytes: whole.bytes[..end].to_vec(), ..whole.clone() };
        pair.deliver(at(2), &part);
        assert!(pair.flying.is_empty(), "{end} bytes were answered");
    }
    pair.deliver(at(3), &whole);
    assert_eq!(pair.flying.len(), 1, "the whole request is served");
}

#[test]
fn a_damaged_answer_changes_nothing() {
    let rows = [(object(1, 0), Write), (object(1, 1), Read)];
    let mut pair = Pair::new([vec![transaction(&rows)]]);
    pair.burst(0, at(1), &[Input::Begin { worker: 0 }]);
    pair.carry(at(2));
    let whole = first(&mut pair.flying);
    let before = pair.nodes[0].parts[0].clone();
    let mut damaged: Vec<_> =
        (0..whole.bytes.len()).map(|end| whole.bytes[..end].to_vec()).collect();
    // The row is locked, and what follows is none of an answer.
    let mut locked = whole.bytes.clone();
    locked[12] = 0;
    damaged.push(locked);
    for bytes in damaged {
        pair.deliver(at(2), &Flight { bytes, ..whole.clone() });
        assert!(pair.flying.is_empty());
        assert!(pair.nodes[0].parts[0] == before, "the worker has taken a part of an answer");
    }
    pair.deliver(at(3), &whole);
    assert!(!pair.flying.is_empty());
}

#[test]
fn versions_that_no_header_can_have_are_refused() {
    let mut pair = Pair::new([vec![transaction(&[(object(1, 0), Write)])]]);
    pair.burst(0, at(1), &[Input::Begin { worker: 0 }]);
    pair.carry(at(2));
    let whole = first(&mut pair.flying);
    for version in [u64::MAX, 1 << 63] {
        let mut bytes = whole.bytes.clone();
        bytes[13..21].copy_from_slice(&version.to_le_bytes());
        pair.deliver(at(2), &Flight { bytes, ..whole.clone() });
        assert!(pair.flying.is_empty() && pair.ended() == 0);
    }
    pair.deliver(at(3), &whole);
    assert!(!pair.flying.is_empty());
}

#[test]
fn any_bytes_from_any_endpoint_change_no_row() {
    use rand::{Rng, RngExt, SeedableRng};
    let before = Pair::new([vec![transaction(&[(object(1, 0), Write)])]]);
    seeds::each!(200, |seed| {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        let mut node = before.nodes[1].clone();
        for _ in 0..20 {
            let header = Header {
                epoch: random.random_range(0..3),
                kind: [Kind::Requests, Kind::Responses, Kind::Other(random.random())]
                    [random.random_range(0..3)],
                worker: random.random(),
                count: [0, 1, 255, random.random()][random.random_range(0..4)],
                sequence: random.random(),
                attempt: random.random(),
            };
            let mut bytes = Vec::new();
            header.encode(&mut bytes);
            let mut rest = vec![0; random.random_range(0..300)];
            random.fill_bytes(&mut rest);
            // Nothing that is a change from a peer may be drawn, for that would be one.
            if let Some(tag) = rest.first_mut() {
                *tag = if header.count == 1 { *tag | 16 } else { *tag };
            }
            bytes.extend(rest);
            let parts =
                [Part::HostThread(random.random()), Part::NicCore(0), Part::Memory, Part::Switch];
            let from = Endpoint {
                node: [NodeId(0), NodeId(1), NodeId(2), NodeId::MANAGER][random.random_range(0..4)],
                part: parts[random.random_range(0..4)],
            };
            let mut out = Effects::new();
            let input = Input::Message { from, bytes: &bytes };
            node.parts[0].burst(&mut node.shared, at(1), &[input], &mut out);
            assert!(!out.is_killed());
        }
        assert!(node.shared.store == before.nodes[1].shared.store);
        assert!(node.shared.log == before.nodes[1].shared.log);
    });
}

#[test]
fn settings_that_cannot_be_are_errors() {
    let tables = || ObjectStore::new(ObjectStoreSettings::o(2, 1, NODES, 1)).unwrap();
    let sound = settings();
    let absurd: [(&str, Settings); 6] = [
        ("backoff", Settings { backoff: Span::from_ps(u64::MAX), ..sound.clone() }),
        ("loss_timeout", Settings { loss_timeout: Span::from_ps(u64::MAX), ..sound.clone() }),
        ("workers", Settings { workers: 0, ..sound.clone() }),
        ("workers", Settings { workers: 255, ..sound.clone() }),
        ("nodes", Settings { nodes: u16::MAX, ..sound.clone() }),
        ("mtu", Settings { mtu: 0, ..sound.clone() }),
    ];
    for (name, settings) in absurd {
        match Fasst::new(settings, tables()) {
            Err(SettingsError::Bounds { field, .. }) => assert!(field.starts_with(name), "{field}"),
            other => panic!("{name}: {:?}", other.map(|_| ())),
        }
    }
}

#[test]
fn a_replica_that_was_filled_for_an_earlier_process_counts_no_more() {
    let table = TableShape::hashed("objects", 8, 64);
    let layout = Partitioning::new(4, 1, &[table]).unwrap();
    let mut manager = Manager::new(membership::Settings::default(), &layout);
    let mut tell = |from: u16, message: Message| {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        let input = Input::Message { from: Endpoint::host(NodeId(from), 0), bytes: &bytes };
        let mut out = Effects::new();
        manager.burst(at(1), &[input], &mut out);
        let sent = out.sends().iter().map(|send| Message::decode(out.bytes_of(&send.bytes)));
        let mut views = sent.filter_map(|message| match message {
            Ok(Message::Prepare { view }) => Some(view),
            _ => None,
        });
        views.next_back()
    };
    // Node 2 begins anew, its replica of partition 1 is filled, and it begins anew once more.
    for (epoch, incarnation) in [(2, 1), (3, 2)] {
        let view = tell(2, Message::Join { incarnation }).expect("a proposal");
        assert_eq!(view.replicas(PartitionId(1)).filling(), [NodeId(2)], "view {epoch}");
        for (node, incarnation) in [(0, 0), (1, 0), (2, incarnation), (3, 0)] {
            tell(node, Message::Recovered { epoch, incarnation });
        }
        if epoch == 2 {
            let filled = layout.all().collect();
            let sent = Instant::default();
            tell(2, Message::Renew { epoch, incarnation, sent, filled });
        }
    }
    // Whatever comes next, its rows are not all there.
    let view = tell(0, Message::Join { incarnation: 1 }).expect("a proposal");
    assert_eq!(view.replicas(PartitionId(1)).complete(), [NodeId(1)]);
    assert_eq!(view.replicas(PartitionId(1)).filling(), [NodeId(2)]);
}
