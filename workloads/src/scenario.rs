// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario of a run: what `lockstep run SCENARIO.toml` reads.
//!
//! Every key is listed in `docs/scenarios.md`. A [`Scenario`] exists only when the whole file
//! was understood and every value is possible; otherwise there is an
//! [`InputError`](crate::InputError) with line, field, value and what was expected.

mod check;
mod file;
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use locks::Policy;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
pub use source::Source;

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Short name, for headings and file names.
    pub name: String,
    /// The purpose of the run.
    pub description: String,
    /// Name of the platform file, without its ending.
    pub platform: String,
    /// Which clock counts.
    pub mode: Mode,
    /// Where all randomness of the run comes from.
    pub seed: u64,
    /// In which order a transaction requests its locks.
    pub lock_order: LockOrder,
    /// The lock table.
    pub table: LockTableSettings,
    /// The conditions that end the run; the first one that becomes true does so.
    pub stop: Stop,
    /// Host workers.
    pub host: HostSettings,
    /// Device processing elements.
    pub device: DeviceSettings,
    /// The locks of the transactions.
    pub workload: Workload,
    /// The text that this was read from, so that later errors can name its lines.
    source: Source,
}

/// Which clock counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Virtual time: deterministic, latencies by the platform file.
    Virtual,
    /// Real host threads beside a Verilated device on its own thread.
    WallClock,
}

/// In which order a transaction requests its locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockOrder {
    /// In the order of the workload: deadlocks are possible.
    #[default]
    Workload,
    /// By ascending bucket, so that no deadlock is possible. The runner sorts, because the
    /// bucket is known only with the row's latest version.
    Bucket,
}

/// The lock table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LockTableSettings {
    /// Number of buckets of 64 bytes; a power of two up to 2^32.
    pub buckets: u64,
    /// The memory that holds the table, and therefore its home agent.
    pub home: Home,
}

/// Whose memory holds the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// The host's, as in the ccSLT paper, section 4.
    Host,
    /// The device's.
    Device,
}

/// What ends a run. A replay also ends with its trace; any other workload has at least one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stop {
    /// Nanoseconds of the clock that counts ([`Mode`]).
    pub duration_ns: Option<u64>,
    /// Transactions that each agent starts; an agent that has done them rests.
    pub transactions_per_agent: Option<u64>,
}

/// The host's workers. Each is one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSettings {
    /// How many; 0 for none.
    pub workers: u32,
    /// The task of each of them.
    pub agents: AgentSettings,
}

/// The device's processing elements. Each has several agents: its transactions in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceSettings {
    /// How many; 0 for none.
    pub processing_elements: u32,
    /// Transactions that each of them runs at the same time.
    pub transactions_in_flight: u32,
    /// The behaviour of each agent.
    pub agents: AgentSettings,
}

/// What one agent (a host worker, or one transaction in flight on the device) does.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentSettings {
    /// Nanoseconds before each transaction.
    pub think_ns: Span,
    /// Nanoseconds from the last lock granted to commit or abort.
    pub hold_ns: Span,
    /// Rows that a transaction locks; SmallBank and traces say themselves.
    pub rows_per_transaction: Span,
    /// Probability that a transaction aborts by itself at its end.
    pub abort_probability: f64,
    /// What is done when a lock is held by another. [`Policy::Queue`] without timeout only where no
    /// deadlock is possible.
    pub wait: Policy,
    /// Nanoseconds from queued to abort; `None`: waits until granted, or until the policy aborts.
    pub timeout_ns: Option<u64>,
    /// Nanoseconds before a transaction that the wait policy, or a full bucket, aborted is
    /// tried again.
    pub backoff_ns: Span,
    /// Tries of one transaction, the first included; then it is given up.
    pub attempts: u32,
}

/// A number drawn from `least` to `most`, every one alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Span {
    /// The smallest.
    pub least: u64,
    /// The largest; not below `least`.
    pub most: u64,
}

impl Span {
    /// Always this number.
    pub const fn exactly(number: u64) -> Self {
        Self { least: number, most: number }
    }
}

/// The locks of the transactions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Workload {
    /// YCSB-style updates of rows of one table.
    Ycsb(YcsbSettings),
    /// SmallBank.
    SmallBank(SmallBankSettings),
    /// All agents update the same few rows.
    HotRow(HotRowSettings),
    /// Replay of a lock trace.
    Trace(TraceSettings),
}

/// YCSB-style updates.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct YcsbSettings {
    /// Rows of the table; VIDs 1 to this.
    pub rows: u64,
    /// Which of them are touched how often.
    pub distribution: Distribution,
}

/// Which rows are touched how often.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Every row alike.
    Uniform,
    /// The row of rank k with a weight of k^-exponent.
    Zipf {
        /// 0 is uniform; YCSB uses 0.99.
        exponent: f64,
        /// Whether the ranks are scattered over the table; otherwise VID 1 is the hottest.
        scrambled: bool,
    },
}

