// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: what they share is compiled and linked once.

mod kernel;
mod kernel_memory;
mod platforms_of_any_shape;
