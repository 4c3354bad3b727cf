// SPDX-License-Identifier: MIT OR Apache-2.0
//! The register accesses of software before and after a run, and the values that it must find.

use driver::lock_unit::{Counters, LockUnit as Driver};
use driver::{DeviceError, Registers};
use sim::lock_unit::UnitUnderTest;
use sim::models::LockUnit;

use crate::case::LockTableShape;
use crate::mismatch::{MismatchError, Property};
use crate::oracle::Counted;

/// Tells the unit where the table is and lets it accept requests.
pub(crate) fn open<M: LockUnit>(
    unit: &mut UnitUnderTest<M>,
    table: LockTableShape,
) -> Result<(), MismatchError> {
    let result = configure(&mut *unit, table.base, table.log2_buckets.into());
    result.map_err(|error| wrong(unit, "a configured unit", error.to_string()))
}

fn configure(unit: impl Registers, base: u64, log2_buckets: u32) -> Result<(), DeviceError> {
    let mut driver = Driver::new(unit);
    driver.identify()?;
    driver.configure(base, log2_buckets)?;
    driver.set_interrupt(true)?;
    driver.enable()
}

/// The state that software finds at the end.
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

/// Nothing is open, every count is the oracle's, and the interrupt tells of bus errors.
pub(crate) fn check<M: LockUnit>(
    unit: &mut UnitUnderTest<M>,
    counted: Counted,
) -> Result<(), MismatchError> {
    let interrupt = unit.interrupt();
    let found = look(&mut *unit);
    let found = found.map_err(|error| wrong(unit, "readable registers", error.to_string()))?;
    let Counted { counters, most_copies_voided } = counted;
    let least = counters.copies_voided;
    let copies_voided = found.counters.copies_voided.clamp(least, most_copies_voided);
    let counters = Counters { copies_voided, ..counters };
    let error_pending = counters.bus_errors > 0;
    let expected = Found { open: 0, error_pending, counters };
    if found != expected {
        return Err(wrong(unit, &format!("{expected:?}"), format!("{found:?}")));
    }
    if interrupt != error_pending || unit.interrupt() {
        let found = format!("{interrupt}, and then {}", unit.interrupt());
        let expected = format!("intr_o {error_pending}, and low once acknowledged");
        return Err(wrong(unit, &expected, found));
    }
    Ok(())
}

fn wrong<M: LockUnit>(unit: &UnitUnderTest<M>, expected: &str, found: String) -> MismatchError {
    MismatchError::new(unit.cycle(), Property::Registers, expected, found)
}
