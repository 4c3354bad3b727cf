// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cost of a commit, and the speed of reading a log: printed, not asserted.
//!
//! `cargo test --release -p lockdb log::tests::cost -- --ignored --nocapture`

use std::io;
use std::sync::Arc;
use std::time::Instant;

use super::*;
use crate::files::{Disk, File, Files};

const BODY: usize = 150;

/// Nanoseconds from one commit to the next, of all threads together: the best of many rounds, so
/// that other work on the machine shows less.
fn run(log: &Log, threads: u64, commits: u64) -> f64 {
    let body = &body(1, BODY);
    let worker = || {
        for _ in 0..commits {
            let ticket = log.begin(BODY).unwrap();
            log.write(&ticket, Kind::Commit, body);
            let end = ticket.end();
            log.finish(ticket).unwrap();
            log.make_durable(end, Durability::None).unwrap();
        }
    };
    let round = || {
        let since = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(worker);
            }
        });
        since.elapsed().as_nanos() as f64 / (threads * commits) as f64
    };
    (0..150).map(|_| round()).fold(f64::INFINITY, f64::min)
}

/// Takes everything and keeps nothing.
#[derive(Debug)]
struct Nowhere;

impl Files for Nowhere {
    fn open(&self, _: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(Nowhere))
    }
    fn create(&self, _: &str) -> io::Result<Arc<dyn File>> {
        Ok(Arc::new(Nowhere))
    }
    fn remove(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(Vec::new())
    }
    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }
}

impl File for Nowhere {
    fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<()> {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
    fn write_at(&self, _: u64, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
    fn sync(&self) -> io::Result<()> {
        Ok(())
    }
    fn len(&self) -> io::Result<u64> {
        Ok(0)
    }
    fn set_len(&self, _: u64) -> io::Result<()> {
        Ok(())
    }
}

fn disk() -> (tempfile::TempDir, Arc<dyn Files>) {
    let folder = tempfile::tempdir().unwrap();
    let files = Arc::new(Disk::open(folder.path()).unwrap());
    (folder, files)
}

#[test]
#[ignore = "a measurement"]
fn commit() {
    for threads in [1, 2] {
        println!("volatile, {threads} threads: {:.0} ns", run(&Log::volatile(), threads, 20_000));
        let log = Log::start(Arc::new(Nowhere), &LogOptions::default(), start()).unwrap();
        println!("ring alone, {threads} threads: {:.0} ns", run(&log, threads, 20_000));
        let (_folder, files) = disk();
        let log = Log::start(files, &LogOptions::default(), start()).unwrap();
        println!("files, {threads} threads: {:.0} ns", run(&log, threads, 20_000));
    }
}

#[test]
#[ignore = "a measurement"]
fn read() {
    let (_folder, files) = disk();
    let log = Log::start(files.clone(), &LogOptions::default(), start()).unwrap();
    run(&log, 1, 13_000);
    log.make_durable(log.position().lsn, Durability::Immediate).unwrap();
    let since = Instant::now();
    let mut reader = Reader::open(files, start()).unwrap();
    while reader.read().unwrap().is_some() {}
    let bytes = reader.position().lsn as f64;
    println!("read {:.2} GB/s", bytes / since.elapsed().as_nanos() as f64);
}

#[test]
#[ignore = "a measurement"]
fn sync() {
    for threads in [1, 2, 4, 8] {
        let (_folder, files) = disk();
        let log = Log::start(files, &LogOptions::default(), start()).unwrap();
        let since = Instant::now();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let end = super::commit(&log, BODY);
                        log.make_durable(end, Durability::Group).unwrap();
                    }
                });
            }
        });
        let each = since.elapsed().as_micros() as f64 / f64::from(200 * threads);
        println!("durable, {threads} threads: {each:.0} us a commit");
    }
}
