// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each check of the bridge made to fire.

use super::super::error::BusModelError;
use super::super::pins::Axi4ManagerPins;
use super::super::stall::StallPattern;
use super::*;

const BASE: u64 = 0x1_0000_0000;

pub(super) fn idle() -> Axi4ManagerPins {
    Axi4ManagerPins { rready: true, bready: true, ..Default::default() }
}

pub(super) fn read_line() -> Axi4ManagerPins {
    Axi4ManagerPins {
        arvalid: true,
        arid: 0x083,
        araddr: BASE,
        arsize: 6,
        arburst: 1,
        arcache: 3,
        ..idle()
    }
}

fn store_address() -> Axi4ManagerPins {
    Axi4ManagerPins {
        awvalid: true,
        awid: 0x505,
        awaddr: BASE + 8,
        awsize: 3,
        awburst: 1,
        awcache: 3,
        ..idle()
    }
}

fn store_data() -> Axi4ManagerPins {
    Axi4ManagerPins { wvalid: true, wstrb: 0xFF00, wlast: true, ..idle() }
}

fn store() -> Axi4ManagerPins {
    Axi4ManagerPins { wvalid: true, wstrb: 0xFF00, wlast: true, ..store_address() }
}

/// Drives one set of pins a cycle from cycle 512 on, then idles; the first fault.
fn fault_of(config: Axi4Config, cycles: &[Axi4ManagerPins]) -> BusModelError {
    let mut bridge = Axi4Subordinate::new(config);
    let mut last = idle();
    for offset in 0..2 * 10_000 {
        let cycle = 512 + offset as u64;
        last = cycles.get(offset).copied().unwrap_or(last);
        if offset >= cycles.len() {
            (last.awvalid, last.wvalid, last.arvalid) = (false, false, false);
        }
        bridge.drive(cycle);
        if let Err(fault) = bridge.sample(cycle, &last) {
            return fault;
        }
    }
    panic!("no fault");
}

fn text_of(cycles: &[Axi4ManagerPins]) -> String {
    fault_of(Axi4Config::lock_unit(0), cycles).to_string()
}

#[test]
fn an_unanswered_access_is_named_after_the_bound() {
    assert_eq!(
        text_of(&[read_line()]),
        "m_axi R: id 0x083 (phase 1 Look, tag 3) unanswered for 10000 cycles since cycle 512; \
         held by the memory"
    );
    let other = Axi4ManagerPins { arid: 0x404, ..read_line() };
    assert_eq!(
        text_of(&[store(), other, read_line()]),
        "m_axi B: id 0x505 (phase 10 Clear, tag 5) unanswered for 10000 cycles since cycle 512; \
         held by the memory; also outstanding: id 0x404 (phase 8 Inspect, tag 4), \
         id 0x083 (phase 1 Look, tag 3)"
    );
}

#[test]
fn the_bound_is_exact_and_moves_on_with_the_oldest() {
    let mut bridge = Axi4Subordinate::new(Axi4Config::lock_unit(0));
    let answer = MemoryAnswer { id: 0x083, outcome: Ok(MemoryData::Line([0; 8])) };
    for cycle in 0..20_000u64 {
        let pins = match cycle {
            5 => read_line(),
            100 => store(),
            _ => idle(),
        };
        if cycle == 10_004 {
            bridge.answer(cycle, &answer);
        }
        bridge.drive(cycle);
        let sampled = bridge.sample(cycle, &pins);
        assert_eq!(sampled.is_err(), cycle == 10_100, "{sampled:?} in cycle {cycle}");
        if sampled.is_err() {
            return;
        }
    }
}

#[test]
fn an_address_without_data_and_data_without_an_address_are_named() {
    assert_eq!(
        text_of(&[store_address()]),
        "m_axi W: id 0x505 (phase 10 Clear, tag 5) without its data for 10000 cycles since \
         cycle 512; held by the block behind the port"
    );
    assert_eq!(
        text_of(&[store_data(), read_line()]),
        "m_axi AW: data without their address for 10000 cycles since cycle 512; \
         held by the block behind the port; also outstanding: id 0x083 (phase 1 Look, tag 3)"
    );
}

