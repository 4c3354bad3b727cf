// SPDX-License-Identifier: MIT OR Apache-2.0
//! A served device, checked and worked on by other processes over its socket.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use driver::{
    CopyCommand, Device, DeviceUri, Direction, HostMemory, PAGE_BYTES, Status, open_backend,
};
use serde_json::Value;
use vfio_user::Client;

use crate::{Done, SMALL, command, lockstep, lockstep_in, project};

/// How long anything may take that a server does.
const TIMEOUT: Duration = Duration::from_secs(60);

/// `lockstep serve` in a folder of its own, killed if a test forgets it.
struct Server {
    folder: tempfile::TempDir,
    process: Child,
    /// What it says, line by line, until it ends.
    said: Receiver<String>,
}

impl Server {
    /// A server that has said that it is ready.
    fn start(more: &[&str]) -> Self {
        let arguments = ["serve", "--socket", "device.socket"];
        Self::of(|folder| command(folder, arguments.iter().chain(more)))
    }

    /// A server that may write no file of more than 128 MiB, or 256 where the shell counts otherwise.
    fn start_with_small_files() -> Self {
        let serve = "ulimit -f 262144 && exec \"$0\" serve --socket device.socket";
        Self::of(|folder| shell(folder, serve))
    }

    fn of(command: impl FnOnce(&Path) -> Command) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut process = command(folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let said = lines(process.stdout.take().expect("a pipe"));
        let server = Self { folder, process, said };
        let line = server.line();
        assert_eq!(line, "ready at vfio-user:device.socket; Ctrl-C ends it");
        server
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("device.socket")
    }

    fn uri(&self) -> String {
        format!("vfio-user:{}", self.socket().display())
    }

    /// The next line that it says.
    fn line(&self) -> String {
        let line = self.said.recv_timeout(TIMEOUT);
        line.unwrap_or_else(|end| panic!("it said nothing more: {end}"))
    }

    /// The lines up to one with this part, which is the last of them.
    fn lines_until(&self, part: &str) -> Vec<String> {
        let mut lines = vec![self.line()];
        while !lines[lines.len() - 1].contains(part) {
            lines.push(self.line());
        }
        lines
    }

    fn signal(&self, name: &str) {
        signal(&self.process, name);
    }

    /// A client that has joined, and runs a scenario without an end.
    fn endless_client(&self) -> Child {
        let long = crate::shipped("scenarios/wall-clock.toml")
            .replace("duration_ns = 500_000_000", "duration_ns = 3_600_000_000_000");
        fs::write(self.folder.path().join("long.toml"), long).expect("written");
        let client = command(self.folder.path(), ["run", "long.toml", "--device", &self.uri()])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command starts");
        assert_eq!(self.line(), "client joined");
        client
    }

    /// A signal ends it in good order.
    fn is_ended_by(&mut self, signal: &str) {
        self.signal(signal);
        assert_eq!(self.line(), "ended; the socket is removed");
        assert_eq!(self.ended().code(), Some(0));
        assert!(!self.socket().exists());
    }

    /// Its end, which is to come soon.
    fn ended(&mut self) -> ExitStatus {
        ended(&mut self.process)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already is what is wanted.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A line of a shell in which `$0` is the command.
fn shell(folder: &Path, line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.current_dir(folder).args(["-c", line, env!("CARGO_BIN_EXE_lockstep")]);
    shell
}

/// Lines read on a thread of their own, so that the wait for one can be bounded.
fn lines(from: ChildStdout) -> Receiver<String> {
    let (said, receiver) = mpsc::channel();
    thread::spawn(move || {
        // It ends with the process, or when no requester is left.
        BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| said.send(line))
    });
    receiver
}

fn signal(process: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &process.id().to_string()]).status();
    assert!(sent.expect("kill starts").success());
}

fn ended(process: &mut Child) -> ExitStatus {
    let since = Instant::now();
    loop {
        if let Some(status) = process.try_wait().expect("a child") {
            return status;
        }
        assert!(since.elapsed() < TIMEOUT, "it has not ended within {TIMEOUT:?}");
        sleep(Duration::from_millis(5));
    }
}

