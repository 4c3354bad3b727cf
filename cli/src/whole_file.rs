// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files that appear whole or not at all.

use std::fs::Permissions;
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

use crate::error::CommandError;

/// A file that is written under another name beside its place, and moved there at the end.
/// Until then, whatever was there stays; dropped before, it leaves nothing.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
}

impl WholeFile {
    /// Begins to write `path`.
    ///
    /// # Errors
    /// When the folder is not there or cannot be written to, or `path` is a folder, a device or a
    /// pipe.
    pub fn create(path: &Path) -> Result<Self, CommandError> {
        if path.is_dir() {
            return Err(CommandError::input(path, "is a folder, expected a file to write"));
        }
        if path.exists() && !path.is_file() {
            let what = "is a device or a pipe, expected a file that can be replaced";
            return Err(CommandError::input(path, what));
        }
        // A link stays; what it points to is replaced.
        let target = path.canonicalize();
        let path = target.as_deref().unwrap_or(path);
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            let what = format!("expected to write it into a folder, but {folder:?} is none");
            return Err(CommandError::input(path, what));
        }
        let file = Builder::new()
            .prefix(".lockstep-")
            // What the user's mask leaves of it: as for any other file.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder)
            .map_err(|cause| {
                let what = format!("expected a folder to write it into, found {}", cause.kind());
                CommandError::input(path, what)
            })?;
        Ok(Self { path: path.to_owned(), writer: BufWriter::new(file) })
    }

    /// The name under which it is being written.
    pub fn temporary(&self) -> &Path {
        self.writer.get_ref().path()
    }

    /// Completes the file and moves it to its place.
    ///
    /// # Errors
    /// When it cannot be written or moved; nothing is left of it then.
    pub fn finish(self) -> Result<(), CommandError> {
        let Self { path, writer } = self;
        let file =
            writer.into_inner().map_err(|cause| CommandError::writing(&path, cause.error()))?;
        file.persist(&path).map_err(|cause| CommandError::writing(&path, cause.error))?;
        Ok(())
    }
}

/// Begins to write the files that were asked for, each by the flag that names it.
///
/// # Errors
/// As [`WholeFile::create`]; and when two flags name one file, of which the last would replace the others.
pub fn create_each<const N: usize>(
    files: [(&str, Option<&Path>); N],
) -> Result<[Option<WholeFile>; N], CommandError> {
    let named: Vec<_> = files.iter().filter_map(|(flag, path)| Some((flag, (*path)?))).collect();
    for (index, (flag, path)) in named.iter().enumerate() {
        if let Some((other, _)) = named[..index].iter().find(|(_, other)| is_same(path, other)) {
            let what = format!("{flag}: expected another file than that of {other}");
            return Err(CommandError::input(path, what));
        }
    }
    let mut created = [const { None }; N];
    for (place, (_, path)) in created.iter_mut().zip(files) {
        *place = path.map(WholeFile::create).transpose()?;
    }
    Ok(created)
}

/// Whether two paths lead to one file, be it there or still to be written.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let place = |path: &Path| {
        let whole = path.canonicalize().or_else(|_| {
            // A file that is still to be written, in a folder that may be named in several ways.
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let folder = folder.unwrap_or(Path::new(".")).canonicalize()?;
            Ok::<_, std::io::Error>(folder.join(path.file_name().unwrap_or_default()))
        });
        whole.ok()
    };
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_dropped_file_leaves_what_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result.json");
        fs::write(&path, "old").expect("written");
        let mut file = WholeFile::create(&path).expect("created");
        file.write_all(b"half").expect("written");
        file.flush().expect("flushed");
        drop(file);
        assert_eq!(fs::read_to_string(&path).expect("read"), "old");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn devices_are_refused_and_links_are_followed() {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
        assert!(matches!(WholeFile::create(&socket), Err(CommandError::Input(_))));
        let (link, real) = (folder.path().join("link"), folder.path().join("real"));
        fs::write(&real, "old").expect("written");
        std::os::unix::fs::symlink(&real, &link).expect("linked");
        let mut file = WholeFile::create(&link).expect("created");
        file.write_all(b"new").expect("written");
        file.finish().expect("finished");
        assert_eq!(fs::read_to_string(&real).expect("read"), "new");
        assert!(link.is_symlink());
    }

    #[test]
    fn two_flags_cannot_name_one_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result.json");
        let roundabout = folder.path().join(".").join("result.json");
        let files = [("--out", Some(path.as_path())), ("--trace", Some(roundabout.as_path()))];
        let failure = create_each(files).expect_err("one file");
        let message = failure.to_string();
        assert!(message.contains("--trace: expected another file than that of --out"), "{message}");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 0);
        let other = folder.path().join("trace.json");
        let files =
            [("--out", Some(path.as_path())), ("--trace", Some(&other)), ("--history", None)];
        assert_eq!(
            create_each(files).expect("two files").map(|file| file.is_some()),
            [true, true, false]
        );
    }

    #[test]
    fn a_finished_file_takes_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result.json");
        let mut file = WholeFile::create(&path).expect("created");
        file.write_all(b"whole").expect("written");
        assert!(!path.exists());
        file.finish().expect("finished");
        assert_eq!(fs::read_to_string(&path).expect("read"), "whole");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn an_impossible_place_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("missing").join("result.json");
        let failure = WholeFile::create(&path).expect_err("no such folder");
        assert!(matches!(failure, CommandError::Input(_)));
        assert!(failure.to_string().contains("missing/result.json"), "{failure}");
        let failure = WholeFile::create(folder.path()).expect_err("a folder");
        assert!(failure.to_string().contains("is a folder"), "{failure}");
    }
}
