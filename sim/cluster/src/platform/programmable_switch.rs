// SPDX-License-Identifier: MIT OR Apache-2.0
//! A switch that computes on packets.

use serde::{Deserialize, Serialize};
use timing::Time;
use timing::platform::{Bandwidth, Bytes, Count, Entry, PlatformError, PlatformFile};

use super::reading::{expect_counts, read_whole};

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
    pub fn read_from(file: PlatformFile) -> Result<Self, PlatformError> {
        let (switch, file) = read_whole(file, |file| {
            Ok(Self { name: file.word("name")?, pipeline: file.section("pipeline")? })
        })?;
        let PipelineEntries { ports, priorities, .. } = &switch.pipeline;
        let counts = [("pipeline.ports", ports), ("pipeline.priorities", priorities)];
        expect_counts(&file, &counts.map(|(field, count)| (field, count, None, "at least 1")))?;
        Ok(switch)
    }
}
