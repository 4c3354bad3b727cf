// SPDX-License-Identifier: MIT OR Apache-2.0
//! All tables: beside a model, under all interleavings with a remote reader, and in a race with one.
#![cfg(not(loom))]

mod bad_input;
mod experiments;
mod extremes;
mod interleavings;
mod model;
mod race;
mod scenarios;
mod shapes;
mod writers;
