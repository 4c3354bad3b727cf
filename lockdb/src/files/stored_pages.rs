// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native storage as a file of the store.

use std::sync::Arc;

use super::File;
use crate::device_reader::PhysicalPages;
use crate::layout::{PAGE_BYTES, PageBuffer};

/// The physical pages of a file, such as the store's file `pages`, as a device reads them while the
/// host goes on.
#[derive(Clone, Debug)]
pub struct StoredPages(pub Arc<dyn File>);

impl PhysicalPages for StoredPages {
    fn read(&self, physical: u64, into: &mut PageBuffer) -> bool {
        let offset = physical.checked_mul(PAGE_BYTES as u64);
        offset.is_some_and(|offset| self.0.read_at(offset, &mut into.0).is_ok())
    }
}
