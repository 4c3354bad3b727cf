//! Builds the model of the arithmetic unit.

fn main() {
    verilate::Block::new("arithmetic_unit")
        .source("hw/rtl/float_pkg.sv")
        .source("hw/rtl/arithmetic_unit.sv")
        .library("hw/rtl")
        .build();
}
