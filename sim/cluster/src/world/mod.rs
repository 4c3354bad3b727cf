// SPDX-License-Identifier: MIT OR Apache-2.0
//! A world: the machines of a protocol on modelled cores, NICs and links, in virtual time.

pub mod recorder;
