// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the model of the tuple-locking unit, and with the feature `mutants` one that has them.

use verilate::Block;

fn main() {
    block("tuple_lock_unit")
        .list("hw/bsv/tuple_lock_unit.f")
        .pins_of("lock_unit_pins", &[])
        .build();
    #[cfg(feature = "mutants")]
    block("tuple_lock_unit_sabotaged")
        .module("mutants")
        .source("hw/bsv/generated/tuple_lock_unit_sabotaged.v")
        .library("hw/rtl/common")
        .pins_of("lock_unit_pins", &["fault_i"])
        .build();
}

fn block(top: &str) -> Block {
    Block::new(top).root("../../..").waivers("hw/lint.vlt")
}
