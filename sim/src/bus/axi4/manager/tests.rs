// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each check of the manager made to fire by a subordinate that is wrong.

use super::*;
use crate::bus::pins::DATA_WORDS;

/// A manager without stalls that makes one read and one write of two beats.
fn manager() -> Axi4Manager {
    let config = Axi4ManagerConfig { timeout: 50, ..Axi4ManagerConfig::new("s_axi", 0) };
    let mut manager = Axi4Manager::new(config);
    let burst = Burst::new(0x1030, 2, 6);
    manager.read(3, burst);
    manager.write(4, burst, burst.write_beats(&[7; 80]));
    manager
}

fn ready() -> Axi4SubordinatePins {
    Axi4SubordinatePins { awready: true, wready: true, arready: true, ..Default::default() }
}

fn r(rid: u16, rlast: bool) -> Axi4SubordinatePins {
    Axi4SubordinatePins { rvalid: true, rid, rlast, rdata: [1; DATA_WORDS], ..ready() }
}

fn b(bid: u16) -> Axi4SubordinatePins {
    Axi4SubordinatePins { bvalid: true, bid, ..ready() }
}

/// What a subordinate that drives these pins is told.
fn fault_of(mut manager: Axi4Manager, cycles: &[Axi4SubordinatePins]) -> String {
    for cycle in 0..100 {
        manager.drive(cycle);
        let pins = cycles.get(cycle as usize).copied().unwrap_or_else(ready);
        if let Err(fault) = manager.sample(cycle, &pins) {
            return fault.to_string();
        }
    }
    panic!("no fault");
}

fn text_of(cycles: &[Axi4SubordinatePins]) -> String {
    fault_of(manager(), cycles)
}

#[test]
fn responses_to_nothing_are_named() {
    assert_eq!(
        text_of(&[ready(), r(2, false)]),
        "s_axi R: rid is 0x2 for id 0x002 in cycle 1, expected an id with a read outstanding"
    );
    assert_eq!(
        text_of(&[ready(), b(4)]),
        "s_axi B: bid is 0x4 for id 0x004 in cycle 1, \
         expected an id with a write whose address and data were all taken"
    );
    let text = text_of(&[r(3, false)]);
    assert!(text.starts_with("s_axi R: rid is 0x3"), "in the cycle of AR itself: {text}");
    let text = text_of(&[ready(), ready(), b(4), b(4)]);
    assert!(text.starts_with("s_axi B: bid is 0x4 for id 0x004 in cycle 3"), "{text}");
}

#[test]
fn a_last_beat_at_the_wrong_place_is_named() {
    assert_eq!(
        text_of(&[ready(), r(3, true)]),
        "s_axi R: rlast is 1 for id 0x003, 2 beats of 64 bytes from 0x1030 in cycle 1, \
         expected 0 on beat 0 of 2"
    );
    let text = text_of(&[ready(), r(3, false), r(3, false)]);
    assert!(text.ends_with("in cycle 2, expected 1 on beat 1 of 2"), "{text}");
}

#[test]
fn responses_that_have_no_meaning_are_named() {
    let text = text_of(&[ready(), Axi4SubordinatePins { rresp: 1, ..r(3, false) }]);
    assert!(text.starts_with("s_axi R: rresp is 1 for id 0x003, 2 beats"), "{text}");
    let text = text_of(&[ready(), ready(), Axi4SubordinatePins { bresp: 1, ..b(4) }]);
    assert!(text.starts_with("s_axi B: bresp is 1 for id 0x004, 2 beats"), "{text}");
}

#[test]
fn responses_that_change_or_vanish_are_named() {
    let stalls = Axi4Stalls {
        read_data: StallPattern::Random { probability: 1.0 },
        write_response: StallPattern::Random { probability: 1.0 },
        ..Axi4Stalls::default()
    };
    let fault = |cycles: &[_]| {
        let config = Axi4ManagerConfig { stalls, ..Axi4ManagerConfig::new("s_axi", 0) };
        fault_of(Axi4Manager::new(config), cycles)
    };
    let other = Axi4SubordinatePins { rdata: [2; DATA_WORDS], ..r(3, false) };
    let text = fault(&[r(3, false), other]);
    assert!(text.starts_with("s_axi R: rdata is [2, 2, 2, 2, 2, 2, 2, 2] for id 0x003"), "{text}");
    let text = fault(&[r(3, false), ready()]);
    assert!(text.starts_with("s_axi R: rvalid is 0"), "{text}");
    let text = fault(&[b(4), b(5)]);
    assert!(text.starts_with("s_axi B: bid is 5 for id 0x004 in cycle 1"), "{text}");
    let text = fault(&[b(4), ready()]);
    assert!(text.starts_with("s_axi B: bvalid is 0"), "{text}");
}

#[test]
fn every_wait_ends() {
    assert_eq!(
        text_of(&[]),
        "s_axi R: id 0x003, 2 beats of 64 bytes from 0x1030, unanswered for 50 cycles \
         since cycle 0; held by the block behind the port"
    );
    let text = text_of(&[ready(), r(3, false), r(3, true)]);
    assert!(text.starts_with("s_axi B: id 0x004, 2 beats"), "{text}");
    let deaf = [Axi4SubordinatePins::default(); 60];
    assert!(text_of(&deaf).starts_with("s_axi AW: id 0x004 valid without ready for 50 cycles"));
}

#[test]
fn completions_have_what_came() {
    let mut manager = manager();
    let cycles = [
        ready(),
        r(3, false),
        Axi4SubordinatePins { rresp: 2, ..r(3, true) },
        Axi4SubordinatePins { bresp: 3, ..b(4) },
    ];
    for (cycle, pins) in cycles.iter().enumerate() {
        manager.drive(cycle as u64);
        manager.sample(cycle as u64, pins).unwrap();
    }
    let read = manager.take_completion().expect("the read has ended");
    let beats = vec![Ok([1; DATA_WORDS]), Err(BusError::SubordinateError)];
    assert_eq!((read.ticket, &read.outcome), (Ticket(0), &Outcome::Read(beats)));
    assert_eq!(read.bytes(), Err(BusError::SubordinateError));
    let write = manager.take_completion().expect("the write has ended");
    assert_eq!(write.outcome, Outcome::Write(Err(BusError::DecodeError)));
    assert_eq!(manager.outstanding(), 0);
}
