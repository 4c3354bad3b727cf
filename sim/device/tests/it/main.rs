// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: what they share is compiled and linked once.

mod in_process;
mod jobs;
mod look_ups;
mod near_data;
mod rtl_elements;
mod socket;
