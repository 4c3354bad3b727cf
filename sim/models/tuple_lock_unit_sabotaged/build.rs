//! Builds the model of the sabotaged tuple-locking unit.

fn main() {
    verilate::Block::new("tuple_lock_unit_sabotaged")
        .root("../../..")
        .waivers("hw/lint.vlt")
        .source("hw/bsv/generated/tuple_lock_unit_sabotaged.v")
        .library("hw/rtl/common")
        .pins_of("lock_unit_pins", &["fault_i"])
        .build();
}
