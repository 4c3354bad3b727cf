// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workloads of the papers as protocols see them.
//!
//! - [`ObjectStore`]: O(r, w) of FaSST.
//! - [`Retwis`]: a Twitter-like application, as Xenic runs it.
//! - [`SmallBank`], [`Tatp`]: the logic, the mixes and the populations of [`workloads::database`].
//! - [`Tpcc`]: TPC-C, or its new-orders alone, as DrTM+H and Xenic compare systems.
//! - [`Scripted`]: any of them with inputs that a test has chosen.
//! - [`AnyWorkload`]: one that is chosen when the program runs.
//!
//! Each counts its rows ([`Totals`]), so that lost and repeated transactions are noticed in the end.

mod any;
mod counted;
mod object_store;
mod retwis;
mod scripted;
mod shape;
mod smallbank;
mod stream;
mod tatp;
mod totals;
mod tpcc;

pub use any::{AnyInput, AnySource, AnyWorkload};
pub use object_store::{ObjectStore, ObjectStoreError, ObjectStoreSettings, ObjectTransaction};
pub use retwis::{Retwis, RetwisError, RetwisSettings, RetwisTransaction};
pub use scripted::{Script, Scripted};
pub use smallbank::{SmallBank, SmallBankError, SmallBankSettings};
pub use stream::Stream;
pub use tatp::{Tatp, TatpError, TatpSettings};
pub use totals::{ChangedRow, TotalError, Totals, check_totals};
pub use tpcc::{Tpcc, TpccError, TpccSettings, TpccSource, TpccTransaction};

#[cfg(test)]
mod testing;
