// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stores for the visibility walk, in order and damaged, and what it has to find in them.

pub mod damage;
pub mod job;
pub mod memory;
pub mod oracle;
pub mod scene;
