// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's memory of the store: page frames and maps, which devices may share.

mod array;
mod home;
mod region;

pub use array::{ArrayMemory, SharedArray};
pub use home::Home;
pub use region::{Region, VersionRef};