#[test]
fn a_stalled_channel_is_named_after_the_bound() {
    let always = StallPattern::Random { probability: 1.0 };
    let config =
        Axi4Config { timeout: 30, stalls: Axi4Stalls::all(always), ..Axi4Config::lock_unit(0) };
    let stalled = |pins: Axi4ManagerPins| fault_of(config.clone(), &[pins; 40]).to_string();
    let rest = "valid without ready for 30 cycles since cycle 512; \
                held by the memory port's stalls";
    let look = "id 0x083 (phase 1 Look, tag 3)";
    assert_eq!(stalled(read_line()), format!("m_axi AR: {look} {rest}"));
    let clear = "id 0x505 (phase 10 Clear, tag 5)";
    assert_eq!(stalled(store_address()), format!("m_axi AW: {clear} {rest}"));
    assert_eq!(stalled(store_data()), format!("m_axi W: {rest}"));
}

#[test]
fn responses_that_the_block_does_not_take_are_named() {
    let config =
        Axi4Config { timeout: 30, responses_always_taken: false, ..Axi4Config::lock_unit(0) };
    let fault = |request: Axi4ManagerPins, id, data| {
        let mut bridge = Axi4Subordinate::new(config.clone());
        let deaf = |pins| Axi4ManagerPins { rready: false, bready: false, ..pins };
        bridge.drive(0);
        bridge.sample(0, &deaf(request)).unwrap();
        bridge.answer(0, &MemoryAnswer { id, outcome: Ok(data) });
        let first = |cycle| {
            bridge.drive(cycle);
            bridge.sample(cycle, &deaf(idle())).err()
        };
        (1..100).find_map(first).expect("no fault").to_string()
    };
    assert_eq!(
        fault(read_line(), 0x083, MemoryData::Line([1; 8])),
        "m_axi R: id 0x083 (phase 1 Look, tag 3) unanswered for 30 cycles \
         since cycle 0; held by the block behind the port"
    );
    assert_eq!(
        fault(store(), 0x505, MemoryData::Stored),
        "m_axi B: id 0x505 (phase 10 Clear, tag 5) unanswered for 30 cycles \
         since cycle 0; held by the block behind the port"
    );
}

#[test]
fn answers_that_the_port_itself_holds_back_are_named() {
    let always = StallPattern::Random { probability: 1.0 };
    let stalls = Axi4Stalls { read_data: always, ..Axi4Stalls::default() };
    let mut bridge = Axi4Subordinate::new(Axi4Config { stalls, ..Axi4Config::lock_unit(0) });
    bridge.drive(0);
    bridge.sample(0, &read_line()).unwrap();
    bridge.answer(0, &MemoryAnswer { id: 0x083, outcome: Err(BusError::DecodeError) });
    let first = |cycle| {
        bridge.drive(cycle);
        bridge.sample(cycle, &idle()).err()
    };
    assert_eq!(
        (1..=10_000).find_map(first).expect("no fault").to_string(),
        "m_axi R: id 0x083 (phase 1 Look, tag 3) unanswered for 10000 cycles since cycle 0; \
         held by the memory port's stalls"
    );
}

#[test]
fn the_promise_of_ready_responses_is_checked() {
    assert_eq!(
        text_of(&[Axi4ManagerPins { rready: false, ..idle() }]),
        "m_axi R: rready is 0 in cycle 512, expected 1 always"
    );
    assert_eq!(
        text_of(&[Axi4ManagerPins { bready: false, ..idle() }]),
        "m_axi B: bready is 0 in cycle 512, expected 1 always"
    );
}

