// SPDX-License-Identifier: MIT OR Apache-2.0
//! A block that is being simulated: its pins, its clock, its waves.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::assertion::AssertionError;
use crate::waves::WaveWindow;

/// The C++ side of the model of one block; [`model!`](crate::model) implements it.
pub trait Core: Send + Sized {
    /// The input ports, except for clock and reset.
    type Inputs: Clone + Default + PartialEq + Send + std::fmt::Debug;
    /// The output ports.
    type Outputs: Clone + Default + PartialEq + Send + std::fmt::Debug;

    /// Whether it checks the assertions of its RTL, see [`Model::CHECKED`].
    const CHECKED: bool;

    /// A block at power-up, clock low, not in reset.
    fn new(power_up_seed: u64) -> Self;
    /// The top module.
    fn block(&self) -> &'static str;
    /// Drives the reset.
    fn set_reset(&mut self, asserted: bool);
    /// One clock cycle; false when an assertion failed in it.
    fn clock(&mut self, inputs: &Self::Inputs, outputs: &mut Self::Outputs) -> bool;
    /// One clock cycle that is written to the open waves; false when an assertion failed in it.
    fn clock_dumping(
        &mut self,
        inputs: &Self::Inputs,
        outputs: &mut Self::Outputs,
        start_ps: u64,
        half_period_ps: u64,
    ) -> bool;
    /// `cycles` clock cycles without looking at any pin; false when an assertion failed in them.
    fn toggle_only(&mut self, cycles: u64) -> bool;
    /// What Verilator said of the assertion that failed last.
    fn failure(&self) -> String;
    /// Opens `path` as an FST file, and closes the one that was open.
    ///
    /// # Errors
    /// The wave writer's message, when it cannot open the file.
    fn open_waves(&mut self, path: &str) -> Result<(), String>;
    /// Writes what is left and closes the file, if one is open.
    fn close_waves(&mut self);
}

/// One block under simulation, seen in whole clock cycles.
///
/// In each [`clock`](Model::clock) the inputs are sampled by the rising edge, and the
/// outputs are read after it. That is exact for outputs that are functions of registers
/// only; an output that depends on an input within the same cycle shows the value that
/// it has just after the edge.
pub struct Model<C: Core> {
    core: C,
    inputs: C::Inputs,
    outputs: C::Outputs,
    cycles: u64,
    power_up_seed: u64,
    period_ps: u64,
    waves_open: bool,
    window: WaveWindow,
}

impl<C: Core> Model<C> {
    /// 250 MHz.
    const DEFAULT_PERIOD_PS: u64 = 4000;

    /// Whether the model checks the assertions of its RTL, and begins with registers and
    /// memories at random. Models of Cargo's profile `dev`, and so those of `cargo test`, do;
    /// those of `release` do not, as they have to be fast.
    pub const CHECKED: bool = C::CHECKED;

    /// A block as it is at power-up: every input 0, cycle 0, not yet reset. Each is the same,
    /// that of seed 0.
    #[allow(clippy::new_without_default)] // A model is large and has a cost; nothing implies it.
    pub fn new() -> Model<C> {
        Model::powered_up(0)
    }

    /// As [`Model::new`], with registers and memories that this seed draws, so that tests with
    /// many seeds see whether a reset is missing. What the block does after its reset must not
    /// depend on it. Models that are not [`Model::CHECKED`] are the same with each seed.
    pub fn powered_up(seed: u64) -> Model<C> {
        Model {
            core: C::new(seed),
            inputs: C::Inputs::default(),
            outputs: C::Outputs::default(),
            cycles: 0,
            power_up_seed: seed,
            period_ps: Self::DEFAULT_PERIOD_PS,
            waves_open: false,
            window: WaveWindow::NEVER,
        }
    }

    /// The input ports as they will be sampled by the next rising edge.
    pub fn inputs(&self) -> &C::Inputs {
        &self.inputs
    }

    /// The input ports, to be changed. They keep their values from cycle to cycle; bits
    /// above the width of a port are ignored.
    #[inline]
    pub fn inputs_mut(&mut self) -> &mut C::Inputs {
        &mut self.inputs
    }

    /// The input ports, to be changed, beside the output ports.
    #[inline]
    pub fn pins_mut(&mut self) -> (&mut C::Inputs, &C::Outputs) {
        (&mut self.inputs, &self.outputs)
    }

    /// The output ports as they were after the last rising edge; all 0 before the first.
    #[inline]
    pub fn outputs(&self) -> &C::Outputs {
        &self.outputs
    }

    /// The clock cycles since the model was made, those of the reset included.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// The C++ side, for functions that only this block has.
    pub fn core_mut(&mut self) -> &mut C {
        &mut self.core
    }

