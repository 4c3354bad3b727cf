// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the model of the look-ups.

fn main() {
    verilate::Block::new("nic_lookup")
        .root("../../..")
        .waivers("hw/lint.vlt")
        .list("hw/rtl/nic/nic.f")
        .build();
}
