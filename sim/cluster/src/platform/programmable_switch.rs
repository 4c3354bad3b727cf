// SPDX-License-Identifier: MIT OR Apache-2.0
//! A switch that computes on packets.

use serde::{Deserialize, Serialize};
use timing::Time;
use timing::platform::{Bandwidth, Bytes, Count, Entry, PlatformError, PlatformFile};

/// A programmable switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgrammableSwitch {
    /// The platform's name.
    pub name: String,
    /// What it has.
    pub pipeline: PipelineEntries,
}

/// The pipeline of a programmable switch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PipelineEntries {
    /// From port to port, through parser, stages and queues.
    pub latency: Entry<Time>,
    /// Ports.
    pub ports: Entry<Count>,
    /// Of each port.
    pub rate: Entry<Bandwidth>,
    /// Bytes of a packet that can be parsed.
    pub parsed: Entry<Bytes>,
    /// Memory for registers.
    pub memory: Entry<Bytes>,
    /// Queues of a port with different priorities.
    pub priorities: Entry<Count>,
}

impl ProgrammableSwitch {
    /// The platform `name`.
    ///
    /// # Errors
    /// When there is none of that name, or it is no such switch.
    pub fn named(name: &str) -> Result<Self, PlatformError> {
        Self::read_from(PlatformFile::named(name)?)
    }

    /// As [`ProgrammableSwitch::named`], from a file.
    ///
    /// # Errors
    /// When an entry is missing, of another unit or impossible.
    pub fn read_from(mut file: PlatformFile) -> Result<Self, PlatformError> {
        let switch = Self { name: file.word("name")?, pipeline: file.section("pipeline")? };
        file.expect_all_read()?;
        file.expect_classes()?;
        for (field, count) in [
            ("pipeline.ports", switch.pipeline.ports.get()),
            ("pipeline.priorities", switch.pipeline.priorities.get()),
        ] {
            if count == Count(0) {
                return Err(file.impossible(field, "0", "at least 1"));
            }
        }
        Ok(switch)
    }
}
