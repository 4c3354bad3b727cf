// SPDX-License-Identifier: MIT OR Apache-2.0
//! Faults that contradict each other in the order of their times, or come after the run.

use cluster::engine::NodeId;

use super::check::{PlanError, Wrong, wrong};
use super::{Fault, FaultPlan, Frames, NodeName};

/// A node for which it is certain that no process of it runs.
#[derive(Clone, Copy)]
struct Down {
    node: u16,
    /// The place of its crash.
    crash: usize,
    from: u64,
    /// The place and the time of its restart, if there is one.
    restart: Option<(usize, u64)>,
}

/// What becomes of a node's process: a crash at a time or at a frame, or a restart.
#[derive(Clone, Copy)]
enum Turn {
    AtFrame,
    At(u64),
    Restart(u64),
}

impl FaultPlan {
    /// A node crashes once until it is restarted, is restarted only after something that may have ended it,
    /// and nothing else happens to it while it is down. Entries count in the order of their times.
    pub(super) fn check_order(&self) -> Result<(), PlanError> {
        let downs = self.downs()?;
        for (place, fault) in self.faults.iter().enumerate() {
            check_alive(fault, &downs).map_err(|wrong| PlanError::at(place, wrong))?;
        }
        Ok(())
    }

    /// The plan without what would happen to nodes that are down, which changes nothing.
    pub(super) fn of_the_living(mut self) -> Self {
        if let Ok(downs) = self.downs() {
            self.faults.retain(|fault| check_alive(fault, &downs).is_ok());
        }
        self
    }

    /// When which node is down for certain.
    fn downs(&self) -> Result<Vec<Down>, PlanError> {
        let mut downs = Vec::new();
        let mut nodes: Vec<u16> = self.turns().map(|(_, node, _)| node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        for node in nodes {
            self.take_turns(node, &mut downs)
                .map_err(|(place, wrong)| PlanError::at(place, wrong))?;
        }
        Ok(downs)
    }

    /// Checks that every time of the plan is within a run of this length. Frames that are named without
    /// times need none.
    ///
    /// # Errors
    /// For the first entry with a time behind the end: its number, field and value, and the end.
    pub fn check_within(&self, end_ns: u64) -> Result<(), PlanError> {
        for (place, fault) in self.faults.iter().enumerate() {
            check_within(fault, end_ns).map_err(|wrong| PlanError::at(place, wrong))?;
        }
        Ok(())
    }

    fn turns(&self) -> impl Iterator<Item = (usize, u16, Turn)> + '_ {
        self.faults.iter().enumerate().filter_map(|(place, fault)| match fault {
            Fault::Crash { node, at_ns: None, .. } => Some((place, *node, Turn::AtFrame)),
            Fault::Crash { node, at_ns: Some(at), .. } => Some((place, *node, Turn::At(*at))),
            Fault::Restart { node, at_ns } => Some((place, *node, Turn::Restart(*at_ns))),
            _ => None,
        })
    }

    /// Follows the process of a node, and notes when it is down. Nobody knows when a frame is sent, so a
    /// crash at one comes first.
    fn take_turns(&self, node: u16, downs: &mut Vec<Down>) -> Result<(), (usize, Wrong)> {
        let mut turns: Vec<(usize, Turn)> =
            self.turns().filter(|turn| turn.1 == node).map(|turn| (turn.0, turn.2)).collect();
        turns.sort_by_key(|(_, turn)| match turn {
            Turn::AtFrame => None,
            Turn::At(at) | Turn::Restart(at) => Some(*at),
        });
        // The last crash, if there was no restart after it.
        let (mut at_frame, mut down): (Option<usize>, Option<(usize, u64)>) = (None, None);
        let mut is_restarted = false;
        for &(place, turn) in &turns {
            let result = match turn {
                Turn::AtFrame => crash_at_frame(at_frame.replace(place)),
                Turn::At(at) => {
                    let unknown = at_frame.filter(|_| !is_restarted);
                    crash_at(at, down.replace((place, at)), unknown)
                }
                Turn::Restart(at) => {
                    is_restarted = true;
                    let from = down.map(|it| it.1);
                    if let Some((crash, from)) = down.take() {
                        downs.push(Down { node, crash, from, restart: Some((place, at)) });
                    }
                    self.restart_at(node, at, from)
                }
            };
            result.map_err(|wrong| (place, wrong))?;
        }
        downs.extend(down.map(|(crash, from)| Down { node, crash, from, restart: None }));
        Ok(())
    }

