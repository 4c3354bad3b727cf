//! Builds the model of the lanes.

fn main() {
    verilate::Block::new("program_lanes")
        .source("hw/rtl/float_pkg.sv")
        .source("hw/rtl/program_pkg.sv")
        .source("hw/rtl/program_lanes.sv")
        .library("hw/rtl")
        .build();
}
