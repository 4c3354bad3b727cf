// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: what they share is compiled and linked once.

mod database;
mod scenarios;
mod traces;
mod waldump;