    /// One clock cycle.
    ///
    /// # Panics
    /// When an assertion of the RTL fails, with the [`AssertionError`].
    #[inline]
    pub fn clock(&mut self) {
        self.try_clock().unwrap_or_else(|failure| panic!("{failure}"));
    }

    /// One clock cycle, for callers that return errors.
    ///
    /// # Errors
    /// When an assertion of the RTL fails at its rising edge. The outputs are those after the
    /// edge all the same.
    #[inline]
    pub fn try_clock(&mut self) -> Result<(), AssertionError> {
        let cycle = self.cycles;
        self.cycles += 1;
        let (inputs, outputs) = (&self.inputs, &mut self.outputs);
        let held = if self.window.contains(cycle) {
            let (start_ps, half_period_ps) = (cycle * self.period_ps, self.period_ps / 2);
            self.core.clock_dumping(inputs, outputs, start_ps, half_period_ps)
        } else {
            self.core.clock(inputs, outputs)
        };
        if held { Ok(()) } else { Err(self.failure(cycle)) }
    }

    #[cold]
    fn failure(&self, cycle: u64) -> AssertionError {
        let message = self.core.failure();
        AssertionError::new(self.core.block(), &message, cycle, self.power_up_seed)
    }

    /// Holds the reset for `cycles` clock cycles, at least 1, and lets it go. The inputs
    /// stay as they are.
    ///
    /// # Panics
    /// When `cycles` is 0: a synchronous reset needs an edge. Assertions are not checked during
    /// a reset, nor before the first.
    pub fn reset(&mut self, cycles: u32) {
        assert!(cycles > 0, "a synchronous reset takes at least one cycle");
        self.core.set_reset(true);
        for _ in 0..cycles {
            self.clock();
        }
        self.core.set_reset(false);
    }

    /// `cycles` clock cycles in one bare loop that does nothing but toggle the clock: no
    /// pin is written or read, no wave is dumped. This is the floor that the speed of a
    /// whole test bench is compared with.
    ///
    /// # Panics
    /// When an assertion of the RTL fails, with the [`AssertionError`] and the last of the
    /// cycles.
    pub fn toggle_only(&mut self, cycles: u64) {
        let held = self.core.toggle_only(cycles);
        self.cycles += cycles;
        assert!(held, "{}", self.failure(self.cycles - 1));
    }

    /// Sets the clock period, in picoseconds, that the times in the waves are counted
    /// with; 4000 (250 MHz) unless set. Nothing else depends on it.
    ///
    /// # Panics
    /// When the period is odd or 0, or when waves are open: their times would jump.
    pub fn set_period_ps(&mut self, period_ps: u64) {
        assert!(period_ps > 0 && period_ps.is_multiple_of(2), "period {period_ps} ps is 0 or odd");
        assert!(!self.waves_open, "the period cannot change while waves are open");
        self.period_ps = period_ps;
    }

    /// Opens an FST file for the clock cycles of `window`; whatever file was open is
    /// closed first. It may be opened at any time, for instance when a test has failed
    /// and is run again, and the first cycle in it holds the value of every signal.
    ///
    /// Cycle n starts at n periods, with the clock low and the new inputs; its rising
    /// edge is in the middle.
    ///
    /// # Errors
    /// Of the file system, with the path; [`io::ErrorKind::InvalidInput`] when the path
    /// is not valid UTF-8.
    pub fn open_waves(&mut self, path: impl AsRef<Path>, window: WaveWindow) -> io::Result<()> {
        self.close_waves();
        let path = path.as_ref();
        let named = |kind, text: &dyn std::fmt::Display| {
            io::Error::new(kind, format!("wave file {}: {text}", path.display()))
        };
        let name = path
            .to_str()
            .ok_or_else(|| named(io::ErrorKind::InvalidInput, &"its path is not UTF-8"))?;
        // The wave writer keeps the reason to itself; the file system tells it.
        File::create(path).map_err(|error| named(error.kind(), &error))?;
        self.core.open_waves(name).map_err(|error| named(io::ErrorKind::Other, &error))?;
        self.waves_open = true;
        self.window = window;
        Ok(())
    }

    /// Changes which cycles are dumped to the open file; without one, does nothing.
    pub fn set_wave_window(&mut self, window: WaveWindow) {
        if self.waves_open {
            self.window = window;
        }
    }

    /// Completes and closes the FST file, if one is open. Dropping the model does so too.
    pub fn close_waves(&mut self) {
        self.core.close_waves();
        self.waves_open = false;
        self.window = WaveWindow::NEVER;
    }
}
