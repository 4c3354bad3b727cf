// SPDX-License-Identifier: MIT OR Apache-2.0
//! The look-up unit of a device, brought into use for a table.

use std::fs::File;
use std::time::Duration;

use driver::look_up_unit::{Built, Settings};
use driver::queue::Answer;
use driver::{
    BlockRegisters, CopyCommand, Device, DeviceError, Direction, DmaBuffer, LookUpOperation,
    LookUpQueue, LookUpRequest, LookUpUnit, QueueError, layout,
};
use tables::memory::AtomicMemory;
use tables::robin_hood::{BEYOND_HINT, RobinHood, Shape};
use tables::{Table, Walk};

use super::error::LookUpError;
use super::port::{LookUpPort, Reply};
use super::table::LookedUp;

/// Bytes of the buffer with which the index is cleared, where the card's memory cannot be mapped.
const CLEARED_AT_ONCE: usize = 1 << 16;

/// How a device is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Where the index begins in the card's memory, in bytes.
    pub index_base: u64,
    /// Entries of the queue's rings: a power of two from 2 to 4096.
    pub entries: u16,
    /// Readings of all places of a key after which a look-up gives up, 2 to 255.
    pub most_readings: u32,
    /// How long each request may take.
    pub bound: Duration,
}

impl Default for DeviceOptions {
    /// The index at the beginning of the card's memory, 16 requests at once, a second for each.
    fn default() -> Self {
        let bound = Duration::from_secs(1);
        DeviceOptions { index_base: 0, entries: 16, most_readings: 32, bound }
    }
}

/// What the look-up unit has to be told of a table whose memory begins at the device address `base`.
///
/// # Errors
/// [`LookUpError::Unsuitable`] when a unit that was built so cannot search it. Other settings are for the
/// unit to judge.
pub fn settings(
    table: &RobinHood,
    base: u64,
    built: &Built,
    options: &DeviceOptions,
) -> Result<Settings, LookUpError> {
    let unsuitable = |field, value: u64, expected: String| {
        Err(LookUpError::Unsuitable { field, value, expected })
    };
    let Some(limit) = table.limit() else {
        return unsuitable("limit", 0, "a largest displacement of 1 to 63 slots".into());
    };
    let (slot_bytes, built_bytes) = (table.ground().layout().bytes() as u64, built.slot_bytes);
    if slot_bytes != u64::from(built_bytes) {
        return unsuitable(
            "bytes of a slot",
            slot_bytes,
            format!("{built_bytes}, as it was built"),
        );
    }
    if table.segments() > built.segments {
        let expected = format!("at most {}, as it was built", built.segments);
        return unsuitable("segments", table.segments().into(), expected);
    }
    let address = |word: usize| base + 8 * word as u64;
    Ok(Settings {
        table_base: base,
        slots: table.homes(),
        limit,
        more: 1 + BEYOND_HINT as u32,
        segment_shift: table.homes_in_segment().trailing_zeros(),
        directory_base: address(table.directory_word(0)),
        overflow_base: address(table.overflow_word(0)),
        overflow_slots: table.overflow_slots(),
        value_bytes: 8 * built.value_words,
        most_readings: options.most_readings,
        index_base: options.index_base,
        segments: table.segments(),
        ..Settings::NONE
    })
}

/// A device behind a driver.
#[derive(Debug)]
pub struct DevicePort {
    queue: LookUpQueue,
    unit: LookUpUnit<BlockRegisters>,
    bound: Duration,
    /// What the unit reads: taken away from the device last of all.
    _table: DmaBuffer,
}

