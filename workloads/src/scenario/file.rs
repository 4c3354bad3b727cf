// SPDX-License-Identifier: MIT OR Apache-2.0
//! The scenario file as TOML spells it, before its values are checked.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};

use super::source::Source;
use super::{Home, LockOrder, Mode, SmallBankAccess, Span, Versions};
use crate::error::Result;

/// Reads the text into the shape of the file; only types and names have been checked then.
pub(super) fn read(source: &Source) -> Result<File> {
    toml::from_str(source.text()).map_err(|error| source.explain(&error))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub platform: String,
    pub mode: Mode,
    pub seed: u64,
    #[serde(default)]
    pub lock_order: LockOrder,
    pub table: TableFile,
    #[serde(default)]
    pub stop: StopFile,
    pub host: Option<HostFile>,
    pub device: Option<DeviceFile>,
    pub workload: WorkloadFile,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TableFile {
    pub buckets: u64,
    pub home: Home,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StopFile {
    pub duration_ns: Option<u64>,
    pub transactions_per_agent: Option<u64>,
}

// The two tables share most keys; serde's `flatten` would say so, but does not go with
// `deny_unknown_fields`.
macro_rules! agents_file {
    ($name:ident { $($own:ident),+ }) => {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $name {
            $(pub $own: u32,)+
            think_ns: Option<Span>,
            hold_ns: Option<Span>,
            rows_per_transaction: Option<Span>,
            abort_probability: Option<f64>,
            wait: PolicyName,
            wait_timeout_ns: Option<u64>,
            backoff_ns: Option<Span>,
            attempts: Option<u32>,
        }

        impl $name {
            pub(super) fn agents(&self) -> AgentsFile {
                AgentsFile {
                    think_ns: self.think_ns,
                    hold_ns: self.hold_ns,
                    rows_per_transaction: self.rows_per_transaction,
                    abort_probability: self.abort_probability,
                    wait: self.wait,
                    wait_timeout_ns: self.wait_timeout_ns,
                    backoff_ns: self.backoff_ns,
                    attempts: self.attempts,
                }
            }
        }
    };
}

agents_file!(HostFile { workers });
agents_file!(DeviceFile { processing_elements, transactions_in_flight });

/// What `[host]` and `[device]` have in common.
pub(super) struct AgentsFile {
    pub think_ns: Option<Span>,
    pub hold_ns: Option<Span>,
    pub rows_per_transaction: Option<Span>,
    pub abort_probability: Option<f64>,
    pub wait: PolicyName,
    pub wait_timeout_ns: Option<u64>,
    pub backoff_ns: Option<Span>,
    pub attempts: Option<u32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum PolicyName {
    Queue,
    WaitDie,
    Timeout,
    WaitsFor,
}

#[derive(Deserialize)]
pub(super) enum WorkloadFile {
    #[serde(rename = "ycsb")]
    Ycsb(YcsbFile),
    #[serde(rename = "smallbank")]
    SmallBank(SmallBankFile),
    #[serde(rename = "hot-row")]
    HotRow(HotRowFile),
    #[serde(rename = "trace")]
    Trace(TraceFile),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct YcsbFile {
    pub rows: u64,
    pub distribution: DistributionName,
    pub exponent: Option<f64>,
    pub scrambled: Option<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DistributionName {
    Uniform,
    Zipf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SmallBankFile {
    pub accounts: u64,
    pub hot_accounts: u64,
    pub access: SmallBankAccess,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HotRowFile {
    pub rows: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TraceFile {
    pub file: String,
    pub time_scale: Option<f64>,
    pub transactions: Option<u64>,
    pub versions: Option<Versions>,
    pub clock_step_ns: Option<u64>,
}

/// One integer, or the least and the most of a span.
impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(SpanVisitor)
    }
}

struct SpanVisitor;

impl<'de> Visitor<'de> for SpanVisitor {
    type Value = Span;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an integer of at least 0, or [least, most]")
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> std::result::Result<Span, E> {
        match u64::try_from(number) {
            Ok(number) => Ok(Span::exactly(number)),
            Err(_) => Err(E::invalid_value(serde::de::Unexpected::Signed(number), &self)),
        }
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> std::result::Result<Span, E> {
        Ok(Span::exactly(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> std::result::Result<Span, A::Error> {
        let least = sequence.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
        let most = sequence.next_element()?.ok_or_else(|| A::Error::invalid_length(1, &self))?;
        if sequence.next_element::<u64>()?.is_some() {
            return Err(A::Error::invalid_length(3, &self));
        }
        Ok(Span { least, most })
    }
}
