// SPDX-License-Identifier: MIT OR Apache-2.0
//! FaSST as the small world takes it.

use cluster::engine::Span;
use cluster::engine::{Node, Operation, Part};
use cluster::fasst::messages::Kind;
use cluster::fasst::{Fasst, Machine, Settings, Shared};
use cluster::membership::Manager;
use cluster::placement::Partitioning;
use cluster::transact::Transactions;

use super::driver::{Subject, membership};

pub fn settings(nodes: u16) -> Settings {
    Settings {
        nodes,
        threads: 2,
        workers: 2,
        backups: 2.min(nodes as u8 - 1),
        loss_timeout: Span::from_us(400),
        membership: Some(membership()),
        ..Settings::default()
    }
}

impl<T: Transactions> Subject for Fasst<T> {
    fn layout(&self) -> &Partitioning {
        self.layout()
    }

    fn workers(&self) -> (u8, u8) {
        (self.settings().threads, self.settings().workers)
    }

    fn part(&self, place: usize) -> Part {
        Part::HostThread(place as u8)
    }

    fn place(&self, part: Part) -> usize {
        let Part::HostThread(thread) = part else { panic!("{part:?} has no machine") };
        thread.into()
    }

    fn manager_of(machine: &Machine<T>) -> Option<&Manager> {
        machine.manager()
    }

    fn rests(&self, node: &Node<Machine<T>>) -> Result<(), String> {
        let rests = |part: &Machine<T>| part.thread().is_none_or(|thread| thread.rests());
        let all_rest = node.parts.iter().all(rests);
        all_rest.then_some(()).ok_or_else(|| "a worker does not rest".into())
    }

    fn is_answer(bytes: &[u8]) -> bool {
        Kind::of(bytes) != Some(Kind::Requests)
    }

    fn operate(_: &mut Shared<T>, _: Operation, _: &mut Vec<u8>) -> bool {
        false
    }
}
