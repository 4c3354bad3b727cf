// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the models of the index, one for each set of parameters, and with the feature `mutants` one that
//! has them.

#[cfg(feature = "mutants")]
#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/mutants/list.rs"]
mod list;

use verilate::Block;

const TOP: &str = "nic_index_cache";
/// From the folder of the crate.
const ROOT: &str = "../../..";
/// From the root.
const LIST: &str = "hw/rtl/nic/nic.f";

type Parameters = [(&'static str, &'static str); 8];

/// All parameters of the top, in the order of its declaration.
const fn parameters(values: [&'static str; 8]) -> Parameters {
    [
        ("LogSets", values[0]),
        ("LogWays", values[1]),
        ("SegmentBits", values[2]),
        ("Objects", values[3]),
        ("ValueWords", values[4]),
        ("MostPins", values[5]),
        ("LogMisses", values[6]),
        ("LogParked", values[7]),
    ]
}

/// Entries of one line and of four; always so few places that segments collide. Entries of two are the mutants'.
const SHAPES: [(&str, Parameters); 2] = [
    ("narrow", parameters(["1", "1", "8", "1", "1", "3", "1", "3"])),
    ("wide", parameters(["1", "2", "8", "3", "8", "3", "3", "4"])),
];
#[cfg(feature = "mutants")]
const MUTATED: (&str, Parameters) =
    ("mutants", parameters(["1", "1", "8", "2", "2", "3", "2", "3"]));

fn main() {
    block(TOP).list(LIST).build();
    for (module, parameters) in SHAPES {
        block(TOP).list(LIST).shape(module, parameters).waves_of_top().build();
    }
    #[cfg(feature = "mutants")]
    build_mutants();
}

fn block(top: &str) -> Block {
    Block::new(top).root(ROOT).waivers("hw/lint.vlt")
}

/// Each mutant is a choice by the port `mutant_i`.
#[cfg(feature = "mutants")]
fn build_mutants() {
    let list = std::path::Path::new(ROOT).join(LIST);
    let sources = mutants::plant_for_build(TOP, &list, &list::MUTANTS)
        .unwrap_or_else(|error| verilate::fail(error));
    let (module, parameters) = MUTATED;
    block(&mutants::mutated(TOP)).sources(sources).shape(module, parameters).waves_of_top().build();
}
