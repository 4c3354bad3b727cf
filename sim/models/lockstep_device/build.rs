// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the model of the device, and with the feature `mutants` one that has them.

#[cfg(feature = "mutants")]
#[allow(dead_code, reason = "the library shows what a build has no use for")]
#[path = "src/mutants/list.rs"]
mod list;

use verilate::Block;

const TOP: &str = "lockstep_device";
/// From the folder of the crate.
const ROOT: &str = "../../..";
/// From the root.
const LIST: &str = "hw/rtl/shell/lockstep_device.f";

fn main() {
    block(TOP).list(LIST).build();
    #[cfg(feature = "mutants")]
    build_mutants();
}

/// With a look-up unit that is small, so that little has to be cleared after a reset, and filled at power-up.
fn block(top: &str) -> Block {
    let block = Block::new(top).root(ROOT).waivers("hw/lint.vlt");
    block.parameter("LookupLogSets", "5").parameter("LookupLogContexts", "4")
}

/// Each mutant is a choice by the port `mutant_i`.
#[cfg(feature = "mutants")]
fn build_mutants() {
    let list = std::path::Path::new(ROOT).join(LIST);
    let sources = mutants::Rtl::of_list(TOP, &list)
        .and_then(|rtl| rtl.plant(&list::MUTANTS))
        .and_then(|rtl| {
            let number = list::CLOCKS_NEVER_STOP;
            rtl.choose(number, "clock_gate.sv", "enable_q = {};", "enable_i", "1'b1")
        })
        .and_then(|rtl| {
            let place = "open_q             <= {};";
            rtl.choose(list::LACKS_A_RESET, "job_port.sv", place, "'0", "open_q")
        })
        .and_then(mutants::Rtl::write_for_build)
        .unwrap_or_else(|error| verilate::fail(error));
    block(&mutants::mutated(TOP))
        .module("mutants")
        .waves_of_top()
        .sources(sources)
        .pins_of_block(TOP, &["mutant_i"])
        .build();
}
