//! Builds the model of the walk with faults, each a choice by the port `fault_i`.

#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/faults.rs"]
mod faults;

use std::path::PathBuf;

use faults::FAULTS;
use sabotage::Rtl;

const TOP: &str = "visibility_walk_sabotaged";

/// The walk, and what it consists of.
const FILES: [&str; 16] = [
    "crc32c_pkg.sv",
    "delta_page_table.sv",
    "divide_by_127.sv",
    "entry_stream.sv",
    "lut_fifo.sv",
    "lut_ram.sv",
    "page_checker.sv",
    "page_lookup.sv",
    "page_map_cache.sv",
    "page_results.sv",
    "read_port.sv",
    "row_output.sv",
    "version_walk.sv",
    "vid_stream.sv",
    "visibility_walk.sv",
    "walk_pkg.sv",
];

fn main() {
    let rtl = verilate::workspace_root().join("hw/rtl");
    // The waivers of the lint go by these last names of the path.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("hw/rtl");
    Rtl::of_files(TOP, &rtl, &FILES)
        .and_then(|rtl| rtl.plant(&FAULTS))
        .and_then(|rtl| rtl.write("visibility_walk", &out))
        .unwrap_or_else(|error| verilate::fail(error));
    let path = |name: &str| out.join(name).to_str().expect("OUT_DIR is UTF-8").to_owned();
    verilate::Block::new(TOP)
        .source(&path("walk_pkg.sv"))
        .source(&path("crc32c_pkg.sv"))
        .source(&path(&format!("{TOP}.sv")))
        .library(&path(""))
        .build();
}
