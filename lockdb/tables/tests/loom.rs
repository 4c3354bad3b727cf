// SPDX-License-Identifier: MIT OR Apache-2.0
//! The slots and the locks on atomics under every schedule that the memory model admits, by `loom`:
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p lockstep-tables --test loom --target-dir target/loom`
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use tables::memory::AtomicMemory;
use tables::robin_hood::{RobinHood, RobinHoodTable, Shape};
use tables::{Hint, RemoteTable, Step, Table, Values, Walk, look_up};

/// A line of four slots, two of them homes.
const SHAPE: Shape =
    Shape { slots: 2, limit: Some(2), segment: 2, overflow_slots: 0, values: Values::inline(0) };

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

fn table(shape: Shape) -> RobinHoodTable<AtomicMemory> {
    let geometry = RobinHood::new(shape).unwrap();
    Table::new(geometry, AtomicMemory::allocated(geometry.ground().words())).unwrap()
}

/// The first keys with this home.
fn keys(home: u32) -> impl Iterator<Item = u64> {
    let geometry = RobinHood::new(SHAPE).unwrap();
    (0..).filter(move |&key| geometry.home(key) == home)
}

/// An object that an insertion moves is found by the host's threads. (The reader is a thread of its own: `loom`
/// explores next to nothing when the main thread reads.)
#[test]
fn a_local_look_up_finds_what_is_moved() {
    explore(3, || {
        let table = Arc::new(table(SHAPE));
        let (moved, mut others) = (keys(1).next().unwrap(), keys(0));
        let (old, new) = (others.next().unwrap(), others.next().unwrap());
        table.insert(old, &[]).unwrap();
        table.insert(moved, &[]).unwrap();
        let writer = {
            let table = table.clone();
            thread::spawn(move || table.insert(new, &[]).unwrap())
        };
        let reader = {
            let table = table.clone();
            thread::spawn(move || assert_eq!(table.get(moved, &mut Vec::new()), Some(1)))
        };
        reader.join().unwrap();
        writer.join().unwrap();
        assert_eq!(table.get(new, &mut Vec::new()), Some(1));
    });
}

/// A remote reader that loads the words of a line one by one finds it, too.
#[test]
fn a_remote_look_up_finds_what_is_moved() {
    explore(2, || {
        let table = Arc::new(table(SHAPE));
        let (moved, mut others) = (keys(1).next().unwrap(), keys(0));
        let (old, new) = (others.next().unwrap(), others.next().unwrap());
        table.insert(old, &[]).unwrap();
        table.insert(moved, &[]).unwrap();
        let writer = {
            let table = table.clone();
            thread::spawn(move || table.insert(new, &[]).unwrap())
        };
        let reader = {
            let table = table.clone();
            let hint = Hint { displacement: Some(3), overflow: Some(Default::default()) };
            thread::spawn(move || look_up(table.memory(), table.plan(moved, hint)).0)
        };
        let step = reader.join().unwrap();
        assert!(matches!(step, Step::Found(_)), "{step:?}");
        writer.join().unwrap();
    });
}

/// An update is seen whole or not at all.
#[test]
fn a_value_is_never_torn() {
    explore(3, || {
        let shape = Shape { slots: 1, limit: Some(1), segment: 1, ..SHAPE };
        let table = Arc::new(table(Shape { values: Values::inline(16), ..shape }));
        table.insert(7, &[1; 16]).unwrap();
        let writer = {
            let table = table.clone();
            thread::spawn(move || table.update(7, &[2; 16]).unwrap())
        };
        let mut value = Vec::new();
        match table.get(7, &mut value) {
            Some(1) => assert_eq!(value, [1; 16]),
            Some(2) => assert_eq!(value, [2; 16]),
            version => panic!("{version:?}"),
        }
        assert_eq!(writer.join().unwrap(), 2);
    });
}

/// Two writers of one stripe take turns.
#[test]
fn writers_take_turns() {
    explore(3, || {
        let table = Arc::new(table(SHAPE));
        let mut keys = keys(0);
        let (mine, its) = (keys.next().unwrap(), keys.next().unwrap());
        let writer = {
            let table = table.clone();
            thread::spawn(move || table.insert(its, &[]).unwrap())
        };
        table.insert(mine, &[]).unwrap();
        writer.join().unwrap();
        assert_eq!(table.statistics().objects, 2);
        for key in [mine, its] {
            assert_eq!(table.get(key, &mut Vec::new()), Some(1));
        }
    });
}
