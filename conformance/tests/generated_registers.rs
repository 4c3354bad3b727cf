//! What is made from the SystemRDL in `hw/regs` is what is committed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

/// Where generated files are: a file, or a folder that has no others. Besides, `hw/*.core`.
const PLACES: [&str; 9] = [
    "docs/registers.html",
    "driver/src/map/device.rs",
    "driver/src/map/lock_unit.rs",
    "driver/src/map/queue.rs",
    "driver/src/map/shell.rs",
    "hw/bsv/LockRegisterMap.bsv",
    "hw/ip",
    "hw/rtl/generated",
    "hw/rtl/lockstep_device.f",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
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
    let hardware = fs::read_dir(root.join("hw")).expect("a folder hw");
    let hardware = hardware.map(|entry| entry.expect("a readable folder").path());
    let cores = hardware.filter(|path| path.extension().is_some_and(|kind| kind == "core"));
    PLACES.iter().flat_map(|place| files(&root.join(place))).chain(cores).collect()
}

/// SHA-256 over name, line feed and bytes of each of these files of `folder`.
fn digest(folder: &Path, names: &[&str]) -> String {
    let mut hash = Sha256::new();
    for name in names {
        hash.update(format!("{name}\n"));
        hash.update(read(&folder.join(name)));
    }
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("strings take everything");
        text
    })
}

/// The digest in the header of a generated file, and the sources that it is of.
fn header(text: &str) -> Option<(&str, Vec<&str>)> {
    let line = text.lines().skip_while(|line| !line.contains("Generated from hw/regs")).nth(1)?;
    let (_, rest) = line.split_once("sources-sha256: ")?;
    let mut words = rest.trim_end_matches(" -->").split(' ');
    Some((words.next()?, words.collect()))
}

#[test]
fn each_header_has_the_digest_of_its_sources() {
    for path in generated(&root()) {
        let text = String::from_utf8(read(&path)).expect("text in UTF-8");
        let (found, sources) = header(&text).unwrap_or_else(|| {
            panic!("{} lies among generated files and has no header of one", path.display())
        });
        let expected = digest(&root().join("hw/regs"), &sources);
        assert!(!sources.is_empty(), "{} names no sources", path.display());
        assert_eq!(found, expected, "{} is stale: run hw/regs/generate", path.display());
    }
}

#[test]
fn the_digest_notices_a_changed_byte() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rdl"), "one").unwrap();
    // printf 'a.rdl\none' | sha256sum
    let expected = "8feb4119c96cafe7cd6e6b0b87ea232aaa413785a0e53b7768bfde09a6800680";
    assert_eq!(digest(folder.path(), &["a.rdl"]), expected);
    fs::write(folder.path().join("a.rdl"), "two").unwrap();
    assert_ne!(digest(folder.path(), &["a.rdl"]), expected);
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
