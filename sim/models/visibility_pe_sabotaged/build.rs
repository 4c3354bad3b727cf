//! Builds the model of the element with faults: patches a copy of the RTL in which each fault
//! is a choice by the port `fault_i`.

#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/faults.rs"]
mod faults;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use faults::FAULTS;

const TOP: &str = "visibility_pe_sabotaged";

fn main() {
    let rtl = verilate::workspace_root().join("hw/rtl");
    // The waivers of the lint go by these last names of the path.
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("hw/rtl");
    let mut files = read_all(&rtl);
    for (index, fault) in FAULTS.iter().enumerate() {
        let text = files.get_mut(fault.file).unwrap_or_else(|| {
            verilate::fail(format_args!("hw/rtl/{} of `{}` is not there", fault.file, fault.name))
        });
        *text = choose(text, index + 1, fault.place, fault.right, fault.wrong);
    }
    let top = files.remove("visibility_pe.sv").expect("hw/rtl has the top");
    let top = replace_once(&top, "module visibility_pe #", &format!("module {TOP} #"));
    let clock = "    input  logic         clk_i,";
    let top = replace_once(&top, clock, &format!("    input logic [5:0] fault_i,\n{clock}"));
    files.insert(format!("{TOP}.sv"), top);
    fs::create_dir_all(&out).unwrap_or_else(|error| verilate::fail(error));
    for (name, text) in &files {
        fs::write(out.join(name), text).unwrap_or_else(|error| verilate::fail(error));
    }
    build(&out);
}

fn build(rtl: &Path) {
    let path = |name: &str| rtl.join(name).to_str().expect("OUT_DIR is UTF-8").to_owned();
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

/// The hand-written files of the folder, by name.
fn read_all(folder: &Path) -> BTreeMap<String, String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| verilate::fail(error));
    let paths = entries.flatten().map(|entry| entry.path());
    let files = paths.filter(|path| path.extension().is_some_and(|end| end == "sv"));
    files
        .map(|path| {
            verilate::rerun_if_changed(&path);
            let text = fs::read_to_string(&path).unwrap_or_else(|error| verilate::fail(error));
            let name = path.file_name().expect("a file").to_string_lossy().into_owned();
            (name, text)
        })
        .collect()
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
