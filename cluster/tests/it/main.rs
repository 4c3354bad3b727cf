// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: what they share is compiled and linked once.

mod drtm_h;
mod edges;
mod explorer;
mod fasst;
mod recovery;
mod told;
mod wild;
mod xenic;
