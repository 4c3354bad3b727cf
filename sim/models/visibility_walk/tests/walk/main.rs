//! The walk in RTL finds what the machine of lockdb finds, whatever the bytes are and however memory
//! behaves.

mod bench;
mod damage;
mod job;
mod memory;
mod oracle;
mod random;
mod rate;
mod scene;
#[path = "../../../lockstep_device/tests/device/seeds.rs"]
mod seeds;

mod dut {
    pub use visibility_walk::{Inputs, Model, Outputs};

    /// A walk at power-up.
    pub fn model() -> Model {
        Model::new()
    }
}
