// SPDX-License-Identifier: MIT OR Apache-2.0
//! The Verilated lock unit, clocked here, with its memory accesses made by real atomics.

use driver::lock_unit::stream::{UnitRequest, UnitResponse};
use locks::machine::Access;
use locks::{Bucket, LockTable};
use sim::bus::BusError;
use sim::bus::axi4::{MemoryAccess, MemoryData};
use sim::lock_unit::{UnitMemory, UnitOnMemory};
use sim::models::TupleLockUnit;
use sim::system::{SystemError, TABLE_BASE};
use timing::Time;

use super::UnitBehind;
use crate::report::UnitReport;
use crate::{Options, RunError};

/// Clock cycles of one [`UnitBehind::work`].
const CYCLES_AT_ONCE: u64 = 16;

/// The unit's RTL on the run's table.
pub struct Clocked<'t> {
    table: TableMemory<'t>,
    unit: UnitOnMemory<TupleLockUnit>,
}

impl<'t> Clocked<'t> {
    /// A unit that has been told of the table and accepts requests.
    ///
    /// # Errors
    /// When the unit is not as it should be, or its waves cannot be written.
    pub fn new(table: &'t LockTable, options: &Options) -> Result<Self, RunError> {
        let mut unit = UnitOnMemory::new(TupleLockUnit::new());
        let log2_buckets = table.buckets().len().trailing_zeros();
        let started = driver::LockUnit::new(unit.unit_mut()).start(TABLE_BASE, log2_buckets);
        started.map_err(SystemError::Device)?;
        options.open_waves(unit.unit_mut().model_mut())?;
        Ok(Self { table: TableMemory(table), unit })
    }
}

impl UnitBehind for Clocked<'_> {
    fn request(&mut self, request: UnitRequest) -> Result<(), RunError> {
        self.unit.request(request);
        Ok(())
    }

    fn work(&mut self, time: Time) -> Result<Option<UnitResponse>, RunError> {
        let worked = self.unit.work(CYCLES_AT_ONCE, &mut self.table);
        Ok(worked.map_err(|fault| SystemError::Bus { time, fault })?)
    }

    fn finish(&mut self) -> Result<UnitReport, RunError> {
        let unit = self.unit.unit_mut();
        let cycles = unit.cycle();
        unit.model_mut().close_waves();
        let counters = driver::LockUnit::new(unit).counters();
        Ok(UnitReport::new(Some(cycles), &counters.map_err(SystemError::Device)?))
    }
}

/// The run's table, whose buckets host threads reach at the same time.
struct TableMemory<'t>(&'t LockTable);

impl UnitMemory for TableMemory<'_> {
    fn perform(&mut self, access: &MemoryAccess) -> Result<MemoryData, BusError> {
        perform(self.0, access)
    }

    fn head(&self, address: u64) -> Option<u64> {
        let buckets = self.0.buckets();
        Some(buckets[bucket_at(address)?].head().word())
    }
}

/// The bucket that the line at this address is.
fn bucket_at(address: u64) -> Option<usize> {
    address.checked_sub(TABLE_BASE).map(|offset| (offset / 64) as usize)
}

/// Makes an access of the unit on the table.
fn perform(table: &LockTable, access: &MemoryAccess) -> Result<MemoryData, BusError> {
    let bucket = bucket_at(access.address).and_then(|index| table.buckets().get(index));
    let bucket: &Bucket = bucket.ok_or(BusError::DecodeError)?;
    bucket.perform(Access::try_from(access)?).try_into()
}
