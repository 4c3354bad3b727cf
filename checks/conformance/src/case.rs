// SPDX-License-Identifier: MIT OR Apache-2.0
//! A case: everything that a run depends on, as one value that can be shrunk, stored and replayed.

use std::fmt;

use locks::machine::Rule;
use locks::{Timestamp, TupleKey};
use serde::{Deserialize, Serialize};
use sim::bus::BusError;
use sim::bus::axi_lite::LiteStalls;
use sim::bus::axi4::{Axi4Config, Axi4Stalls, Delay, ResponseOrder};
use sim::bus::stall::StallPattern;
use sim::bus::test_memory::{ErrorInjection, TestMemoryConfig};
use sim::lock_unit::UnitConfig;

/// Cycles after which a handshake or an answer that does not come is an error.
const BUS_TIMEOUT: u64 = 5_000;

/// One run of the bench: the table, the buses and what each agent does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Seed of stalls, latencies, errors and the agents' pace.
    pub seed: u64,
    /// The lock table.
    pub table: LockTableShape,
    /// What is locked; agents name keys by their index.
    pub keys: Vec<Key>,
    /// How buses and memory behave.
    pub buses: Buses,
    /// How many of the unit's 128 tags are in use, at least 4.
    pub tags: u8,
    /// The agents. Their timestamps differ.
    pub agents: Vec<Agent>,
}

/// Where the lock table lies. Only `lines` buckets from `first_bucket` on have memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LockTableShape {
    /// Byte address of bucket 0, a multiple of 64.
    pub base: u64,
    /// Base-2 logarithm of the number of buckets, 0 to 32.
    pub log2_buckets: u8,
    /// The first bucket that keys lie in.
    pub first_bucket: u64,
    /// How many buckets from there on keys lie in.
    pub lines: usize,
}

/// A tuple version.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// Its tuple.
    pub vid: u64,
    /// The tuple's version.
    pub version: u32,
}

/// How buses and memory behave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Buses {
    /// Percent of the cycles in which a stream stalls.
    pub stream_stalls: u8,
    /// Percent of the cycles in which a memory channel stalls.
    pub memory_stalls: u8,
    /// Stalls come in runs of at most this many cycles; 0: each by itself.
    pub stall_run: u8,
    /// Greatest number of cycles from an access to its turn.
    pub latency: u32,
    /// Greatest number of cycles from its turn to each of its responses.
    pub response_delay: u32,
    /// Responses of different tags overtake each other.
    pub shuffled: bool,
    /// Accesses in a thousand that are answered with SLVERR or DECERR.
    pub errors_per_mille: u16,
    /// A compare-and-swap that fails may do so on R or B alone.
    #[serde(default)]
    pub split_errors: bool,
    /// If not 0: the access with this number, counted from 1 as they are performed, fails, and
    /// no other does.
    #[serde(default)]
    pub failing_access: u64,
    /// Greatest number of cycles from a change to the beat that tells of it.
    pub beat_delay: u32,
    /// One beat for all copies of a line, instead of one each.
    pub one_beat_for_all: bool,
    /// Greatest number of cycles between two accesses of a host.
    pub host_pace: u32,
}

/// An agent that requests locks for one transaction at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Agent {
    /// Where it runs.
    pub side: Side,
    /// Its transaction's timestamp.
    pub timestamp: u64,
    /// Cycles that it is blocked before it takes its requests out of the queues.
    pub timeout: u32,
    /// It asks for a bucket while another acquire of its own is not answered, as the processing
    /// elements of one transaction do that know nothing of each other.
    pub parallel: bool,
    /// What it does, before it frees everything.
    pub script: Vec<Step>,
}

/// Where an agent runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    /// Through the lock unit.
    Device,
    /// By itself, with single accesses to the same memory.
    Host,
}

