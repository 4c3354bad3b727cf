// SPDX-License-Identifier: MIT OR Apache-2.0
//! The settings of a run, checked as a whole.

use std::path::PathBuf;

use cluster::engine::Span;
use cluster::membership;
use serde::Serialize;
use timing::Time;
use timing::platform::PlatformFile;

use super::RunError;
use super::draft::Draft;
use super::memory::{MOST_MEMORY, Memory};
use super::platform::{Cards, Platform};
use super::workload::{self, Workload};
use super::xenic::{self, XenicSettings};
use crate::faults::FaultPlan;
use crate::protocols::{ProtocolName, Runs, Visitor};

/// The settings of a run, all of which are possible together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Short name, for headings.
    pub name: String,
    /// The purpose of the run.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The protocol.
    pub protocol: ProtocolName,
    /// The name of the platform, or its file.
    pub platform: String,
    /// Machines of the cluster.
    pub nodes: u16,
    /// Threads of each, one a core.
    pub threads: u8,
    /// Transactions under way at once in each thread: the load.
    pub workers: u8,
    /// Copies of each row, the primary's included.
    pub replicas: u16,
    /// Before what is measured, in microseconds of virtual time.
    pub warm_up_us: f64,
    /// What is measured, in microseconds of virtual time.
    pub duration_us: f64,
    /// How long a worker waits for an answer before it takes the message for lost.
    pub loss_timeout_us: f64,
    /// How long a node's lease lasts.
    pub lease_us: f64,
    /// Whether a replica that is filled anew gets as many bytes as its initial rows have, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub copies_initial_rows: bool,
    /// Of all draws.
    pub seed: u64,
    /// Whether each read, and the state at the end, is checked.
    pub checks: bool,
    /// The faults, by their file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<PathBuf>,
    /// The transactions.
    pub workload: Workload,
    /// What only Xenic has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub xenic: Option<XenicSettings>,
}

/// Why settings are refused. Nothing was run.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A place of a scenario file.
    #[error(transparent)]
    File(#[from] workloads::Error),
    /// A flag, or the default that stands in its place.
    #[error("{flag} {value}: expected {expected}")]
    Flag {
        /// Its name, with its dashes.
        flag: String,
        /// What it says.
        value: String,
        /// What it may say.
        expected: String,
    },
}

impl SettingsError {
    pub(super) fn flag(
        flag: impl Into<String>,
        value: impl ToString,
        expected: impl Into<String>,
    ) -> Self {
        Self::Flag { flag: flag.into(), value: value.to_string(), expected: expected.into() }
    }
}

/// FaSST names 2,048 receive descriptors a thread and twenty workers; these bounds are those of names
/// on the wire.
const MOST_NODES: u64 = 1024;
const MOST_THREADS: u64 = 64;
const MOST_REPLICAS: u64 = 8;
/// A minute: longer runs are slips of the pen.
const LONGEST_US: f64 = 60e6;
impl Default for Settings {
    fn default() -> Self {
        Self::check(&Draft::default()).expect("the defaults go together")
    }
}

impl Settings {
    /// The settings of a draft.
    ///
    /// # Errors
    /// For the first value that is not possible, or not with the others.
    pub fn check(draft: &Draft) -> Result<Self, SettingsError> {
        let of = &draft.values;
        let whole = |field: &str, value: Option<u64>, default: u64, least: u64, most: u64| {
            let value = value.unwrap_or(default);
            let expected = || format!("a whole number from {least} to {most}");
            match (least..=most).contains(&value) {
                true => Ok(value),
                false => Err(draft.reject(field, value, expected())),
            }
        };
        // Files are named by it.
        let name = of.name.clone().unwrap_or_else(|| "cluster".into());
        if name.is_empty() || name.contains(['/', '\\', '\0']) || name.starts_with('.') {
            let expected = "a name that is not empty, has no slash and does not begin with a point";
            return Err(draft.reject("name", name, expected));
        }
        let nodes = whole("nodes", of.nodes, 3, 1, MOST_NODES)?;
        let threads = whole("threads", of.threads, 4, 1, MOST_THREADS)?;
        let protocol = protocol(draft)?;
        let most_workers = protocol.with(Made).most_workers;
        let workers = whole("workers", of.workers, 10, 1, most_workers)?;
        let replicas = of.replicas.unwrap_or(3.min(nodes));
        let most = nodes.min(MOST_REPLICAS);
        if !(1..=most).contains(&replicas) {
            let because = match most < nodes {
                true => String::new(),
                false => format!(", as there are {nodes} nodes"),
            };
            let expected = format!("1 to {most} copies of each row{because}");
            return Err(draft.reject("replicas", replicas, expected));
        }
        let time = |field: &str, value: Option<f64>, default: f64, least: f64| {
            let value = value.unwrap_or(default);
            let expected = format!("microseconds of virtual time from {least} to {LONGEST_US}");
            match (least..=LONGEST_US).contains(&value) {
                true => Ok(value),
                false => Err(draft.reject(field, value, expected)),
            }
        };
        let lease_us = time("lease_us", of.lease_us, 10_000.0, 10.0)?;
        // A failure of another node must not look like the loss of a message.
        let least_timeout = 1.2 * lease_us;
        let loss_timeout_us = time("loss_timeout_us", of.loss_timeout_us, 1e6, 1.0)?;
        if loss_timeout_us < least_timeout {
            let expected = format!("at least {least_timeout}, 1.2 times lease_us");
            return Err(draft.reject("loss_timeout_us", loss_timeout_us, expected));
        }
        let workload = workload::check(draft, nodes, threads)?;
        workload::check_protocol(draft, workload, protocol)?;
        let xenic = xenic::check(draft, protocol, workload, (nodes, threads, workers))?;
        Ok(Self {
            name,
            description: of.description.clone().unwrap_or_default(),
            protocol,
            platform: of.platform.clone().unwrap_or_else(|| protocol.with(Made).platform.into()),
            nodes: nodes as u16,
            threads: threads as u8,
            workers: workers as u8,
            replicas: replicas as u16,
            warm_up_us: time("warm_up_us", of.warm_up_us, 50.0, 0.0)?,
            duration_us: time("duration_us", of.duration_us, 200.0, 1.0)?,
            loss_timeout_us,
            lease_us,
            copies_initial_rows: of.copies_initial_rows.unwrap_or(false),
            seed: of.seed.unwrap_or(1),
            checks: of.checks.unwrap_or(true),
            faults: of.faults.clone(),
            workload,
            xenic,
        })
    }

