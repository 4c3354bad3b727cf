// SPDX-License-Identifier: MIT OR Apache-2.0
//! Verilated models, bus models, coherent memory and the event kernel.

pub mod bus;
pub mod coherence;
pub mod dma;
pub mod kernel;
pub mod link;
pub mod lock_unit;
pub mod models;
pub mod platform;
pub mod system;
pub mod visibility_element;
