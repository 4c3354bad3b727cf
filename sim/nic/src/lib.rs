// SPDX-License-Identifier: MIT OR Apache-2.0
//! Look-ups through the RTL of a NIC (`docs/nic-command.md`), while threads of the host change the table.
//!
//! - [`Contents`] and [`Profile`]: what is in the table, and which keys are looked up.
//! - [`Job`]: these, the settings and the platform. It is run in [virtual time](Job::virtual_time), with the
//!   [machine](Job::machine) in place of the RTL, or by the [wall clock](Job::wall_clock).
//! - [`Report`]: what came out. Every answer has been judged.
//! - [`RtlNode`]: the same RTL as the data path of a node of a modelled cluster (`docs/xenic.md`).

mod card;
mod churn;
mod contents;
mod error;
mod host;
mod in_loop;
mod job;
mod judge;
mod limit;
mod machine;
mod pins;
mod profile;
mod report;
mod served;
mod settings;
mod shadow;
mod virtual_time;
mod wall_clock;
mod world;

pub use contents::{Contents, read_trace};
pub use error::RunError;
pub use in_loop::{RtlNode, Waves};
pub use job::{Job, Watch};
pub use judge::WrongAnswer;
pub use limit::Limits;
pub use profile::{LookUps, Profile, ProfileError};
pub use report::{DmaReport, HostReport, Report, Speed};
pub use settings::{CardSettings, HostSettings, Settings, TableSettings};
