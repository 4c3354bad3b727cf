//! How results and progress are told to people: numbers with units, paragraphs, a progress bar.
//!
//! The command and everything that it measures with speak alike by this.

mod progress;
pub mod text;

pub use progress::Progress;
