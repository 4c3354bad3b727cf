//! Builds the model of the lanes with faults, each a choice by the port `fault_i`.

#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/faults.rs"]
mod faults;

use std::path::PathBuf;

use faults::FAULTS;
use sabotage::Rtl;

const TOP: &str = "program_lanes_sabotaged";
const ROOT: &str = "../../..";

fn main() {
    let folder = |name| PathBuf::from(std::env::var_os(name).expect("cargo sets it"));
    let list = folder("CARGO_MANIFEST_DIR").join(ROOT).join("hw/rtl/near_data/near_data.f");
    let sources = Rtl::of_list(TOP, &list)
        .and_then(|rtl| rtl.plant(&FAULTS))
        .and_then(|rtl| rtl.write("program_lanes", &folder("OUT_DIR").join("rtl")))
        .unwrap_or_else(|error| verilate::fail(error));
    verilate::Block::new(TOP).root(ROOT).waivers("hw/lint.vlt").sources(sources).build();
}
