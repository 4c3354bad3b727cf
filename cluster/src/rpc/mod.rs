// SPDX-License-Identifier: MIT OR Apache-2.0
//! RPCs by unreliable datagrams, as FaSST (OSDI 2016) has them; DrTM+H uses the same ("two-sided RDMA, like FaSST":
//! Xenic, section 2.2.2).
//!
//! - [`Header`]: what all messages begin with.
//! - [`Rpc`]: the endpoint of a thread: one message of a worker to each machine, budgets, duplicates.
//! - `Calls`: the requests of a worker's step, packed into messages.

mod calls;
mod endpoint;
mod header;
mod serve;

pub(crate) use calls::{Asked, Call, Calls, Form, Post};
pub use endpoint::{Dropped, Limits, Rpc};
pub use header::{Header, Kind, REQUEST_HEADER, RESPONSE_HEADER};
pub(crate) use serve::{Server, serve};
