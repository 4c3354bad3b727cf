// SPDX-License-Identifier: MIT OR Apache-2.0
//! A cluster in virtual time: cores, NICs, links, switches and faults around the machines of the
//! protocols in [`cluster`].
//!
//! - [`world`]: the event loop, the cores, and what is counted and recorded.
//! - [`fabric`]: links and the switch.
//! - [`micro`]: micro-benchmarks, which platforms are calibrated with.
//! - [`nic`]: the NICs.
//! - [`platform`]: the hardware, as platform files describe it.
//! - [`check`]: whether a run was strictly serializable.
//! - [`faults`]: what goes wrong, and when.
//! - [`campaign`]: clusters under drawn faults, healed and judged.
//! - [`protocols`]: the protocols, as the last and the next use them.
//! - [`run`]: settings, runs and reports, for the command and for experiments.
//! - [`trace`]: timelines of runs.
//!
//! `docs/cluster.md` describes what is modelled and how time is charged.

pub mod campaign;
pub mod check;
pub mod fabric;
pub mod faults;
pub mod micro;
pub mod nic;
pub mod platform;
pub mod protocols;
pub mod run;
pub mod trace;
pub mod world;
