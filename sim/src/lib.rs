// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verilated models, bus models, and coherent memory in virtual time.

pub mod bus;
pub mod clocked;
pub mod coherence;
pub mod host_link;
pub mod lock_unit;
pub mod models;
pub mod system;
pub mod visibility_element;
