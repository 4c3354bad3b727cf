//! Builds the model of the lanes with faults, each a choice by the port `fault_i`.

#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/faults.rs"]
mod faults;

use std::path::PathBuf;

use faults::FAULTS;
use sabotage::Rtl;

const TOP: &str = "program_lanes_sabotaged";

fn main() {
    let rtl = verilate::workspace_root().join("hw/rtl");
    // The waivers of the lint go by these last names of the path.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("hw/rtl");
    Rtl::of_folder(TOP, &rtl)
        .and_then(|rtl| rtl.plant(&FAULTS))
        .and_then(|rtl| rtl.write("program_lanes", &out))
        .unwrap_or_else(|error| verilate::fail(error));
    let path = |name: &str| out.join(name).to_str().expect("OUT_DIR is UTF-8").to_owned();
    verilate::Block::new(TOP)
        .source(&path("float_pkg.sv"))
        .source(&path("program_pkg.sv"))
        .source(&path(&format!("{TOP}.sv")))
        .library(&path(""))
        .build();
}
