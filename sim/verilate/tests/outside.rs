// SPDX-License-Identifier: MIT OR Apache-2.0
//! A crate in a workspace of its own, with RTL of its own, builds its model and passes its test.

use std::fs;
use std::path::Path;
use std::process::Command;

/// It builds beside the workspace, without debug information as the packages there, so most of these
/// are there already. After the first time this takes a second or two.
#[test]
fn a_crate_of_another_workspace_builds_its_model() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
    let temporary = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // A copy, so that the sources get no lock file.
    let example = temporary.join("outside-sources");
    copy(&ours.join("examples/outside"), &example);
    let manifest = example.join("Cargo.toml");
    write(&manifest, manifest_of_copy(ours).as_bytes());
    // The versions that this workspace has are there, whether or not there is a network.
    fs::copy(ours.join("../../Cargo.lock"), example.join("Cargo.lock")).expect("a lock file");
    let run = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--manifest-path"])
        .arg(manifest)
        .env("CARGO_TARGET_DIR", temporary.parent().expect("the workspace's target folder"))
        .env("CARGO_PROFILE_DEV_DEBUG", "false")
        .output()
        .expect("cargo runs");
    let text = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(run.status.success(), "{}", text.concat());
    let passed = "test it_counts_in_steps_up_to_the_largest_number ... ok";
    assert!(text[0].contains(passed), "{}", text.concat());
}

/// The example's manifest, whose paths count from where the copy is not.
fn manifest_of_copy(ours: &Path) -> String {
    let text = fs::read_to_string(ours.join("examples/outside/Cargo.toml")).expect("a manifest");
    [("../../../verilated", ours.join("../verilated")), ("../..", ours.into())].iter().fold(
        text,
        |text, (relative, absolute)| {
            let from = format!("path = \"{relative}\"");
            assert!(text.contains(&from), "no `{from}` in the example's manifest");
            text.replace(&from, &format!("path = \"{}\"", absolute.display()))
        },
    )
}

/// Copies a crate's sources. The manifest and what Cargo makes are left out.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a temporary folder");
    for entry in fs::read_dir(from).expect("the example's folder") {
        let entry = entry.expect("an entry");
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if ["target", "Cargo.lock", "Cargo.toml"].map(Into::into).contains(&entry.file_name()) {
            continue;
        }
        if entry.file_type().expect("its type").is_dir() {
            copy(&from, &to);
        } else {
            write(&to, &fs::read(&from).expect("a source"));
        }
    }
}

/// Leaves a file alone that is right already: the time of its change makes Cargo build again.
fn write(path: &Path, bytes: &[u8]) {
    if fs::read(path).ok().as_deref() != Some(bytes) {
        fs::write(path, bytes).expect("a temporary file");
    }
}
