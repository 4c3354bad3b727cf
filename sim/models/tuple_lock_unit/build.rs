//! Builds the model of the tuple-locking unit.

fn main() {
    verilate::Block::new("tuple_lock_unit")
        .root("../../..")
        .waivers("hw/lint.vlt")
        .list("hw/bsv/tuple_lock_unit.f")
        .pins_of("lock_unit_pins", &[])
        .build();
}