/// The command, called from the project's folder with a bound.
fn bounded(arguments: &[&str]) -> Done {
    let mut process = command(&project(), arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // What it writes goes into the pipes' buffers.
    ended(&mut process);
    let output = process.wait_with_output().expect("it has ended");
    let text = |bytes| String::from_utf8(bytes).expect("the command speaks UTF-8");
    Done { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The wall-clock scenario, shortened, in a file of this folder.
fn scenario(folder: &Path) -> String {
    let text = crate::shipped("scenarios/wall-clock.toml");
    let short = text.replace("duration_ns = 500_000_000", "duration_ns = 100_000_000");
    assert_ne!(text, short);
    let path = folder.join("short.toml");
    fs::write(&path, short).expect("written");
    path.to_str().expect("UTF-8").into()
}

#[test]
fn clients_come_and_go_and_ctrl_c_removes_the_socket() {
    let mut server = Server::start(&[]);
    let only = ["--only", "identity", "--only", "lock requests", "--quick"];
    for _ in 0..2 {
        let uri = server.uri();
        let arguments: Vec<&str> = ["check", &uri].into_iter().chain(only).collect();
        let found = bounded(&arguments).expect_success();
        assert!(found.starts_with(&format!("{uri}, seed 1\nPASS    identity ")), "{found}");
        assert!(found.ends_with("PASS: 2 passed, 0 failed, 0 skipped\n"), "{found}");
        assert!(found.lines().skip(1).all(|line| line.chars().count() <= 100), "{found}");
        assert_eq!(server.line(), "client joined");
        let left = server.line();
        assert!(left.starts_with("client left: it closed the connection; "), "{left}");
    }
    server.is_ended_by("-INT");
}

#[test]
fn a_termination_removes_the_socket_as_well() {
    Server::start(&[]).is_ended_by("-TERM");
}

#[test]
fn a_scenario_runs_on_a_served_device() {
    let mut server = Server::start(&["--once"]);
    let scenario = scenario(server.folder.path());
    let uri = server.uri();
    let done = bounded(&["run", &scenario, "--device", &uri, "--json"]).expect_success();
    let report: Value = serde_json::from_str(done.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&report["mode"], &report["device_uri"]), (&"device".into(), &uri.into()));
    for side in ["host", "device"] {
        let committed = report[side]["committed"].as_u64();
        assert!(committed.is_some_and(|committed| committed > 0), "{side}: {report}");
    }
    assert_eq!(report["unit"].get("cycles"), None, "a driver sees no clock");
    let requests = report["unit"]["requests"].as_u64();
    assert!(requests.is_some_and(|requests| requests > 0), "{report}");
    server.lines_until("client left");
    assert_eq!(server.line(), "ended; the socket is removed", "--once");
    assert_eq!(server.ended().code(), Some(0));
}

/// A write beyond the limit of the size of files would end the server by SIGXFSZ.
#[test]
fn files_that_may_not_grow_are_an_error_of_a_copy_and_not_the_end_of_the_server() {
    let mut server = Server::start_with_small_files();
    let open = || open_backend(&DeviceUri::VfioUser(server.socket())).expect("a device");
    let device = Device::new(open()).expect("a device");
    let mut queue = device.copy_queue(2).expect("a queue");
    // Memory that may shrink is written by system calls, here far behind the limit.
    let file = tempfile::tempfile_in("/dev/shm").expect("a file in memory");
    file.set_len(2 << 30).expect("a sparse file");
    let page = HostMemory::map(file.into(), 1 << 30, PAGE_BYTES, PAGE_BYTES).expect("a mapping");
    let address = device.backend().map(&Arc::new(page)).expect("lent");
    let direction = Direction::CardToHost;
    let (source, destination, bytes) = (0, address, 64);
    let command = CopyCommand { direction, source, destination, bytes, interrupt: false };
    for _ in 0..2 {
        assert_eq!(queue.copy(command, TIMEOUT).expect("an end").status, Status::Destination);
    }
    drop((queue, device));
    server.lines_until("client left");
    assert!(Device::new(open()).is_ok(), "the next client is served");
    server.lines_until("client left");
    server.is_ended_by("-INT");
}

#[test]
fn a_server_whose_card_is_too_large_a_file_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let line = "ulimit -f 100 && exec \"$0\" serve --socket device.socket";
    let done = shell(folder.path(), line).output().expect("a shell");
    let said = String::from_utf8(done.stderr).expect("UTF-8");
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("make a simulated device: File too large"), "{said}");
}

#[test]
fn a_scenario_runs_on_a_device_of_this_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let table = bounded(&["run", &scenario(folder.path()), "--device", "sim:"]).expect_success();
    assert!(table.contains("\nsim:, wall clock, 1,024 buckets at the host, seed 1\n"), "{table}");
    assert!(table.contains("\nLock unit (of the device)\n"), "{table}");
    assert!(table.contains("the balances add up"), "{table}");
}

