//! Builds the model of the walk.

fn main() {
    verilate::Block::new("visibility_walk")
        .root("../../..")
        .waivers("hw/lint.vlt")
        .list("hw/rtl/visibility/visibility.f")
        .build();
}
