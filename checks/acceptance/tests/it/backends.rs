// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite against the RTL through every backend that this machine has: in this process, at a
//! server's socket in this process, and at one in another process. The backends through the kernel are
//! tried in a guest: `docs/qemu.md`.

use crate::served::{self, ServerProcess, ServerThread};
use acceptance::{CheckReport, Extent, Options, Report, Verdict, run};
use driver::{Device, OpenError};

fn options() -> Options {
    let seeds = seeds::of!(60);
    // The checks draw from the first seed, each its cases.
    let (seed, cases) = (seeds.first(), u32::try_from(seeds.count()).unwrap_or(u32::MAX));
    let options = Options { seed, cases, samples: 100, ..Options::default() };
    if cases != 60 { Options { extent: Extent::Full, ..options } } else { options }
}

/// Runs the whole suite; all of it passes and nothing is skipped.
fn passes(mut open: impl FnMut() -> Result<Device, OpenError>) -> Report {
    let options = options();
    let report = run(&mut open, &options, &mut |_| {});
    let Options { seed, cases, .. } = options;
    println!("LOCKSTEP_SEED={seed} LOCKSTEP_CASES={cases}\n{report}");
    let passed = |check: &&CheckReport| check.verdict == Verdict::Pass;
    let count = report.checks.iter().filter(passed).count();
    assert_eq!(count, acceptance::names().len(), "{report}");
    report
}

#[test]
fn in_process() {
    passes(served::open_simulated);
}

#[test]
fn at_a_socket_of_this_process() {
    let server = ServerThread::new();
    let path = server.path();
    let report = passes(|| served::open(&path));
    let second = report.check("second opener").expect("it was run");
    assert_eq!(second.detail, "it was turned away as busy");
    // The same server, once more: it forgets a client that has left.
    server.await_clients(0);
    let only = options().only(&["identity", "register map", "copies"]).expect("they exist");
    let again = run(&mut || served::open(&path), &only, &mut |_| {});
    assert!(again.passed(), "{again}");
}

#[test]
fn at_a_socket_of_another_process() {
    let server = ServerProcess::new();
    passes(|| served::open(&server.path()));
}