#[test]
fn a_client_that_is_killed_leaves_a_device_as_after_power_up() {
    let server = Server::start(&[]);
    let uri = server.uri();
    let mut client = server.endless_client();
    // In the midst of its work, or before it: the server is to bear both.
    sleep(Duration::from_millis(200));
    signal(&client, "-KILL");
    ended(&mut client);
    let lines = server.lines_until("client left");
    let only = ["--only", "identity", "--only", "register map", "--only", "copies", "--quick"];
    let arguments: Vec<&str> = ["check", &uri].into_iter().chain(only).collect();
    let found = bounded(&arguments).expect_success();
    assert!(found.contains("PASS: 3 passed"), "{lines:?} {found}");
}

#[test]
fn a_server_that_is_killed_ends_a_run_with_a_reason() {
    let server = Server::start(&[]);
    let uri = server.uri();
    let mut client = server.endless_client();
    sleep(Duration::from_millis(300));
    server.signal("-KILL");
    ended(&mut client);
    let output = client.wait_with_output().expect("it has ended");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.starts_with(&format!("lockstep: {uri}: ")), "{message}");
    assert!(message.contains("is gone") && !message.contains("panicked"), "{message}");
    // What it leaves behind is no server: the next one takes its place.
    assert!(server.socket().exists());
    let mut next = command(server.folder.path(), ["serve", "--socket", "device.socket"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let said = lines(next.stdout.take().expect("a pipe"));
    let line = said.recv_timeout(TIMEOUT).expect("a line");
    assert!(line.starts_with("ready at "), "{line}");
    signal(&next, "-INT");
    assert_eq!(ended(&mut next).code(), Some(0));
}

#[test]
fn a_server_keeps_the_waves_of_a_window() {
    let more = ["--once", "--waves", "w.fst", "--from", "0", "--to", "200"];
    let mut server = Server::start(&more);
    bounded(&["check", &server.uri(), "--only", "identity"]).expect_success();
    server.lines_until("ended");
    assert_eq!(server.ended().code(), Some(0));
    let waves = fs::read(server.folder.path().join("w.fst")).expect("written");
    // The first block of an FST file is its header: type 0, then its length of 329 bytes.
    assert_eq!(waves[..9], [0, 0, 0, 0, 0, 0, 0, 1, 73]);
    let window = ["serve", "--socket", "s", "--waves", "w2.fst", "--from", "9", "--to", "9"];
    refused(server.folder.path(), &window, &["--to 9: expected a cycle after --from 9"]);
    assert_eq!(fs::read_dir(server.folder.path()).expect("listed").count(), 1);
}

/// Refused with all `parts` in its message, and nothing on standard output.
fn refused(folder: &Path, arguments: &[&str], parts: &[&str]) {
    let done = lockstep_in(folder, arguments);
    assert_eq!(done.code, Some(2), "{arguments:?}: {}", done.stderr);
    assert_eq!(done.stdout, "", "{arguments:?}");
    for part in parts {
        assert!(done.stderr.contains(part), "{part:?} is missing in: {}", done.stderr);
    }
}

#[test]
fn uris_that_are_none_name_the_part() {
    let folder = tempfile::tempdir().expect("a folder");
    for (uri, parts) in [
        ("usb:1", ["scheme is \"usb\"", "expected sim:, vfio-user:/path/to/socket"]),
        ("sim:?card=3M", ["card is \"3M\"", "a power of two of bytes"]),
        ("vfio-user:here", ["path is \"here\"", "an absolute path"]),
        ("pci:0000:3b:00", ["PCI address is \"0000:3b:00\"", "domain:bus:device.function"]),
        ("pci:0000:3b:00.0?mode=uio", ["mode is \"uio\"", "sysfs or vfio"]),
    ] {
        refused(folder.path(), &["check", uri], &parts);
        refused(folder.path(), &["run", "x.toml", "--device", uri], &parts);
    }
}

#[test]
fn devices_that_cannot_be_opened_say_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    fs::write(path("file"), "no socket").expect("written");
    // A server listened here before, but no longer does.
    drop(UnixListener::bind(path("stale")).expect("a socket"));
    for (name, parts) in [
        ("none", ["no such device", "start a server there with `lockstep serve`"]),
        ("file", ["is not a socket", "start one with `lockstep serve`"]),
        ("stale", ["no such device", "lockstep serve"]),
    ] {
        refused(folder.path(), &["check", &format!("vfio-user:{}", path(name))], &parts);
    }
    let function = ["no function ffff:ff:1f.7", "lockstep doctor"];
    refused(folder.path(), &["check", "pci:ffff:ff:1f.7"], &function);
    refused(folder.path(), &["check", "pci:ffff:ff:1f.7?mode=sysfs"], &function);
    let card = ["67108864 bytes", "give 64M"];
    refused(folder.path(), &["check", "sim:?card=32M"], &card);
    let unknown = ["--only: check is \"speed\", expected one of identity, "];
    refused(folder.path(), &["check", "sim:", "--only", "speed"], &unknown);
}

