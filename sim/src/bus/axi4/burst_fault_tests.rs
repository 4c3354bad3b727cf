// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each check of a port that takes bursts made to fire by a manager that is wrong.

use super::super::error::BusModelError;
use super::super::pins::Axi4ManagerPins;
use super::super::stall::StallPattern;
use super::*;

const BASE: u64 = 0x1_0000_0000;

fn idle() -> Axi4ManagerPins {
    Axi4ManagerPins::idle()
}

fn read() -> Axi4ManagerPins {
    let idle = idle();
    Axi4ManagerPins { arvalid: true, arid: 3, araddr: BASE, arsize: 6, arburst: 1, ..idle }
}

/// AW of a burst of two beats.
fn address() -> Axi4ManagerPins {
    let idle = idle();
    let (awaddr, awlen) = (BASE + 60, 1);
    Axi4ManagerPins { awvalid: true, awid: 5, awaddr, awlen, awsize: 6, awburst: 1, ..idle }
}

fn data(wstrb: u64, wlast: bool) -> Axi4ManagerPins {
    Axi4ManagerPins { wvalid: true, wstrb, wlast, ..idle() }
}

fn config() -> Axi4Config {
    Axi4Config {
        timeout: 1000,
        bursts: Some(BurstLimits { id_bits: 4, reads: 2, writes: 2 }),
        ..Axi4Config::bursts("m_axi", 0)
    }
}

/// Drives one set of pins a cycle, then idles; the first fault.
fn fault_of(config: Axi4Config, cycles: &[Axi4ManagerPins]) -> BusModelError {
    let mut bridge = Axi4Subordinate::new(config);
    for cycle in 0..3000 {
        bridge.drive(cycle);
        let pins = cycles.get(cycle as usize).copied().unwrap_or_else(idle);
        if let Err(fault) = bridge.sample(cycle, &pins) {
            return fault;
        }
    }
    panic!("no fault");
}

fn text_of(cycles: &[Axi4ManagerPins]) -> String {
    fault_of(config(), cycles).to_string()
}

#[test]
fn a_burst_over_the_boundary_is_named() {
    assert_eq!(
        text_of(&[Axi4ManagerPins { araddr: BASE + 0xFC1, arlen: 1, ..read() }]),
        "m_axi AR: araddr is 0x100000FC1 for id 0x003 at 0x100000FC1 in cycle 0, \
         expected no burst over a 4 kB boundary: 127 bytes, 63 up to there"
    );
    let text = text_of(&[Axi4ManagerPins { awlen: 64, ..address() }]);
    assert!(text.starts_with("m_axi AW: awaddr is 0x10000003C for id 0x005"), "{text}");
}

#[test]
fn burst_types_sizes_and_atomics_that_are_not_supported_are_named() {
    for (pins, field) in [
        (Axi4ManagerPins { arburst: 0, ..read() }, "AR: arburst is 0x0"),
        (Axi4ManagerPins { arburst: 2, ..read() }, "AR: arburst is 0x2"),
        (Axi4ManagerPins { arsize: 7, ..read() }, "AR: arsize is 0x7"),
        (Axi4ManagerPins { arid: 16, ..read() }, "AR: arid is 0x10"),
        (Axi4ManagerPins { arcache: 4, ..read() }, "AR: arcache is 0x4"),
        (Axi4ManagerPins { awburst: 0, ..address() }, "AW: awburst is 0x0"),
        (Axi4ManagerPins { awburst: 2, ..address() }, "AW: awburst is 0x2"),
        (Axi4ManagerPins { awsize: 7, ..address() }, "AW: awsize is 0x7"),
        (Axi4ManagerPins { awid: 16, ..address() }, "AW: awid is 0x10"),
        (Axi4ManagerPins { awcache: 8, ..address() }, "AW: awcache is 0x8"),
        (Axi4ManagerPins { awatop: ATOMIC_COMPARE, ..address() }, "AW: awatop is 0x31"),
    ] {
        let text = text_of(&[pins]);
        assert!(text.starts_with(&format!("m_axi {field} for id 0x0")), "{text}");
        assert!(text.contains(" at 0x10000") && text.contains("in cycle 0, expected"), "{text}");
    }
}

