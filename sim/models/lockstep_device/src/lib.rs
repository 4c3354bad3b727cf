//! The device (docs/device.md) as a Verilated model: `hw/rtl/lockstep_device.sv` with all
//! that is in it.

verilated::model!();
