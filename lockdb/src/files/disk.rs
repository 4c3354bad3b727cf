// SPDX-License-Identifier: MIT OR Apache-2.0
//! A folder of the file system.

use std::fs::{self, File as SystemFile, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::Errno;

use super::{File, Files, check_name};

/// The file whose lock keeps a second store out of the folder.
const LOCK: &str = "lock";

/// A folder of the file system, held by one [`Disk`] at a time, or by several that only read it.
#[derive(Debug)]
pub struct Disk {
    path: PathBuf,
    /// Kept open for its lock, which the system gives back with the file, however the process ends.
    _lock: Option<SystemFile>,
    read_only: bool,
}

impl Disk {
    /// Opens the folder, which is made if it is missing, and holds it until dropped.
    ///
    /// # Errors
    /// `WouldBlock` when another user, in this or another process, holds the folder; else the
    /// system's reason.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        create_folder(&path)?;
        let name = path.join(LOCK);
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(name)?;
        hold(&path, &lock, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self { path, _lock: Some(lock), read_only: false })
    }

    /// Opens a folder that exists, to read what stands there, and keeps those away that would write it,
    /// if the file is there whose lock does so. Nothing is written: every call that would is refused as
    /// on a file system that cannot be written.
    ///
    /// # Errors
    /// `WouldBlock` when another user holds the folder to write; else the system's reason.
    pub fn open_read_only(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        fs::read_dir(&path)?;
        let lock = match SystemFile::open(path.join(LOCK)) {
            Ok(lock) => Some(lock),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(lock) = &lock {
            hold(&path, lock, FlockOperation::NonBlockingLockShared)?;
        }
        Ok(Self { path, _lock: lock, read_only: true })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, name: &str, options: &mut OpenOptions) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(DiskFile(options.open(self.place(name)?)?)))
    }

    fn check_writable(&self) -> io::Result<()> {
        match self.read_only {
            true => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
            false => Ok(()),
        }
    }

    fn place(&self, name: &str) -> io::Result<PathBuf> {
        check_name(name)?;
        if name == LOCK {
            let message = format!("{LOCK:?} is the folder's own file");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        Ok(self.path.join(name))
    }
}

/// Takes the lock of a folder.
fn hold(path: &Path, lock: &SystemFile, how: FlockOperation) -> io::Result<()> {
    flock(lock, how).map_err(|error| {
        let error = io::Error::from(error);
        let alone = match how {
            FlockOperation::NonBlockingLockExclusive => "alone",
            _ => "to read it",
        };
        let why = match error.kind() {
            io::ErrorKind::WouldBlock => "another process, or this one, has it open".into(),
            _ => error.to_string(),
        };
        io::Error::new(
            error.kind(),
            format!("cannot hold folder {} {alone}: {why}", path.display()),
        )
    })
}

/// Makes the folder, and those above it, durable if it is missing.
fn create_folder(path: &Path) -> io::Result<()> {
    let path = std::path::absolute(path)?;
    let missing: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
    fs::create_dir_all(&path)?;
    let mut parents = missing.iter().filter_map(|folder| folder.parent());
    let synced = parents.try_for_each(|parent| SystemFile::open(parent)?.sync_all());
    if synced.is_err() {
        // Were they left, the next opening would take their names for durable.
        missing.iter().for_each(|folder| drop(fs::remove_dir(folder)));
    }
    synced
}

impl Files for Disk {
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.file(name, OpenOptions::new().read(true).write(!self.read_only))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.check_writable()?;
        self.file(name, OpenOptions::new().read(true).write(true).create(true).truncate(true))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.check_writable()?;
        fs::remove_file(self.place(name)?)
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            // A name that is not UTF-8 is none of ours.
            if let (true, Ok(name)) =
                (entry.file_type()?.is_file(), entry.file_name().into_string())
            {
                names.push(name);
            }
        }
        names.retain(|name| name != LOCK);
        names.sort();
        Ok(names)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.check_writable()?;
        SystemFile::open(&self.path)?.sync_all()
    }
}

#[derive(Debug)]
struct DiskFile(SystemFile);

impl File for DiskFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        loop {
            match fallocate(&self.0, FallocateFlags::KEEP_SIZE, offset, bytes) {
                Err(Errno::INTR) => {}
                Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(()), // this file system cannot
                outcome => return Ok(outcome?),
            }
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data() // with the length, without the times
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
}
