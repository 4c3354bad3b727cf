// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contents of a model crate.

/// Makes the crate the model of the block that its build script built: `Inputs`,
/// `Outputs`, `Core` and `Model`. With the name of a module, does so for this module, and the
/// block that was built for it.
#[macro_export]
macro_rules! model {
    () => {
        $crate::model!("");
    };
    ($module:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $module, "/bridge.rs"));

        pub use ffi::{Inputs, Outputs};

        /// The block under simulation.
        pub type Model = $crate::Model<Core>;

        /// The C++ side of the model.
        pub struct Core($crate::cxx::UniquePtr<ffi::Core>);

        // SAFETY: the C++ object owns its Verilator context, its Verilated class and its
        // wave file, and nobody else has a pointer to any of them. The class is built for
        // one thread (`--threads 1`) and keeps nothing in thread-local storage between two
        // calls, so it may be used by one thread after the other.
        unsafe impl Send for ffi::Core {}

        impl $crate::Core for Core {
            type Inputs = Inputs;
            type Outputs = Outputs;

            const CHECKED: bool = CHECKED;

            fn new(power_up_seed: u64) -> Core {
                Core(ffi::new_core(power_up_seed))
            }

            fn block(&self) -> &'static str {
                BLOCK
            }

            fn set_reset(&mut self, asserted: bool) {
                self.0.pin_mut().set_reset(asserted);
            }

            #[inline]
            fn clock(&mut self, inputs: &Inputs, outputs: &mut Outputs) -> bool {
                self.0.pin_mut().clock(inputs, outputs)
            }

            fn clock_dumping(
                &mut self,
                inputs: &Inputs,
                outputs: &mut Outputs,
                start_ps: u64,
                half_period_ps: u64,
            ) -> bool {
                self.0.pin_mut().clock_dumping(inputs, outputs, start_ps, half_period_ps)
            }

            fn toggle_only(&mut self, cycles: u64) -> bool {
                self.0.pin_mut().toggle_only(cycles)
            }

            fn failure(&self) -> String {
                self.0.failure()
            }

            fn open_waves(&mut self, path: &str) -> Result<(), String> {
                self.0.pin_mut().open_waves(path).map_err(|error| error.what().to_owned())
            }

            fn close_waves(&mut self) {
                self.0.pin_mut().close_waves();
            }
        }
    };
}
