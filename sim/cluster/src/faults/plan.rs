// SPDX-License-Identifier: MIT OR Apache-2.0
//! A plan of faults: a list that a file can hold and that a seed can draw.

use cluster::engine::{NodeId, Stage};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{PlanError, written};

/// The faults of a run. Each entry stands for itself: to leave one out changes nothing that another
/// one does by itself.
///
/// ```
/// use cluster_sim::faults::FaultPlan;
///
/// let plan = FaultPlan::parse(
///     r#"
///     [[fault]]
///     kind = "drop"
///     frames = { from = 0, stage = "log", nth = 2 }   # its third record
///
///     [[fault]]
///     kind = "crash"
///     node = 1
///     at_ns = 250_000
///     "#,
///     3,
/// )?;
/// assert_eq!(plan.faults.len(), 2);
/// # Ok::<(), cluster_sim::faults::PlanError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FaultPlan {
    /// Its entries.
    #[serde(
        rename = "fault",
        serialize_with = "written::all",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub faults: Vec<Fault>,
}

/// One entry of a plan. Times are nanoseconds of virtual time since the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// Frames never arrive.
    Drop {
        /// Which.
        frames: Frames,
    },
    /// Frames arrive later.
    Delay {
        /// Which.
        frames: Frames,
        /// By how much.
        by_ns: u64,
    },
    /// Each frame arrives later by a time of its own, so that they overtake each other.
    Reorder {
        /// Which.
        frames: Frames,
        /// The longest such time.
        within_ns: u64,
    },
    /// Frames arrive twice.
    Duplicate {
        /// Which.
        frames: Frames,
        /// How much later the second time is.
        after_ns: u64,
    },
    /// No frame gets from some nodes to others.
    Cut {
        /// The nodes on one side.
        nodes: Vec<NodeName>,
        /// The nodes on the other; all others, and the manager, if there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<NodeName>,
        /// When it begins.
        from_ns: u64,
        /// When it ends.
        until_ns: u64,
        /// Whether frames in the other direction get through.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        one_way: bool,
    },
    /// The process of a node ends at a time, or as a frame is sent.
    Crash {
        /// The node.
        node: u16,
        /// The time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_ns: Option<u64>,
        /// The frame, by its number. It is still sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_frame: Option<Frames>,
    },
    /// The process of a node begins anew, if it has ended: by a crash, or by itself because of another
    /// fault. The memory is as [`Happening::Crash`](super::Happening::Crash) leaves it.
    Restart {
        /// The node.
        node: u16,
        /// The time.
        at_ns: u64,
    },
    /// The cores of a node are slower for a while.
    Slow {
        /// The node.
        node: u16,
        /// The time that work takes, in thousandths of the usual one.
        factor: u32,
        /// When it begins.
        from_ns: u64,
        /// When it ends.
        until_ns: u64,
    },
    /// The cores of a node stand still for a while.
    Pause {
        /// The node.
        node: u16,
        /// When it begins.
        at_ns: u64,
        /// How long it lasts.
        for_ns: u64,
    },
    /// The clock of a node jumps ahead, and goes at another rate from then on.
    Clock {
        /// The node.
        node: u16,
        /// The time.
        at_ns: u64,
        /// The jump.
        #[serde(default)]
        ahead_ns: u64,
        /// How much faster it goes than true time, in millionths; slower if negative.
        #[serde(default)]
        drift_ppm: i32,
    },
}

/// The kinds of faults, for counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum FaultKind {
    /// [`Fault::Drop`].
    Drop,
    /// [`Fault::Delay`].
    Delay,
    /// [`Fault::Reorder`].
    Reorder,
    /// [`Fault::Duplicate`].
    Duplicate,
    /// [`Fault::Cut`].
    Cut,
    /// [`Fault::Crash`].
    Crash,
    /// [`Fault::Restart`].
    Restart,
    /// [`Fault::Slow`].
    Slow,
    /// [`Fault::Pause`].
    Pause,
    /// [`Fault::Clock`].
    Clock,
}

impl FaultKind {
    /// How many there are.
    pub const COUNT: usize = Self::ALL.len();

    /// All of them, in their order.
    pub const ALL: [Self; 10] = [
        Self::Drop,
        Self::Delay,
        Self::Reorder,
        Self::Duplicate,
        Self::Cut,
        Self::Crash,
        Self::Restart,
        Self::Slow,
        Self::Pause,
        Self::Clock,
    ];

    /// As in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Delay => "delay",
            Self::Reorder => "reorder",
            Self::Duplicate => "duplicate",
            Self::Cut => "cut",
            Self::Crash => "crash",
            Self::Restart => "restart",
            Self::Slow => "slow",
            Self::Pause => "pause",
            Self::Clock => "clock",
        }
    }
}

