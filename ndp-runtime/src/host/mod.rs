//! The host's side: it hands jobs to a device, and makes one transaction of what both do.
//!
//! - [`Runtime`]: one device and one store; [`Runtime::begin`] lets a transaction use the device.
//! - [`NearTransaction`]: update, select, aggregate; commit and rollback.
//! - [`JobPort`]: how the device is reached: [`QueuePort`] by the driver, others in tests.
//! - [`StoreMemory`]: lock table and VID maps where the device can reach them.
//!
//! `docs/near-data.md` has the architecture, and the argument for its correctness.

mod cancel;
mod error;
mod in_process;
mod memory;
mod options;
mod port;
mod read;
mod report;
mod runtime;
mod transaction;
mod update;
mod watch;
mod work;

pub use cancel::Cancel;
pub use error::{NearDataFailure, fault_text};
pub use in_process::{Control, InProcess, Trouble};
pub use memory::StoreMemory;
pub use options::{JobOptions, Progress};
pub use port::{Fenced, JobPort, Mapping, PortError, QueuePort};
pub use read::{AggregateOf, AggregatedGroup, SelectReport, SelectedRow};
pub use report::{
    COMPLETION_BYTES, LINE_BYTES, LinkBytes, Phases, ReadReport, SUBMISSION_BYTES, UpdateReport,
};
pub use runtime::{Runtime, RuntimeOptions};
pub use transaction::{CommitReport, NearTransaction};
