// SPDX-License-Identifier: MIT OR Apache-2.0
//! The event counter as a Verilated model.

verilated::model!();
