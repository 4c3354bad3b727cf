//! Native storage: physical pages in a file, written out of place.

use std::sync::Arc;

use super::error::{Error, Result};
use super::files::File;
use super::layout::{PAGE_BYTES, Page, PageBuffer, PageKind};

/// The store's file of physical pages.
#[derive(Clone, Debug)]
pub(crate) struct NativeStorage {
    pub(crate) file: Arc<dyn File>,
    pub(crate) name: String,
}

impl NativeStorage {
    /// Reads a physical page and checks that it is the logical page that it should be.
    pub(crate) fn read(&self, kind: PageKind, page: u64, physical: u64) -> Result<Box<PageBuffer>> {
        let mut buffer = Box::new(PageBuffer::ZERO);
        let offset = physical * PAGE_BYTES as u64;
        let what = || format!("cannot read {}, physical page {physical}", self.name);
        self.file.read_at(offset, &mut buffer.0).map_err(Error::system(what()))?;
        let verified = Page::verified(&buffer.0, kind, page).map(drop);
        let file = || self.name.clone();
        verified.map_err(|fault| Error::CorruptPage { file: file(), physical, page, fault })?;
        Ok(buffer)
    }
}
