//! Builds the model of the tuple-locking unit.

fn main() {
    verilate::Block::new("tuple_lock_unit")
        .source("hw/bsv/generated/tuple_lock_unit.v")
        .library("hw/rtl")
        .pins_of("lock_unit_pins", &[])
        .build();
}
