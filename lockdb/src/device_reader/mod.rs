// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's side: snapshots from pages on native storage and a shared state, and nothing else.
//!
//! This module does in software what a processing element of a smart storage does (ccSLT paper,
//! section 2.3, "each PE can independently start a visibility check task"). It sees only bytes:
//! those of the file of pages, and those of a [shared state](super::shared_state). Of the rest of
//! the store it uses only the layouts, the schemas and the visibility rule, which are pure; a test
//! checks that it names no other module.
//!
//! - [`DeviceReader::open`] checks the shared state and reads directory and L2P map.
//! - [`DeviceReader::elements`] divides a table's VID map among a number of [`ProcessingElement`]s,
//!   which may run on separate threads.
//! - [`ProcessingElement::visit`] gives the rows that a snapshot sees.
//! - [`Walk`] is the machine in it: what to fetch next on the way from a VID to the version that a
//!   snapshot sees, and the faults ([`WalkError`]) that may be met. Hardware is compared with it.

mod element;
mod error;
mod native;
mod reader;
mod walk;

pub use element::{BrokenWalkError, DeviceRow, ProcessingElement};
pub use error::DeviceError;
pub use native::{MappedPages, PhysicalPages};
pub use reader::{DeviceReader, DeviceTable};
pub use walk::{Lineage, Next, PageAt, PageFacts, Visible, Walk, WalkError, WalkMemory};

#[cfg(test)]
mod tests {
    /// The modules outside that a device may use: pure functions of bytes.
    const PURE: [&str; 5] =
        ["checkpoint::Directory", "layout", "schema", "shared_state", "visibility"];

    #[test]
    fn the_device_knows_nothing_of_the_hosts_memory() {
        let sources = [
            include_str!("element.rs"),
            include_str!("error.rs"),
            include_str!("native.rs"),
            include_str!("reader.rs"),
            include_str!("walk.rs"),
        ];
        let mut named = 0;
        for source in sources {
            assert!(!source.contains("crate::"), "paths begin with super");
            for path in source.split("super::super::").skip(1) {
                assert!(PURE.iter().any(|pure| path.starts_with(pure)), "{path:.60}");
                named += 1;
            }
        }
        assert!(named > 4, "it looked at {named} paths");
    }
}
