// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the model of the vectorizer, and with the feature `mutants` one that has them.

#[cfg(feature = "mutants")]
#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/mutants/list.rs"]
mod list;

use verilate::Block;

const TOP: &str = "dma_vectorizer";
/// From the folder of the crate.
const ROOT: &str = "../../..";
/// From the root.
const LIST: &str = "hw/rtl/nic/nic.f";

fn main() {
    block(TOP).list(LIST).build();
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
    block(&mutants::mutated(TOP))
        .module("mutants")
        .waves_of_top()
        .sources(sources)
        .pins_of_block(TOP, &["mutant_i"])
        .build();
}
