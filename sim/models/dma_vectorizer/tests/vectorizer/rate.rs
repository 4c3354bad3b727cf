// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the vectorizer is. Clocks are counted, so the figures are the same everywhere.

use nic::vector::{Config, Direction, Element, PAGE, QUEUES, Response, Window};
use sim::bus::axi4::{Delay, ResponseOrder};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{BeatOrder, ErrorInjection, TestMemory, TestMemoryConfig};

use crate::bench::{Behaviour, Bench, Memory, Port, Run, Surroundings};
use crate::dut;
use crate::link::{Link, RATE, limit};

const CONFIG: Config =
    Config { idle_time: 16, flush_time: 64, host: Window::ALL, nic: Window::ALL };
/// Never holds anything up, and answers after a few clocks.
const SMOOTH: Behaviour = Behaviour {
    stalls: StallPattern::None,
    latency: Delay { minimum: 8, maximum: 8 },
    responses: ResponseOrder::AsAnswered,
    beats: BeatOrder::Together,
};
const SURROUNDINGS: Surroundings = Surroundings {
    seed: 0,
    commands: StallPattern::None,
    done: StallPattern::None,
    host: SMOOTH,
    nic: SMOOTH,
};
const NIC_PAGES: u64 = 512;
/// Clocks after which nothing is left of a reset.
const AFTER_RESET: u64 = 300;

fn flat() -> TestMemory {
    let lines = (NIC_PAGES * PAGE / 64) as usize;
    let (latency, errors) = (SMOOTH.latency, ErrorInjection::None);
    TestMemory::new(TestMemoryConfig { base: 0, lines, seed: 0, latency, errors })
}

/// Runs elements of one length, given to all of the queues in turns.
fn run<H: Memory>(host: H, queues: usize, elements: &[Element]) -> Run {
    let host = Port::new("m_axi_host", 0, SMOOTH, host);
    let nic = Port::new("m_axi_nic", 0, SMOOTH, flat());
    let mut bench = Bench::new(dut::after_power_up(0), CONFIG, &SURROUNDINGS, host, nic);
    let mut none = |_: &Element, _, _: &H, _: &TestMemory| Err("nothing was asked for".into());
    for _ in 0..AFTER_RESET {
        bench.clock(&mut none).unwrap();
    }
    for (n, element) in elements.iter().enumerate() {
        bench.push(n % queues, *element);
    }
    let mut check = |element: &Element, response, _: &H, _: &TestMemory| match response {
        Response::Okay => Ok(()),
        other => Err(format!("{element:?}: {other:?}")),
    };
    bench.run(elements.len(), &mut check).unwrap();
    bench.run
}

/// So many elements of one length at random lines, `shift` bytes off them in NIC memory.
fn elements(count: u16, bytes: u16, ways: &[Direction], shift: u64) -> Vec<Element> {
    let place = |n: u16| {
        let places = (NIC_PAGES - 1) * PAGE / u64::from(bytes.max(256));
        u64::from(n) * 7919 % places * u64::from(bytes.max(256))
    };
    let element = |token: u16| {
        let direction = ways[usize::from(token) / QUEUES % ways.len()];
        Element { token, direction, host: place(token), nic: place(token) + shift, bytes }
    };
    (0..count).map(element).collect()
}

/// Elements that ended in a clock, without those at the beginning and at the end.
fn rate(run: &Run) -> f64 {
    let (first, last) = (run.done.len() / 4, run.done.len() * 3 / 4);
    (last - first) as f64 / (run.done[last].0 - run.done[first].0) as f64
}

#[test]
fn one_element_a_clock_is_accepted() {
    for (what, queues, ways) in [
        ("one queue, reads", 1, &[Direction::Read][..]),
        ("eight queues, reads", 8, &[Direction::Read]),
        ("eight queues, writes", 8, &[Direction::Write]),
        ("eight queues, both", 8, &Direction::ALL),
    ] {
        let run = run(flat(), queues, &elements(4000, 64, ways, 0));
        let (first, last) = (run.accepted.len() / 4, run.accepted.len() * 3 / 4);
        let clocks = run.accepted[last].0 - run.accepted[first].0;
        let accepted = (last - first) as f64 / clocks as f64;
        println!("{what}: {accepted:.3} elements of 64 bytes accepted a clock, lasting");
        assert!(accepted >= 0.99, "{what}: {accepted:.3} elements a clock, expected 1");
    }
}

#[test]
fn nearly_all_that_the_link_carries() {
    for bytes in [64, 128, 192, 256, 1024, 4096] {
        for (what, ways, shift) in [
            ("reads", &[Direction::Read][..], 0),
            ("writes", &[Direction::Write], 0),
            ("reads, 5 bytes off in NIC memory", &[Direction::Read], 5),
            ("writes, 5 bytes off in NIC memory", &[Direction::Write], 5),
        ] {
            let count = if bytes > 256 { 600 } else { 4000 };
            let run = run(Link::default(), QUEUES, &elements(count, bytes, ways, shift));
            let limit = limit(bytes.into());
            let reached = rate(&run) * f64::from(bytes);
            let share = reached / limit;
            let [full, ..] = run.vectors;
            let vectors: u64 = run.vectors.iter().sum();
            println!(
                "{bytes} bytes, {what}: {:.2} GB/s of payload, {:.1} % of {:.2} GB/s; {full} of \
                 {vectors} vectors were full",
                reached * 0.25,
                100.0 * share,
                limit * 0.25,
            );
            assert!(share >= 0.95, "{bytes} bytes, {what}: {share:.3} of the limit");
        }
    }
}

#[test]
fn both_directions_share_a_link() {
    for bytes in [64, 128, 256] {
        let elements = elements(4000, bytes, &Direction::ALL, 0);
        let run = run(Link::default(), QUEUES, &elements);
        let half = &run.done[1000..3000];
        let writes = |beat: u32| elements[usize::from(beat as u16)].direction == Direction::Write;
        let writes = half.iter().filter(|(_, beat)| writes(*beat)).count() as f64;
        let clocks = (half[half.len() - 1].0 - half[0].0) as f64;
        // To the host go requests of 26 bytes and writes, which is more than comes back.
        let carried = (26.0 * half.len() as f64 + writes * f64::from(bytes)) / clocks;
        println!(
            "{bytes} bytes, both: {:.2} GB/s of payload in all, the way to the host {:.1} % busy",
            half.len() as f64 * f64::from(bytes) / clocks * 0.25,
            100.0 * carried / RATE
        );
        assert!(carried / RATE >= 0.95, "{bytes} bytes: {:.3} of the way", carried / RATE);
    }
}

#[test]
fn an_isolated_element() {
    for (direction, port) in [(Direction::Read, 0), (Direction::Write, 1)] {
        for bytes in [64, 256, 4096] {
            let run = run(Link::default(), 1, &elements(1, bytes, &[direction], 0));
            let accepted = run.accepted[0].0;
            let (asked, done) = (run.asked[port][0] - accepted, run.done[0].0 - accepted);
            println!(
                "{direction:?} of {bytes} bytes: address on the bus after {asked} clocks, of which \
                 {} idle time, end after {done}",
                CONFIG.idle_time
            );
            assert!(asked <= u64::from(CONFIG.idle_time) + 8, "{asked} clocks");
        }
    }
}
