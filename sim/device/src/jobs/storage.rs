// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native storage: a file of pages of a store.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lockdb::device_reader::{MappedPages, PhysicalPages};
use lockdb::layout::{PAGE_BYTES, PageBuffer};
use ndp_runtime::engine::{Storage, StorageError};
use parking_lot::Mutex;

/// The file of pages in the folder of a store.
const PAGES: &str = "pages";

/// Pages beyond the file's end to which it may grow by one write: 1 GiB.
const MOST_GROWTH: u64 = (1 << 30) / PAGE_BYTES as u64;

/// Storage at a path that the device was given, or none. What stands there is looked up when a job
/// begins: the store may be made after the device.
#[derive(Default)]
pub(super) struct NativeStorage {
    path: Option<PathBuf>,
    opened: Mutex<Option<Opened>>,
}

struct Opened {
    file: File,
    /// Device and inode, and the length when it was mapped.
    identity: (u64, u64, u64),
    pages: Arc<MappedPages>,
}

/// Where no page is.
struct NoPages;

impl PhysicalPages for NoPages {
    fn read(&self, _physical: u64, _into: &mut PageBuffer) -> bool {
        false
    }
}

impl NativeStorage {
    /// Storage at a path: a file of pages, or the folder of a store that has one.
    pub fn at(path: Option<&Path>) -> Self {
        Self { path: path.map(Into::into), opened: Mutex::default() }
    }

    /// The pages as they are now, to be read. There is none without a path, or where none can be
    /// read: jobs then say that the page that they want is beyond the end.
    pub fn pages(&self) -> Storage {
        let mut opened = self.opened.lock();
        match self.open(&mut opened) {
            Ok(pages) => pages,
            Err(_) => {
                *opened = None;
                Arc::new(NoPages)
            }
        }
    }

    /// How many pages were mapped last.
    pub fn page_count(&self) -> u64 {
        self.opened.lock().as_ref().map_or(0, |opened| opened.pages.pages())
    }

    fn open(&self, opened: &mut Option<Opened>) -> io::Result<Arc<MappedPages>> {
        let path = self.path.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let folder = path.join(PAGES);
        let path = if path.is_dir() { &folder } else { path };
        // A store on a file system that cannot be written can be read.
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.or_else(|_| File::open(path))?;
        let metadata = file.metadata()?;
        let identity = (metadata.dev(), metadata.ino(), metadata.len());
        if let Some(known) = opened.as_ref().filter(|known| known.identity == identity) {
            return Ok(known.pages.clone());
        }
        let pages = Arc::new(MappedPages::open(path)?);
        *opened = Some(Opened { file, identity, pages: pages.clone() });
        Ok(pages)
    }

    /// Writes a page of what was opened last.
    pub fn write(&self, physical: u64, page: &PageBuffer) -> Result<(), StorageError> {
        self.with_file(|file| {
            let pages = file.metadata()?.len() / PAGE_BYTES as u64;
            if physical >= pages.saturating_add(MOST_GROWTH) {
                let message = format!("page {physical} of {pages}, expected one near the end");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            file.write_all_at(&page.0, physical * PAGE_BYTES as u64)
        })
    }

    /// Makes what was written durable.
    pub fn sync(&self) -> Result<(), StorageError> {
        self.with_file(File::sync_data)
    }

    fn with_file(&self, act: impl FnOnce(&File) -> io::Result<()>) -> Result<(), StorageError> {
        let opened = self.opened.lock();
        let opened = opened.as_ref().ok_or_else(|| StorageError("there is none".into()))?;
        act(&opened.file).map_err(|error| StorageError(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(byte: u8) -> PageBuffer {
        PageBuffer([byte; PAGE_BYTES])
    }

    fn read(storage: &NativeStorage, physical: u64) -> Option<u8> {
        let mut into = PageBuffer::ZERO;
        storage.pages().read(physical, &mut into).then(|| into.0[77])
    }

    #[test]
    fn pages_are_read_and_written_where_the_store_has_them() {
        let folder = tempfile::tempdir().unwrap();
        let storage = NativeStorage::at(Some(folder.path()));
        assert_eq!(read(&storage, 0), None, "the store is not there yet");
        assert_eq!(storage.sync(), Err(StorageError("there is none".into())));
        std::fs::write(folder.path().join(PAGES), vec![3; 4 * PAGE_BYTES]).unwrap();
        assert_eq!((read(&storage, 3), read(&storage, 4)), (Some(3), None));
        storage.write(1, &page(9)).unwrap();
        storage.write(6, &page(8)).unwrap();
        storage.sync().unwrap();
        let found: Vec<_> = (0..8).map(|physical| read(&storage, physical)).collect();
        assert_eq!(found[..6], [3, 9, 3, 3, 0, 0].map(Some));
        assert_eq!(found[6..], [Some(8), None]);
        let far = storage.write(u64::MAX / PAGE_BYTES as u64, &page(1)).unwrap_err();
        assert!(far.to_string().contains("of 7, expected one near"), "{far}");
    }

    #[test]
    fn a_file_in_place_of_another_is_noticed_when_a_job_begins() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("here");
        std::fs::write(&path, vec![1; PAGE_BYTES]).unwrap();
        let storage = NativeStorage::at(Some(&path));
        let before = storage.pages();
        std::fs::rename(&path, folder.path().join("there")).unwrap();
        std::fs::write(&path, vec![2; PAGE_BYTES]).unwrap();
        assert_eq!(read(&storage, 0), Some(2));
        let mut into = PageBuffer::ZERO;
        assert!(before.read(0, &mut into) && into.0[0] == 1, "whoever has the old one keeps it");
    }

    #[test]
    fn without_a_path_there_is_no_page() {
        assert_eq!(read(&NativeStorage::default(), 0), None);
    }
}
