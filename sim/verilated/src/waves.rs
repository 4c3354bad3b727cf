// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which clock cycles are written to the waves.

/// The clock cycles `from`, `from + 1`, … up to but not including `to`, counted as
/// [`Model::cycles`](crate::Model::cycles) counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaveWindow {
    /// The first cycle that is dumped.
    pub from: u64,
    /// The first cycle after that which is not.
    pub to: u64,
}

impl WaveWindow {
    /// Every cycle.
    pub const ALWAYS: WaveWindow = WaveWindow { from: 0, to: u64::MAX };
    /// No cycle.
    pub const NEVER: WaveWindow = WaveWindow { from: 0, to: 0 };

    /// The `before` cycles ahead of `cycle`, that cycle, and the `after` cycles behind it.
    pub fn around(cycle: u64, before: u64, after: u64) -> WaveWindow {
        WaveWindow {
            from: cycle.saturating_sub(before),
            to: cycle.saturating_add(after).saturating_add(1),
        }
    }

    /// Whether `cycle` is dumped.
    pub fn contains(self, cycle: u64) -> bool {
        (self.from..self.to).contains(&cycle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borders() {
        let window = WaveWindow::around(100, 10, 5);
        assert_eq!(window, WaveWindow { from: 90, to: 106 });
        assert!(!window.contains(89) && window.contains(90));
        assert!(window.contains(105) && !window.contains(106));
        assert!(WaveWindow::ALWAYS.contains(0) && !WaveWindow::NEVER.contains(0));
    }

    #[test]
    fn around_saturates() {
        assert_eq!(WaveWindow::around(3, 10, u64::MAX), WaveWindow { from: 0, to: u64::MAX });
    }
}
