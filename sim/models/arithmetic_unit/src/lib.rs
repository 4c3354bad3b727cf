// SPDX-License-Identifier: MIT OR Apache-2.0
//! The arithmetic of a processing element's lanes (docs/visibility-element.md) as a Verilated
//! model.

verilated::model!();
