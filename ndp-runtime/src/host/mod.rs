// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's side: it hands jobs to a device, and makes one transaction of what both do.
//!
//! - [`Runtime`]: one device and one store; [`Runtime::begin`] lets a transaction use the device.
//! - [`PreparedUpdate`]: an update, compiled.
//! - [`NearTransaction`]: update, select, aggregate; commit and rollback.
//! - [`JobPort`]: access to the device: [`QueuePort`] uses the driver; the crate `software_device`
//!   needs no hardware.
//! - [`HostPath`]: the same jobs done by the host, and [`TableGate`]: the whole table locked; for
//!   comparison.
//! - [`StoreMemory`]: lock table and VID maps where the device can reach them.
//!
//! `docs/near-data.md` has the architecture, and the argument for its correctness.

mod cancel;
mod error;
mod host_path;
mod memory;
mod options;
mod port;
mod prepared;
mod read;
mod report;
mod runtime;
mod table_gate;
mod transaction;
mod update;
mod watch;
mod work;

pub use cancel::Cancel;
pub use error::{NearDataJobError, fault_text};
pub use host_path::{HostPath, HostPathReport};
pub use memory::StoreMemory;
pub use options::{JobOptions, Progress};
pub use port::{Fenced, JobPort, Mapping, PortError, QueuePort};
pub use prepared::PreparedUpdate;
pub use read::{AggregateOf, AggregatedGroup, SelectReport, SelectedRow};
pub use report::{
    COMPLETION_BYTES, LINE_BYTES, LinkBytes, Phases, ReadReport, SUBMISSION_BYTES, UpdateReport,
};
pub use runtime::{Runtime, RuntimeOptions};
pub use table_gate::{Alone, Passing, TableGate};
pub use transaction::{CommitReport, NearTransaction};
