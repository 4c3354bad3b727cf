// SPDX-License-Identifier: MIT OR Apache-2.0
//! Distributed transaction protocols as pure machines: time and messages go in, messages and endings
//! come out. There is no I/O here, no clock, no thread and no random state; a driver has all of that.
//!
//! - [`engine`]: what a machine is, and what its drivers give it and take from it.
//! - [`transact`]: the logic of transactions, run on the rows that have been fetched.
//! - [`workload`]: the workloads of the papers.
//! - [`store`]: the rows of a node, with their headers.
//! - [`placement`], [`membership`]: which node has which rows, and who belongs to the cluster.
//! - [`recovery`]: from one view to the next.
//! - [`mutant`]: planted bugs.
//! - [`rpc`]: RPCs by datagrams, which several protocols have.
//! - [`fasst`]: the protocol of FaSST (OSDI 2016).
//! - [`xenic`]: the protocol of Xenic (SOSP 2021).
//! - [`drtm_h`]: DrTM+H (OSDI 2018), and two other forms of it.
//!
//! `docs/cluster.md` describes the engine, `docs/fasst.md`, `docs/xenic.md` and `docs/drtm-h.md` the
//! protocols.

mod bounds;
pub mod drtm_h;
pub mod engine;
pub mod fasst;
pub mod membership;
mod mix;
pub mod mutant;
pub mod near;
mod pause;
pub mod placement;
mod ready;
pub mod recovery;
pub mod rpc;
pub mod store;
pub mod transact;
pub mod wire;
pub mod workload;
pub mod xenic;

pub use mix::mix;
