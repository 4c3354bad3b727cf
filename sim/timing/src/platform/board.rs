// SPDX-License-Identifier: MIT OR Apache-2.0
//! A platform of one host and one device: a board in a slot of the host, coherent or not.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::near_data::{HostStoreTiming, NearDataTiming};
use super::{Bandwidth, Bytes, Count, Entry, Kind, PlatformError, PlatformFile, entries_read};
use crate::Time;

/// One side of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The processor and its memory.
    Host,
    /// The accelerator card.
    Device,
}

/// Where a request agent performs its atomics and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Atomics {
    /// In its own cache, for which it obtains the line for itself alone.
    Near,
    /// At the home agent, which invalidates all copies and answers the old word.
    Far,
}

/// The link between host and device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LinkTiming {
    /// From the device's port to the host's, beside the time on the wire.
    pub latency_to_host: Entry<Time>,
    /// From the host's port to the device's, beside the time on the wire.
    pub latency_to_device: Entry<Time>,
    /// Of each direction.
    pub bandwidth: Entry<Bandwidth>,
    /// Bytes of a packet that are not payload.
    pub packet_overhead: Entry<Bytes>,
    /// Most bytes of payload in one packet.
    pub max_payload: Entry<Bytes>,
}

/// The cache of a request agent.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CacheTiming {
    /// Capacity in data.
    pub size: Entry<Bytes>,
    /// Lines of a set.
    pub ways: Entry<Count>,
    /// From the operation to the outcome of the lookup.
    pub lookup: Entry<Time>,
    /// More of a missed lookup whose request leaves over the link.
    pub remote: Entry<Time>,
    /// From the performed operation, or the answer, to the result at the agent.
    pub respond: Entry<Time>,
    /// From the arrival of a snoop to its answer on its way.
    pub snoop: Entry<Time>,
    /// Lines fetched ahead of a sequential reader; 0 is none.
    pub prefetch: Entry<Count>,
}

/// The request agents of one side.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AgentTiming {
    /// How many there are, each with its own cache.
    pub agents: Entry<Count>,
    /// Where they perform atomics and stores.
    pub atomics: Atomics,
    /// One way between an agent and its side's home agent, or its side's port.
    pub hop: Entry<Time>,
    /// The cache of each.
    pub cache: CacheTiming,
}

/// A home agent and the memory behind it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HomeTiming {
    /// Of the directory.
    pub lookup: Entry<Time>,
    /// Time between two requests that it takes.
    pub occupancy: Entry<Time>,
    /// To perform an atomic or a store once the line is at hand.
    pub atomic: Entry<Time>,
    /// Of a line that the memory-side cache has.
    pub cached_access: Entry<Time>,
    /// Of any other line.
    pub memory_access: Entry<Time>,
    /// Capacity of the memory-side cache.
    pub memory_cache: Entry<Bytes>,
    /// Lines of a set of the memory-side cache.
    pub memory_cache_ways: Entry<Count>,
}

/// The coherent half of a platform.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CoherenceTiming {
    /// The side whose home agent owns the shared memory.
    pub home: Side,
    /// Period of the lock unit's clock.
    pub unit_clock: Entry<Time>,
    /// Request agents of the host: its cores.
    pub host: AgentTiming,
    /// Request agents of the device.
    pub device: AgentTiming,
    /// A home agent, if it is on the host.
    pub home_on_host: HomeTiming,
    /// A home agent, if it is on the device.
    pub home_on_device: HomeTiming,
}

/// Bulk transfers that are not coherent, started by the device.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DmaTiming {
    /// Of the engine, for each transfer.
    pub setup: Entry<Time>,
    /// Of the host's memory, from request to first byte.
    pub memory_access: Entry<Time>,
}

/// A host and a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Platform {
    /// The name it is asked for by.
    pub name: String,
    /// Between host and device.
    pub link: LinkTiming,
    /// Present when the platform is cache coherent.
    pub coherence: Option<CoherenceTiming>,
    /// Present when the platform has a DMA engine.
    pub dma: Option<DmaTiming>,
    /// Present when the device executes near-data jobs.
    pub near_data: Option<NearDataTiming>,
    /// Present when what a store takes on a host core is known.
    pub host_store: Option<HostStoreTiming>,
}

