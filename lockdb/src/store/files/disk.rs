//! A folder of the file system.

use std::fs::{self, File as SystemFile, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{FlockOperation, flock};

use super::{File, Files, check_name};

/// The file whose lock keeps a second store out of the folder.
const LOCK: &str = "lock";

/// A folder of the file system, held by one [`Disk`] at a time.
#[derive(Debug)]
pub struct Disk {
    path: PathBuf,
    /// Kept open for its lock, which the system gives back with the file, however the process ends.
    _lock: SystemFile,
}

impl Disk {
    /// Opens the folder, which is made if it is missing, and holds it until dropped.
    ///
    /// # Errors
    /// `WouldBlock` when somebody else, here or in another process, holds the folder; else the
    /// system's reason.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref().to_path_buf();
        create_folder(&path)?;
        let name = path.join(LOCK);
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(name)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            let error = io::Error::from(error);
            let why = match error.kind() {
                io::ErrorKind::WouldBlock => "another process, or this one, has it open".into(),
                _ => error.to_string(),
            };
            let message = format!("cannot hold folder {} alone: {why}", path.display());
            io::Error::new(error.kind(), message)
        })?;
        Ok(Self { path, _lock: lock })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self, name: &str, options: &mut OpenOptions) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(DiskFile(options.open(self.place(name)?)?)))
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
        self.file(name, OpenOptions::new().read(true).write(true))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        self.file(name, OpenOptions::new().read(true).write(true).create(true).truncate(true))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
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
