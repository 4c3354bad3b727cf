// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers: settings before a run, counters after it. Offsets are written out here on purpose, as a check
//! of the map.

use nic::index::Table;
use nic::lookup::{COUNTERS, Counters, Geometry, Places, Settings};

pub const CONTROL: u16 = 0x000;
pub const RETURN: u16 = 0x010;
pub const SETTINGS_ERROR: u16 = 0x110;
pub const FLUSH: u16 = 0x114;
const FIRST_COUNTER: u16 = 0x200;

/// In `CONTROL`.
pub const ENABLE: u32 = 1;
pub const FLUSHES: u32 = 2;
/// In `FLUSH`.
pub const FLUSHED: u32 = 1;
pub const FLUSH_FAILED: u32 = 2;

/// All that is set before a run.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    pub table_base: u64,
    pub slots: u32,
    pub limit: u8,
    pub more: u8,
    pub places: Places,
    pub settings: Settings,
    pub index_base: u64,
    pub segments: u32,
    pub idle_time: u32,
    pub flush_time: u32,
}

impl Configuration {
    /// The same for the machine, with slots of so many bytes.
    pub fn geometry<const WORDS: usize>(&self, slot_bytes: u16) -> Geometry<WORDS> {
        let &Configuration { table_base, slots, limit, more, places, settings, segments, .. } =
            self;
        let table = Table::new(table_base, slots, slot_bytes, limit, more, segments)
            .expect("a table that an index can serve");
        Geometry::new(table, places, settings).expect("a table that the model can search")
    }

    /// What to write where, but for `CONTROL`.
    pub fn writes(&self) -> Vec<(u16, u32)> {
        let mut writes = vec![
            (0x030, self.slots),
            (0x040, self.limit.into()),
            (0x050, self.more.into()),
            (0x060, self.places.log2_segment),
            (0x090, self.places.overflow_slots),
            (0x0A0, self.settings.value_bytes.into()),
            (0x0B0, self.settings.most_readings.into()),
            (0x0D0, self.segments),
            (0x0E0, self.idle_time),
            (0x0F0, self.flush_time),
        ];
        let addresses = [
            (0x020, self.table_base),
            (0x070, self.places.directory),
            (0x080, self.places.overflow),
            (0x0C0, self.index_base),
        ];
        for (register, address) in addresses {
            writes.extend([(register, address as u32), (register + 4, (address >> 32) as u32)]);
        }
        writes
    }
}

/// The halves of all counters, in the order of the machine's.
pub fn counter_halves() -> impl Iterator<Item = [u16; 2]> {
    (0..COUNTERS as u16).map(|n| [FIRST_COUNTER + 8 * n, FIRST_COUNTER + 8 * n + 4])
}

/// Compares what the registers say with what the machines have counted.
pub fn compare(found: &[u64], expected: &Counters) -> Result<(), String> {
    let expected = expected.by_name();
    for (&found, (name, expected)) in found.iter().zip(expected) {
        if found != expected {
            return Err(format!("{name} is {found}, expected {expected}"));
        }
    }
    Ok(())
}