    /// The platform, as far as these settings fit it.
    ///
    /// # Errors
    /// When there is none of that name, its file is none, it has too few cores, or the run needs too
    /// much memory.
    pub fn hardware(&self) -> Result<Platform, RunError> {
        // A caller may have put anything into the fields.
        self.hardware_or(&|field: &str, value, expected| {
            SettingsError::flag(field, value, expected)
        })
    }

    /// Whether a run fits its platform and its faults; `draft` is what the settings were made of, so
    /// that an error names its file and line.
    ///
    /// # Errors
    /// As [`Settings::hardware`] and [`Settings::fault_plan`].
    pub fn check_whole(&self, draft: &Draft) -> Result<(), RunError> {
        self.hardware_or(&|field: &str, value, expected| draft.reject(field, value, expected))?;
        self.fault_plan()?;
        Ok(())
    }

    fn hardware_or(&self, reject: &Reject<'_>) -> Result<Platform, RunError> {
        let cards = self.protocol.with(Made).cards;
        let is_file = self.platform.contains('/') || self.platform.ends_with(".toml");
        let names = cards.platforms();
        let refuse = |because: String| {
            let expected = format!("{}, or a file{because}", names.join(", "));
            Err(reject("platform", self.platform.clone(), expected).into())
        };
        let file = match names.contains(&self.platform.as_str()) || is_file {
            true => self.platform_file()?,
            false => {
                let is_other =
                    Cards::ALL.iter().any(|of| of.platforms().contains(&&*self.platform));
                return refuse(if is_other { self.needs(cards) } else { String::new() });
            }
        };
        let platform = match cards.read(file.clone()) {
            Err(_) if cards.is_other(&file) => return refuse(self.needs(cards)),
            read => read?,
        };
        self.check_cores(&platform, reject)?;
        self.protocol.with(Checked(self))?;
        let memory = Memory::of(self, &platform);
        if memory.total() > MOST_MEMORY {
            let (field, value) = match memory.machines > MOST_MEMORY / 2 {
                true => ("nodes", self.nodes.to_string()),
                false => ("duration_us", self.duration_us.to_string()),
            };
            return Err(reject(field, value, too_much(memory)).into());
        }
        Ok(platform)
    }

    /// The platform's file, which comes with the program or is its own.
    pub(super) fn platform_file(&self) -> Result<PlatformFile, RunError> {
        let is_file = self.platform.contains('/') || self.platform.ends_with(".toml");
        Ok(match is_file {
            true => PlatformFile::load(&self.platform)?,
            false => PlatformFile::named(&self.platform)?,
        })
    }

    /// Why a platform with other cards than these is refused.
    fn needs(&self, cards: Cards) -> String {
        format!(": protocol {} needs {}", self.protocol.name(), cards.name())
    }

    /// Whether these are settings that [`Settings::check`] would make, and a run of them fits the platform.
    /// Their fields are open, so a caller may have put anything into them.
    ///
    /// # Errors
    /// For the first value that is not possible, or when the platform has other cards than the protocol needs,
    /// or too few cores.
    pub fn check_on(&self, platform: &Platform) -> Result<(), RunError> {
        Self::check(&Draft::of(self))?;
        let cards = self.protocol.with(Made).cards;
        if platform.cards() != cards {
            let expected =
                format!("{}, which protocol {} needs", cards.name(), self.protocol.name());
            return Err(SettingsError::flag("platform", platform.cards().name(), expected).into());
        }
        self.check_cores(platform, &|field: &str, value, expected| {
            SettingsError::flag(field, value, expected)
        })?;
        self.protocol.with(Checked(self))
    }

