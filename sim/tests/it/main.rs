// SPDX-License-Identifier: MIT OR Apache-2.0
//! All integration tests in one binary: what they share is compiled and linked once.

mod clocked;
mod coherence;
mod common;
mod requests_of_one_transaction;
mod shared_words;
