//! Builds the model of the walk.

fn main() {
    verilate::Block::new("visibility_walk")
        .source("hw/rtl/walk_pkg.sv")
        .source("hw/rtl/crc32c_pkg.sv")
        .source("hw/rtl/visibility_walk.sv")
        .library("hw/rtl")
        .build();
}
