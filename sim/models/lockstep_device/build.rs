//! Builds the model of the device.

fn main() {
    verilate::Block::new("lockstep_device")
        .root("../../..")
        .waivers("hw/lint.vlt")
        .list("hw/rtl/shell/lockstep_device.f")
        .build();
}
