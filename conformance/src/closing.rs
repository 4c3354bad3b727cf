//! What software does at the unit's registers before and after a case, and what it must find.

use driver::lock_unit::{Counters, LockUnit as Driver};
use driver::{DeviceError, Registers};
use sim::models::LockUnit;

use crate::bench::Bench;
use crate::mismatch::{Mismatch, Property};
use crate::oracle::Counted;

/// Tells the unit where the table is and lets it accept requests.
pub(crate) fn open<M: LockUnit>(bench: &mut Bench<'_, M>) -> Result<(), Mismatch> {
    let table = bench.case.table;
    let result = configure(&mut bench.unit, table.base, table.log2_buckets.into());
    result.map_err(|error| bench.wrong(Property::Registers, "a configured unit", error.to_string()))
}

fn configure(unit: impl Registers, base: u64, log2_buckets: u32) -> Result<(), DeviceError> {
    let mut driver = Driver::new(unit);
    driver.identify()?;
    driver.configure(base, log2_buckets)?;
    driver.set_interrupt(true)?;
    driver.enable()
}

/// What software finds at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    open: u32,
    error_pending: bool,
    counters: Counters,
}

fn look(unit: impl Registers) -> Result<Found, DeviceError> {
    let mut driver = Driver::new(unit);
    let found = Found {
        open: driver.open_requests()?,
        error_pending: driver.bus_error_pending()?,
        counters: driver.counters()?,
    };
    driver.acknowledge_bus_error()?;
    Ok(found)
}

/// Nothing is open, every count is the oracle's, and every line is zero.
pub(crate) fn close<M: LockUnit>(bench: &mut Bench<'_, M>) -> Result<(), Mismatch> {
    let interrupt = bench.unit.interrupt();
    let found = look(&mut bench.unit);
    let found = found.map_err(|error| {
        bench.wrong(Property::Registers, "readable registers", error.to_string())
    })?;
    let Counted { counters, most_copies_voided } = bench.oracle.counted();
    let least = counters.copies_voided;
    let copies_voided = found.counters.copies_voided.clamp(least, most_copies_voided);
    let counters = Counters { copies_voided, ..counters };
    let error_pending = counters.bus_errors > 0;
    let expected = Found { open: 0, error_pending, counters };
    if found != expected {
        let (expected, found) = (format!("{expected:?}"), format!("{found:?}"));
        return Err(bench.wrong(Property::Registers, expected, found));
    }
    if interrupt != error_pending || bench.unit.interrupt() {
        let found = format!("{interrupt}, and then {}", bench.unit.interrupt());
        let expected = format!("intr_o {error_pending}, and low once acknowledged");
        return Err(bench.wrong(Property::Registers, expected, found));
    }
    for line in 0..bench.case.table.lines {
        let memory = bench.memory.line(bench.case.table.address(line)).expect("inside the table");
        let reference = bench.ledger.words(line);
        if memory != [0; 8] || reference != memory {
            let found = format!("line {line} is {memory:x?}, in the reference {reference:x?}");
            return Err(bench.wrong(Property::Rest, "eight zero words", found));
        }
    }
    Ok(())
}
