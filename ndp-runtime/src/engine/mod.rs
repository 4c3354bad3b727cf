//! The device's side: executes jobs beside the data (ccSLT paper, sections 2.3 and 3).
//!
//! - [`Engine`]: takes submissions of the job queue, and completes them.
//! - [`Card`]: what it reaches; whoever embodies a device implements it.
//! - [`Element`]: who finds the rows that qualify; [`SoftwareElement`], or hardware.
//! - [`RowUpdate`]: the update of one row, as a pure machine.

mod card;
mod element;
mod fault;
mod live;
mod loading;
mod locks;
mod queue;
mod row_update;
mod rows;
mod snapshot;
mod updating;
mod work;
mod writer;

pub use card::{
    Card, HostError, LockAnswer, LockOperation, LockRequest, LockResponse, Storage, StorageError,
};
pub use element::{Element, ElementSet, Packet, Progress, SoftwareElement, Totals};
pub use fault::Fault;
pub use queue::{Engine, Stepped};
pub use row_update::{Action, Input, RowEnd, RowUpdate, Skipped};
pub use snapshot::{CountedStorage, ElementTask, Reader, Snapshot};