#[test]
fn the_last_beat_is_where_the_length_says() {
    let burst = "for id 0x005, 2 beats of 64 bytes from 0x10000003C";
    assert_eq!(
        text_of(&[address(), data(0, true)]),
        format!("m_axi W: wlast is 0x1 {burst} in cycle 1, expected 0 on beat 0 of 2")
    );
    let late = format!("m_axi W: wlast is 0x0 {burst} in cycle 2, expected 1 on beat 1 of 2");
    assert_eq!(text_of(&[address(), data(0, false), data(0, false)]), late);
    // Found as soon as the address is there, when data come before it.
    assert_eq!(text_of(&[data(0, false), data(0, false), address()]), late);
}

#[test]
fn strobes_outside_the_bytes_of_a_beat_are_named() {
    let text = text_of(&[address(), data(1 << 59, false)]);
    assert_eq!(
        text,
        "m_axi W: wstrb is 0x800000000000000 for id 0x005, 2 beats of 64 bytes from 0x10000003C \
         in cycle 1, expected no bits but those of 0xF000000000000000"
    );
    let narrow = Axi4ManagerPins { awsize: 2, ..address() };
    let text = text_of(&[narrow, data(0xF << 60, false), data(0x1F, true)]);
    assert!(text.ends_with("in cycle 2, expected no bits but those of 0xF"), "{text}");
}

#[test]
fn more_outstanding_than_promised_is_named() {
    assert_eq!(
        text_of(&[read(), read(), read()]),
        "m_axi AR: arid is 0x003 for id 0x003 at 0x100000000 in cycle 2, \
         expected at most 2 reads outstanding"
    );
    let text = text_of(&[address(), address(), address()]);
    assert!(text.ends_with("in cycle 2, expected at most 2 writes outstanding"), "{text}");
    let alone = Axi4Config { sharing: IdSharing::OnePer { bits: 4 }, ..config() };
    let text = fault_of(alone, &[read(), read()]).to_string();
    assert!(text.ends_with("in cycle 1, expected an id with nothing outstanding"), "{text}");
}

#[test]
fn what_changes_or_vanishes_under_back_pressure_is_named() {
    let stalls = Axi4Stalls::all(StallPattern::Random { probability: 1.0 });
    let fault = |first, then| fault_of(Axi4Config { stalls, ..config() }, &[first, then]);
    let text = |first, then| fault(first, then).to_string();
    let longer = Axi4ManagerPins { arlen: 3, ..read() };
    assert_eq!(
        text(read(), longer),
        "m_axi AR: arlen is 3 for id 0x003 in cycle 1, expected 0 as since cycle 0 until ready"
    );
    for (first, then, field) in [
        (address(), Axi4ManagerPins { awlen: 0, ..address() }, "AW: awlen is 0"),
        (address(), Axi4ManagerPins { awid: 4, ..address() }, "AW: awid is 4"),
        (address(), idle(), "AW: awvalid is 0"),
        (data(1, false), data(1, true), "W: wlast is true"),
        (data(1, false), data(3, false), "W: wstrb is 3"),
        (data(1, false), idle(), "W: wvalid is 0"),
    ] {
        let text = text(first, then);
        assert!(text.starts_with(&format!("m_axi {field}")), "{text}");
    }
}

