//! The visibility element (docs/visibility-element.md) as a Verilated model: its registers, the
//! walk, and the lanes that execute programs.

verilated::model!();