/// One step of an agent. Steps that the contract forbids at the moment are put off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Ask for the lock of a key, also when it is held or waited for already.
    Acquire {
        /// Index of the key.
        key: u8,
        /// What to do when the lock is held.
        #[serde(with = "RuleName")]
        rule: Rule,
    },
    /// Give a lock back, also when it is not held.
    Release {
        /// Index of the key.
        key: u8,
    },
    /// Take one of the waiting requests out of its queue; without any, a tag that does not wait.
    Cancel {
        /// Which, modulo their number.
        nth: u8,
    },
    /// Ask how one of the waiting requests stands; without any, as for `Cancel`.
    Poll {
        /// Which, modulo their number.
        nth: u8,
    },
    /// Do nothing for so many cycles.
    Hold {
        /// How many.
        cycles: u16,
    },
    /// Device: a request that the unit must turn away.
    Stray(Stray),
}

/// The rule of an acquire, as files of cases name it.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Rule")]
enum RuleName {
    Queue,
    NoWait,
    WaitDie,
}

/// A request that the unit must turn away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stray {
    /// Operation 4 or above.
    UnknownOperation,
    /// An acquire with rule 3.
    UnknownRule,
    /// A timestamp of 0.
    NoTimestamp,
    /// A release by a non-holder under a tag that is open, if there is one.
    OpenTag,
    /// An unknown operation under a tag that is open, if there is one.
    OpenTagUnknownOperation,
    /// A cancel in the name of another transaction.
    ForeignCancel,
}

impl LockTableShape {
    /// Byte address of a line, counted from the first that has memory.
    pub fn address(&self, line: usize) -> u64 {
        self.base + 64 * (self.first_bucket + line as u64)
    }

    /// The line that a byte address lies in, if it has memory.
    pub fn line(&self, address: u64) -> Option<usize> {
        let line = usize::try_from(address.checked_sub(self.address(0))? / 64).ok()?;
        (line < self.lines).then_some(line)
    }

    /// The line of a key.
    ///
    /// # Panics
    /// When it lies in a bucket without memory.
    pub fn line_of(&self, key: TupleKey) -> usize {
        let bucket = key.mix() & ((1 << self.log2_buckets) - 1);
        let line = bucket.wrapping_sub(self.first_bucket) as usize;
        assert!(line < self.lines, "{key:?} lies in bucket {bucket}, which has no memory");
        line
    }
}

impl Key {
    /// As the lock table takes it.
    pub fn tuple(self) -> TupleKey {
        TupleKey::new(self.vid, self.version)
    }
}

impl Agent {
    /// Its transaction.
    ///
    /// # Panics
    /// When the number is no timestamp.
    pub fn transaction(&self) -> Timestamp {
        Timestamp::new(self.timestamp).expect("an agent's timestamp is 1 to 2^48 - 1")
    }
}

impl Case {
    /// The key with this index, modulo their number.
    pub fn key(&self, index: u8) -> TupleKey {
        self.keys[usize::from(index) % self.keys.len()].tuple()
    }

