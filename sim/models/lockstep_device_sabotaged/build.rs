//! Builds the model of the device with faults, each a choice by the port `fault_i`.

#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/faults.rs"]
mod faults;

use std::path::PathBuf;

use faults::{CLOCKS_NEVER_STOP, FAULTS, LACKS_A_RESET};
use sabotage::Rtl;

const TOP: &str = "lockstep_device_sabotaged";

fn main() {
    let rtl = verilate::workspace_root().join("hw/rtl");
    // The waivers of the lint go by these last names of the path.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("hw/rtl");
    Rtl::of_folder(TOP, &rtl)
        .and_then(|rtl| rtl.plant(&FAULTS))
        .and_then(|rtl| {
            let number = CLOCKS_NEVER_STOP;
            rtl.choose(number, "clock_gate.sv", "enable_q = {};", "enable_i", "1'b1")
        })
        .and_then(|rtl| {
            let place = "open_q             <= {};";
            rtl.choose(LACKS_A_RESET, "job_port.sv", place, "'0", "open_q")
        })
        .and_then(|rtl| rtl.write("lockstep_device", &out))
        .unwrap_or_else(|error| verilate::fail(error));
    let path = |name: &str| out.join(name).to_str().expect("OUT_DIR is UTF-8").to_owned();
    verilate::Block::new(TOP)
        .source(&path("queue_pkg.sv"))
        .source("hw/rtl/generated/shell_map_pkg.sv")
        .source("hw/rtl/generated/shell_registers_pkg.sv")
        .source("hw/rtl/generated/queue_map_pkg.sv")
        .source("hw/rtl/generated/queue_registers_pkg.sv")
        .source(&path(&format!("{TOP}.sv")))
        .library(&path(""))
        .library("hw/rtl/generated")
        .library("hw/bsv/generated")
        .build();
}