    /// A restart needs a node that is down since `down`, or one that something may have ended.
    fn restart_at(&self, node: u16, at: u64, down: Option<u64>) -> Result<(), Wrong> {
        if down.is_some_and(|from| from == at) {
            return wrong("at_ns", at, "a time after that of its crash");
        }
        if down.is_some() || self.faults.iter().any(|fault| may_have_ended(fault, node, at)) {
            return Ok(());
        }
        let later = self.turns().filter_map(|(place, other, turn)| match turn {
            Turn::At(crash) if other == node && crash > at => Some((crash, place + 1)),
            _ => None,
        });
        let later = later.min().map_or_else(String::new, |(crash, entry)| {
            format!("; fault {entry} crashes it at {crash} ns")
        });
        let expected = format!(
            "a time after a crash of node {node}, or after another fault by which its process may \
             end{later}"
        );
        wrong("at_ns", at, expected)
    }
}

fn crash_at_frame(other: Option<usize>) -> Result<(), Wrong> {
    let Some(other) = other else { return Ok(()) };
    let expected = format!("one crash at a frame for each node; fault {} is one", other + 1);
    wrong("at_frame", "another crash of the node", expected)
}

fn crash_at(at: u64, before: Option<(usize, u64)>, unknown: Option<usize>) -> Result<(), Wrong> {
    if let Some((other, before)) = before {
        let other = other + 1;
        let expected = format!(
            "a restart of the node between this and fault {other}, its crash at {before} ns"
        );
        return wrong("at_ns", at, expected);
    }
    if let Some(other) = unknown {
        let expected = format!("a restart of the node after fault {}, its crash", other + 1);
        return wrong("at_ns", at, expected);
    }
    Ok(())
}

/// Whether the process of a node may have ended at a time by another fault than a crash at a known time:
/// its lease ran out, or it waited for a message in vain.
fn may_have_ended(fault: &Fault, node: u16, at: u64) -> bool {
    let are = |frames: &Frames| frames.from_ns.unwrap_or(0) < at;
    match fault {
        Fault::Drop { frames } | Fault::Delay { frames, .. } | Fault::Reorder { frames, .. } => {
            let names = [frames.from, frames.to];
            let is_of = |name: &NodeName| name.0 == NodeId(node);
            are(frames) && (names.contains(&None) || names.iter().flatten().any(is_of))
        }
        Fault::Crash { node: other, at_frame: Some(frames), .. } => *other == node && are(frames),
        Fault::Cut { nodes, others, from_ns, .. } => {
            let is_of = |name: &NodeName| name.0 == NodeId(node);
            *from_ns < at && (others.is_empty() || nodes.iter().chain(others).any(is_of))
        }
        Fault::Slow { node: other, from_ns, .. } => *other == node && *from_ns < at,
        Fault::Pause { node: other, at_ns, .. } | Fault::Clock { node: other, at_ns, .. } => {
            *other == node && *at_ns < at
        }
        Fault::Duplicate { .. } | Fault::Crash { .. } | Fault::Restart { .. } => false,
    }
}

