// SPDX-License-Identifier: MIT OR Apache-2.0
//! The committed Verilog was generated from the committed Bluespec.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

const TOPS: [&str; 2] = ["tuple_lock_unit.v", "tuple_lock_unit_sabotaged.v"];

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hw/bsv")
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// SHA-256 over name, line feed and bytes of each `*.bsv` in the byte order of the names:
/// `hw/bsv/generate`.
fn digest(folder: &Path) -> String {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a readable folder").file_name())
        .map(|name| name.into_string().expect("a name in UTF-8"))
        .filter(|name| name.ends_with(".bsv"))
        .collect();
    names.sort_unstable();
    let mut hash = Sha256::new();
    for name in names {
        hash.update(format!("{name}\n"));
        hash.update(read(&folder.join(name)));
    }
    hexadecimal(hash)
}

fn hexadecimal(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("strings take everything");
        text
    })
}

fn committed(top: &str) -> String {
    let path = sources().join("generated").join(top);
    String::from_utf8(read(&path)).expect("Verilog in ASCII")
}

/// Whether no edit has changed what follows the three lines of the header since it was made.
fn is_untouched(text: &str) -> bool {
    let mut parts = text.splitn(4, '\n');
    let named = parts.nth(2).and_then(|line| line.strip_prefix("// body-sha256: "));
    let body = parts.next().unwrap_or_default();
    named == Some(&*hexadecimal(Sha256::new_with_prefix(body)))
}

#[test]
fn its_header_has_the_digests_of_the_sources_and_of_the_rest() {
    let expected = format!("// sources-sha256: {}", digest(&sources()));
    for top in TOPS {
        let text = committed(top);
        let found = text.lines().nth(1).unwrap_or_default();
        assert_eq!(found, expected, "{top} is stale: run hw/bsv/generate");
        assert!(
            is_untouched(&text),
            "{top} was changed by hand: change hw/bsv and run hw/bsv/generate"
        );
    }
}

/// The first byte behind the header, one in the middle, and the last; and a byte too many or too few.
#[test]
fn the_digest_notices_a_byte_that_was_changed_by_hand() {
    for top in TOPS {
        let text = committed(top);
        let from = text.split_inclusive('\n').take(3).map(str::len).sum();
        for at in [from, from + (text.len() - from) / 2, text.len() - 1] {
            let mut edited = text.clone().into_bytes();
            edited[at] = if edited[at] == b' ' { b'_' } else { b' ' };
            let edited = String::from_utf8(edited).expect("Verilog in ASCII");
            assert!(!is_untouched(&edited), "byte {at} of {top}");
        }
        assert!(!is_untouched(&format!("{text}\n")), "a line feed behind {top}");
        assert!(!is_untouched(&text[..text.len() - 1]), "no last byte of {top}");
        let without_digest = text.replacen("// body-sha256: ", "// ", 1);
        assert!(!is_untouched(&without_digest), "no digest of {top}");
    }
}

#[test]
fn the_digest_notices_a_changed_byte_and_a_new_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("A.bsv", "one");
    write("notes.txt", "not a source");
    let first = digest(folder.path());
    // printf 'A.bsv\none' | sha256sum
    assert_eq!(first, "388b4bbb3ddcb8f246eceed25a3b143856655328d3e39645ea36ab46f8fb105a");
    write("A.bsv", "two");
    let second = digest(folder.path());
    write("B.bsv", "");
    let third = digest(folder.path());
    assert!(first != second && second != third);
}

/// The compiler that `hw/bsv/generate` would use, if there is one.
fn compiler() -> Option<OsString> {
    if let Some(named) = std::env::var_os("BSC") {
        return Some(named);
    }
    let found = Command::new("bsc").arg("-v").output().is_ok();
    found.then(|| "bsc".into())
}

#[test]
fn generating_it_again_gives_the_same_bytes() {
    let Some(compiler) = compiler() else {
        println!("skipped: no Bluespec compiler");
        return;
    };
    let output = tempfile::tempdir().unwrap();
    let run = Command::new(sources().join("generate"))
        .arg(output.path())
        .env("BSC", compiler)
        .output()
        .expect("hw/bsv/generate runs");
    assert!(run.status.success(), "hw/bsv/generate: {}", String::from_utf8_lossy(&run.stderr));
    for top in TOPS {
        let again = read(&output.path().join(top));
        assert!(
            committed(top).as_bytes() == again,
            "{top} is not what hw/bsv/generate makes of the sources"
        );
    }
}
