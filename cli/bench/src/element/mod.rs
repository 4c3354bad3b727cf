// SPDX-License-Identifier: MIT OR Apache-2.0
//! The visibility element's RTL in clock cycles: the rate of visible tuples of one element, and of
//! several that share a memory.
//!
//! A table was loaded in the order of its VIDs and then updated in a random order, until each chain
//! had 1 to 4 versions; rows of 64 bytes, in full in the output. Memory answers 38 clocks after it
//! has admitted a line: 150 ns at 250 MHz.

mod table;

use sim::bus::BusError;
use sim::visibility_element::{DeviceMemory, Element, SparseMemory, Surroundings};
use visibility_pe::Model;

use super::{Goal, Measurement, Size};
use driver::visibility_element::{Counters, JobBlock, Packet};
use table::ElementTable;

/// VIDs of the part of each element.
const VIDS: u64 = 4000;
const MOST_ELEMENTS: u64 = 8;
/// Lines of 64 bytes that an element can read in a clock.
const PORTS: f64 = 2.0;
/// Bytes in a second, to lines in a clock of 4 ns.
const LINES_A_CLOCK: f64 = 4e-9 / 64.0;
/// Two DIMMs of DDR4-2400.
const DDR4: f64 = 38.4e9;
/// Two stacks of HBM2, as the U280 has them.
const HBM: f64 = 460e9;

/// All figures come from the RTL; none depends on this machine.
pub fn measure(size: Size) -> Result<Vec<Measurement>, String> {
    let vids = size.of(VIDS).max(32) as u32;
    let table = ElementTable::updated(vids * MOST_ELEMENTS as u32);
    let mut memory = Shared::new(&table.memory, f64::INFINITY);
    let mut one = [Element::new(Model::new(), &Surroundings::smooth())];
    let mut figures = Vec::new();
    for (what, snapshot, forget, goal) in [
        ("element, whole chains, pages not yet verified", table.oldest, true, None),
        ("element, whole chains of 1 to 4", table.oldest, false, Some(0.25)),
        ("element, version anywhere in its chain", table.middle, false, Some(0.25)),
        ("element, newest version", table.newest, false, None),
    ] {
        let run = run(&mut one, &mut memory, &table, vids, snapshot, forget)?;
        let figure = Measurement::new(what, "tuples/clock", run.rate()).over(PORTS / run.lines());
        figures.push(match goal {
            Some(goal) => figure.goal(Goal::AtLeast(goal)),
            None => figure,
        });
    }
    for (name, bandwidth) in [("460 GB/s", HBM), ("38.4 GB/s", DDR4)] {
        figures.extend(scaling(&table, vids, name, bandwidth)?);
    }
    Ok(figures)
}

/// Elements that share a memory, over what as many alone would give, or what the memory admits.
fn scaling(
    table: &ElementTable,
    vids: u32,
    name: &str,
    bandwidth: f64,
) -> Result<Vec<Measurement>, String> {
    let mut memory = Shared::new(&table.memory, bandwidth * LINES_A_CLOCK);
    let mut alone = None;
    let mut figures = Vec::new();
    for elements in [1, 2, 4, 8] {
        let mut all: Vec<_> =
            (0..elements).map(|_| Element::new(Model::new(), &Surroundings::smooth())).collect();
        run(&mut all, &mut memory, table, vids, table.oldest, true)?;
        let run = run(&mut all, &mut memory, table, vids, table.oldest, false)?;
        let alone = *alone.get_or_insert(run.rate());
        let admitted = memory.lines_a_clock / run.lines();
        let (limit, bound) = match admitted < f64::from(elements) * alone {
            true => ("memory's limit", admitted),
            false => ("as so many alone", f64::from(elements) * alone),
        };
        figures.push(
            Measurement::new(
                format!("elements: {elements}, {name}, {limit}"),
                "tuples/clock",
                run.rate(),
            )
            .over(bound)
            .goal(Goal::RatioAtLeast(0.9)),
        );
    }
    Ok(figures)
}

/// The combined work of the elements.
struct Run {
    visible: u64,
    lines: u64,
    clocks: u64,
}

impl Run {
    /// Visible tuples a clock.
    fn rate(&self) -> f64 {
        self.visible as f64 / self.clocks as f64
    }

    /// Lines of memory for each.
    fn lines(&self) -> f64 {
        self.lines as f64 / self.visible as f64
    }
}

/// Each element has a part of the table; counts from the first start to the last end.
fn run(
    elements: &mut [Element<visibility_pe::Core>],
    memory: &mut Shared,
    table: &ElementTable,
    vids: u32,
    snapshot: u64,
    forget_pages: bool,
) -> Result<Run, String> {
    let mut clocks = 0;
    for (part, element) in (0..).zip(elements.iter_mut()) {
        let (vid_first, vid_end) = (part * vids, (part + 1) * vids);
        let job = JobBlock { vid_first, vid_end, snapshot, forget_pages, ..table.job };
        let address = table::JOBS + u64::from(part) * table::JOB_STRIDE;
        memory.put(address, &job.encode());
        element.start(memory, address).map_err(|error| error.to_string())?;
    }
    let mut ended = vec![false; elements.len()];
    while ended.contains(&false) {
        if clocks > 2000 * u64::from(vids) + 100_000 {
            return Err(format!("waited for {} elements: no end in {clocks} clocks", ended.len()));
        }
        clocks += 1;
        memory.begin_clock();
        // Another one goes first in each clock.
        for step in 0..elements.len() {
            let place = (step + clocks as usize) % elements.len();
            let element = &mut elements[place];
            element.clock(memory).map_err(|error| error.to_string())?;
            while let Some(packet) = element.next_packet().map_err(|error| error.to_string())? {
                match packet {
                    Packet::Row { .. } => {}
                    Packet::End(end) if end.faults == 0 => ended[place] = true,
                    other => return Err(format!("element {place}: {other:?}")),
                }
            }
        }
    }
    let mut sum = Run { visible: 0, lines: 0, clocks };
    for element in elements {
        memory.begin_clock();
        let Counters { visible, line_reads, .. } =
            element.counters(memory).map_err(|error| error.to_string())?;
        sum.visible += visible;
        sum.lines += line_reads;
    }
    Ok(sum)
}

/// A memory that admits so many lines in a clock, to all elements together.
#[derive(Debug)]
struct Shared {
    memory: SparseMemory,
    lines_a_clock: f64,
    /// Lines that it may admit now.
    credit: f64,
}

impl Shared {
    fn new(memory: &SparseMemory, lines_a_clock: f64) -> Self {
        Shared { memory: memory.clone(), lines_a_clock, credit: 0.0 }
    }

    fn begin_clock(&mut self) {
        // What was not used is lost, except for the part of a line.
        self.credit = self.credit.min(1.0) + self.lines_a_clock;
    }

    fn put(&mut self, address: u64, bytes: &[u8]) {
        let chunk = self.memory.chunk_mut(address).expect("the table has a place for jobs");
        chunk[..bytes.len()].copy_from_slice(bytes);
    }
}

impl DeviceMemory for Shared {
    fn line(&mut self, address: u64) -> Result<[u64; 8], BusError> {
        self.credit -= 1.0;
        self.memory.line(address)
    }

    fn admits(&mut self, _cycle: u64) -> bool {
        self.credit >= 1.0
    }
}
