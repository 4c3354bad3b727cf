// SPDX-License-Identifier: MIT OR Apache-2.0
//! The threads of a host: those of the application, and the log workers.

mod application;
mod local;
mod log_worker;
mod worker;

pub use application::Application;
pub use log_worker::LogWorker;
