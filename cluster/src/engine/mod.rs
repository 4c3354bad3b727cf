// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a machine is, and what it exchanges with its driver.
//!
//! A driver gives a [`Machine`] bursts of [`Input`]s and takes its [`Effects`]. There are several
//! drivers of the same machines: a world in virtual time, an explorer of all orders of delivery, and
//! later threads and a network.

mod aside;
mod effects;
mod input;
mod machine;
mod names;
mod protocol;
mod time;
mod work;

pub use aside::Aside;
pub use effects::{
    Access, Committing, Effects, Ending, Moment, OperationRequest, Point, SendRequest, Stage,
};
pub use input::{Input, Operation, Outcome, Place, Token};
pub use machine::{Machine, Node};
pub use names::{Class, Endpoint, Key, NodeId, Part, TableNumber, TransactionId};
pub use protocol::Protocol;
pub use time::{Instant, Span};
pub use work::{Work, WorkCounts};
