// SPDX-License-Identifier: MIT OR Apache-2.0
//! A crate in a workspace of its own, with RTL of its own, builds its model and passes its test.

use std::fs;
use std::path::Path;
use std::process::Command;

/// After the first time, when the runtime is compiled once more, this takes a second or two.
#[test]
fn a_crate_of_another_workspace_builds_its_model() {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR"));
    let example = ours.join("examples/outside");
    // The versions that this workspace has are there, whether or not there is a network.
    fs::copy(ours.join("../../Cargo.lock"), example.join("Cargo.lock")).expect("a lock file");
    let run = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--manifest-path"])
        .arg(example.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside"))
        .output()
        .expect("cargo runs");
    let text = [run.stdout, run.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(run.status.success(), "{}", text.concat());
    let passed = "test it_counts_in_steps_up_to_the_largest_number ... ok";
    assert!(text[0].contains(passed), "{}", text.concat());
}
