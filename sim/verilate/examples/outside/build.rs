// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builds the model of the counter. Paths count from this folder.

use verilate::{Active, Block};

fn main() {
    Block::new("event_counter")
        .list("rtl/event_counter.f")
        .include("rtl/include")
        .define("STEP=3")
        .parameter("Width", "12")
        .clock("clk")
        .reset("rst", Active::High)
        .build();
}
