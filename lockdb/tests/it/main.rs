// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: what they share is compiled and linked once.

mod device_reader;
mod durability;
mod isolation;
mod near_data;
mod store;
mod vacuum;
