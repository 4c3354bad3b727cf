//! The lanes of a processing element, which execute programs (docs/visibility-element.md), as a
//! Verilated model.

verilated::model!();