#[test]
fn every_wait_ends() {
    let waits = |cycles: &[Axi4ManagerPins]| match fault_of(config(), cycles) {
        BusModelError::Timeout(timeout) => timeout.to_string(),
        other => panic!("{other}"),
    };
    let rest = "for 1000 cycles since cycle 0; held by";
    let long = Axi4ManagerPins { arlen: 7, ..read() };
    assert_eq!(
        waits(&[long]),
        format!(
            "m_axi R: id 0x003, 8 beats of 64 bytes from 0x100000000, unanswered from beat 0 on \
             {rest} the memory"
        )
    );
    let block = "the block behind the port";
    assert_eq!(waits(&[address()]), format!("m_axi W: id 0x005 without its data {rest} {block}"));
    assert_eq!(
        waits(&[address(), data(0, false)]),
        format!("m_axi W: id 0x005 with 1 of its 2 beats of data {rest} {block}")
    );
    assert_eq!(
        waits(&[data(0, false)]),
        format!("m_axi AW: data without their address {rest} {block}")
    );
}

#[test]
fn a_read_that_stops_amid_its_beats_names_who_stopped() {
    let stop = |answered: u16, taken: bool| {
        let mut bridge = Axi4Subordinate::new(config());
        for cycle in 0..3000 {
            bridge.drive(cycle);
            let pins = if cycle == 0 { Axi4ManagerPins { arlen: 2, ..read() } } else { idle() };
            let pins = Axi4ManagerPins { rready: taken || cycle < 2, ..pins };
            if let Err(fault) = bridge.sample(cycle, &pins) {
                return fault.to_string();
            }
            while let Some(access) = bridge.take_access() {
                let AccessKind::ReadBurst(burst) = access.kind else { panic!("{access:?}") };
                for beat in 0..answered {
                    bridge.answer_beat(cycle, burst.key, beat, Ok([0; DATA_WORDS]));
                }
            }
        }
        panic!("no fault");
    };
    let text = stop(2, true);
    assert!(text.contains("from beat 2 on") && text.ends_with("held by the memory"), "{text}");
    let text = stop(3, false);
    assert!(text.contains("from beat 1 on"), "{text}");
    assert!(text.ends_with("held by the block behind the port"), "{text}");
}

/// A bridge that has taken one read of two beats.
fn with_read() -> (Axi4Subordinate, Burst) {
    let mut bridge = Axi4Subordinate::new(config());
    bridge.drive(0);
    bridge.sample(0, &Axi4ManagerPins { arlen: 1, ..read() }).unwrap();
    let Some(MemoryAccess { kind: AccessKind::ReadBurst(burst), .. }) = bridge.take_access() else {
        panic!("no read");
    };
    (bridge, burst)
}

#[test]
fn an_owner_that_knows_no_bursts_may_refuse_them() {
    let (mut bridge, _) = with_read();
    bridge.answer(0, &MemoryAnswer { id: 3, outcome: Err(BusError::DecodeError) });
    for cycle in 1..3 {
        let pins = *bridge.drive(cycle);
        assert_eq!((pins.rvalid, pins.rresp, pins.rlast), (true, 3, cycle == 2));
        bridge.sample(cycle, &idle()).unwrap();
    }
    assert!(bridge.is_quiet());
}

#[test]
#[should_panic(expected = "second answer to beat 1 of a burst")]
fn a_second_answer_to_a_beat_is_the_owners_error() {
    let (mut bridge, burst) = with_read();
    bridge.answer_beat(0, burst.key, 1, Ok([0; DATA_WORDS]));
    bridge.answer_beat(0, burst.key, 1, Ok([0; DATA_WORDS]));
}

#[test]
#[should_panic(expected = "1 beats are the answer, beats [1] have none")]
fn a_short_answer_is_the_owners_error() {
    let (mut bridge, burst) = with_read();
    bridge.answer_read(0, burst.key, [Ok([0; DATA_WORDS])]);
}

#[test]
#[should_panic(expected = "answer to a burst that is not outstanding")]
fn an_answer_to_a_burst_that_is_over_is_the_owners_error() {
    let (mut bridge, burst) = with_read();
    bridge.answer_read(0, burst.key, [Ok([0; DATA_WORDS]); 2]);
    for cycle in 1..4 {
        bridge.drive(cycle);
        bridge.sample(cycle, &idle()).unwrap();
    }
    bridge.answer_beat(4, burst.key, 0, Ok([0; DATA_WORDS]));
}
