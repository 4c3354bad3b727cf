// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tables filled to an occupancy with keys alone, and the cost of looking their keys up.

use std::fmt;

use tables::experiments::{Filling, Kind, LookUps, look_ups};

use crate::samples::Value;

/// D_m in the paper's rows; `None` is no limit.
pub const LIMITS: [Option<u32>; 4] = [Some(8), Some(16), Some(32), None];
/// Homes in a segment, one declared number for all rows beside the paper's: the paper gives none.
pub const SEGMENT: u32 = 2;

/// One of the tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Design {
    /// Xenic's, with D_m and so many homes in a segment.
    RobinHood { limit: Option<u32>, segment: u32 },
    /// FaRM's, H = 8.
    Hopscotch,
    /// DrTM+H's, with buckets of so many slots.
    Chained { slots: u32 },
}

impl fmt::Display for Design {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RobinHood { limit: Some(limit), .. } => write!(f, "Robin Hood, D_m = {limit}"),
            Self::RobinHood { limit: None, .. } => f.write_str("Robin Hood, no limit"),
            Self::Hopscotch => f.write_str("FaRM hopscotch, H = 8"),
            Self::Chained { slots } => write!(f, "DrTM+H chained, B = {slots}"),
        }
    }
}

/// D_m as the largest displacement. The paper (section 4.1.2): "If displacement reaches D_m during insertion,
/// the object to be inserted is instead appended to the overflow bucket"; so none in the table does.
pub fn largest_displacement(limit: Option<u32>) -> Option<u32> {
    limit.map(|limit| limit - 1)
}

/// The mean cost of a look-up of a key that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs(LookUps);

impl Costs {
    /// Objects that a look-up reads.
    pub fn objects(&self) -> Value {
        Value::without_platform(self.0.objects, self.0.count)
    }

    /// Round trips of a look-up.
    pub fn round_trips(&self) -> Value {
        Value::without_platform(self.0.round_trips, self.0.count)
    }

    /// Of the keys, in overflow buckets, in per cent.
    pub fn overflowed(&self) -> f64 {
        100.0 * self.0.overflowed
    }
}

/// Fills a table of this design with `keys` uniform keys to `occupancy`, and looks them up with hints that are up to
/// date.
pub fn costs(design: Design, keys: u64, occupancy: f64, seed: u64) -> Costs {
    let kind = match design {
        Design::RobinHood { limit, segment } => {
            Kind::RobinHood { limit: largest_displacement(limit), segment }
        }
        Design::Hopscotch => Kind::Hopscotch,
        Design::Chained { slots } => Kind::Chained { slots },
    };
    Costs(look_ups(kind, filling(keys, occupancy, seed)).expect("a table within its bounds"))
}

/// Looked up at most: of more keys every so many one.
const LOOK_UPS: u32 = 1_000_000;

/// So many keys to this occupancy.
pub fn filling(keys: u64, occupancy: f64, seed: u64) -> Filling {
    let keys = keys.try_into().expect("far fewer than 2³² keys");
    Filling { keys, occupancy, seed, every: (keys / LOOK_UPS).max(1) }
}
