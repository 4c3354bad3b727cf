// SPDX-License-Identifier: MIT OR Apache-2.0
//! A PostgreSQL server in a temporary folder, on a socket in that folder alone.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::PostgresError;
use super::programs::Programs;

/// Stops the server and removes its folder when the pipe to it is closed, which the system does
/// however this process ends.
const SUPERVISE: &str = include_str!("supervise.sh");

/// For `mktemp`.
const FOLDER_LIMIT: Duration = Duration::from_secs(10);
/// For `initdb` and the start.
const START_LIMIT: Duration = Duration::from_secs(60);
/// For one query, longer than the server itself allows.
const QUERY_LIMIT: Duration = Duration::from_secs(150);
/// For the end, longer than the supervisor gives the server.
const STOP_LIMIT: Duration = Duration::from_secs(30);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(20);

/// A running server. Dropping it stops the server and removes its folder.
#[derive(Debug)]
pub struct Server {
    programs: Programs,
    folder: PathBuf,
    supervisor: Child,
    /// Closing it ends the server.
    keep_alive: Option<ChildStdin>,
}

impl Server {
    /// Begins to make a database and to start a server on it. [`Server::wait_until_ready`] waits
    /// for that.
    ///
    /// # Errors
    /// When no temporary folder can be made.
    pub fn start(programs: Programs) -> Result<Self, PostgresError> {
        let failed = |why: String| PostgresError::Start(why);
        let mut supervisor = supervise(&programs)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|cause| failed(format!("cannot start sh: {cause}")))?;
        let keep_alive = supervisor.stdin.take();
        let lines = Lines::of(supervisor.stdout.take().expect("was piped"));
        match lines.next(FOLDER_LIMIT, "a temporary folder") {
            Ok(Some(folder)) => {
                Ok(Self { programs, folder: folder.into(), supervisor, keep_alive })
            }
            Ok(None) => Err(failed(text_of(supervisor.stderr.take()))),
            Err(late) => Err(late),
        }
    }

    /// What it runs.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// Where its files and its socket are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Waits until it can be asked.
    ///
    /// # Errors
    /// When it does not start, with the end of its log.
    pub fn wait_until_ready(&self) -> Result<(), PostgresError> {
        let start = Instant::now();
        while start.elapsed() < START_LIMIT {
            let is_ready = self.client("pg_isready").args(["-q", "-t", "5"]).status();
            if self.folder.join("ended").exists() {
                return Err(PostgresError::Start(self.end_of_log()));
            }
            if is_ready.is_ok_and(|status| status.success()) {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Err(PostgresError::Silent { what: "the server's start".into(), limit: START_LIMIT })
    }

    /// Connects to it.
    ///
    /// # Errors
    /// When `psql` does not start.
    pub fn connect(&self) -> Result<Session, PostgresError> {
        let mut client = self
            .client("psql")
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", "postgres"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|cause| PostgresError::Start(format!("cannot start psql: {cause}")))?;
        let input = client.stdin.take();
        let lines = Lines::of(client.stdout.take().expect("was piped"));
        Ok(Session { client, input, lines })
    }

    /// One of PostgreSQL's own clients, for this server.
    fn client(&self, name: &str) -> Command {
        let mut command = self.programs.command(self.programs.folder.join(name));
        command.arg("-h").arg(&self.folder).args(["-U", "lockstep"]);
        command
    }

    fn end_of_log(&self) -> String {
        let log = fs::read(self.folder.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).trim().to_owned();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(8)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keep_alive.take());
        let ended = wait_for(&mut self.supervisor, STOP_LIMIT);
        if !ended || self.folder.exists() {
            let (process, folder) = (self.supervisor.id(), self.folder.display());
            eprintln!(
                "lockstep: the PostgreSQL server in {folder} is not yet stopped and removed after \
                 {} seconds; process {process} is at it",
                STOP_LIMIT.as_secs()
            );
        }
    }
}

/// One connection: one backend of the server.
#[derive(Debug)]
pub struct Session {
    client: Child,
    input: Option<ChildStdin>,
    lines: Lines,
}

/// Comes after the last row of an answer.
const END: &str = "lockstep: end of answer";

impl Session {
    /// The rows of the answer to `sql`, columns separated by `|`.
    ///
    /// # Errors
    /// When the server refuses it, ends, or takes longer than two minutes.
    pub fn query(&mut self, sql: &str) -> Result<Vec<String>, PostgresError> {
        if let Some(input) = &mut self.input {
            // A client that has ended is noticed below, with its reason.
            let _ = writeln!(input, "{sql};\n\\echo {END}").and_then(|()| input.flush());
        }
        let mut rows = Vec::new();
        loop {
            match self.lines.next(QUERY_LIMIT, sql)? {
                Some(line) if line == END => return Ok(rows),
                Some(row) => rows.push(row),
                None => {
                    let why = text_of(self.client.stderr.take());
                    return Err(PostgresError::Query { sql: sql.into(), why });
                }
            }
        }
    }

    /// The one number that answers `sql`.
    ///
    /// # Errors
    /// As [`Session::query`], and when the answer is no number.
    pub fn number(&mut self, sql: &str) -> Result<f64, PostgresError> {
        let rows = self.query(sql)?;
        let number = (rows.len() == 1).then(|| rows[0].parse().ok()).flatten();
        number.ok_or_else(|| PostgresError::Query {
            sql: sql.into(),
            why: format!("expected one number, found {rows:?}"),
        })
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        drop(self.input.take());
        if !wait_for(&mut self.client, Duration::from_secs(2)) {
            // Busy with a query that nobody waits for any more.
            let _ = self.client.kill();
            let _ = self.client.wait();
        }
    }
}

/// Lines of a pipe, read by a thread of their own, so that waiting for one has an end.
#[derive(Debug)]
struct Lines(Receiver<String>);

impl Lines {
    fn of(pipe: impl Read + Send + 'static) -> Self {
        let (sender, receiver) = channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(pipe).lines().map_while(Result::ok);
            // Ends early when nobody wants them any more.
            let _ = lines.try_for_each(|line| sender.send(line));
        });
        Self(receiver)
    }

    /// The next line; none at the end of the pipe.
    fn next(&self, limit: Duration, what: &str) -> Result<Option<String>, PostgresError> {
        match self.0.recv_timeout(limit) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => {
                Err(PostgresError::Silent { what: what.into(), limit })
            }
        }
    }
}

/// The command that runs a server for as long as its standard input is open.
pub(super) fn supervise(programs: &Programs) -> Command {
    let mut command = programs.command("sh");
    command.args(["-c", SUPERVISE, "supervise"]).arg(&programs.folder);
    // Ctrl-C reaches this process alone, whose end the supervisor notices.
    command.process_group(0);
    command
}

/// Whether `child` has ended within `limit`.
pub(super) fn wait_for(child: &mut Child, limit: Duration) -> bool {
    let start = Instant::now();
    loop {
        // That it cannot be waited for says that it is gone.
        if child.try_wait().map_or(true, |status| status.is_some()) {
            return true;
        }
        if start.elapsed() >= limit {
            return false;
        }
        thread::sleep(PAUSE);
    }
}

/// What a program that has closed its output said last.
fn text_of(pipe: Option<impl Read>) -> String {
    let mut text = String::new();
    if let Some(mut pipe) = pipe {
        // What can be read is better than nothing.
        let _ = pipe.read_to_string(&mut text);
    }
    text.trim().to_owned()
}
