// SPDX-License-Identifier: MIT OR Apache-2.0
//! The random cases of the lock table with host software and RTL on two sides of a socket.

use std::path::Path;

use crate::served::{self, ServerProcess, ServerThread};
use conformance::over_device::{Bounds, Unit, Witnessed};
use driver::lock_unit::stream::Code;
use seeds::Seeds;

/// Cases of each test.
const CASES: u64 = 80;

/// Runs the cases of all seeds; says what has come about.
fn run(path: &Path, seeds: &Seeds) -> Witnessed {
    let device = served::open(path).expect("a served device");
    let mut unit = Unit::new(&device, Bounds::default()).expect("a lock unit and its queue");
    seeds.each(|seed| unit.check_seed(seed));
    let witnessed = unit.witnessed();
    println!("{} cases: {witnessed:?}", seeds.count());
    witnessed
}

#[test]
fn served_by_a_thread() {
    let server = ServerThread::new();
    let seeds = seeds::of!(CASES);
    let witnessed = run(&server.path(), &seeds);
    let usual = [Code::Granted, Code::Queued, Code::Released, Code::Cancelled, Code::NotWaiting];
    if seeds.is_whole() {
        for code in usual {
            assert!(witnessed.responses[code as usize] > 0, "no response was {code:?}");
        }
        assert!(witnessed.notices > 0, "nobody was told of a lock that it waited for");
    }
}

#[test]
fn served_by_another_process() {
    let server = ServerProcess::new();
    run(&server.path(), &seeds::of!(CASES));
}
