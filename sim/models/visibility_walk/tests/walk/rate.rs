// SPDX-License-Identifier: MIT OR Apache-2.0
//! How many visible tuples a clock. Clocks are counted, so the figures are the same everywhere.

use crate::bench::{Bench, Surroundings};
use crate::random::compare;
use suites::walk::oracle::Oracle;
use suites::walk::scene::Scene;

/// With memory at 38 clocks (150 ns at 250 MHz), chains of 1 to 4 versions and rows of 64 bytes.
#[test]
fn a_quarter_of_a_tuple_a_clock() {
    let (mut scene, middle) = Scene::updated(1, 6000, 64);
    let (mut bench, mut oracle) = (Bench::new(0), Oracle::default());
    for (what, snapshot, forgets, least) in [
        ("the oldest version of each chain, nothing verified", 1, true, 0.0),
        ("the oldest version of each chain", 1, false, 0.25),
        ("versions anywhere in their chain", middle, false, 0.25),
        ("the newest version of each chain", u64::MAX, false, 0.25),
    ] {
        (scene.job.snapshot, scene.job.forgets_pages) = (snapshot, forgets);
        let expected = oracle.run(&scene.memory, &scene.job);
        let run = bench.run(&scene.memory, &scene.job, &Surroundings::smooth(), None).unwrap();
        compare(&run.answers, &expected).unwrap();
        let outputs = bench.model.outputs();
        let clocks = run.clocks as f64;
        let rate = outputs.visible_o as f64 / clocks;
        let (hops, lines) = (outputs.hops_o as f64, outputs.line_reads_o as f64);
        println!(
            "{what}: {rate:.3} tuples a clock, {:.2} hops and {:.2} lines a tuple, {:.2} lines a \
             clock of 2, {} pages checked",
            hops / outputs.visible_o as f64,
            lines / outputs.visible_o as f64,
            lines / clocks,
            outputs.page_checks_o
        );
        assert!(rate >= least, "{what}: {rate:.3} tuples a clock, expected {least}");
    }
}
