// SPDX-License-Identifier: MIT OR Apache-2.0
//! One-sided verbs on the memory of another node.

use cluster::engine::{
    Effects, Input, Instant, Machine, Node, NodeId, Operation, Outcome, Place, Protocol, Token,
};
use cluster_sim::faults::{Fate, Happening};
use cluster_sim::world::{Options, World};
use timing::Time;

use super::ping::{Listed, hardware, options};

/// Thread 0 of node 0 makes these operations on node 1, one after the other.
#[derive(Clone, Debug)]
struct Script(Vec<(Operation, Vec<u8>)>);

#[derive(Clone, Debug)]
struct Initiator {
    script: Vec<(Operation, Vec<u8>)>,
    answers: Vec<(Instant, Outcome, Vec<u8>)>,
}

impl Initiator {
    fn next(&mut self, out: &mut Effects) {
        if let Some((operation, bytes)) = self.script.get(self.answers.len()) {
            let token = Token(self.answers.len() as u32);
            let append = |to: &mut Vec<u8>| to.extend_from_slice(bytes);
            out.operate(token, Place::Node(NodeId(1)), *operation, append);
        }
    }
}

impl Machine for Initiator {
    type Shared = ();

    fn burst(&mut self, (): &mut (), now: Instant, inputs: &[Input<'_>], out: &mut Effects) {
        for input in inputs {
            match *input {
                Input::Begin { .. } => self.next(out),
                Input::Completed { token, outcome, bytes } => {
                    assert_eq!(token, Token(self.answers.len() as u32));
                    self.answers.push((now, outcome, bytes.to_vec()));
                    self.next(out);
                }
                _ => {}
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        None
    }
}

impl Protocol for Script {
    type Machine = Initiator;

    fn nodes(&self) -> u16 {
        2
    }

    fn start(&self, node: NodeId) -> Node<Initiator> {
        let script = if node == NodeId(0) { self.0.clone() } else { Vec::new() };
        Node { shared: (), parts: vec![Initiator { script, answers: Vec::new() }] }
    }

    fn restart(&self, node: NodeId, (): ()) -> Node<Initiator> {
        self.start(node)
    }

    fn manager(&self) -> Option<Node<Initiator>> {
        None
    }

    fn check_at_rest(&self, _: &[(NodeId, &Node<Initiator>)]) -> Result<(), String> {
        Ok(())
    }
}

fn run(
    script: Vec<(Operation, Vec<u8>)>,
    happenings: Vec<(Time, NodeId, Happening)>,
) -> World<Script> {
    let options = Options { memory: 64, verb_timeout: Time::from_us(10), ..options(1, 1) };
    let faults = Box::new(Listed { happenings, fate: |_, _: &_| Fate::Deliver });
    let mut world = World::new(Script(script), hardware(), Some(faults), options).expect("fits");
    world.begin();
    world.run_until(Time::from_us(50));
    world
}

fn answers(world: &World<Script>) -> Vec<(Outcome, Vec<u8>)> {
    let answers = &world.node(NodeId(0)).expect("it is up").parts[0].answers;
    answers.iter().map(|(_, outcome, bytes)| (*outcome, bytes.clone())).collect()
}

#[test]
fn verbs_read_and_write_the_other_memory() {
    let swap = |expected, new| Operation::CompareSwap { at: 8, expected, new };
    let script = vec![
        (Operation::Write { at: 8 }, 5_u64.to_le_bytes().to_vec()),
        (Operation::FetchAdd { at: 8, by: u64::MAX }, vec![]),
        (swap(5, 9), vec![]),
        (swap(4, 9), vec![]),
        (Operation::Read { at: 7, length: 3 }, vec![]),
        (Operation::Read { at: 60, length: 5 }, vec![]),
        (Operation::Write { at: u64::MAX }, vec![1]),
        (Operation::FetchAdd { at: 9, by: 1 }, vec![]),
    ];
    let mut world = run(script, vec![]);
    let done = |bytes: &[u8]| (Outcome::Done, bytes.to_vec());
    let held = |word| (Outcome::Held(word), vec![]);
    let failed = (Outcome::Failed, vec![]);
    assert_eq!(
        answers(&world),
        [
            done(&[]),
            held(5),
            held(4),
            held(4),
            done(&[0, 9, 0]),
            failed.clone(),
            failed.clone(),
            failed
        ]
    );
    assert_eq!(world.ledger().operations, [8, 3]);
    assert_eq!(world.memory(NodeId(1)).expect("it has one")[8], 9);
}

/// Both cards twice for a READ except at its target: 3 times 20 ns, the slot as often, the way twice, 42
/// and 38 bytes on the link; the first burst's end is at 10 ns.
#[test]
fn a_read_takes_the_sum_of_its_parts() {
    let world = run(vec![(Operation::Read { at: 0, length: 8 }, vec![])], vec![]);
    let (at, outcome, _) = world.node(NodeId(0)).expect("it is up").parts[0].answers[0];
    let exact = 10.0 + 3.0 * 220.0 + 600.0 + 4.2 + 3.8;
    let error = at.as_ps() as f64 / 1e3 - exact;
    assert!(outcome == Outcome::Done && error.abs() <= 14.0, "{error}");
}

#[test]
fn a_verb_on_a_node_that_is_down_fails_in_time() {
    let down = vec![(Time::ZERO, NodeId(1), Happening::Crash)];
    let world = run(vec![(Operation::Read { at: 0, length: 8 }, vec![])], down);
    assert_eq!(answers(&world), [(Outcome::Failed, vec![])]);
    let (at, ..) = world.node(NodeId(0)).expect("it is up").parts[0].answers[0];
    assert!((10_000_000..12_000_000).contains(&at.as_ps()), "{at:?}");
}
