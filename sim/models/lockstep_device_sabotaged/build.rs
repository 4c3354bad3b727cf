//! Builds the model of the device with faults, each a choice by the port `fault_i`.

#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/faults.rs"]
mod faults;

use std::path::PathBuf;

use faults::{CLOCKS_NEVER_STOP, FAULTS, LACKS_A_RESET};
use sabotage::Rtl;

const TOP: &str = "lockstep_device_sabotaged";
const ROOT: &str = "../../..";

fn main() {
    let folder = |name| PathBuf::from(std::env::var_os(name).expect("cargo sets it"));
    let list = folder("CARGO_MANIFEST_DIR").join(ROOT).join("hw/rtl/shell/lockstep_device.f");
    let sources = Rtl::of_list(TOP, &list)
        .and_then(|rtl| rtl.plant(&FAULTS))
        .and_then(|rtl| {
            let number = CLOCKS_NEVER_STOP;
            rtl.choose(number, "clock_gate.sv", "enable_q = {};", "enable_i", "1'b1")
        })
        .and_then(|rtl| {
            let place = "open_q             <= {};";
            rtl.choose(LACKS_A_RESET, "job_port.sv", place, "'0", "open_q")
        })
        .and_then(|rtl| rtl.write("lockstep_device", &folder("OUT_DIR").join("rtl")))
        .unwrap_or_else(|error| verilate::fail(error));
    verilate::Block::new(TOP).root(ROOT).waivers("hw/lint.vlt").sources(sources).build();
}
