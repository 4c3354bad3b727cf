// SPDX-License-Identifier: MIT OR Apache-2.0
//! Xenic without a world: its forms, counts of messages and bytes, random orders, and planted bugs.

mod damage;
mod driver;
mod forms;
mod mutants;
mod orders;
mod recovery;
