// SPDX-License-Identifier: MIT OR Apache-2.0
//! What adoption and commit take of a core, a row: figures for the platform files of the simulator.
//! `cargo test -p lockdb --test it near_data::price -- --ignored --nocapture` prints them.

use std::time::{Duration, Instant};

use lockdb::{Durability, Isolation, Options, TransactionOptions};
use locks::{Policy, Waiting};

use super::device::Job;
use super::scene::Scene;

const ROWS: i64 = 100_000;
const ROUNDS: usize = 9;

#[test]
#[ignore = "measures; run it alone"]
fn price_of_adoption() {
    let waiting = Waiting { policy: Policy::NoWait, ..Waiting::default() };
    let scene = Scene::with(
        ROWS,
        Options { lock_buckets: 1 << 20, waiting, maintenance: false, ..Options::default() },
    );
    scene.store.checkpoint().unwrap();
    let quick = TransactionOptions { isolation: Isolation::Snapshot, durability: Durability::None };
    let mut best = [Duration::MAX; 3];
    let (mut rows, mut pages) = (0, 0);
    for round in 0..ROUNDS {
        let mut session = scene.store.session().unwrap();
        let mut transaction = session.begin(quick);
        let invocation = transaction.near_data(&scene.table).unwrap();
        let mut device = scene.device();
        pages = 400;
        let began = Instant::now();
        let reservations = transaction.reserve_pages(&scene.table, pages).unwrap();
        let reserving = began.elapsed();
        device.take_over(reservations);
        let job = device.update(&invocation, &scene.table, |row| {
            let (id, n) = (row.as_row().int(0), row.as_row().int(1));
            row.set_int(1, n + 1);
            id % 10 == round as i64
        });
        assert_eq!(job, Job::Done);
        rows = device.rows.len();
        let began = Instant::now();
        transaction.adopt(&scene.table, &device.rows).unwrap();
        let adopting = began.elapsed();
        let mut finalizing = Duration::ZERO;
        let began = Instant::now();
        transaction
            .commit_finalizing(&mut |finalize| {
                let began = Instant::now();
                let finalized = device.finalize(finalize);
                finalizing = began.elapsed();
                finalized
            })
            .unwrap();
        let committing = began.elapsed() - finalizing;
        for (best, took) in best.iter_mut().zip([reserving, adopting, committing]) {
            *best = took.min(*best);
        }
    }
    let [reservation, adopt, commit] = best.map(|time| time.as_nanos() as f64);
    println!("reservation: {:.1} ns a page of {pages}", reservation / pages as f64);
    println!("adopt: {:.1} ns a row of {rows}", adopt / rows as f64);
    println!("commit and release, without the finalization: {:.1} ns a row", commit / rows as f64);
}