/// Which frames. What is left out may be anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// The sender.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<NodeName>,
    /// The receiver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<NodeName>,
    /// What they are for.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stage_name")]
    pub stage: Option<Stage>,
    /// The one with this number among those, counted from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nth: Option<u64>,
    /// Those from this time on,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ns: Option<u64>,
    /// and before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until_ns: Option<u64>,
    /// So many of a thousand, by a draw for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_mille: Option<u32>,
    /// What that is drawn by.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seed: u64,
}

fn is_zero(seed: &u64) -> bool {
    *seed == 0
}

/// A node by its number, or `"manager"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeName(pub NodeId);

impl std::fmt::Display for NodeName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            NodeId::MANAGER => write!(f, "\"manager\""),
            NodeId(number) => write!(f, "{number}"),
        }
    }
}

impl Serialize for NodeName {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            NodeId::MANAGER => to.serialize_str("manager"),
            NodeId(number) => to.serialize_u16(number),
        }
    }
}

impl<'de> Deserialize<'de> for NodeName {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "the number of a node, or \"manager\"")]
        enum Written {
            Number(u16),
            Word(Word),
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Word {
            Manager,
        }
        Ok(Self(match Written::deserialize(from)? {
            Written::Number(number) => NodeId(number),
            Written::Word(Word::Manager) => NodeId::MANAGER,
        }))
    }
}

/// Stages by their names.
mod stage_name {
    use super::{Deserialize, Deserializer, Serializer, Stage};

    pub fn serialize<S: Serializer>(stage: &Option<Stage>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(stage.map_or("", Stage::name))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Stage>, D::Error> {
        let name = String::deserialize(from)?;
        match Stage::ALL.into_iter().find(|stage| stage.name() == name) {
            Some(stage) => Ok(Some(stage)),
            None => {
                let names = Stage::ALL.map(|stage| format!("`{}`", stage.name())).join(", ");
                let error = format!("stage: {name:?} is none; expected one of {names}");
                Err(serde::de::Error::custom(error))
            }
        }
    }
}

impl Fault {
    /// Its kind.
    pub const fn kind(&self) -> FaultKind {
        match self {
            Self::Drop { .. } => FaultKind::Drop,
            Self::Delay { .. } => FaultKind::Delay,
            Self::Reorder { .. } => FaultKind::Reorder,
            Self::Duplicate { .. } => FaultKind::Duplicate,
            Self::Cut { .. } => FaultKind::Cut,
            Self::Crash { .. } => FaultKind::Crash,
            Self::Restart { .. } => FaultKind::Restart,
            Self::Slow { .. } => FaultKind::Slow,
            Self::Pause { .. } => FaultKind::Pause,
            Self::Clock { .. } => FaultKind::Clock,
        }
    }

    /// The frames that it is about, if any.
    pub const fn frames(&self) -> Option<&Frames> {
        match self {
            Self::Drop { frames }
            | Self::Delay { frames, .. }
            | Self::Reorder { frames, .. }
            | Self::Duplicate { frames, .. } => Some(frames),
            Self::Crash { at_frame, .. } => at_frame.as_ref(),
            _ => None,
        }
    }
}

impl FaultPlan {
    /// Reads a plan for a cluster of so many nodes, as TOML.
    ///
    /// # Errors
    /// When it is none, or contradicts itself or the cluster.
    pub fn parse(text: &str, nodes: u16) -> Result<Self, PlanError> {
        let plan = Self { faults: written::read(text)? };
        plan.check(nodes)?;
        Ok(plan)
    }

    /// The plan as TOML, which [`FaultPlan::parse`] reads.
    ///
    /// # Panics
    /// Never: each plan can be written.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("a plan can be written")
    }

    /// How long a frame is under way longer than usual, at most: if all faults that make it late meet it.
    pub fn longest_delay_ns(&self) -> u64 {
        let of = |fault: &Fault| match fault {
            Fault::Delay { by_ns: ns, .. }
            | Fault::Reorder { within_ns: ns, .. }
            | Fault::Duplicate { after_ns: ns, .. } => *ns,
            _ => 0,
        };
        self.faults.iter().map(of).fold(0, u64::saturating_add)
    }

    /// The plan without the entries at these places.
    pub fn without(&self, left_out: &[usize]) -> Self {
        let entries = self.faults.iter().enumerate();
        let kept = entries.filter(|(place, _)| !left_out.contains(place));
        Self { faults: kept.map(|(_, fault)| fault.clone()).collect() }
    }
}
