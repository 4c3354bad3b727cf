// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the model of the visibility element, and with the feature `mutants` one that has them.

#[cfg(feature = "mutants")]
#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/mutants/list.rs"]
mod list;

use verilate::Block;

/// From the folder of the crate.
const ROOT: &str = "../../..";
/// From the root.
const LIST: &str = "hw/rtl/visibility/visibility_pe.f";

fn main() {
    block("visibility_pe").list(LIST).pins_of("visibility_pe_pins", &[]).build();
    #[cfg(feature = "mutants")]
    build_mutants();
}

fn block(top: &str) -> Block {
    Block::new(top).root(ROOT).waivers("hw/lint.vlt")
}

/// Each mutant is a choice by the port `mutant_i`.
#[cfg(feature = "mutants")]
fn build_mutants() {
    use std::path::{Path, PathBuf};

    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let sources = mutants::Rtl::of_list("visibility_pe_mutants", &Path::new(ROOT).join(LIST))
        .and_then(|rtl| rtl.plant(&list::MUTANTS))
        .and_then(|rtl| rtl.write("visibility_pe", &out.join("mutants/rtl")))
        .unwrap_or_else(|error| verilate::fail(error));
    block("visibility_pe_mutants")
        .module("mutants")
        .sources(sources)
        .pins_of("visibility_pe_pins", &["mutant_i"])
        .build();
}
