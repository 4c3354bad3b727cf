// SPDX-License-Identifier: MIT OR Apache-2.0
//! The `lockstep` command as its users meet it: what it prints, its exit codes, and what it
//! leaves behind.

mod bad_input;
mod cluster;
mod demo;
mod device;
mod experiment;
mod help;
mod history;
mod interrupt;
mod near_data;
mod nic;
mod run;
mod trace;
mod wave;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The effect of the command.
struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

/// The command with `arguments`, called from `folder`.
fn command(folder: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command.current_dir(folder).args(arguments);
    command
}

/// Runs the command from the folder of the project.
fn lockstep(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Done {
    lockstep_in(&project(), arguments)
}

fn lockstep_in(folder: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Done {
    let output = command(folder, arguments).output().expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("the command speaks UTF-8");
    Done { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Done {
    /// The standard output of a run that went well.
    fn expect_success(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.stdout
    }
}

/// The folder of the project.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// The text of a shipped file.
fn shipped(path: &str) -> String {
    fs::read_to_string(project().join(path)).expect(path)
}

/// A short scenario with host and device, of 2 + 2 agents.
const SMALL: &str = r#"name = "small"
platform = "n1sdp-u280-ccix"
mode = "virtual"
seed = 3

[table]
buckets = 1024
home = "host"

[stop]
duration_ns = 20000

[host]
workers = 2
wait = "wait-die"

[device]
processing_elements = 2
transactions_in_flight = 1
wait = "wait-die"

[workload.hot-row]
rows = 2
"#;
