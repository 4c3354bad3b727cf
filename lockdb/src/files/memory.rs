// SPDX-License-Identifier: MIT OR Apache-2.0
//! A folder in memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard, RwLock};

use super::blocks::Blocks;
use super::{File, Files, check_name, no_such_file};

/// A folder in memory: nothing survives the process, a sync costs nothing.
///
/// Clones are the same folder.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    files: Arc<Mutex<BTreeMap<String, Arc<MemoryFile>>>>,
}

impl Memory {
    /// An empty folder.
    pub fn new() -> Self {
        Self::default()
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, Arc<MemoryFile>>> {
        self.files.lock()
    }
}

impl Files for Memory {
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        check_name(name)?;
        match self.files().get(name) {
            Some(file) => Ok(file.clone()),
            None => Err(no_such_file(name)),
        }
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        check_name(name)?;
        let file = self.files().entry(name.to_string()).or_default().clone();
        file.set_len(0)?;
        Ok(file)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        check_name(name)?;
        self.files().remove(name).map(drop).ok_or_else(|| no_such_file(name))
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.files().keys().cloned().collect())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Default)]
struct MemoryFile(RwLock<Blocks>);

impl File for MemoryFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read().read(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write().write(offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.read().len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.write().set_len(len);
        Ok(())
    }
}
