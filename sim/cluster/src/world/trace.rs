// SPDX-License-Identifier: MIT OR Apache-2.0
//! What can be watched while a world runs.

use cluster::engine::{Class, Ending, Endpoint, NodeId, Part, Point, Stage, TransactionId};
use timing::Time;

use crate::faults::Happening;

/// Who watches a world. Each method does nothing by default, and then costs nothing.
pub trait Trace: Send {
    /// An attempt at a transaction of kind `kind` began at `now`.
    fn begun(&mut self, now: Time, transaction: TransactionId, kind: u8, again: bool) {
        let _ = (now, transaction, kind, again);
    }

    /// An attempt told its serialization point at `now`.
    fn committing(&mut self, now: Time, transaction: TransactionId, point: Point) {
        let _ = (now, transaction, point);
    }

    /// An attempt ended at `now`.
    fn ended(&mut self, now: Time, transaction: TransactionId, ending: Ending) {
        let _ = (now, transaction, ending);
    }

    /// A message was handed to the NIC, or to another part of its node, at `now`.
    fn sent(&mut self, now: Time, message: &MessageNote) {
        let _ = (now, message);
    }

    /// A message is in the inbox of its receiver, which can see it from `seen` on.
    fn received(&mut self, seen: Time, message: &MessageNote) {
        let _ = (seen, message);
    }

    /// A core was busy with a burst of `inputs` inputs.
    fn burst(&mut self, node: NodeId, part: Part, begin: Time, end: Time, inputs: u32) {
        let _ = (node, part, begin, end, inputs);
    }

    /// Something happened to a node, by the plan of faults.
    fn happened(&mut self, now: Time, node: NodeId, happening: &Happening) {
        let _ = (now, node, happening);
    }
}

/// A message as a trace knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageNote {
    /// The sender.
    pub from: Endpoint,
    /// The receiver.
    pub to: Endpoint,
    /// The kind of traffic.
    pub class: Class,
    /// What it is for.
    pub stage: Stage,
    /// The bytes of the message, without headers of the medium.
    pub bytes: u32,
    /// Its number in the run; both ends of a message have the same, unless it is delivered twice.
    pub number: u32,
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Trace for Unwatched {}
