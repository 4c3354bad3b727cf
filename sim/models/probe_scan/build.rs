// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the models of the scanner, one for each set of parameters, and with the feature `mutants` two that
//! have them.

#[cfg(feature = "mutants")]
#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/mutants/list.rs"]
mod list;

use verilate::Block;

const TOP: &str = "probe_scan";
/// From the folder of the crate.
const ROOT: &str = "../../..";
/// From the root.
const LIST: &str = "hw/rtl/nic/nic.f";

/// Module, bytes of a slot, words of a value.
const SHAPES: [(&str, &str, &str); 5] = [
    ("slots_16", "16", "1"),
    ("slots_32_long_values", "32", "8"),
    ("slots_64", "64", "6"),
    ("slots_128", "128", "8"),
    ("slots_320", "320", "8"),
];
/// Those with mutants. Some are only in slots of several lines.
#[cfg(feature = "mutants")]
const MUTATED: [(&str, &str, &str); 2] = [("mutants_32", "32", "2"), ("mutants_128", "128", "8")];

fn main() {
    block(TOP).list(LIST).build();
    for shape in SHAPES {
        shaped(TOP, shape).list(LIST).build();
    }
    #[cfg(feature = "mutants")]
    build_mutants();
}

fn block(top: &str) -> Block {
    Block::new(top).root(ROOT).waivers("hw/lint.vlt")
}

fn shaped(top: &str, (module, slot_bytes, value_words): (&str, &str, &str)) -> Block {
    block(top)
        .module(module)
        .name(&format!("{TOP}_{module}"))
        .parameter("SlotBytes", slot_bytes)
        .parameter("ValueWords", value_words)
}

/// Each mutant is a choice by the port `mutant_i`.
#[cfg(feature = "mutants")]
fn build_mutants() {
    let list = std::path::Path::new(ROOT).join(LIST);
    let sources = mutants::Rtl::of_list(TOP, &list)
        .and_then(|rtl| rtl.plant(&list::MUTANTS))
        .and_then(mutants::Rtl::write_for_build)
        .unwrap_or_else(|error| verilate::fail(error));
    for shape in MUTATED {
        shaped(&mutants::mutated(TOP), shape).sources(&sources).build();
    }
}
