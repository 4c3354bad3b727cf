//! Builds the model of the visibility element.

fn main() {
    verilate::Block::new("visibility_pe")
        .source("hw/rtl/float_pkg.sv")
        .source("hw/rtl/program_pkg.sv")
        .source("hw/rtl/crc32c_pkg.sv")
        .source("hw/rtl/walk_pkg.sv")
        .source("hw/rtl/generated/visibility_pe_map_pkg.sv")
        .source("hw/rtl/generated/visibility_pe_registers_pkg.sv")
        .source("hw/rtl/visibility_pe.sv")
        .library("hw/rtl")
        .library("hw/rtl/generated")
        .pins_of("visibility_pe_pins", &[])
        .build();
}