#[test]
fn scenarios_in_virtual_time_are_not_for_devices() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), SMALL).expect("written");
    let parts = ["small.toml:3: field `mode` = \"virtual\"", "expected `wall-clock`"];
    refused(folder.path(), &["run", "small.toml", "--device", "sim:"], &parts);
}

#[test]
fn one_client_at_a_time_and_one_server_at_a_socket() {
    let mut server = Server::start(&[]);
    let first = Client::connect(&server.socket(), Default::default()).expect("connected");
    assert_eq!(server.line(), "client joined");
    refused(server.folder.path(), &["check", &server.uri()], &["in use"]);
    let again = ["serve", "--socket", "device.socket"];
    refused(server.folder.path(), &again, &["device.socket is in use by another server"]);
    drop(first);
    server.lines_until("client left");
    server.signal("-INT");
    assert_eq!(server.ended().code(), Some(0));
}

/// Server and client use the same variable for the identity of the device.
#[test]
fn a_device_may_have_other_pci_identifiers_if_software_is_told() {
    let mut server = Server::start(&["--pci-id", "1234:5678", "--once"]);
    let check = ["check", &server.uri(), "--only", "identity"];
    let told =
        |ids: &str| command(server.folder.path(), check).env("LOCKSTEP_PCI_ID", ids).output();
    let other = told("1234:5678:1234:5679").expect("the command starts");
    let text = String::from_utf8_lossy(&other.stderr);
    assert!(text.contains("is 1234:5678, expected 1234:5679: another device"), "{text}");
    server.lines_until("ended");
    assert_eq!(server.ended().code(), Some(0));

    let server = Server::start(&["--pci-id", "1234:5678"]);
    let check = ["check", &server.uri(), "--only", "identity"];
    let told =
        |ids: &str| command(server.folder.path(), check).env("LOCKSTEP_PCI_ID", ids).output();
    let right = told("1234:5678").expect("the command starts");
    assert_eq!(right.status.code(), Some(0), "{right:?}");
    let wrong = told("1234").expect("the command starts");
    let text = String::from_utf8_lossy(&wrong.stderr);
    assert!(text.contains("LOCKSTEP_PCI_ID: PCI identifiers \"1234\": expected vendor"), "{text}");
    let folder = server.folder.path();
    refused(folder, &["serve", "--socket", "s", "--pci-id", "12345678"], &["--pci-id", "expected"]);
}

#[test]
fn sockets_that_cannot_be_made_say_why() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("file"), "no socket").expect("written");
    let long = "x".repeat(120);
    for (path, parts) in [
        ("file", ["file is no socket", ""]),
        ("none/device.socket", ["No such file or directory", "make the folder first"]),
        (&long, ["too long", "at most 107 bytes"]),
    ] {
        refused(folder.path(), &["serve", "--socket", path], &parts);
    }
    assert_eq!(fs::read_to_string(folder.path().join("file")).expect("read"), "no socket");
    assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
}

#[test]
fn the_doctor_says_what_this_machine_has() {
    let text = lockstep(["doctor"]).expect_success();
    let found = lockstep(["doctor", "--json"]).expect_success();
    assert_eq!(found.lines().count(), 1, "{found}");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let findings = found["findings"].as_array().expect("a list");
    for part in ["IOMMU", "VFIO", "huge pages", "locked"] {
        let here = |finding: &&Value| finding["what"].as_str().expect("text").contains(part);
        let finding = findings.iter().find(here).unwrap_or_else(|| panic!("{part}: {found}"));
        assert!(text.contains(finding["found"].as_str().expect("text")), "{finding}\n{text}");
    }
    assert!(text.starts_with("PCI"), "{text}");
    assert!(found["functions"].is_array(), "{found}");
}

#[test]
fn a_check_as_json_is_one_line() {
    let only = ["--only", "identity", "--only", "interrupts", "--json", "--seed", "7", "--quick"];
    let arguments: Vec<&str> = ["check", "sim:"].into_iter().chain(only).collect();
    let found = bounded(&arguments).expect_success();
    assert_eq!(found.lines().count(), 1, "{found}");
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let is = |key: &str, value: Value| assert_eq!(found[key], value, "{found}");
    is("passed", true.into());
    is("seed", 7.into());
    is("device", "sim:".into());
    assert_eq!(found["checks"].as_array().map(Vec::len), Some(2), "{found}");
}
