// SPDX-License-Identifier: MIT OR Apache-2.0
//! The committed Verilog was generated from the committed Bluespec.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::generated::{digest_of, edited, read, read_text, sha256};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../hw/bsv")
}

/// The files of a folder with this ending, in the byte order of their names.
fn names_in(folder: &Path, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a readable folder").file_name())
        .map(|name| name.into_string().expect("a name in UTF-8"))
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort_unstable();
    names
}

/// All Verilog that was generated, whether a model is made of it or a proof is about it.
fn tops() -> Vec<String> {
    let tops = names_in(&sources().join("generated"), ".v");
    assert!(tops.iter().any(|top| top == "tuple_lock_unit.v"), "the lock unit is not in {tops:?}");
    tops
}

/// The digest of all `*.bsv` of a folder in the byte order of their names, without lines that have
/// the digest of what a source was made of: `hw/bsv/generate` says why.
fn digest(folder: &Path) -> String {
    let names = names_in(folder, ".bsv");
    digest_of(names.iter().map(|name| {
        let mut bytes = Vec::new();
        for line in read(&folder.join(name)).split_inclusive(|&byte| byte == b'\n') {
            if !line.starts_with(b"// sources-sha256: ") {
                bytes.extend_from_slice(line);
            }
        }
        (name, bytes)
    }))
}

fn committed(top: &str) -> String {
    read_text(&sources().join("generated").join(top))
}

/// Whether no edit has changed what follows the three lines of the header since it was made.
fn is_untouched(text: &str) -> bool {
    let mut parts = text.splitn(4, '\n');
    let named = parts.nth(2).and_then(|line| line.strip_prefix("// body-sha256: "));
    let body = parts.next().unwrap_or_default();
    named == Some(&*sha256([body]))
}

#[test]
fn its_header_has_the_digests_of_the_sources_and_of_the_rest() {
    let expected = format!("// sources-sha256: {}", digest(&sources()));
    for top in tops() {
        let text = committed(&top);
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
    for top in tops() {
        let text = committed(&top);
        let from = text.split_inclusive('\n').take(3).map(str::len).sum();
        for at in [from, from + (text.len() - from) / 2, text.len() - 1] {
            let edited = edited(&text, at).expect("Verilog in ASCII");
            assert!(!is_untouched(&edited), "byte {at} of {top}");
        }
        assert!(!is_untouched(&format!("{text}\n")), "a line feed behind {top}");
        assert!(!is_untouched(&text[..text.len() - 1]), "no last byte of {top}");
        let without_digest = text.replacen("// body-sha256: ", "// ", 1);
        assert!(!is_untouched(&without_digest), "no digest of {top}");
    }
}

#[test]
fn the_digest_is_of_all_bluespec_files_in_the_order_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("B.bsv", "two");
    write("a.bsv", "three");
    write("A.bsv", "one");
    write("notes.txt", "not a source");
    // printf 'A.bsv\noneB.bsv\ntwoa.bsv\nthree' | sha256sum
    let expected = "cdd0c2cb6042440a1501973d34ca99f31896a0b2252e98aa52bd3d65612645c3";
    assert_eq!(digest(folder.path()), expected);
    write("C.bsv", "");
    assert_ne!(digest(folder.path()), expected);
}

/// Or else a block of registers could be added only where the Bluespec compiler is.
#[test]
fn the_digest_does_not_depend_on_what_a_source_was_made_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("Made.bsv");
    let made = read_text(&sources().join("LockRegisterMap.bsv"));
    let digest_with = |text: &str| {
        fs::write(&path, text).unwrap();
        digest(folder.path())
    };
    let committed = digest_with(&made);
    let header: Vec<_> = made.split_inclusive('\n').take(3).collect();
    let elsewhere = made.replacen(header[1], "// sources-sha256: 0 of_others.rdl\n", 1);
    assert_ne!(elsewhere, made, "the second line of the header has the digest");
    assert_eq!(digest_with(&elsewhere), committed);
    let body = header.concat().len();
    for at in [0, header[..2].concat().len(), body, body + (made.len() - body) / 2, made.len() - 1]
    {
        let edited = edited(&made, at).expect("Bluespec in ASCII");
        assert_ne!(digest_with(&edited), committed, "byte {at}");
    }
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
    assert_eq!(names_in(output.path(), ".v"), tops());
    for top in tops() {
        let again = read(&output.path().join(&top));
        assert!(
            committed(&top).as_bytes() == again,
            "{top} is not what hw/bsv/generate makes of the sources"
        );
    }
}
