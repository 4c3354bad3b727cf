// SPDX-License-Identifier: MIT OR Apache-2.0
//! What goes wrong in a world, and when.
//!
//! A world asks its [`Faults`] for the [`Fate`] of every frame, where the frame is packed, and makes
//! the [`Happening`]s of nodes happen at their times. Without faults it asks nobody.

mod active;
mod check;
mod draw;
mod order;
mod plan;
mod shrink;
mod written;

pub use active::{ActivePlan, Hits, HitsView};
pub use check::PlanError;
pub use draw::Dangers;
pub use plan::{Fault, FaultKind, FaultPlan, Frames, NodeName};

use cluster::engine::{Class, Endpoint, NodeId, Stage};
use timing::Time;

/// A frame as faults know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameNote {
    /// The sender.
    pub from: Endpoint,
    /// The receiver.
    pub to: Endpoint,
    /// The kind of traffic.
    pub class: Class,
    /// What it is for.
    pub stage: Stage,
    /// How many frames the world has packed before, so that each frame of a run has a number.
    pub number: u64,
}

/// What becomes of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives as it should.
    Deliver,
    /// It never arrives.
    Drop,
    /// It arrives so much later. Frames that were sent after it may overtake it.
    Delay(Time),
    /// It arrives twice.
    Duplicate {
        /// How much later than it should it arrives the first time.
        delay: Time,
        /// How much later than that it arrives the second time.
        after: Time,
    },
}

/// What happens to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happening {
    /// Its process ends at once. What its parts share is kept, as in memory with a battery; all else is
    /// lost, and so are frames that have not been polled.
    Crash,
    /// Its process begins anew. Nothing happens to a process that runs.
    Restart,
    /// All work of its cores takes `factor` thousandths of the usual time from now on.
    Slow {
        /// In thousandths: 1000 is the usual speed.
        factor: u32,
    },
    /// Its cores stand still for so long, and then go on as if nothing had been.
    Pause {
        /// How long.
        length: Time,
    },
    /// Its clock jumps ahead and goes at another rate from now on. Clocks never go back.
    Clock {
        /// The jump.
        ahead: Time,
        /// How much faster than true time it goes, in millionths; slower if negative.
        drift: i32,
    },
}

/// Where a world asks what goes wrong. The answers must be a function of the questions so far, or two
/// runs of one seed differ.
pub trait Faults: Send {
    /// What happens to nodes, in the order of time. Asked once, when the world is made.
    fn happenings(&self) -> &[(Time, NodeId, Happening)];

    /// This has happened to a node: its process has ended, or begun anew, or the rest of what
    /// [`Happening`] lists. It is not told of a crash of a node that is down, or a restart of one that
    /// runs.
    fn happened(&mut self, now: Time, node: NodeId, happening: &Happening) {
        let _ = (now, node, happening);
    }

    /// The fate of a frame that is packed at `now`. Cuts between nodes are frames that are dropped.
    fn fate(&mut self, now: Time, frame: &FrameNote) -> Fate;

    /// What happens to a node at once because of the frames so far, as a crash at the third frame of a
    /// stage. Asked after each [`Faults::fate`], until there is nothing; the frame itself has its fate.
    fn due(&mut self) -> Option<(NodeId, Happening)> {
        None
    }
}