/// A field that no machine can have: path, value, expectation.
type Finding = (String, String, &'static str);

impl Platform {
    /// Those of [`PlatformFile::NAMES`] that are a host and a device; the first is the usual one.
    pub const NAMES: [&'static str; 4] = ["n1sdp-u280-ccix", "pcie-gen3", "liquidio3", "off-path"];

    /// The platform `name` of [`Platform::NAMES`].
    ///
    /// # Errors
    /// When there is none of that name, or it is of another shape.
    pub fn named(name: &str) -> Result<Self, PlatformError> {
        Self::read_from(PlatformFile::named(name)?)
    }

    /// As [`Platform::named`], with every fitted entry times `factor`: what hangs on the fit changes.
    ///
    /// # Errors
    /// As [`Platform::named`]; when an entry cannot be so much.
    pub fn with_fitted_times(name: &str, factor: f64) -> Result<Self, PlatformError> {
        Self::read_from(PlatformFile::named(name)?.times(Kind::Fitted, factor))
    }

    /// Reads a platform file.
    ///
    /// # Errors
    /// When it cannot be read, is malformed, or describes no possible machine.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, PlatformError> {
        Self::read_from(PlatformFile::load(path)?)
    }

    /// As [`Platform::load`], with every fitted entry times `factor`.
    ///
    /// # Errors
    /// As [`Platform::load`]; when an entry cannot be so much.
    pub fn load_with_fitted_times(
        path: impl AsRef<Path>,
        factor: f64,
    ) -> Result<Self, PlatformError> {
        Self::read_from(PlatformFile::load(path)?.times(Kind::Fitted, factor))
    }

    /// The names, such as `link.bandwidth`, of all entries of a kind that were read since the file was,
    /// through this platform or a clone of it or of a part.
    pub fn read(&self, kind: Kind) -> BTreeSet<String> {
        entries_read(self, kind)
    }

    /// As [`Platform::load`], from a file that was read before.
    ///
    /// # Errors
    /// When it is malformed, or describes no possible machine.
    pub fn read_from(mut file: PlatformFile) -> Result<Self, PlatformError> {
        let platform = Platform {
            name: file.word("name")?,
            link: file.section("link")?,
            coherence: file.optional_section("coherence")?,
            dma: file.optional_section("dma")?,
            near_data: file.optional_section("near_data")?,
            host_store: file.optional_section("host_store")?,
        };
        // What a board is as a NIC is read by the models of clusters.
        file.leave("network");
        file.expect_all_read()?;
        match platform.first_impossible() {
            None => Ok(platform),
            Some((field, value, expected)) => Err(file.impossible(field, value, expected)),
        }
    }

    fn first_impossible(&self) -> Option<Finding> {
        if self.link.max_payload.value.0 < 64 {
            let value = format!("{} B", self.link.max_payload.value.0);
            return Some(("link.max_payload".into(), value, "at least one line of 64 B"));
        }
        if let Some(finding) = self.near_data.as_ref().and_then(nothing_to_work_with) {
            return Some(finding);
        }
        let Some(coherence) = &self.coherence else {
            return None;
        };
        if coherence.unit_clock.value == Time::ZERO {
            return Some(("coherence.unit_clock".into(), "0 ps".into(), "a period above 0"));
        }
        for (side, agents) in [("host", &coherence.host), ("device", &coherence.device)] {
            let place = format!("coherence.{side}");
            if agents.agents.value.0 == 0 {
                return Some((format!("{place}.agents"), "0".into(), "at least 1"));
            }
            let cache = &agents.cache;
            let finding = sets_finding(format!("{place}.cache.size"), &cache.size, &cache.ways);
            if finding.is_some() {
                return finding;
            }
        }
        let agents = coherence.host.agents.value.0 + coherence.device.agents.value.0;
        if agents > 16 {
            let value = format!("{agents} with those of the device");
            return Some(("coherence.host.agents".into(), value, "at most 16 agents in all"));
        }
        let homes = [("host", &coherence.home_on_host), ("device", &coherence.home_on_device)];
        homes.into_iter().find_map(|(side, home)| {
            let place = format!("coherence.home_on_{side}.memory_cache");
            sets_finding(place, &home.memory_cache, &home.memory_cache_ways)
        })
    }
}

/// Near-data jobs need at least one of everything that there can be several of.
fn nothing_to_work_with(near_data: &NearDataTiming) -> Option<Finding> {
    let element = &near_data.element;
    let counts = [
        ("elements", &near_data.elements),
        ("updates_in_flight", &near_data.updates_in_flight),
        ("element.chains", &element.chains),
        ("element.ports", &element.ports),
        ("element.page_map_lines", &element.page_map_lines),
        ("element.lanes", &element.lanes),
        ("device_memory.channels", &near_data.device_memory.channels),
    ];
    let none = counts.into_iter().find(|(_, count)| count.value.0 == 0);
    none.map(|(name, _)| (format!("near_data.{name}"), "0".into(), "at least 1"))
}

/// A cache needs a power of two of sets, so that address bits select one.
fn sets_finding(field: String, size: &Entry<Bytes>, ways: &Entry<Count>) -> Option<Finding> {
    let set = 64 * u64::from(ways.value.0);
    let bytes = size.value.0;
    let possible = set > 0 && bytes.is_multiple_of(set) && (bytes / set).is_power_of_two();
    let value = format!("{bytes} B in {} ways", ways.value.0);
    (!possible).then_some((field, value, "64 B times ways times a power of two"))
}
