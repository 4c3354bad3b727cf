//! The Verilated lock unit, clocked here, with its memory accesses made by real atomics.

use lockdb::machine::{Access, Answer};
use lockdb::{Bucket, Slot, Table};
use sim::bus::BusError;
use sim::bus::axi4::{AccessKind, MemoryAccess, MemoryAnswer, MemoryData};
use sim::kernel::Time;
use sim::lock_unit::stream::{UnitRequest, UnitResponse};
use sim::lock_unit::{KeptCopies, UnitConfig, UnitUnderTest};
use sim::models::TupleLockUnit;
use sim::system::{SystemError, TABLE_BASE};

use super::UnitBehind;
use crate::report::UnitReport;
use crate::{Options, RunError};

/// Clock cycles of one [`UnitBehind::work`], which begins with a look at the lines whose copies are
/// kept.
const CYCLES_AT_ONCE: u64 = 16;

/// The unit's RTL on the run's table.
pub struct Clocked<'t> {
    table: &'t Table,
    unit: UnitUnderTest<TupleLockUnit>,
    /// No bus tells us when a host thread writes a line, so we look.
    copies: KeptCopies,
}

impl<'t> Clocked<'t> {
    /// A unit that has been told of the table and accepts requests.
    ///
    /// # Errors
    /// When the unit is not as it should be, or its waves cannot be written.
    pub fn new(table: &'t Table, options: &Options) -> Result<Self, RunError> {
        let mut unit = UnitUnderTest::new(TupleLockUnit::new(), &UnitConfig::smooth());
        let log2_buckets = table.buckets().len().trailing_zeros();
        let started = driver::LockUnit::new(&mut unit).start(TABLE_BASE, log2_buckets);
        started.map_err(SystemError::Device)?;
        options.open_waves(unit.model_mut())?;
        Ok(Self { table, unit, copies: KeptCopies::default() })
    }

    fn clock(&mut self, now: u64) -> Result<(), RunError> {
        let time = Time::from_ps(now);
        self.unit.clock().map_err(|fault| SystemError::Bus { time, fault })?;
        while let Some(access) = self.unit.take_access() {
            let outcome = perform(self.table, &access);
            if let (AccessKind::ReadLine { keep_copy: true }, Ok(MemoryData::Line(line))) =
                (access.kind, &outcome)
                && self.copies.keep(access.address, line[0])
            {
                self.unit.invalidate(access.address);
            }
            self.unit.answer(&MemoryAnswer { id: access.id, outcome });
        }
        Ok(())
    }

    fn look_at_copies(&mut self) {
        let buckets = self.table.buckets();
        let head = |address| Some(buckets[bucket_at(address)?].head().word());
        self.copies.look(head, |address| self.unit.invalidate(address));
    }
}

impl UnitBehind for Clocked<'_> {
    fn request(&mut self, request: UnitRequest) -> Result<(), RunError> {
        self.unit.request(request);
        Ok(())
    }

    fn work(&mut self, now: u64) -> Result<Option<UnitResponse>, RunError> {
        self.look_at_copies();
        for _ in 0..CYCLES_AT_ONCE {
            self.clock(now)?;
            if let Some(response) = self.unit.take_response() {
                return Ok(Some(response));
            }
        }
        Ok(None)
    }

    fn finish(&mut self) -> Result<UnitReport, RunError> {
        let cycles = self.unit.cycle();
        self.unit.model_mut().close_waves();
        let counters = driver::LockUnit::new(&mut self.unit).counters();
        Ok(UnitReport::new(Some(cycles), &counters.map_err(SystemError::Device)?))
    }
}

/// The bucket that the line at this address is.
fn bucket_at(address: u64) -> Option<usize> {
    address.checked_sub(TABLE_BASE).map(|offset| (offset / 64) as usize)
}

/// Makes an access of the unit on the table.
fn perform(table: &Table, access: &MemoryAccess) -> Result<MemoryData, BusError> {
    let bucket = bucket_at(access.address).and_then(|index| table.buckets().get(index));
    let bucket: &Bucket = bucket.ok_or(BusError::DecodeError)?;
    let word = (access.address / 8 % 8) as u8;
    let answer = match access.kind {
        AccessKind::ReadLine { .. } => bucket.perform(Access::ReadLine),
        AccessKind::CompareSwap { expected, new } => {
            bucket.perform(Access::CompareSwap { word, expected, new })
        }
        AccessKind::Store { value: 0, strobe: 0xFF } => {
            let slot = Slot::new(word).ok_or(BusError::SubordinateError)?;
            bucket.perform(Access::Clear(slot))
        }
        // The protocol has no other stores.
        AccessKind::Store { .. } => return Err(BusError::SubordinateError),
    };
    Ok(match answer {
        Answer::Line(line) => MemoryData::Line(line),
        Answer::Word(old) => MemoryData::OldWord(old),
        Answer::Cleared => MemoryData::Stored,
        Answer::BusError => return Err(BusError::SubordinateError),
    })
}
