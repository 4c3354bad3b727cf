//! Builds the model of the walk with faults: patches a copy of the RTL in which each fault is a
//! choice by the port `fault_i`.

#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/faults.rs"]
mod faults;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use faults::FAULTS;

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
    let mut files: BTreeMap<&str, String> =
        FILES.iter().map(|&name| (name, read(&rtl.join(name)))).collect();
    for (index, fault) in FAULTS.iter().enumerate() {
        let text = files.get_mut(fault.file).unwrap_or_else(|| {
            verilate::fail(format_args!("{} of `{}` is not of the walk", fault.file, fault.name))
        });
        *text = choose(text, index + 1, fault.place, fault.right, fault.wrong);
    }
    let top = files.remove("visibility_walk.sv").expect("it is among the files");
    let top = replace_once(&top, "module visibility_walk #", &format!("module {TOP} #"));
    let clock = "    input  logic            clk_i,";
    let top = replace_once(&top, clock, &format!("    input logic [5:0] fault_i,\n{clock}"));
    files.insert("visibility_walk_sabotaged.sv", top);
    fs::create_dir_all(&out).unwrap_or_else(|error| verilate::fail(error));
    for (name, text) in &files {
        fs::write(out.join(name), text).unwrap_or_else(|error| verilate::fail(error));
    }
    let path = |name: &str| out.join(name).to_str().expect("OUT_DIR is UTF-8").to_owned();
    verilate::Block::new(TOP)
        .source(&path("walk_pkg.sv"))
        .source(&path("crc32c_pkg.sv"))
        .source(&path("visibility_walk_sabotaged.sv"))
        .library(&path(""))
        .build();
}

fn read(path: &Path) -> String {
    verilate::rerun_if_changed(path);
    fs::read_to_string(path)
        .unwrap_or_else(|error| verilate::fail(format_args!("{}: {error}", path.display())))
}

/// Computes `wrong` instead of `right` at the place when `fault_i` is `number`.
fn choose(text: &str, number: usize, place: &str, right: &str, wrong: &str) -> String {
    let choice = format!("({TOP}.fault_i == 6'd{number} ? ({wrong}) : ({right}))");
    replace_once(text, &place.replacen("{}", right, 1), &place.replacen("{}", &choice, 1))
}

/// Replaces what must stand in the text just once.
fn replace_once(text: &str, from: &str, to: &str) -> String {
    match text.matches(from).count() {
        1 => text.replacen(from, to, 1),
        found => verilate::fail(format_args!("`{from}` stands {found} times, expected 1")),
    }
}
