// SPDX-License-Identifier: MIT OR Apache-2.0
//! Results and progress as text for people: numbers with units, paragraphs, a progress bar.
//!
//! The command and its measuring crates share this style.

mod progress;
pub mod text;

pub use progress::Progress;
