// SPDX-License-Identifier: MIT OR Apache-2.0
//! Rival engines: finds their programs, runs one of them in bounded time, reads what it prints.
//!
//! The programs are those of the workspace `tests/rivals/`, which `./kit bench rivals` builds. They
//! are started rather than linked, so that the engines are compiled only to be measured;
//! `tests/rivals/README.md` describes their arguments and output.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::BenchError;

/// The engines, in the order in which they are shown.
pub const ENGINES: [&str; 3] = ["fjall", "redb", "rocksdb"];

/// What a rival may take to load its rows, to add them up and to close, in addition to the
/// seconds that it was asked to run for.
const GRACE: Duration = Duration::from_secs(120);

/// How often a running rival is checked.
const LOOK: Duration = Duration::from_millis(5);

/// An engine's program.
#[derive(Clone, Debug)]
pub struct Rival {
    /// Which engine.
    pub engine: &'static str,
    program: PathBuf,
}

/// The task of a rival: the options of its command line.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// `transfer`, `smallbank` or `point-read`.
    pub workload: &'a str,
    /// How many threads.
    pub threads: usize,
    /// For how long.
    pub time: Duration,
    /// `lazy`, `none` or `group`.
    pub sync: &'a str,
    /// Decides what the threads draw.
    pub seed: u64,
    /// Rows, or accounts.
    pub rows: u64,
    /// Where its data may lie for the time of the run.
    pub folder: &'a Path,
}

/// The output of a rival.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Figures {
    /// The engine's name.
    pub engine: String,
    /// The engine's release.
    pub version: String,
    /// Transactions that were committed, or rows that were read.
    pub transactions: u64,
    /// The same by the second.
    pub per_second: f64,
    /// Transactions that were rolled back as they were meant to: SendPayment without funds.
    pub refused: u64,
    /// Tries that ended in a conflict.
    pub aborts: u64,
    /// Whether the balances added up at the end.
    pub sum_ok: bool,
}

impl Rival {
    /// All of them, in the folder where `./kit bench rivals` puts them.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn find(folder: &Path) -> Result<Vec<Self>, BenchError> {
        let find = |engine: &'static str| {
            let program = folder.join(format!("rival-{engine}"));
            match program.is_file() {
                true => Ok(Self { engine, program }),
                false => Err(BenchError::NoRival { program }),
            }
        };
        ENGINES.into_iter().map(find).collect()
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// When it cannot be started, fails, does not end in time, prints something else, or its
    /// balances do not add up. Then it does not run any more, and has left no data behind.
    pub fn run(&self, task: Task<'_>) -> Result<Figures, String> {
        self.run_within(task, task.time + GRACE)
    }

    fn run_within(&self, task: Task<'_>, limit: Duration) -> Result<Figures, String> {
        let blame = |what: String| format!("{}: {what}", self.program.display());
        // It removes its own folder inside this one, unless it is killed.
        let data = tempfile::Builder::new().prefix("rival-").tempdir_in(task.folder);
        let data = data.map_err(|error| format!("{}: {error}", task.folder.display()))?;
        let mut running = Running::start(&self.program, task, data.path())
            .map_err(|error| blame(format!("cannot be started: {error}")))?;
        let status = running.wait(limit).map_err(|error| blame(error.to_string()))?;
        let status =
            status.ok_or_else(|| blame(format!("did not end within {} s", limit.as_secs_f64())))?;
        let (printed, complained) = running.output().map_err(|error| blame(error.to_string()))?;
        if !status.success() {
            return Err(blame(format!("{status}: {}", (complained + &printed).trim())));
        }
        let figures: Figures = serde_json::from_str(printed.trim())
            .map_err(|error| blame(format!("printed {printed:?}: {error}")))?;
        match figures.sum_ok {
            true => Ok(figures),
            false => Err(blame(format!("the balances do not add up: {printed}"))),
        }
    }
}

/// A rival at work; killed when it is dropped before its end.
struct Running(Child);

impl Running {
    fn start(program: &Path, task: Task<'_>, data: &Path) -> std::io::Result<Self> {
        Command::new(program)
            .args(["--workload", task.workload, "--sync", task.sync])
            .args(["--threads", &task.threads.to_string()])
            .args(["--seconds", &task.time.as_secs_f64().to_string()])
            .args(["--seed", &task.seed.to_string(), "--rows", &task.rows.to_string()])
            .arg("--dir")
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map(Self)
    }

