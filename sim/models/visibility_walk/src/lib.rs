//! The visibility walk of a processing element (docs/visibility-element.md) as a Verilated model:
//! `hw/rtl/visibility_walk.sv` with all that is in it.

verilated::model!();
