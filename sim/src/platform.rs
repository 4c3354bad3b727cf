// SPDX-License-Identifier: MIT OR Apache-2.0
//! Platform files: every latency and rate of a machine, each with where it comes from.
//!
//! Nothing timed is a constant in code. An entry is a table
//! `{ value, unit, kind, source }`; a wrong unit, an impossible value, an unknown or
//! missing key is an error that names file, line and what was expected.
//!
//! A platform knows which of its entries were read ([`Platform::read`]), so that what a run has
//! measured says what it rests on.

mod entry;
mod near_data;

use crate::kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use entry::{Entry, Kind};

pub use near_data::{
    DeviceMemoryTiming, ElementTiming, HostStoreTiming, NearDataTiming, StorageTiming,
};

/// A number with a unit that a platform file can give.
pub trait Measure: Sized {
    /// The values and units that are accepted, for the message of an error.
    const EXPECTED: &'static str;

    /// Converts `value` in `unit`; `None` when either is not acceptable.
    fn convert(value: f64, unit: &str) -> Option<Self>;
}

/// `value * factor` as a whole number, if it is one and fits `u64`.
fn whole(value: f64, factor: f64) -> Option<u64> {
    let scaled = value * factor;
    // 2^53: below it every whole number is exact in an f64.
    let exact = (0.0..9_007_199_254_740_992.0).contains(&scaled);
    // Decimal fractions such as 4.2 are not exact in binary; a millionth is forgiven.
    (exact && (scaled - scaled.round()).abs() < 1e-6).then(|| scaled.round() as u64)
}

impl Measure for Time {
    const EXPECTED: &'static str = "a latency of 0 or more in whole picoseconds, unit ps, ns or us";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "ps" => 1.0,
            "ns" => 1e3,
            "us" => 1e6,
            _ => return None,
        };
        whole(value, factor).map(Time::from_ps)
    }
}

/// A data rate of more than zero, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    bytes_per_second: u64,
}

impl Bandwidth {
    /// Bytes per second.
    pub fn bytes_per_second(self) -> u64 {
        self.bytes_per_second
    }

    /// How long `bytes` occupy the wire, rounded up to a picosecond.
    pub fn time_for(self, bytes: u64) -> Time {
        let picoseconds = u128::from(bytes) * 1_000_000_000_000;
        let time = picoseconds.div_ceil(u128::from(self.bytes_per_second));
        Time::from_ps(u64::try_from(time).expect("a transfer is shorter than 213 days"))
    }
}

impl Measure for Bandwidth {
    const EXPECTED: &'static str = "a rate above 0, unit MB/s or GB/s";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "MB/s" => 1e6,
            "GB/s" => 1e9,
            _ => return None,
        };
        let bytes_per_second = whole(value, factor).filter(|rate| *rate > 0)?;
        Some(Bandwidth { bytes_per_second })
    }
}

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub u64);

impl Measure for Bytes {
    const EXPECTED: &'static str = "a whole number of bytes, unit B, KiB or MiB";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let factor = match unit {
            "B" => 1.0,
            "KiB" => 1024.0,
            "MiB" => 1024.0 * 1024.0,
            _ => return None,
        };
        whole(value, factor).map(Bytes)
    }
}

/// A number of things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u32);

impl Measure for Count {
    const EXPECTED: &'static str = "a whole number from 0 to 65535, unit 1";

    fn convert(value: f64, unit: &str) -> Option<Self> {
        let count = whole(value, 1.0).filter(|count| unit == "1" && *count < 1 << 16)?;
        Some(Count(count as u32))
    }
}

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

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
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

/// Why a platform cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum PlatformError {
    /// No platform of that name comes with the program.
    #[error("unknown platform {name:?}, expected one of {}", Platform::NAMES.join(", "))]
    UnknownName {
        /// What was asked for.
        name: String,
    },
    /// The file could not be read.
    #[error("{}: {cause}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The file is not TOML of the expected shape; the cause names line and field.
    #[error("{}: {cause}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// Line, column, what was found and what was expected.
        cause: Box<toml::de::Error>,
    },
    /// A field is well formed but no machine can be like that.
    #[error("{}: {field} = {value}, expected {expected}", file.display())]
    Impossible {
        /// The file.
        file: PathBuf,
        /// Its path within the file.
        field: String,
        /// What it holds.
        value: String,
        /// What it may hold.
        expected: &'static str,
    },
}

