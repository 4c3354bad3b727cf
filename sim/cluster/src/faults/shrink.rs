// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fewer faults that still make a run fail.

use super::{Fault, FaultPlan, Frames};

impl FaultPlan {
    /// Leaves out faults as long as `fails` says that the rest still makes the run fail, in halves
    /// first, then one by one (delta debugging), then narrows the times of those that are left. Asks
    /// at most `most` times.
    #[must_use]
    pub fn shrink(&self, most: usize, mut fails: impl FnMut(&Self) -> bool) -> Self {
        let mut asked = 0;
        let mut still = |plan: &Self| {
            asked += 1;
            asked <= most && fails(plan)
        };
        let plan = self.leave_out(&mut still);
        plan.narrow(&mut still)
    }

    fn leave_out(&self, still: &mut impl FnMut(&Self) -> bool) -> Self {
        let mut plan = self.clone();
        let mut size = plan.faults.len();
        while size > 0 {
            let mut start = 0;
            while start < plan.faults.len() {
                let end = (start + size).min(plan.faults.len());
                let fewer = plan.without(&(start..end).collect::<Vec<_>>());
                match still(&fewer) {
                    true => plan = fewer,
                    false => start = end,
                }
            }
            size /= 2;
        }
        plan
    }

    /// Halves the spans of frames, from either side.
    fn narrow(self, still: &mut impl FnMut(&Self) -> bool) -> Self {
        let mut plan = self;
        for place in 0..plan.faults.len() {
            while let Some(narrower) = halves(&plan.faults[place]).into_iter().find_map(|fault| {
                let mut other = plan.clone();
                other.faults[place] = fault;
                still(&other).then_some(other)
            }) {
                plan = narrower;
            }
        }
        plan
    }
}

/// The fault with the first or the second half of its span of frames alone.
fn halves(fault: &Fault) -> Vec<Fault> {
    let Some(Frames { from_ns: Some(from), until_ns: Some(until), nth: None, .. }) =
        fault.frames().cloned()
    else {
        return Vec::new();
    };
    let middle = from.midpoint(until);
    if middle == from || middle == until {
        return Vec::new();
    }
    let half = |from: u64, until: u64| {
        let mut fault = fault.clone();
        if let Fault::Drop { frames }
        | Fault::Delay { frames, .. }
        | Fault::Reorder { frames, .. }
        | Fault::Duplicate { frames, .. } = &mut fault
        {
            (frames.from_ns, frames.until_ns) = (Some(from), Some(until));
        }
        fault
    };
    vec![half(from, middle), half(middle, until)]
}
