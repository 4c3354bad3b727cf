// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the tests of generated files share: how such a file shows what it was made of, and that
//! nobody has changed it since.

use std::fmt::{Display, Write as _};
use std::fs;
use std::path::Path;

use sha2::{Digest, Sha256};

pub fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn read_text(path: &Path) -> String {
    String::from_utf8(read(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// SHA-256 over these parts, one behind the other, in hexadecimal.
pub fn sha256<T: AsRef<[u8]>>(parts: impl IntoIterator<Item = T>) -> String {
    let mut hash = Sha256::new();
    parts.into_iter().for_each(|part| hash.update(part));
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("strings take everything");
        text
    })
}

/// The digest of the sources in a header: over name, line feed and bytes of each of these files of
/// `folder`.
pub fn digest(folder: &Path, names: &[&str]) -> String {
    digest_of(names.iter().map(|name| (name, read(&folder.join(name)))))
}

/// The digest of sources of these names and bytes.
pub fn digest_of(sources: impl Iterator<Item = (impl Display, Vec<u8>)>) -> String {
    sha256(sources.flat_map(|(name, bytes)| [format!("{name}\n").into_bytes(), bytes]))
}

/// The text after an edit of the byte at `at`, if that is text still: a byte of a longer character
/// makes what no tool would write.
pub fn edited(text: &str, at: usize) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b' ' { b'_' } else { b' ' };
    String::from_utf8(bytes).ok()
}

#[test]
fn the_digest_notices_a_changed_byte_and_a_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("a.rdl", "one");
    let first = digest(folder.path(), &["a.rdl"]);
    // printf 'a.rdl\none' | sha256sum
    assert_eq!(first, "8feb4119c96cafe7cd6e6b0b87ea232aaa413785a0e53b7768bfde09a6800680");
    write("a.rdl", "two");
    let second = digest(folder.path(), &["a.rdl"]);
    write("b.rdl", "");
    let third = digest(folder.path(), &["a.rdl", "b.rdl"]);
    assert!(first != second && second != third);
}
