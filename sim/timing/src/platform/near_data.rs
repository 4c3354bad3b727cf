// SPDX-License-Identifier: MIT OR Apache-2.0
//! The costs of near-data jobs: the device's elements and memory, and the host's store.

use serde::{Deserialize, Serialize};

use super::{Bandwidth, Count, Entry};
use crate::Time;

/// What the device has for near-data jobs.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NearDataTiming {
    /// Processing elements.
    pub elements: Entry<Count>,
    /// Row updates that have a lock request, a re-check or a write under way at once.
    pub updates_in_flight: Entry<Count>,
    /// From a submission's arrival to the elements' start, beside what is read for it.
    pub job_setup: Entry<Time>,
    /// Bytes that the device's engines for pages, rows and results move in a second: one each.
    pub engine_bandwidth: Entry<Bandwidth>,
    /// The processing elements.
    pub element: ElementTiming,
    /// The memory that native storage and delta buffer stand in.
    pub device_memory: DeviceMemoryTiming,
    /// Where new pages are durable.
    pub storage: StorageTiming,
    /// Before a lock that the lock unit had no place for is asked for again.
    pub ask_again: Entry<Time>,
}

/// The storage behind the device's memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StorageTiming {
    /// From a synced write to its end.
    pub latency: Entry<Time>,
    /// Of sequential writes.
    pub bandwidth: Entry<Bandwidth>,
}

/// A processing element: the parameters of its hardware.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ElementTiming {
    /// Period of its clock.
    pub clock: Entry<Time>,
    /// Walks in flight.
    pub chains: Entry<Count>,
    /// Ports to device memory; each takes one request and gives one line of 64 bytes a clock.
    pub ports: Entry<Count>,
    /// Clocks from the answer to one step of a walk to the request of the next.
    pub step: Entry<Count>,
    /// Lines of the L2P map that it keeps.
    pub page_map_lines: Entry<Count>,
    /// Lanes that execute programs, each one instruction a clock.
    pub lanes: Entry<Count>,
}

/// The device's memory.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DeviceMemoryTiming {
    /// From a request to the first line.
    pub latency: Entry<Time>,
    /// Channels; consecutive lines of 64 bytes stand in consecutive channels.
    pub channels: Entry<Count>,
    /// Of each channel.
    pub bandwidth: Entry<Bandwidth>,
}

/// What the store takes on a host core, beside accesses to the lock table and to shared words.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HostStoreTiming {
    /// A short update: begin, look up the key, read the row.
    pub short_begin: Entry<Time>,
    /// A short update: write the version, the log record, and end.
    pub short_end: Entry<Time>,
    /// A scan: find the version of a row that a snapshot sees.
    pub visit_row: Entry<Time>,
    /// A scan: execute one instruction of a program.
    pub instruction: Entry<Time>,
    /// Change a row under its lock, beside the copying of its bytes.
    pub change_row: Entry<Time>,
    /// Copy bytes: a new version into its page, and into the log.
    pub copy: Entry<Bandwidth>,
    /// CRC-32C over a page.
    pub checksum: Entry<Bandwidth>,
    /// Ask the device for a page, and take what comes.
    pub page_request: Entry<Time>,
    /// Pages that a thread has asked for and not yet taken.
    pub pages_in_flight: Entry<Count>,
    /// Collect the shared state: bytes of it in a second.
    pub collect: Entry<Bandwidth>,
    /// Check one entry of a result set, and note its lock, beside the loads of the lock table and the
    /// VID map.
    pub adopt_row: Entry<Time>,
    /// Loads of shared words that do not depend on each other, under way at once.
    pub loads_in_flight: Entry<Count>,
    /// Find a page and a place for a device to write to.
    pub grant_page: Entry<Time>,
    /// Publish one row at the commit, beside the store to its VID map word.
    pub install_row: Entry<Time>,
    /// From a completion in host memory to the thread that waits for it.
    pub wake: Entry<Time>,
    /// Of the device that has the log, from a synced write to its end.
    pub log_latency: Entry<Time>,
    /// Of the device that has the log.
    pub log_bandwidth: Entry<Bandwidth>,
}
