// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated models of the RTL blocks, and what a test bench asks of them.
//!
//! Each block is a crate of its own under `sim/models/`, so that a change to one RTL
//! file rebuilds one model; docs/adding-an-rtl-block.md says how to add one.

use std::io;
use std::path::Path;

pub use tuple_lock_unit::{Inputs as LockUnitInputs, Outputs as LockUnitOutputs};
pub use verilated::{AssertionError, Core, Model, VERILATOR_VERSION, WaveWindow};

/// The tuple-locking unit (docs/lock-unit.md).
pub type TupleLockUnit = tuple_lock_unit::Model;

/// Anything with the pins of the tuple-locking unit, so that one test bench drives both
/// [`TupleLockUnit`] and the model with its mutants. Every function does what the one of
/// the same name in [`Model`] does, and fails as it does.
pub trait LockUnit: Send {
    /// The input ports as they will be sampled by the next rising edge.
    fn inputs_mut(&mut self) -> &mut LockUnitInputs;
    /// The output ports as they were after the last rising edge.
    fn outputs(&self) -> &LockUnitOutputs;
    /// One clock cycle.
    fn clock(&mut self);
    /// One clock cycle.
    ///
    /// # Errors
    /// When an assertion of the RTL fails.
    fn try_clock(&mut self) -> Result<(), AssertionError>;
    /// Holds the reset for `cycles` clock cycles, at least 1.
    fn reset(&mut self, cycles: u32);
    /// The clock cycles so far.
    fn cycles(&self) -> u64;
    /// `cycles` clock cycles in a bare loop that only toggles the clock.
    fn toggle_only(&mut self, cycles: u64);
    /// Opens an FST file for the clock cycles of `window`.
    ///
    /// # Errors
    /// Of the file system, with the path.
    fn open_waves(&mut self, path: &Path, window: WaveWindow) -> io::Result<()>;
    /// Changes which cycles are dumped to the open file.
    fn set_wave_window(&mut self, window: WaveWindow);
    /// Completes and closes the FST file.
    fn close_waves(&mut self);
}

impl<C> LockUnit for Model<C>
where
    C: Core<Inputs = LockUnitInputs, Outputs = LockUnitOutputs>,
{
    #[inline]
    fn inputs_mut(&mut self) -> &mut LockUnitInputs {
        Model::inputs_mut(self)
    }

    #[inline]
    fn outputs(&self) -> &LockUnitOutputs {
        Model::outputs(self)
    }

    #[inline]
    fn clock(&mut self) {
        Model::clock(self);
    }

    #[inline]
    fn try_clock(&mut self) -> Result<(), AssertionError> {
        Model::try_clock(self)
    }

    fn reset(&mut self, cycles: u32) {
        Model::reset(self, cycles);
    }

    fn cycles(&self) -> u64 {
        Model::cycles(self)
    }

    fn toggle_only(&mut self, cycles: u64) {
        Model::toggle_only(self, cycles);
    }

    fn open_waves(&mut self, path: &Path, window: WaveWindow) -> io::Result<()> {
        Model::open_waves(self, path, window)
    }

    fn set_wave_window(&mut self, window: WaveWindow) {
        Model::set_wave_window(self, window);
    }

    fn close_waves(&mut self) {
        Model::close_waves(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_units_go_through_one_test_bench() {
        let units: [Box<dyn LockUnit>; 2] =
            [Box::new(TupleLockUnit::new()), Box::new(tuple_lock_unit::mutants::Model::new())];
        for mut unit in units {
            unit.reset(2);
            unit.inputs_mut().s_axil_arvalid = true;
            unit.inputs_mut().s_axil_araddr = 0x100;
            let identity = (0..100).find_map(|_| {
                unit.clock();
                let outputs = unit.outputs();
                outputs.s_axil_rvalid.then_some(outputs.s_axil_rdata)
            });
            assert_eq!(identity, Some(0x4C53_4C55));
        }
    }
}
