// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many lines a clock, and how long an answer takes. Clocks are counted, so the figures are the same
//! everywhere.

use nic::scan::{Line, Scan};

use crate::bench::{Bench, Stalls, Work};
use crate::dut::{Beat, SLOTS_16, SLOTS_32, SLOTS_128, Subject};

/// Clocks from that in which a scan's last line is taken to that in which its answer is offered.
const LATENCY: u64 = 6;

/// Scans of so many lines each, without stalls.
fn measure(subject: Subject, lines: u8) {
    let shape = subject.shape();
    let slots = usize::from(lines) * 8 / shape.slot().words();
    let mut work = Work::default();
    for token in 0..200 {
        work.scans.push(Scan {
            token,
            key: 1,
            first_word: 0,
            slots: slots as u8,
            displacement: 0,
            limit: 64,
            is_overflow: false,
            sum: 0,
            torn: false,
        });
        let line = |n| Beat(Line { is_last: n + 1 == lines, ..Line::default() });
        work.lines.extend((0..lines).map(line));
    }
    let run = Bench::new(subject, 0, 0).run(&work, Stalls::default(), None).unwrap();
    let first = run.lines[0];
    let pauses = run.lines.last().unwrap() - first + 1 - run.lines.len() as u64;
    let ends = run.lines.iter().skip(usize::from(lines) - 1).step_by(lines.into());
    let latencies: Vec<u64> =
        run.answers.iter().zip(ends).map(|(taken, end)| taken.0 - end).collect();
    println!(
        "slots of {} bytes, scans of {lines} lines: {} lines in {} clocks, an answer after {} clocks",
        shape.slot().bytes(),
        run.lines.len(),
        run.lines.len() as u64 + pauses,
        latencies[0]
    );
    assert_eq!(pauses, 0, "clocks without a line");
    assert!(latencies.iter().all(|&clocks| clocks == LATENCY), "latencies: {latencies:?}");
}

#[test]
fn a_line_a_clock_and_scans_without_a_pause() {
    for lines in [1, 2, 3, 8] {
        measure(SLOTS_16, lines);
        measure(SLOTS_32, lines);
    }
    for lines in [2, 4, 16] {
        measure(SLOTS_128, lines);
    }
}
