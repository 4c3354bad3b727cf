// SPDX-License-Identifier: MIT OR Apache-2.0
//! The origin of the store's memory.

use std::fs::OpenOptions;
use std::io;
use std::path::PathBuf;

use memmap2::{MmapOptions, MmapRaw};

/// The memory for page frames and maps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Home {
    /// In memory of this process: its threads share it.
    #[default]
    Private,
    /// In files of this folder, such as one in `/dev/shm`: `frames`, `page-map`, and `vid-map-N` of
    /// table N. Devices and other processes can map them, as long as they only read, and nobody
    /// shortens them. They hold nothing that outlives the store: opening it makes them again.
    Folder(PathBuf),
}

impl Home {
    /// Maps zeroes; memory is taken as it is first touched.
    ///
    /// # Errors
    /// When the system refuses the address space or the file.
    pub(super) fn map(&self, name: &str, bytes: usize) -> io::Result<MmapRaw> {
        let bytes = bytes.max(1);
        let mut options = MmapOptions::new();
        options.len(bytes).no_reserve_swap();
        match self {
            Home::Private => Ok(options.map_anon()?.into()),
            Home::Folder(folder) => {
                let mut open = OpenOptions::new();
                open.read(true).write(true).create(true).truncate(true);
                let file = open.open(folder.join(name))?;
                file.set_len(bytes as u64)?;
                options.map_raw(&file)
            }
        }
    }
}