/// SmallBank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SmallBankSettings {
    /// Number of accounts, each of two rows: account a (from 0) has VID 2a + 1 for checking
    /// and 2a + 2 for savings.
    pub accounts: u64,
    /// How many of them are hot: the first ones.
    pub hot_accounts: u64,
    /// How often the hot ones are picked.
    pub access: SmallBankAccess,
}

/// How often SmallBank picks among the hot accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SmallBankAccess {
    /// 90 % of transactions among the hot accounts, 10 % among all (FaSST's public code).
    Hot90,
    /// 10 % among the hot accounts, 90 % among all (DrTM+H's public code).
    Hot10,
}

/// A storm on a few rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct HotRowSettings {
    /// How many rows there are; VIDs 1 to this.
    pub rows: u64,
}

/// Replay of a lock trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TraceSettings {
    /// The trace; a relative path has been joined to the folder of the scenario.
    pub file: PathBuf,
    /// Nanoseconds of the run for one nanosecond of the trace; 0 replays without pauses.
    pub time_scale: f64,
    /// How many of the trace's transactions are replayed, in the order of their first lock.
    pub transactions: Option<u64>,
    /// Which version of a row its lock names.
    pub versions: Versions,
    /// Nanoseconds of the trace that its clock does not tell apart: each agent starts up to so much
    /// later, as the seed says.
    pub clock_step_ns: u64,
}

/// Which version of a row a replayed lock names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Versions {
    /// The one that the trace says. In a replay that goes another way than the server did, two
    /// transactions can hold different versions of one row, and do not meet.
    #[default]
    Recorded,
    /// The row's latest in the replay, and its successor after a wait: the trace says the rows alone.
    /// A transaction locks a row once.
    Latest,
}

impl TraceSettings {
    /// All of a trace, as it was recorded.
    fn whole(file: PathBuf) -> Self {
        Self {
            file,
            time_scale: 1.0,
            transactions: None,
            versions: Versions::Recorded,
            clock_step_ns: check::DEFAULT_CLOCK_STEP_NS,
        }
    }
}

/// Where an agent runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// On the host.
    Host {
        /// Number of the worker, from 0.
        worker: u32,
    },
    /// On the device.
    Device {
        /// Number of the processing element, from 0.
        element: u32,
        /// Which of its transactions in flight, from 0.
        context: u32,
    },
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, has an unknown key or an impossible value.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let file = path.display().to_string();
        let text = fs::read_to_string(path)
            .map_err(|source| Error::Read { file: file.clone(), source })?;
        let mut scenario = Self::parse(&file, &text)?;
        if let Workload::Trace(trace) = &mut scenario.workload
            && let Some(folder) = path.parent()
        {
            trace.file = folder.join(&trace.file);
        }
        Ok(scenario)
    }

    /// Reads the text of a scenario; `file` is what errors call it.
    ///
    /// # Errors
    /// As [`Scenario::load`], except for reading.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let source = Source::new(file, text);
        check::scenario(file::read(&source)?, source)
    }

    /// The agents in the order of their numbers: host workers, then the transactions in
    /// flight of processing element 0, of 1, and so on.
    ///
    /// In a replay, the agents of the trace, by ascending number, run in these places.
    pub fn agents(&self) -> impl Iterator<Item = Side> {
        let contexts = self.device.transactions_in_flight;
        let host = (0..self.host.workers).map(|worker| Side::Host { worker });
        let device = (0..self.device.processing_elements).flat_map(move |element| {
            (0..contexts).map(move |context| Side::Device { element, context })
        });
        host.chain(device)
    }

    /// Replaces the workload by the replay of a trace: as the scenario replays its own, if it does;
    /// else whole, without scaling its time. The description says so.
    ///
    /// # Errors
    /// When the scenario's wait policies do not go with a replay; it is unchanged then.
    pub fn replay(&mut self, file: PathBuf) -> Result<()> {
        let which = file.display().to_string();
        let trace = match &self.workload {
            Workload::Trace(own) => TraceSettings { file, ..own.clone() },
            _ => TraceSettings::whole(file),
        };
        let transactions =
            trace.transactions.map_or("all".into(), |first| format!("the first {first}"));
        let scale = trace.time_scale;
        let description =
            format!("{transactions} transactions of {which}, at {scale} ns a nanosecond");
        let replay = Self { workload: Workload::Trace(trace), description, ..self.clone() };
        check::waits(&replay, &replay.source)?;
        *self = replay;
        Ok(())
    }

    /// The error that says that `field` (such as `platform`, or `host.workers`) of this
    /// scenario is not what its reader can use.
    pub fn reject(&self, field: &str, expected: impl Into<String>) -> Error {
        self.source.reject(field, expected)
    }
}