    fn check_cores(&self, platform: &Platform, reject: &Reject<'_>) -> Result<(), RunError> {
        let cores = platform.cores();
        if u32::from(self.threads) > cores {
            let (of, entry) = (&self.platform, platform.cores_entry());
            let expected = format!("1 to {cores} threads, one a core of {of} ({entry})");
            return Err(reject("threads", self.threads.to_string(), expected).into());
        }
        let Some(own) = &self.xenic else { return Ok(()) };
        let left = cores - u32::from(self.threads);
        if u32::from(own.log_workers) > left {
            let (of, entry) = (&self.platform, platform.cores_entry());
            let threads = self.threads;
            let expected = format!(
                "at most {left}, as {threads} of {cores} threads of {of} ({entry}) have workers"
            );
            return Err(reject("xenic.log_workers", own.log_workers.to_string(), expected).into());
        }
        let nic_cores = platform.smart().map_or(0, |of| of.network.core.threads.get().0);
        if !(1..=nic_cores).contains(&own.nic_cores.into()) {
            let expected = format!("1 to {nic_cores}, of {} (network.core.threads)", self.platform);
            return Err(reject("xenic.nic_cores", own.nic_cores.to_string(), expected).into());
        }
        Ok(())
    }

    /// The faults, if there are any.
    ///
    /// # Errors
    /// When they cannot be read, contradict each other or the cluster, or outlast the run.
    pub fn fault_plan(&self) -> Result<Option<FaultPlan>, RunError> {
        let Some(file) = &self.faults else { return Ok(None) };
        let text = std::fs::read_to_string(file)
            .map_err(|cause| RunError::UnreadableFaults { file: file.clone(), cause })?;
        let told = |cause| RunError::Faults { file: file.clone(), cause };
        let plan = FaultPlan::parse(&text, self.nodes).map_err(told)?;
        plan.check_within(self.end_ns()).map_err(told)?;
        Ok(Some(plan))
    }

    /// When faults end, in nanoseconds: with what is measured.
    pub(super) fn end_ns(&self) -> u64 {
        (self.warm_up() + self.duration()).as_ps() / 1000
    }

    /// The time before what is measured.
    pub fn warm_up(&self) -> Time {
        microseconds(self.warm_up_us)
    }

    /// The time that is measured.
    pub fn duration(&self) -> Time {
        microseconds(self.duration_us)
    }

    /// How long a worker waits for an answer, for a protocol.
    pub fn loss_timeout(&self) -> Span {
        Span::from_ns((self.loss_timeout_us * 1e3) as u64)
    }

    /// How leases are kept, for a protocol.
    pub fn membership(&self) -> membership::Settings {
        let part = |share: f64| Span::from_ns((self.lease_us * share * 1e3) as u64);
        membership::Settings {
            lease: part(1.0),
            renew: part(0.2),
            skew: part(0.05),
            retry: part(0.05),
        }
    }
}

/// Whether a protocol can do what settings want.
struct Checked<'a>(&'a Settings);

impl Visitor for Checked<'_> {
    type Output = Result<(), RunError>;

    fn visit<P: Runs>(self) -> Result<(), RunError> {
        P::check(self.0)
    }
}

/// What a protocol is made for.
struct Made;

/// The cards, and the platform if none is said.
struct MadeFor {
    cards: Cards,
    platform: &'static str,
    most_workers: u64,
}

impl Visitor for Made {
    type Output = MadeFor;

    fn visit<P: Runs>(self) -> MadeFor {
        MadeFor { cards: P::CARDS, platform: P::PLATFORM, most_workers: P::MOST_WORKERS }
    }
}

/// The error for a field's value, with what was expected.
type Reject<'a> = dyn Fn(&str, String, String) -> SettingsError + 'a;

/// What would fit instead of a run that needs so much memory.
fn too_much(memory: Memory) -> String {
    let [most, total, machines, overlay, record] =
        [MOST_MEMORY, memory.total(), memory.machines, memory.overlay, memory.record]
            .map(|bytes| format!("{:.1} GB", bytes as f64 / 1e9));
    format!(
        "a run that needs at most {most} of memory; this one may need {total}: {machines} for its machines, \
         {overlay} for rows that up to {} transactions write, all copies together, and what NICs have of the rows \
         that they touch, and {record} for the \
         record that the check reads (none without checks); initial rows are a function of their keys and \
         need none",
        memory.transactions
    )
}

/// To the picosecond.
pub(super) fn microseconds(number: f64) -> Time {
    Time::from_ps((number * 1e6).round() as u64)
}

fn protocol(draft: &Draft) -> Result<ProtocolName, SettingsError> {
    let Some(name) = draft.values.protocol.as_deref() else { return Ok(ProtocolName::ALL[0]) };
    let found = ProtocolName::ALL.iter().find(|protocol| protocol.name() == name);
    found.copied().ok_or_else(|| {
        let names: Vec<_> = ProtocolName::ALL.iter().map(|protocol| protocol.name()).collect();
        draft.reject("protocol", name, format!("a protocol: {}", names.join(", ")))
    })
}