    /// How it ended, or nothing when it has not by then.
    fn wait(&mut self, limit: Duration) -> std::io::Result<Option<ExitStatus>> {
        let end = Instant::now() + limit;
        loop {
            let status = self.0.try_wait()?;
            if status.is_some() || Instant::now() >= end {
                return Ok(status);
            }
            thread::sleep(LOOK);
        }
    }

    /// What it has written to its output and as messages: a line or two, which a pipe holds, so
    /// that nobody needs to read while it runs.
    fn output(&mut self) -> std::io::Result<(String, String)> {
        let (mut printed, mut complained) = (String::new(), String::new());
        if let Some(mut output) = self.0.stdout.take() {
            output.read_to_string(&mut printed)?;
        }
        if let Some(mut messages) = self.0.stderr.take() {
            messages.read_to_string(&mut complained)?;
        }
        Ok((printed, complained))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both do nothing and fail when it has ended and was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    const LINE: &str = r#"{"engine":"fjall","version":"3","workload":"transfer","threads":2,"seconds":1.5,"sync":"none","transactions":30,"per_second":20.0,"refused":4,"aborts":1,"sum_ok":true}"#;

    /// A folder in which every rival is this shell script. A shell writes it: a file that this
    /// process has open for writing cannot be started while another test starts something.
    fn scripted(script: &str) -> TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for engine in ENGINES {
            let program = folder.path().join(format!("rival-{engine}"));
            let write = r##"printf '#!/bin/sh\n%s\n' "$1" >"$2" && chmod +x "$2""##;
            let mut shell = Command::new("sh");
            shell.args(["-c", write, "sh", script]).arg(&program);
            assert!(shell.status().expect("a shell").success(), "{}", program.display());
        }
        folder
    }

    /// Runs the first rival, and looks whether its data are gone afterwards.
    fn run(script: &str, limit: Duration) -> Result<Figures, String> {
        let folder = scripted(script);
        let data = tempfile::tempdir().expect("a folder");
        let task = Task {
            workload: "transfer",
            threads: 2,
            time: Duration::from_millis(1500),
            sync: "none",
            seed: 7,
            rows: 100,
            folder: data.path(),
        };
        let result = Rival::find(folder.path()).expect("all are there")[0].run_within(task, limit);
        assert_eq!(fs::read_dir(data.path()).expect("readable").count(), 0, "data are left");
        result
    }

    #[test]
    fn figures_are_read_from_the_line() {
        let script = format!(
            r#"echo "$*" | grep -q -- "^--workload transfer --sync none --threads 2 --seconds 1.5 --seed 7 --rows 100 --dir /" || exit 3
shift 13; touch "$1/data"; echo '{LINE}'"#
        );
        let figures = run(&script, GRACE).expect("whole");
        let expected = Figures {
            engine: "fjall".into(),
            version: "3".into(),
            transactions: 30,
            per_second: 20.0,
            refused: 4,
            aborts: 1,
            sum_ok: true,
        };
        assert_eq!(figures, expected);
    }

    #[test]
    fn whatever_else_a_rival_does_is_told() {
        for (script, told) in [
            ("echo no space is left >&2; exit 1", "rival-fjall: exit status: 1: no space is left"),
            ("echo 17 apples", "rival-fjall: printed \"17 apples\\n\": "),
            ("exit 0", "rival-fjall: printed \"\": "),
            (&format!("echo '{}'", LINE.replace("true", "false")), "the balances do not add up"),
        ] {
            let error = run(script, GRACE).expect_err(script);
            assert!(error.contains(told), "{error}");
        }
    }

    #[test]
    fn a_rival_that_does_not_end_is_killed() {
        let error = run("exec sleep 100", Duration::from_millis(50)).expect_err("too slow");
        assert!(error.ends_with("rival-fjall: did not end within 0.05 s"), "{error}");
    }

    #[test]
    fn a_rival_that_is_not_there_is_named() {
        let folder = scripted("");
        fs::remove_file(folder.path().join("rival-redb")).expect("removed");
        let error = Rival::find(folder.path()).expect_err("one is missing").to_string();
        assert!(error.contains("rival-redb: no such program; expected after: ./kit"), "{error}");
    }
}