#[test]
fn a_payload_that_changes_under_back_pressure_is_named() {
    let always = StallPattern::Random { probability: 1.0 };
    let config = Axi4Config { stalls: Axi4Stalls::all(always), ..Axi4Config::lock_unit(0) };
    let fault = |first, second| fault_of(config.clone(), &[first, second]).to_string();
    let moved = Axi4ManagerPins { araddr: BASE + 64, ..read_line() };
    assert_eq!(
        fault(read_line(), moved),
        "m_axi AR: araddr is 100000040 for id 0x083 (phase 1 Look, tag 3) in cycle 513, \
         expected 100000000 as since cycle 512 until ready"
    );
    let turned = Axi4ManagerPins { awatop: ATOMIC_COMPARE, ..store_address() };
    let text = fault(store_address(), turned);
    assert!(text.starts_with("m_axi AW: awatop is 31 for id 0x505"), "{text}");
    let altered = Axi4ManagerPins { wdata: [1; 8], ..store_data() };
    let text = fault(store_data(), altered);
    assert!(text.starts_with("m_axi W: wdata is [1, 1, 1, 1, 1, 1, 1, 1] in cycle 513"), "{text}");
    assert_eq!(
        fault(read_line(), idle()),
        "m_axi AR: arvalid is 0 for id 0x083 (phase 1 Look, tag 3) in cycle 513, \
         expected 1 until ready"
    );
}

#[test]
fn a_second_access_of_a_tag_is_named() {
    // Phase 1 and phase 3 of tag 3; also when the first still waits for its data.
    let busy = "expected an id with nothing outstanding";
    let look = Axi4ManagerPins { arid: 0x083, ..read_line() };
    let store_183 = Axi4ManagerPins { awid: 0x183, ..store_address() };
    let register = "0x183 for id 0x183 (phase 3 Register, tag 3)";
    assert_eq!(
        text_of(&[look, store_183]),
        format!("m_axi AW: awid is {register} in cycle 513, {busy}")
    );
    let text = text_of(&[store_183, look]);
    assert!(text.starts_with("m_axi AR: arid is 0x083") && text.ends_with(busy), "{text}");
}

#[test]
fn an_atomic_that_shares_its_id_is_named() {
    let config = Axi4Config { sharing: IdSharing::Several, ..Axi4Config::lock_unit(0) };
    let read = Axi4ManagerPins { arid: 0x505, ..read_line() };
    let swap = Axi4ManagerPins { awatop: ATOMIC_COMPARE, awsize: 4, awburst: 2, ..store_address() };
    for pair in [[read, swap], [swap, read], [swap, store_address()]] {
        let text = fault_of(config.clone(), &pair).to_string();
        assert!(text.ends_with("in cycle 513, expected an id of its own for an atomic"), "{text}");
    }
    let BusModelError::Timeout(_) = fault_of(config.clone(), &[read, read]) else {
        panic!("two reads of one id are allowed");
    };
}

#[test]
fn malformed_fields_are_named_with_their_access() {
    assert_eq!(
        text_of(&[Axi4ManagerPins { awatop: 0b11_0000, ..store_address() }]),
        "m_axi AW: awatop is 0b110000 for id 0x505 (phase 10 Clear, tag 5) in cycle 512, \
         expected 0b000000 (store) or 0b110001 (AtomicCompare)"
    );
    assert_eq!(
        text_of(&[Axi4ManagerPins { arsize: 5, ..read_line() }]),
        "m_axi AR: arsize is 0x5 for id 0x083 (phase 1 Look, tag 3) in cycle 512, \
         expected 6 (64 bytes)"
    );
    assert_eq!(
        text_of(&[Axi4ManagerPins { wlast: false, ..store_data() }]),
        "m_axi W: wlast is 0x0 in cycle 512, expected 0x1 on the only beat"
    );
    assert_eq!(
        text_of(&[Axi4ManagerPins { wstrb: 0xFFFF, ..store() }]),
        "m_axi W: wstrb is 0xFFFF for id 0x505 (phase 10 Clear, tag 5) in cycle 512, \
         expected no bits but those of 0xFF00"
    );
}

#[test]
#[should_panic(expected = "answer to id 0x083, which has no unanswered access")]
fn an_answer_to_nothing_is_the_owners_error() {
    let answer = MemoryAnswer { id: 0x083, outcome: Ok(MemoryData::Stored) };
    Axi4Subordinate::new(Axi4Config::lock_unit(0)).answer(0, &answer);
}
