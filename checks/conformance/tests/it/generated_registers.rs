// SPDX-License-Identifier: MIT OR Apache-2.0
//! The committed files equal those generated from the SystemRDL in `hw/regs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::generated::{digest, edited, read, read_text, sha256};

/// Where generated files are: a file, or a folder that has no others. Besides, all files of
/// [`KINDS`] below `hw`, and those in folders `generated` below `hw/rtl`.
const PLACES: [&str; 10] = [
    "docs/registers.html",
    "driver/src/map/device.rs",
    "driver/src/map/dma_vectorizer.rs",
    "driver/src/map/lock_unit.rs",
    "driver/src/map/nic_lookup.rs",
    "driver/src/map/queue.rs",
    "driver/src/map/shell.rs",
    "driver/src/map/visibility_pe.rs",
    "hw/bsv/LockRegisterMap.bsv",
    "hw/ip",
];
/// How the names of generated files end, wherever they are.
const KINDS: [&str; 2] = ["core", "f"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files at or below `path`.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.into()];
    }
    let entries = fs::read_dir(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    entries.flat_map(|entry| files(&entry.expect("a readable folder").path())).collect()
}

/// All generated files below `root`.
fn generated(root: &Path) -> Vec<PathBuf> {
    let is_list =
        |path: &PathBuf| path.extension().is_some_and(|kind| KINDS.iter().any(|k| kind == *k));
    let is_block =
        |path: &PathBuf| path.parent().is_some_and(|folder| folder.ends_with("generated"));
    let lists = files(&root.join("hw")).into_iter().filter(is_list);
    let blocks = files(&root.join("hw/rtl")).into_iter().filter(is_block);
    let places = PLACES.iter().flat_map(|place| files(&root.join(place)));
    places.chain(lists).chain(blocks).collect()
}

/// A generated file, taken apart.
#[derive(Debug, PartialEq, Eq)]
struct Generated<'a> {
    sources_digest: &'a str,
    sources: Vec<&'a str>,
    body_digest: &'a str,
    /// All but the three lines of the header, which is not always at the top.
    body: [&'a str; 2],
}

impl<'a> Generated<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let notice = text.find("Generated from hw/regs")?;
        let first = text[..notice].rfind('\n').map_or(0, |end| end + 1);
        let mut lines = text[first..].split_inclusive('\n').take(3);
        let bytes: usize = lines.clone().map(str::len).sum();
        let mut value = |key| {
            let (_, value) = lines.next()?.trim_end().split_once(key)?;
            Some(value.trim_end_matches(" -->"))
        };
        value("Generated from hw/regs")?;
        let mut sources = value("sources-sha256: ")?.split(' ');
        Some(Self {
            sources_digest: sources.next()?,
            sources: sources.collect(),
            body_digest: value("body-sha256: ")?,
            body: [&text[..first], &text[first + bytes..]],
        })
    }

    /// Whether no edit has changed the body since it was made.
    fn is_untouched(&self) -> bool {
        sha256(self.body) == self.body_digest
    }
}

#[test]
fn each_header_has_the_digests_of_its_sources_and_of_the_rest() {
    for path in generated(&root()) {
        let text = read_text(&path);
        let file = Generated::parse(&text).unwrap_or_else(|| {
            panic!("{} lies among generated files and has no header of one", path.display())
        });
        let expected = digest(&root().join("hw/regs"), &file.sources);
        assert!(!file.sources.is_empty(), "{} names no sources", path.display());
        let stale = "is stale: run hw/regs/generate";
        assert_eq!(file.sources_digest, expected, "{} {stale}", path.display());
        assert!(
            file.is_untouched(),
            "{} was changed by hand: change hw/regs and run hw/regs/generate",
            path.display()
        );
    }
}

/// Of each generated file, a byte before the header or the next after it, one in the middle of what
/// follows, and the last.
#[test]
fn the_digest_notices_a_byte_that_was_changed_by_hand() {
    for path in generated(&root()) {
        let text = read_text(&path);
        let body = Generated::parse(&text).expect("a header").body;
        let [before, after] = body.map(str::len);
        let from = text.len() - after;
        let first = if before > 0 { before / 2 } else { from };
        for at in [first, from + after / 2, text.len() - 1] {
            let Some(edited) = edited(&text, at) else { continue };
            let file = Generated::parse(&edited).expect("the header is as it was");
            assert!(!file.is_untouched(), "byte {at} of {}", path.display());
        }
    }
}

/// Whether `hw/regs/generate` has the packages it wants, or may get them.
fn may_generate() -> bool {
    let wanted = read(&root().join("hw/regs/requirements.txt"));
    let stamp = fs::read(root().join(".kit/registers/requirements.txt"));
    std::env::var_os("LOCKSTEP_REGS_REGENERATE").is_some() || stamp.is_ok_and(|has| has == wanted)
}

#[test]
fn generating_again_gives_the_same_bytes() {
    if !may_generate() {
        println!(
            "skipped: no packages for hw/regs/generate (LOCKSTEP_REGS_REGENERATE=1 gets them)"
        );
        return;
    }
    let output = tempfile::tempdir().unwrap();
    let run = Command::new(root().join("hw/regs/generate")).arg(output.path()).output();
    let run = run.expect("hw/regs/generate runs");
    assert!(run.status.success(), "hw/regs/generate: {}", String::from_utf8_lossy(&run.stderr));
    let names = |paths: Vec<PathBuf>, folder: &Path| -> BTreeSet<PathBuf> {
        let name = |path: PathBuf| path.strip_prefix(folder).expect("below it").to_path_buf();
        paths.into_iter().map(name).collect()
    };
    let made = names(files(output.path()), output.path());
    let committed = names(generated(&root()), &root());
    assert_eq!(made, committed, "the files made, and those in the generated places");
    for name in made {
        let same = read(&output.path().join(&name)) == read(&root().join(&name));
        assert!(same, "{} is not what hw/regs/generate makes of the sources", name.display());
    }
}
