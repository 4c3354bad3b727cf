// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machine.

use super::{Effects, Input, Instant};

/// One part of one node, as a pure machine: the same state and the same burst give the same effects
/// and the same new state, on every machine and under every driver.
///
/// What the parts of a node share (tables, log, membership) is [`Machine::Shared`]; a driver gives it
/// to one of them at a time. A machine allocates nothing after its start on the path of ordinary
/// transactions.
pub trait Machine {
    /// What the parts of a node share.
    type Shared;

    /// Handles a poll's worth of inputs. `now` is the time by the node's clock, which never goes back
    /// but may differ from other nodes' clocks. `inputs` may be empty.
    fn burst(
        &mut self,
        shared: &mut Self::Shared,
        now: Instant,
        inputs: &[Input<'_>],
        out: &mut Effects,
    );

    /// When the machine wants an [`Input::Deadline`], by the node's clock; asked after each burst.
    fn deadline(&self) -> Option<Instant>;
}

/// A node as a driver starts it: what its parts share, and its parts in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node<M: Machine> {
    /// What the parts share.
    pub shared: M::Shared,
    /// The machines: host threads by number, then the cores of the NIC.
    pub parts: Vec<M>,
}
