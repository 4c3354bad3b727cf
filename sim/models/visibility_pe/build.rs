//! Builds the model of the visibility element.

fn main() {
    verilate::Block::new("visibility_pe")
        .root("../../..")
        .waivers("hw/lint.vlt")
        .list("hw/rtl/visibility/visibility_pe.f")
        .pins_of("visibility_pe_pins", &[])
        .build();
}
