// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: what they share is compiled and linked once.

mod backends;
mod bite;
mod device_model;
mod link;
mod lock_table_over_socket;
mod served;
