// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the test suites of the models share. Nothing that ships depends on it.

pub mod programs;
pub mod registers;
pub mod subject;
pub mod values;
pub mod walk;
