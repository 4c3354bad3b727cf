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
    pub fn model(seed: u64) -> Model {
        Model::powered_up(seed)
    }
}

#[test]
fn a_store_in_order() {
    seeds::each("a_store_in_order", 10, random::in_order);
}

#[test]
fn a_damaged_store() {
    seeds::each("a_damaged_store", 40, random::damaged);
}

#[test]
fn a_memory_that_fails_later() {
    seeds::each("a_memory_that_fails_later", 16, random::failing_later);
}

#[test]
fn a_run_that_is_stopped() {
    seeds::each("a_run_that_is_stopped", 10, random::stopped);
}