impl DevicePort {
    /// Brings the look-up unit of a device that has just been reset into use, on a new, empty table.
    ///
    /// # Errors
    /// When there is no such table, no memory for it, or the device cannot search it.
    pub fn start(
        device: &Device,
        shape: Shape,
        options: &DeviceOptions,
    ) -> Result<LookedUp<Self>, LookUpError> {
        let geometry = RobinHood::new(shape)?;
        let mut unit = device.look_up_unit();
        let built = unit.identify()?;
        check_unused(&mut unit)?;
        let buffer = device.allocate(8 * geometry.ground().words())?;
        let settings = settings(&geometry, buffer.bus_address(), &built, options)?;
        let bytes = u64::from(settings.segments) * built.entry_bytes();
        check_index(device, settings.index_base, bytes)?;
        clear(device, settings.index_base, bytes, options.bound)?;
        let table = Table::new(geometry, shared(&buffer)?)?;
        unit.configure(&settings)?;
        unit.enable(&settings)?;
        let queue = device.look_up_queue(options.entries)?;
        let port = DevicePort { queue, unit, bound: options.bound, _table: buffer };
        Ok(LookedUp::new(table, port))
    }

    /// The unit, for its counters.
    pub fn unit(&mut self) -> &mut LookUpUnit<BlockRegisters> {
        &mut self.unit
    }
}

impl LookUpPort for DevicePort {
    fn ask(&mut self, key: u64, operation: LookUpOperation) -> Result<Reply, LookUpError> {
        let done = self.queue.ask(LookUpRequest::new(key, operation), self.bound)?;
        let Answer::Value(value) = done.answer else {
            unreachable!("a request for a value is answered with one")
        };
        Ok(Reply { status: done.status, version: done.version, value })
    }
}

impl Drop for DevicePort {
    fn drop(&mut self) {
        // The unit reads the table no more when it is taken away; a device that is gone reads nothing.
        let _ = self.unit.drain(self.bound);
    }
}

/// Nothing of another index is cached.
fn check_unused(unit: &mut LookUpUnit<BlockRegisters>) -> Result<(), LookUpError> {
    match unit.counters()?.requests {
        0 => Ok(()),
        value => Err(LookUpError::Unsuitable {
            field: "requests of the look-up unit",
            value,
            expected: "0, as what they cached would be taken for the new table's: reset the device"
                .into(),
        }),
    }
}

/// The index lies in the card's memory.
fn check_index(device: &Device, base: u64, bytes: u64) -> Result<(), LookUpError> {
    let card = device.capabilities().card_bytes;
    match base.checked_add(bytes) {
        Some(end) if end <= card => Ok(()),
        _ => Err(LookUpError::Unsuitable {
            field: "index_base",
            value: base,
            expected: format!("room for {bytes} bytes in a card memory of {card}"),
        }),
    }
}

/// The words of a buffer as a table wants them: its pages once more.
fn shared(buffer: &DmaBuffer) -> Result<AtomicMemory, DeviceError> {
    let failed = |error| DeviceError::system("map the table's memory", error);
    let file = File::from(buffer.memory().file().try_clone_to_owned().map_err(failed)?);
    AtomicMemory::of_file(&file).map_err(failed)
}

/// Makes the index empty: zeros.
fn clear(device: &Device, base: u64, bytes: u64, bound: Duration) -> Result<(), LookUpError> {
    if let Some(card) = device.window(layout::CARD_BAR)? {
        let (from, bytes) = (base as usize, bytes as usize);
        for offset in (from..from + bytes).step_by(CLEARED_AT_ONCE) {
            let left = (from + bytes - offset).min(CLEARED_AT_ONCE);
            card.write(offset, &vec![0; left]);
        }
        return Ok(());
    }
    let zeros = device.allocate(CLEARED_AT_ONCE)?;
    let mut copies = device.copy_queue(2)?;
    let mut done = 0;
    while done < bytes {
        let chunk = (bytes - done).min(zeros.bytes().min(CLEARED_AT_ONCE) as u64) as u32;
        let command = CopyCommand {
            direction: Direction::HostToCard,
            source: zeros.bus_address(),
            destination: base + done,
            bytes: chunk,
            interrupt: true,
        };
        copies.copy(command, bound).and_then(|end| end.succeeded()).map_err(told)?;
        done += u64::from(chunk);
    }
    Ok(())
}

fn told(error: QueueError) -> LookUpError {
    error.into()
}