/// A field that no machine can have: path, value, expectation.
type Finding = (String, String, &'static str);

impl Platform {
    /// The platforms that come with the program.
    pub const NAMES: [&'static str; 2] = ["n1sdp-u280-ccix", "pcie-gen3"];

    /// The platform `name` of [`Platform::NAMES`].
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn named(name: &str) -> Result<Self, PlatformError> {
        Self::parse(&file_of(name), Self::text(name)?)
    }

    /// The file of the platform `name` of [`Platform::NAMES`].
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn text(name: &str) -> Result<&'static str, PlatformError> {
        match name {
            "n1sdp-u280-ccix" => Ok(include_str!("../platforms/n1sdp-u280-ccix.toml")),
            "pcie-gen3" => Ok(include_str!("../platforms/pcie-gen3.toml")),
            _ => Err(PlatformError::UnknownName { name: name.to_owned() }),
        }
    }

    /// As [`Platform::named`], with every fitted entry times `factor`: what hangs on the fit changes.
    ///
    /// # Errors
    /// As [`Platform::named`]; when an entry cannot be so much.
    pub fn with_fitted_times(name: &str, factor: f64) -> Result<Self, PlatformError> {
        Self::multiplied(&file_of(name), Self::text(name)?, factor)
    }

    /// As [`Platform::load`], with every fitted entry times `factor`.
    ///
    /// # Errors
    /// As [`Platform::load`]; when an entry cannot be so much.
    pub fn load_with_fitted_times(
        path: impl AsRef<Path>,
        factor: f64,
    ) -> Result<Self, PlatformError> {
        let file = path.as_ref();
        Self::multiplied(file, &text_of(file)?, factor)
    }

    /// `text` as the content of `file`, with every fitted entry times `factor`.
    fn multiplied(file: &Path, text: &str, factor: f64) -> Result<Self, PlatformError> {
        let malformed =
            |cause| PlatformError::Malformed { file: file.to_owned(), cause: Box::new(cause) };
        let mut table: toml::Table = toml::from_str(text).map_err(malformed)?;
        entry::multiply(&mut table, Kind::Fitted, factor);
        Self::checked(file, table.try_into().map_err(malformed)?)
    }

    /// The names, such as `link.bandwidth`, of all entries of a kind that were read since the file was,
    /// through this platform or a clone of it or of a part.
    pub fn read(&self, kind: Kind) -> BTreeSet<String> {
        let table = toml::Table::try_from(self).expect("a platform is plain data");
        entry::names_of_read(&table, kind)
    }

    /// Reads a platform file.
    ///
    /// # Errors
    /// When it cannot be read, is malformed, or describes no possible machine.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, PlatformError> {
        let file = path.as_ref();
        Self::parse(file, &text_of(file)?)
    }

    /// `text` as the content of `file`, which is named in errors only.
    fn parse(file: &Path, text: &str) -> Result<Self, PlatformError> {
        let platform: Platform = toml::from_str(text).map_err(|cause| {
            PlatformError::Malformed { file: file.to_owned(), cause: Box::new(cause) }
        })?;
        Self::checked(file, platform)
    }

    fn checked(file: &Path, platform: Self) -> Result<Self, PlatformError> {
        match platform.first_impossible() {
            None => Ok(platform),
            Some((field, value, expected)) => {
                Err(PlatformError::Impossible { file: file.to_owned(), field, value, expected })
            }
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

/// The name of a platform that comes with the program, as that of its file.
fn text_of(file: &Path) -> Result<String, PlatformError> {
    std::fs::read_to_string(file)
        .map_err(|cause| PlatformError::Unreadable { file: file.to_owned(), cause })
}

fn file_of(name: &str) -> PathBuf {
    PathBuf::from(format!("{name}.toml"))
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

#[cfg(test)]
mod tests {
    use super::*;

    const CCIX: &str = include_str!("../platforms/n1sdp-u280-ccix.toml");

    /// The message for the CCIX platform with one text replaced.
    fn message_with(original: &str, replacement: &str) -> String {
        assert_eq!(CCIX.matches(original).count(), 1, "{original:?} must occur once");
        let text = CCIX.replace(original, replacement);
        Platform::parse(Path::new("test.toml"), &text).expect_err(replacement).to_string()
    }

    #[test]
    fn the_platforms_of_the_program_are_valid() {
        for name in Platform::NAMES {
            assert_eq!(Platform::named(name).expect(name).name, name);
        }
    }

    #[test]
    fn units_are_converted() {
        let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
        let coherence = platform.coherence.expect("coherent");
        assert_eq!(coherence.host.cache.lookup.get(), Time::from_ps(4_200));
        assert_eq!(coherence.host.cache.size.get(), Bytes(1 << 20));
        assert_eq!(platform.link.bandwidth.value.bytes_per_second(), 15_750_000_000);
        // 84 bytes at 15.75 GB/s.
        assert_eq!(platform.link.bandwidth.value.time_for(84), Time::from_ps(5_334));
    }

    #[test]
    fn errors_name_file_line_value_and_expectation() {
        let text = message_with("value = 4.2, unit = \"ns\"", "value = 4.2, unit = \"furlong\"");
        let line = 1 + CCIX.lines().position(|line| line.contains("value = 4.2")).expect("there");
        for part in [
            "test.toml",
            &format!("line {line}"),
            "lookup =",
            "value 4.2 furlong found, expected a latency",
        ] {
            assert!(text.contains(part), "{part:?} is missing in: {text}");
        }
        let negative = message_with("value = 4.2,", "value = -1,");
        assert!(negative.contains("value -1 ns found, expected a latency"), "{negative}");
    }

    #[test]
    fn unknown_and_missing_keys_are_errors() {
        let unknown = message_with("home = \"host\"", "home = \"host\"\nhoem = 1");
        assert!(unknown.contains("unknown field `hoem`"), "{unknown}");
        let missing = message_with("home = \"host\"", "");
        assert!(missing.contains("missing field `home`"), "{missing}");
        let place = message_with("home = \"host\"", "home = \"moon\"");
        assert!(place.contains("`moon`") && place.contains("`device`"), "{place}");
    }

    #[test]
    fn impossible_machines_are_errors() {
        let sets = message_with("size = { value = 1,", "size = { value = 3,");
        assert_eq!(
            sets,
            "test.toml: coherence.host.cache.size = 3145728 B in 8 ways, \
             expected 64 B times ways times a power of two"
        );
        let agents = message_with("agents = { value = 4,", "agents = { value = 0,");
        assert_eq!(agents, "test.toml: coherence.host.agents = 0, expected at least 1");
        let chains = message_with("chains = { value = 128,", "chains = { value = 0,");
        assert_eq!(chains, "test.toml: near_data.element.chains = 0, expected at least 1");
    }

    #[test]
    fn an_unknown_name_lists_the_known() {
        let text = Platform::named("x86").expect_err("unknown").to_string();
        assert_eq!(text, "unknown platform \"x86\", expected one of n1sdp-u280-ccix, pcie-gen3");
    }

    /// Entries of our own RTL are parameters of it: each names file and parameter, and has its value.
    #[test]
    fn entries_of_the_own_rtl_are_what_the_rtl_says() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
        let mut found = 0;
        for name in Platform::NAMES {
            let table: toml::Table = toml::from_str(Platform::text(name).unwrap()).unwrap();
            for (entry, source, value) in entry::sources(&table, Kind::OwnRtl) {
                found += 1;
                if let Some((file, rest)) = source.split_once(": ports ") {
                    let text = std::fs::read_to_string(folder.join(file)).expect(file);
                    let ports: Vec<&str> = rest.split(';').next().unwrap().split(" and ").collect();
                    let has = |port: &str| text.contains(&format!("{port}_arvalid"));
                    let last = ports.last().unwrap().trim_end_matches(char::is_numeric);
                    assert!(ports.iter().all(|port| has(port)), "{entry}: {ports:?} in {file}");
                    assert!(!has(&format!("{last}{}", ports.len())), "{entry}: more in {file}");
                    assert_eq!(value, ports.len() as f64, "{entry}");
                    continue;
                }
                let (file, rest) = source.split_once(": parameter ").expect(&entry);
                let (parameter, rest) = rest.split_once(" = ").expect(&entry);
                let text = std::fs::read_to_string(folder.join(file)).expect(file);
                let digits = |text: &str| -> String {
                    text.chars().take_while(char::is_ascii_digit).collect()
                };
                let said = digits(rest);
                let set = text.lines().find_map(|line| {
                    let (before, after) = line.split_once('=')?;
                    let of_it = before.split_whitespace().next_back() == Some(parameter);
                    (line.contains("parameter") && of_it).then(|| digits(after.trim()))
                });
                assert_eq!(set.as_ref(), Some(&said), "{entry}: {parameter} in {file}");
                let number: u32 = said.parse().expect(&entry);
                let expected = if parameter.starts_with("Log") { 1 << number } else { number };
                assert_eq!(value, f64::from(expected), "{entry}");
            }
        }
        assert!(found >= 4, "{found} entries of the own RTL");
    }

    #[test]
    fn a_platform_knows_which_entries_were_read() {
        let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
        assert_eq!(platform.read(Kind::Fitted), BTreeSet::new(), "by its own checks neither");
        let link = platform.link.clone();
        assert_eq!(link.latency_to_host.get(), Time::from_ns(268));
        link.bandwidth.get();
        let read = |kind| platform.read(kind).into_iter().collect::<Vec<_>>();
        assert_eq!(read(Kind::Fitted), ["link.latency_to_host"]);
        assert_eq!(read(Kind::Datasheet), ["link.bandwidth"]);
        assert!(Platform::named("n1sdp-u280-ccix").unwrap().read(Kind::Fitted).is_empty());
    }

    #[test]
    fn fitted_entries_are_multiplied_and_others_left() {
        let [plain, half] = [1.0, 0.5]
            .map(|factor| Platform::with_fitted_times("n1sdp-u280-ccix", factor).expect("valid"));
        assert_eq!(plain, Platform::named("n1sdp-u280-ccix").expect("valid"));
        assert_eq!(half.link.latency_to_device.get(), Time::from_ns(134));
        assert_eq!(half.link.bandwidth, plain.link.bandwidth);
        let prefetch = |platform: Platform| platform.coherence.unwrap().device.cache.prefetch.get();
        assert_eq!((prefetch(plain), prefetch(half)), (Count(16), Count(8)));
    }
}
