// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the model of the arithmetic unit.

fn main() {
    verilate::Block::new("arithmetic_unit")
        .root("../../..")
        .waivers("hw/lint.vlt")
        .list("hw/rtl/float/float.f")
        .build();
}
