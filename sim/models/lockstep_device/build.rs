//! Builds the model of the device.

fn main() {
    verilate::Block::new("lockstep_device")
        .source("hw/rtl/queue_pkg.sv")
        .source("hw/rtl/generated/shell_map_pkg.sv")
        .source("hw/rtl/generated/shell_registers_pkg.sv")
        .source("hw/rtl/generated/queue_map_pkg.sv")
        .source("hw/rtl/generated/queue_registers_pkg.sv")
        .source("hw/rtl/lockstep_device.sv")
        .library("hw/rtl")
        .library("hw/rtl/generated")
        .library("hw/bsv/generated")
        .build();
}
