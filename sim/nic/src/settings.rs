// SPDX-License-Identifier: MIT OR Apache-2.0
//! With what a run is made.

use serde::Serialize;
use timing::Time;

/// The host's table.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TableSettings {
    /// Keys by homes, above 0 to 0.95.
    pub occupancy: f64,
    /// The largest displacement (D_m), 1 to 63.
    pub limit: u32,
    /// Homes in a segment, a power of two.
    pub segment: u32,
}

impl Default for TableSettings {
    /// Xenic's: 90 % of the homes, a key 16 slots from its home overflows (Xenic, 4.1.4, table 2). Its paper
    /// gives no segment; two homes are those of the experiment `xenic-table2`.
    fn default() -> Self {
        TableSettings { occupancy: 0.9, limit: 15, segment: 2 }
    }
}

/// What of the card is no register of the RTL, and no entry of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CardSettings {
    /// Period of the RTL's clock, in picoseconds. Assumption: 250 MHz, as all figures of the blocks.
    pub clock_ps: u64,
    /// Clocks from a read on `m_axi_nic` to its data. Assumption: 38, the on-card memory of the index's own figures.
    pub nic_memory_clocks: u32,
    /// Clocks without a new read after which a vector is sent. Assumption: the register's own.
    pub idle_clocks: u16,
    /// Clocks after which the oldest read of a vector is sent. Assumption: the register's own.
    pub flush_clocks: u16,
    /// Look-ups of the network under way at most, 1 to 128.
    pub in_flight: u16,
    /// Whether the index knows displacements and overflow buckets from the beginning, as after a load of the
    /// table; else memory is zeros, and it learns them.
    pub knows_hints: bool,
}

impl Default for CardSettings {
    fn default() -> Self {
        CardSettings {
            clock_ps: 4000,
            nic_memory_clocks: 38,
            idle_clocks: 16,
            flush_clocks: 64,
            in_flight: 128,
            knows_hints: true,
        }
    }
}

impl CardSettings {
    /// The period of the clock.
    pub fn clock(&self) -> Time {
        Time::from_ps(self.clock_ps)
    }
}

/// The host's threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HostSettings {
    /// Threads that insert and delete; 0 leaves the table as it is.
    pub threads: u32,
    /// The part of the keys that they change, 0 to 1.
    pub share: f64,
    /// Between two stores, in nanoseconds of virtual time. Assumption: a store that misses the cache, in a row with
    /// others, of a core that does nothing else.
    pub store_ns: u64,
    /// Between two operations of a thread, in nanoseconds.
    pub pause_ns: u64,
}

impl Default for HostSettings {
    fn default() -> Self {
        HostSettings { threads: 0, share: 0.01, store_ns: 10, pause_ns: 1000 }
    }
}

/// Everything but the contents and the look-ups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Of all draws.
    pub seed: u64,
    /// The table.
    pub table: TableSettings,
    /// The card.
    pub card: CardSettings,
    /// The host.
    pub host: HostSettings,
}
