// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the models of the look-ups, one for each set of parameters, and with the feature `mutants` one that
//! has them.

#[cfg(feature = "mutants")]
#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/mutants/list.rs"]
mod list;

use verilate::Block;

const TOP: &str = "nic_lookup";
/// From the folder of the crate.
const ROOT: &str = "../../..";
/// From the root.
const LIST: &str = "hw/rtl/nic/nic.f";

type Parameters = [(&'static str, &'static str); 11];

/// All parameters of the top, in the order of its declaration.
const fn parameters(values: [&'static str; 11]) -> Parameters {
    [
        ("SlotBytes", values[0]),
        ("ValueWords", values[1]),
        ("LogSets", values[2]),
        ("LogWays", values[3]),
        ("SegmentBits", values[4]),
        ("Objects", values[5]),
        ("MostPins", values[6]),
        ("LogMisses", values[7]),
        ("LogParked", values[8]),
        ("LogContexts", values[9]),
        ("LandingLines", values[10]),
    ]
}

/// Slots of a quarter, a half and two lines; entries of the index of one line and more; so little room
/// that segments collide, and that most rows take several trips. The last one is as shipped, with as many objects
/// in an entry as a node of a cluster has.
const SHAPES: [(&str, Parameters); 3] = [
    ("narrow", parameters(["16", "1", "1", "1", "8", "1", "3", "1", "3", "2", "1"])),
    ("wide", parameters(["128", "8", "1", "1", "8", "2", "3", "2", "3", "4", "4"])),
    ("eight", parameters(["32", "1", "12", "2", "24", "8", "255", "4", "4", "7", "32"])),
];
#[cfg(feature = "mutants")]
const MUTATED: (&str, Parameters) =
    ("mutants", parameters(["32", "2", "1", "1", "8", "2", "3", "2", "3", "3", "2"]));

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
