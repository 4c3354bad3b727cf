// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's side, which executes jobs beside the data (ccSLT paper, sections 2.3 and 3).
//!
//! - [`Engine`]: takes submissions of the job queue, and completes them.
//! - [`Card`]: the environment of the engine, which each device implements.
//! - [`Element`]: finds the qualifying rows; [`SoftwareElement`], or hardware.
//! - [`RowUpdate`]: the update of one row, as a pure machine.

mod card;
mod element;
mod live;
mod loading;
mod locks;
mod mutant;
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
pub use mutant::Mutant;
pub use queue::{Engine, Stepped};
pub use row_update::{Action, Input, RowEnd, RowUpdate, Skipped};
pub use snapshot::{CountedStorage, ElementTask, Reader, Snapshot};
