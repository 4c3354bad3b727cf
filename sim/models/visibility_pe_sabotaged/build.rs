//! Builds the model of the element with faults, each a choice by the port `fault_i`.

#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/faults.rs"]
mod faults;

use std::path::PathBuf;

use faults::FAULTS;
use sabotage::Rtl;

const TOP: &str = "visibility_pe_sabotaged";

fn main() {
    let rtl = verilate::workspace_root().join("hw/rtl");
    // The waivers of the lint go by these last names of the path.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("hw/rtl");
    Rtl::of_folder(TOP, &rtl)
        .and_then(|rtl| rtl.plant(&FAULTS))
        .and_then(|rtl| rtl.write("visibility_pe", &out))
        .unwrap_or_else(|error| verilate::fail(error));
    let path = |name: &str| out.join(name).to_str().expect("OUT_DIR is UTF-8").to_owned();
    verilate::Block::new(TOP)
        .source(&path("float_pkg.sv"))
        .source(&path("program_pkg.sv"))
        .source(&path("crc32c_pkg.sv"))
        .source(&path("walk_pkg.sv"))
        .source("hw/rtl/generated/visibility_pe_map_pkg.sv")
        .source("hw/rtl/generated/visibility_pe_registers_pkg.sv")
        .source(&path(&format!("{TOP}.sv")))
        .library(&path(""))
        .library("hw/rtl/generated")
        .pins_of("visibility_pe_pins", &["fault_i"])
        .build();
}