/// Nothing happens to a node that is down for all of the time of the fault.
fn check_alive(fault: &Fault, downs: &[Down]) -> Result<(), Wrong> {
    let down = |node: u16, from: u64, until: u64| {
        let is_whole = |down: &&Down| {
            let ends = down.restart.map_or(u64::MAX, |restart| restart.1);
            down.node == node && down.from <= from && until <= ends
        };
        downs.iter().find(is_whole)
    };
    let found = match fault {
        Fault::Slow { node, from_ns, until_ns, .. } => {
            down(*node, *from_ns, *until_ns).map(|down| ("from_ns", from_ns.to_string(), down))
        }
        Fault::Pause { node, at_ns, .. } => {
            down(*node, *at_ns, at_ns + 1).map(|down| ("at_ns", at_ns.to_string(), down))
        }
        // The clock goes on without a process.
        Fault::Clock { node, at_ns, .. } => {
            down(*node, *at_ns, u64::MAX).map(|down| ("at_ns", at_ns.to_string(), down))
        }
        Fault::Cut { nodes, from_ns, until_ns, .. } => {
            let all = nodes.iter().map(|name| down(name.0.0, *from_ns, *until_ns));
            let all: Option<Vec<&Down>> = all.collect();
            all.and_then(|all| Some(("nodes", all.first()?.node.to_string(), *all.first()?)))
        }
        _ => fault.frames().and_then(|&Frames { from, from_ns, until_ns, .. }| {
            let NodeId(node) = from?.0;
            let down = down(node, from_ns.unwrap_or(0), until_ns.unwrap_or(u64::MAX))?;
            Some(("frames.from", node.to_string(), down))
        }),
    };
    let Some((field, value, down)) = found else { return Ok(()) };
    let Down { node, crash, from, restart } = *down;
    let until = match restart {
        Some((place, at)) => format!(" until fault {} restarts it at {at} ns", place + 1),
        None => ", and nothing restarts it".to_owned(),
    };
    let expected = format!(
        "a time when node {node} runs; it is down from {from} ns on by fault {}{until}",
        crash + 1
    );
    wrong(field, value, expected)
}

fn check_within(fault: &Fault, end: u64) -> Result<(), Wrong> {
    let outlasts = |field: &'static str, value: String, which: &str| {
        let expected =
            format!("a time {which} {end} ns, the end of the run (warm_up_us and duration_us)");
        wrong(field, value, expected)
    };
    let before = |field, ns: u64| match ns < end {
        true => Ok(()),
        false => outlasts(field, ns.to_string(), "before"),
    };
    let until = |field, ns: u64| match ns <= end {
        true => Ok(()),
        false => outlasts(field, ns.to_string(), "up to"),
    };
    let length = |field, ns: u64| match ns <= end {
        true => Ok(()),
        false => wrong(
            field,
            ns,
            format!("at most {end} ns, the length of the run (warm_up_us and duration_us)"),
        ),
    };
    if let Some(frames) = fault.frames() {
        before("frames.from_ns", frames.from_ns.unwrap_or(0))?;
        until("frames.until_ns", frames.until_ns.unwrap_or(0))?;
    }
    match fault {
        Fault::Drop { .. } => Ok(()),
        Fault::Delay { by_ns, .. } => length("by_ns", *by_ns),
        Fault::Reorder { within_ns, .. } => length("within_ns", *within_ns),
        Fault::Duplicate { after_ns, .. } => length("after_ns", *after_ns),
        Fault::Cut { from_ns, until_ns, .. } | Fault::Slow { from_ns, until_ns, .. } => {
            before("from_ns", *from_ns)?;
            until("until_ns", *until_ns)
        }
        Fault::Crash { at_ns, .. } => before("at_ns", at_ns.unwrap_or(0)),
        Fault::Restart { at_ns, .. } | Fault::Clock { at_ns, .. } => before("at_ns", *at_ns),
        Fault::Pause { at_ns, for_ns, .. } => {
            before("at_ns", *at_ns)?;
            match at_ns + for_ns <= end {
                true => Ok(()),
                false => outlasts("for_ns", format!("{for_ns} after {at_ns}"), "and an end up to"),
            }
        }
    }
}
