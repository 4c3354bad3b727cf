//! Builds the model of the lanes.

fn main() {
    verilate::Block::new("program_lanes")
        .root("../../..")
        .waivers("hw/lint.vlt")
        .list("hw/rtl/near_data/near_data.f")
        .build();
}
