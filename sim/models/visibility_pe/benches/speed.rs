// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the model of the element is: the bare clock idle, and with all pins through a run
//! over a VID map that is all zero.
//!
//! `cargo bench -p lockstep-visibility-pe --bench speed`

use std::time::Instant;

use driver::visibility_element::JobBlock;
use sim::visibility_element::{Element, SparseMemory, Surroundings};
use visibility_pe::Model;

/// Clocks, and VIDs, of each measurement.
const TIMES: u32 = 200_000;

fn main() {
    let mut model = Model::new();
    model.reset(4);
    let start = Instant::now();
    model.toggle_only(TIMES.into());
    println!("bare clock idle: {:.2} M cycles/s", millions(TIMES.into(), start));

    let mut element = Element::new(Model::new(), &Surroundings::smooth());
    let mut memory = SparseMemory::default();
    let job = JobBlock { vid_end: TIMES, table: 7, ..JobBlock::default() };
    memory.place(0, &job.encode());
    let start = Instant::now();
    let run = element.run(&mut memory, 0, u64::MAX).expect("a run without rows");
    println!("a run, all pins: {:.2} M cycles/s", millions(run.clocks, start));
}

fn millions(clocks: u64, start: Instant) -> f64 {
    clocks as f64 / start.elapsed().as_secs_f64() / 1e6
}
