// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the models of the scanner, one for each set of parameters; with the feature `mutants` two of them have
//! these.

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

type Parameters = [(&'static str, &'static str); 2];

const fn parameters(slot_bytes: &'static str, value_words: &'static str) -> Parameters {
    [("SlotBytes", slot_bytes), ("ValueWords", value_words)]
}

const SHAPES: [(&str, Parameters); 4] = [
    ("slots_16", parameters("16", "1")),
    ("slots_32_long_values", parameters("32", "8")),
    ("slots_64", parameters("64", "6")),
    ("slots_320", parameters("320", "8")),
];
/// Those that have the mutants, which without one are the block itself. Some are only in slots of several lines.
const MUTATED: [(&str, Parameters); 2] =
    [("slots_32", parameters("32", "2")), ("slots_128", parameters("128", "8"))];

fn main() {
    for (module, parameters) in SHAPES {
        block(TOP).list(LIST).shape(module, parameters).build();
    }
    let block = mutated();
    for (module, parameters) in MUTATED {
        block.clone().shape(module, parameters).build();
    }
}

fn block(top: &str) -> Block {
    Block::new(top).root(ROOT).waivers("hw/lint.vlt")
}

#[cfg(not(feature = "mutants"))]
fn mutated() -> Block {
    block(TOP).list(LIST)
}

/// Each mutant is a choice by the port `mutant_i`.
#[cfg(feature = "mutants")]
fn mutated() -> Block {
    let list = std::path::Path::new(ROOT).join(LIST);
    let sources = mutants::plant_for_build(TOP, &list, &list::MUTANTS)
        .unwrap_or_else(|error| verilate::fail(error));
    block(&mutants::mutated(TOP)).sources(sources)
}
