// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast the bridge runs by itself. Prints cycles/s, says nothing about right or wrong:
//! `cargo test --release -p lockstep-sim --lib bus::axi4::speed -- --ignored --nocapture`.

use super::super::pins::Axi4ManagerPins;
use super::super::stall::StallPattern;
use super::super::test_memory::{ErrorInjection, TestMemory, TestMemoryConfig};
use super::fault_tests::{idle, read_line};
use super::*;
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

const CYCLES: u64 = 20_000_000;

#[test]
#[ignore = "a measurement"]
fn speed() {
    let random = StallPattern::Random { probability: 0.2 };
    for (stalls_name, pattern) in [("no stalls", StallPattern::None), ("stalls 0.2", random)] {
        for (load_name, run) in [("idle", rest as fn(&mut _) -> u64), ("loaded", load)] {
            let stalls = Axi4Stalls::all(pattern);
            let mut bridge =
                Axi4Subordinate::new(Axi4Config { stalls, ..Axi4Config::lock_unit(0) });
            let started = Instant::now();
            let answered = run(&mut bridge);
            let rate = CYCLES as f64 / started.elapsed().as_secs_f64() / 1e6;
            let share = answered as f64 / CYCLES as f64;
            println!("{load_name}, {stalls_name}: {rate:.1} M cycles/s, {share:.2} accesses/cycle");
        }
    }
}

/// The same for bursts: pages are read and written by the manager model, without a pause.
#[test]
#[ignore = "a measurement"]
fn speed_of_bursts() {
    let cycles = CYCLES / 10;
    for order in [ResponseOrder::AsAnswered, ResponseOrder::Interleaved] {
        let config = Axi4Config { response_order: order, ..Axi4Config::bursts("m_axi", 0) };
        let mut bridge = Axi4Subordinate::new(config);
        let mut manager = Axi4Manager::new(Axi4ManagerConfig::new("s_axi", 0));
        let (base, lines, seed) = (0, 1 << 14, 0);
        let latency = Delay { minimum: 100, maximum: 100 };
        let errors = ErrorInjection::None;
        let mut memory = TestMemory::new(TestMemoryConfig { base, lines, seed, latency, errors });
        let page = |number: u64| Burst::new(number % 256 * 4096, 64, FULL_SIZE);
        let beats = page(0).write_beats(&[1; 4096]);
        let (mut asked, started) = (0, Instant::now());
        for cycle in 0..cycles {
            if manager.outstanding() < 16 {
                manager.read(asked as u16 % 8, page(asked));
                manager.write(asked as u16 % 8, page(asked + 128), beats.clone());
                asked += 1;
            }
            let driven = *bridge.drive(cycle);
            bridge.sample(cycle, manager.drive(cycle)).unwrap();
            manager.sample(cycle, &driven).unwrap();
            memory.step(cycle, &mut bridge);
            while manager.take_completion().is_some() {}
        }
        let rate = cycles as f64 / started.elapsed().as_secs_f64() / 1e6;
        let statistics = memory.statistics();
        let each = |beats: u64| beats as f64 / cycles as f64;
        let (reads, writes) = (each(statistics.read_beats), each(statistics.write_beats));
        println!("{order:?}: {rate:.2} M cycles/s, beats/cycle: {reads:.2} of R, {writes:.2} of W");
    }
}

fn rest(bridge: &mut Axi4Subordinate) -> u64 {
    let pins = black_box(idle());
    for cycle in 0..CYCLES {
        black_box(bridge.drive(cycle));
        bridge.sample(cycle, black_box(&pins)).unwrap();
    }
    0
}

/// Offers a read and a compare-and-swap as often as a tag is free (64 for each), and
/// answers each 20 cycles after it was taken.
fn load(bridge: &mut Axi4Subordinate) -> u64 {
    let mut pins = Axi4ManagerPins {
        arvalid: false,
        awaddr: 0x1_0000_0000,
        awsize: 4,
        awburst: 1,
        awcache: CACHE_PLAIN,
        awatop: ATOMIC_COMPARE,
        wstrb: 0xFFFF,
        wlast: true,
        ..read_line()
    };
    let mut swap_tags: VecDeque<u16> = (0..64).collect();
    let mut read_tags: VecDeque<u16> = (64..128).collect();
    let mut missing = [2u8; 64];
    let mut waiting = VecDeque::new();
    let mut answered = 0;
    for cycle in 0..CYCLES {
        if !(pins.awvalid || pins.wvalid)
            && let Some(tag) = swap_tags.pop_front()
        {
            (pins.awvalid, pins.wvalid, pins.awid) = (true, true, tag);
        }
        if !pins.arvalid
            && let Some(tag) = read_tags.pop_front()
        {
            (pins.arvalid, pins.arid) = (true, tag);
        }
        let driven = bridge.drive(cycle);
        let taken = (driven.awready, driven.wready, driven.arready);
        let responses = [driven.rvalid.then_some(driven.rid), driven.bvalid.then_some(driven.bid)];
        bridge.sample(cycle, black_box(&pins)).unwrap();
        pins.awvalid &= !taken.0;
        pins.wvalid &= !taken.1;
        pins.arvalid &= !taken.2;
        for id in responses.into_iter().flatten() {
            if id >= 64 {
                read_tags.push_back(id);
                continue;
            }
            let missing = &mut missing[usize::from(id)];
            *missing -= 1;
            if *missing == 0 {
                *missing = 2;
                swap_tags.push_back(id);
            }
        }
        while let Some(access) = bridge.take_access() {
            waiting.push_back(access);
        }
        let due = |access: &MemoryAccess| access.accepted_at_cycle + 20 <= cycle;
        while let Some(access) = waiting.pop_front_if(|access| due(access)) {
            let data = match access.kind {
                AccessKind::ReadLine { .. } => MemoryData::Line([cycle; 8]),
                _ => MemoryData::OldWord(cycle),
            };
            bridge.answer(cycle, &MemoryAnswer { id: access.id, outcome: Ok(data) });
            answered += 1;
        }
    }
    answered
}
