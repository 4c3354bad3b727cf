// SPDX-License-Identifier: MIT OR Apache-2.0
//! Plans that contradict themselves, or the cluster that they are for.

use cluster::engine::NodeId;
use thiserror::Error;

use super::{Fault, FaultPlan, Frames, NodeName};

/// Why a plan is none.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The file is no plan.
    #[error("{0}")]
    Unreadable(String),
    /// A field of an entry cannot be read.
    #[error("fault {entry}: {field}: {problem}")]
    Field {
        /// Which entry, counted from 1.
        entry: usize,
        /// The path to the field.
        field: String,
        /// What stands there, and what was expected.
        problem: String,
    },
    /// An entry is wrong.
    #[error("fault {entry}: {field}: {value}; expected {expected}")]
    Entry {
        /// Which, counted from 1.
        entry: usize,
        /// The field of it.
        field: &'static str,
        /// What stands there.
        value: String,
        /// What could stand there.
        expected: String,
    },
}

/// What is wrong with a field: its name, its value, and what was expected.
pub(super) type Wrong = (&'static str, String, String);

pub(super) fn wrong<T>(
    field: &'static str,
    value: impl ToString,
    expected: impl ToString,
) -> Result<T, Wrong> {
    Err((field, value.to_string(), expected.to_string()))
}

impl PlanError {
    /// The entry at this place is wrong.
    pub(super) fn at(place: usize, (field, value, expected): Wrong) -> Self {
        Self::Entry { entry: place + 1, field, value, expected }
    }
}

impl FaultPlan {
    /// Checks that a cluster of so many nodes can have these faults.
    ///
    /// # Errors
    /// For the first entry that cannot be, by itself or after others: its number, field and value, and
    /// what was expected.
    pub fn check(&self, nodes: u16) -> Result<(), PlanError> {
        for (place, fault) in self.faults.iter().enumerate() {
            check_fault(fault, nodes).map_err(|wrong| PlanError::at(place, wrong))?;
        }
        self.check_order()
    }
}

fn check_fault(fault: &Fault, nodes: u16) -> Result<(), Wrong> {
    if let Some(frames) = fault.frames() {
        check_frames(frames, nodes)?;
    }
    match fault {
        Fault::Drop { .. } => Ok(()),
        Fault::Delay { by_ns, .. } => check_length("by_ns", *by_ns),
        Fault::Reorder { within_ns, .. } => check_length("within_ns", *within_ns),
        Fault::Duplicate { after_ns, .. } => check_time("after_ns", *after_ns),
        Fault::Cut { nodes: one, others, from_ns, until_ns, .. } => {
            check_cut(one, others, nodes)?;
            check_span(*from_ns, *until_ns)
        }
        Fault::Crash { node, at_ns, at_frame } => {
            check_node("node", *node, nodes)?;
            check_time("at_ns", at_ns.unwrap_or(0))?;
            match (at_ns, at_frame) {
                (Some(at), Some(_)) => wrong("at_ns", at, "either a time or a frame, not both"),
                (None, None) => wrong("at_ns", "nothing", "a time, or a frame as at_frame"),
                (None, Some(Frames { nth: None, .. })) => {
                    wrong("at_frame.nth", "nothing", "the number of the frame")
                }
                _ => Ok(()),
            }
        }
        Fault::Restart { node, at_ns } => {
            check_node("node", *node, nodes)?;
            check_time("at_ns", *at_ns)
        }
        Fault::Slow { node, factor, from_ns, until_ns } => {
            check_node("node", *node, nodes)?;
            if !(1..=1_000_000).contains(factor) {
                return wrong("factor", factor, "1 to 1000000 thousandths of the usual time");
            }
            check_span(*from_ns, *until_ns)
        }
        Fault::Pause { node, at_ns, for_ns } => {
            check_node("node", *node, nodes)?;
            check_time("at_ns", *at_ns)?;
            check_length("for_ns", *for_ns)
        }
        Fault::Clock { node, at_ns, ahead_ns, drift_ppm } => {
            check_node("node", *node, nodes)?;
            check_time("at_ns", *at_ns)?;
            check_time("ahead_ns", *ahead_ns)?;
            if drift_ppm.unsigned_abs() > 500_000 {
                return wrong("drift_ppm", drift_ppm, "-500000 to 500000 millionths");
            }
            Ok(())
        }
    }
}

fn check_cut(one: &[NodeName], others: &[NodeName], nodes: u16) -> Result<(), Wrong> {
    for (field, side) in [("nodes", one), ("others", others)] {
        side.iter().try_for_each(|name| check_name(field, *name, nodes))?;
    }
    if one.is_empty() {
        return wrong("nodes", "[]", "at least one node");
    }
    match others.iter().find(|name| one.contains(name)) {
        Some(both) => wrong("others", both, "a node that is not among `nodes`, too"),
        None => Ok(()),
    }
}

fn check_frames(frames: &Frames, nodes: u16) -> Result<(), Wrong> {
    let Frames { from, to, nth, from_ns, until_ns, per_mille, .. } = frames;
    from.map_or(Ok(()), |name| check_name("frames.from", name, nodes))?;
    to.map_or(Ok(()), |name| check_name("frames.to", name, nodes))?;
    if let (Some(from), true) = (from, from == to) {
        return wrong("frames.to", from, "another node than frames.from");
    }
    if let (Some(per_mille), Some(_)) = (per_mille, nth) {
        return wrong(
            "frames.per_mille",
            per_mille,
            "either a number of a frame or a share of all",
        );
    }
    if let Some(per_mille @ (0 | 1001..)) = per_mille {
        return wrong("frames.per_mille", per_mille, "1 to 1000");
    }
    check_span(from_ns.unwrap_or(0), until_ns.unwrap_or(MOST_NS)).map_err(|(field, ..)| {
        let field = if field == "from_ns" { "frames.from_ns" } else { "frames.until_ns" };
        let value = format!("{from_ns:?} to {until_ns:?}");
        (field, value, "a beginning before its end, both within an hour".to_string())
    })
}

/// An hour: no run is longer.
const MOST_NS: u64 = 3_600_000_000_000;

fn check_time(field: &'static str, ns: u64) -> Result<(), Wrong> {
    match ns <= MOST_NS {
        true => Ok(()),
        false => wrong(field, ns, format!("0 to {MOST_NS}, an hour")),
    }
}

fn check_length(field: &'static str, ns: u64) -> Result<(), Wrong> {
    match (1..=MOST_NS).contains(&ns) {
        true => Ok(()),
        false => wrong(field, ns, format!("1 to {MOST_NS}, an hour")),
    }
}

fn check_span(from: u64, until: u64) -> Result<(), Wrong> {
    check_time("from_ns", from)?;
    check_time("until_ns", until)?;
    match from < until {
        true => Ok(()),
        false => wrong("until_ns", until, format!("a time after from_ns, {from}")),
    }
}

fn check_node(field: &'static str, node: u16, nodes: u16) -> Result<(), Wrong> {
    match node < nodes {
        true => Ok(()),
        false => wrong(field, node, format!("a node from 0 to {}", nodes.saturating_sub(1))),
    }
}

fn check_name(field: &'static str, name: NodeName, nodes: u16) -> Result<(), Wrong> {
    match name.0 {
        NodeId::MANAGER => Ok(()),
        NodeId(node) => check_node(field, node, nodes),
    }
}
