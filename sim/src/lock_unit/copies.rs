// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lines of which the unit keeps copies, for memory without invalidation messages.

use std::collections::BTreeMap;

/// The heads of the lines that the unit keeps copies of, as they were when it read them.
///
/// A coherent bus tells the unit when a line changes. Where a thread of the host writes ordinary
/// memory, nobody does: then the owner of the unit's memory port looks at these lines again and
/// again, and sends the beat on `s_axis_inv` itself (docs/lock-unit.md, "Copies"). It is enough to
/// look at the head, word 0: it is all that the unit keeps of a line.
#[derive(Debug, Clone, Default)]
pub struct KeptCopies {
    /// By the byte address of the line.
    heads: BTreeMap<u64, u64>,
}

impl KeptCopies {
    /// Whether the unit keeps no copy.
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// The unit has been given the line at `address` with this head, and keeps it for one of its
    /// waiters. True when copies of the line that other waiters keep are older than this one: then
    /// the line has to be made void.
    #[must_use = "older copies must be made void"]
    pub fn keep(&mut self, address: u64, head: u64) -> bool {
        self.heads.insert(address, head).is_some_and(|older| older != head)
    }

    /// Compares every head with what `head` finds at its address now (`None`: nothing is there any
    /// more), and hands the lines whose copies are void to `void`, once for each copy.
    pub fn look(&mut self, head: impl Fn(u64) -> Option<u64>, mut void: impl FnMut(u64)) {
        self.heads.retain(|&address, &mut kept| {
            let valid = head(address) == Some(kept);
            if !valid {
                void(address);
            }
            valid
        });
    }

    /// Forgets all, as a reset of the unit does.
    pub fn clear(&mut self) {
        self.heads.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voided(copies: &mut KeptCopies, head: impl Fn(u64) -> Option<u64>) -> Vec<u64> {
        let mut lines = Vec::new();
        copies.look(head, |line| lines.push(line));
        lines
    }

    #[test]
    fn a_line_that_changed_or_went_away_is_void_once() {
        let mut copies = KeptCopies::default();
        for line in [0, 64, 128] {
            assert!(!copies.keep(line, 5));
        }
        assert!(voided(&mut copies, |_| Some(5)).is_empty());
        let now = |line| if line == 64 { None } else { Some(5 + line / 128) };
        assert_eq!(voided(&mut copies, now), [64, 128]);
        assert!(voided(&mut copies, |_| Some(5)).is_empty());
        assert!(!copies.is_empty(), "line 0 is as it was");
    }

    #[test]
    fn a_newer_copy_makes_older_ones_void_and_is_kept_itself() {
        let mut copies = KeptCopies::default();
        assert!(!copies.keep(64, 1));
        assert!(!copies.keep(64, 1));
        assert!(copies.keep(64, 2));
        assert!(voided(&mut copies, |_| Some(2)).is_empty());
        copies.clear();
        assert!(copies.is_empty());
    }
}