    /// The error in a case that was read from a file.
    ///
    /// # Errors
    /// The field, its value and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let LockTableShape { base, log2_buckets, first_bucket, lines } = self.table;
        let buckets = 1u64.checked_shl(log2_buckets.into()).unwrap_or(0);
        let in_table = |key: &Key| {
            let bucket = key.tuple().mix() & (buckets - 1);
            bucket.wrapping_sub(first_bucket) < lines as u64
        };
        let distinct = |agent: &Agent| {
            self.agents.iter().filter(|other| other.timestamp == agent.timestamp).count() == 1
        };
        let wrong = |field: &str, value: String, expected: &str| {
            Err(format!("{field} is {value}, expected {expected}"))
        };
        match () {
            () if log2_buckets > 32 => {
                wrong("table.log2_buckets", log2_buckets.to_string(), "0 to 32")
            }
            () if !base.is_multiple_of(64) || base > u64::MAX >> 1 => {
                wrong("table.base", format!("{base:#x}"), "a multiple of 64 below 2^63")
            }
            () if lines == 0 || first_bucket.saturating_add(lines as u64) > buckets => wrong(
                "table.lines",
                lines.to_string(),
                "at least 1, and no more than there are buckets from table.first_bucket on",
            ),
            () if self.keys.is_empty() || !self.keys.iter().all(in_table) => {
                wrong("keys", format!("{:x?}", self.keys), "keys of the table's lines")
            }
            () if !(4..=128).contains(&self.tags) => {
                wrong("tags", self.tags.to_string(), "4 to 128")
            }
            () if self.buses.stream_stalls > 90 || self.buses.memory_stalls > 90 => {
                wrong("buses", format!("{:?}", self.buses), "at most 90 percent of stalls")
            }
            () => match self.agents.iter().find(|a| !distinct(a) || bad_timestamp(a.timestamp)) {
                Some(agent) => wrong(
                    "agents.timestamp",
                    agent.timestamp.to_string(),
                    "1 to 2^48 - 2, different for each agent",
                ),
                None => Ok(()),
            },
        }
    }

    pub(crate) fn unit_config(&self) -> UnitConfig {
        let Buses { stream_stalls, memory_stalls, stall_run, .. } = self.buses;
        let pattern = |percent: u8| match (percent, stall_run) {
            (0, _) => StallPattern::None,
            (_, 0) => StallPattern::Random { probability: f64::from(percent) / 100.0 },
            // Of the cycles, about `percent` are stalled.
            (_, run) => {
                let share = f64::from(percent) / 100.0;
                let mean = (f64::from(run) + 1.0) / 2.0;
                let probability = (share / (share + mean * (1.0 - share))).min(1.0);
                StallPattern::Burst { probability, longest: run.into() }
            }
        };
        UnitConfig {
            memory: Axi4Config {
                stalls: Axi4Stalls::all(pattern(memory_stalls)),
                response_delay: Delay { minimum: 0, maximum: self.buses.response_delay },
                response_order: match self.buses.shuffled {
                    true => ResponseOrder::Shuffled,
                    false => ResponseOrder::AsAnswered,
                },
                timeout: BUS_TIMEOUT,
                split_atomic_errors: self.buses.split_errors,
                ..Axi4Config::lock_unit(self.seed)
            },
            streams: pattern(stream_stalls),
            registers: LiteStalls::all(pattern(stream_stalls)),
            seed: self.seed,
            timeout: BUS_TIMEOUT,
        }
    }

    pub(crate) fn memory_config(&self) -> TestMemoryConfig {
        TestMemoryConfig {
            base: self.table.address(0),
            lines: self.table.lines,
            seed: self.seed,
            latency: Delay { minimum: 0, maximum: self.buses.latency },
            errors: match (self.buses.failing_access, self.buses.errors_per_mille) {
                (0, 0) => ErrorInjection::None,
                (0, rate) => ErrorInjection::Rate(f64::from(rate) / 1000.0),
                (n, _) => ErrorInjection::Listed([(n - 1, BusError::SubordinateError)].into()),
            },
        }
    }
}

fn bad_timestamp(timestamp: u64) -> bool {
    // The largest belongs to nobody: `Stray::OpenTag`.
    Timestamp::new(timestamp).is_none_or(|t| t == Timestamp::MAX)
}

/// One line for the table, one for the buses, one for each key, agent and step.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LockTableShape { base, log2_buckets, first_bucket, lines } = self.table;
        writeln!(
            f,
            "table at {base:#x}, 2^{log2_buckets} buckets, {lines} in use from {first_bucket:#x}"
        )?;
        writeln!(f, "{:?}, {} tags, bus seed {}", self.buses, self.tags, self.seed)?;
        for (index, key) in self.keys.iter().enumerate() {
            let line = self.table.line_of(key.tuple());
            writeln!(f, "key {index}: vid {:#x} version {:#x}, line {line}", key.vid, key.version)?;
        }
        for agent in &self.agents {
            let Agent { side, timestamp, timeout, parallel, script } = agent;
            let manner = if *parallel { "in parallel" } else { "one by one" };
            writeln!(f, "{side:?} T{timestamp}, timeout {timeout} cycles, {manner}:")?;
            for step in script {
                writeln!(f, "  {step}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Acquire { key, rule } => write!(f, "acquire key {key} {rule:?}"),
            Step::Release { key } => write!(f, "release key {key}"),
            Step::Cancel { nth } => write!(f, "cancel wait {nth}"),
            Step::Poll { nth } => write!(f, "poll wait {nth}"),
            Step::Hold { cycles } => write!(f, "hold {cycles} cycles"),
            Step::Stray(stray) => write!(f, "stray {stray:?}"),
        }
    }
}
