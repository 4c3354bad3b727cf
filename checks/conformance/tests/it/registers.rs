// SPDX-License-Identifier: MIT OR Apache-2.0
//! The unit's registers as software sees them: `docs/lock-unit.md`, "Registers".

use driver::lock_unit::LockUnit as Driver;
use driver::lock_unit::stream::{Tag, UnitOperation, UnitRequest};
use driver::{BusResponse, DeviceError, Registers};
use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use sim::bus::BusError;
use sim::bus::axi_lite::{LiteRequest, LiteStalls};
use sim::bus::axi4::{Axi4Config, Axi4Stalls, MemoryAnswer, MemoryData};
use sim::bus::stall::StallPattern;
use sim::lock_unit::{UnitConfig, UnitUnderTest};
use sim::models::TupleLockUnit;

type Unit = UnitUnderTest<TupleLockUnit>;

/// A unit whose register port stalls.
fn unit(seed: u64) -> Unit {
    let registers = LiteStalls::all(StallPattern::Random { probability: 0.4 });
    let memory = Axi4Config::lock_unit(seed);
    let config = UnitConfig { registers, seed, memory, ..UnitConfig::smooth() };
    UnitUnderTest::new(TupleLockUnit::new(), &config)
}

fn response<T>(result: Result<T, DeviceError>) -> Option<BusResponse> {
    match result {
        Ok(_) => None,
        Err(DeviceError::Bus { response, .. }) => Some(response),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn every_offset_answers_as_documented() {
    let mut unit = unit(1);
    let writable = [0x000, 0x004, 0x008, 0x00C, 0x020, 0x024, 0x030];
    let readable = |offset: u32| {
        writable.contains(&offset)
            || [0x010, 0x100, 0x104, 0x108].contains(&offset)
            || (0x200..0x280).contains(&offset)
    };
    for offset in (0..0x1000).step_by(4) {
        let expected = (!readable(offset)).then_some(BusResponse::DecodeError);
        assert_eq!(response(unit.read32(offset)), expected, "read of {offset:#x}");
        let expected = (!writable.contains(&offset)).then_some(BusResponse::SubordinateError);
        assert_eq!(response(unit.write32(offset, 0)), expected, "write of {offset:#x}");
    }
}

#[test]
fn impossible_values_are_refused_and_change_nothing() {
    let mut unit = unit(2);
    let refused = Some(BusResponse::SubordinateError);
    for (offset, good, bad) in [(0x020, 0xABCD_EFC0, 0x1000_0020), (0x030, 32, 33), (0x030, 0, 64)]
    {
        unit.write32(offset, good).unwrap();
        assert_eq!(response(unit.write32(offset, bad)), refused, "{bad:#x} to {offset:#x}");
        assert_eq!(unit.read32(offset).unwrap(), good);
    }
    // All four strobes, or nothing.
    for strobe in 0..0xF {
        let request = LiteRequest::Write { address: 0x030, value: 7, strobe };
        assert_eq!(unit.access(request), Ok(Err(BusError::SubordinateError)), "strobe {strobe:#x}");
        assert_eq!(unit.read32(0x030).unwrap(), 0);
    }
    // Both halves of the base are kept apart.
    unit.write32(0x024, 0xFEDC_BA98).unwrap();
    assert_eq!(unit.read32(0x020).unwrap(), 0xABCD_EFC0);
    assert_eq!(unit.read32(0x024).unwrap(), 0xFEDC_BA98);
}

/// Asks for a lock under this tag.
fn ask(unit: &mut Unit, tag: u8) {
    unit.request(UnitRequest {
        tag: Tag::new(tag).unwrap(),
        transaction: Timestamp::new(1).unwrap(),
        operation: UnitOperation::Acquire(TupleKey::new(0, 0), Rule::Queue),
    });
}

fn clock(unit: &mut Unit, cycles: u32) {
    for _ in 0..cycles {
        unit.clock().unwrap();
    }
}

/// A unit whose memory takes no access soon has no room, and admits nothing further.
#[test]
fn return_counts_requests_from_their_beat() {
    let never = StallPattern::Random { probability: 1.0 };
    let memory = Axi4Config { stalls: Axi4Stalls::all(never), ..Axi4Config::lock_unit(4) };
    let mut unit = Unit::new(TupleLockUnit::new(), &UnitConfig { memory, ..UnitConfig::smooth() });
    Driver::new(&mut unit).enable().unwrap();
    for tag in 0..20 {
        ask(&mut unit, tag);
    }
    clock(&mut unit, 100);
    let taken = 20 - unit.request_backlog();
    let mut driver = Driver::new(&mut unit);
    let admitted = driver.counters().unwrap().requests;
    let open = driver.open_requests().unwrap();
    assert!(admitted < taken as u64, "{admitted} of {taken} requests were admitted");
    assert_eq!(open as usize, taken, "RETURN, with {admitted} of {taken} requests admitted");
}

#[test]
fn a_unit_that_is_off_takes_nothing_and_one_that_is_put_off_ends_what_is_open() {
    let mut unit = unit(3);
    ask(&mut unit, 1);
    clock(&mut unit, 100);
    assert_eq!(unit.request_backlog(), 1, "taken although CONTROL is 0");
    let mut driver = Driver::new(&mut unit);
    driver.enable().unwrap();
    assert_eq!(driver.open_requests().unwrap(), 1);
    driver.disable().unwrap();
    ask(&mut unit, 2);
    clock(&mut unit, 100);
    assert_eq!(unit.request_backlog(), 1, "taken after CONTROL was put to 0");
    let access = unit.take_access().expect("the open request has asked memory");
    unit.answer(&MemoryAnswer { id: access.id, outcome: Ok(MemoryData::OldWord(0)) });
    clock(&mut unit, 20);
    assert!(unit.take_response().is_some(), "the open request is answered");
    assert_eq!(Driver::new(&mut unit).open_requests().unwrap(), 0);
}
