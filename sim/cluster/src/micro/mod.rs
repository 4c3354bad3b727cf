// SPDX-License-Identifier: MIT OR Apache-2.0
//! Micro-benchmarks: what a paper measured of its hardware alone, on the models of this hardware.

pub mod smart_bench;
pub mod smart_machine;
pub mod xenic;
