// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log as a whole.

use std::sync::Arc;

use super::*;
use crate::files::Memory;

mod cost;
mod crashing;
mod reading;
mod sequencing;

fn start() -> LogPosition {
    LogPosition { store: 0x5704e, epoch: 1, commit: 0, lsn: 0 }
}

fn small() -> LogOptions {
    LogOptions { ring_bytes: 4096, segment_bytes: 2048, commits_under_way: 8, ..Default::default() }
}

/// A body that says which commit it is of.
fn body(commit: u64, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (commit as usize * 31 + at) as u8 | 1).collect()
}

fn commit(log: &Log, bytes: usize) -> u64 {
    let ticket = log.begin(bytes).unwrap();
    log.write(&ticket, Kind::Commit, &body(ticket.commit(), bytes));
    let end = ticket.end();
    log.finish(ticket).unwrap();
    end
}

#[test]
fn records_come_back_over_segment_boundaries() {
    let files = Arc::new(Memory::new());
    let log = Log::start(files.clone(), &small(), start()).unwrap();
    let lengths = [0, 1, 7, 8, 9, 150, 1500, 3000, 4096, 10_000, 5];
    for round in 0..20 {
        for &bytes in &lengths {
            let end = commit(&log, bytes);
            let level = [Durability::None, Durability::Group, Durability::Immediate][round % 3];
            log.make_durable(end, level).unwrap();
        }
    }
    log.make_durable(log.position().lsn, Durability::Group).unwrap();
    assert_eq!(log.position(), log.tail());
    assert_eq!(log.durable(), log.tail().lsn);
    let mut reader = Reader::open(files.clone(), start()).unwrap();
    let mut expected = 0;
    while let Some(record) = reader.read().unwrap() {
        let bytes = lengths[expected as usize % lengths.len()];
        expected += 1;
        assert_eq!((record.kind, record.commit), (Kind::Commit, expected));
        assert_eq!(record.body, body(expected, bytes));
    }
    assert_eq!((reader.position(), reader.torn()), (log.position(), None));
    assert!(segment::Segment::list(&*files).unwrap().len() > 20);
}
