// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a run could not be made, or did not come to its end.

use driver::DeviceError;
use nic::lookup::{GeometryError, Status};
use sim::bus::error::BusModelError;
use tables::{ShapeError, TableError};

use crate::judge::WrongAnswer;

/// Why a run could not be made, or did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A setting is impossible. Nothing was run.
    #[error("{field} is {value}, expected {expected}")]
    Setting {
        /// Which.
        field: &'static str,
        /// Its value.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The profile needs more keys. Nothing was run.
    #[error(
        "{look_ups} look-ups of a profile that takes each cold key once, of {keys} keys: expected more keys"
    )]
    TooFewKeys {
        /// Keys of the table.
        keys: usize,
        /// Look-ups that were asked for.
        look_ups: usize,
    },
    /// No table of this shape is possible. Nothing was run.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// No look-ups are possible in such a table. Nothing was run.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The table has no room for its contents, or for an insertion.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The platform has no DMA. Nothing was run.
    #[error("platform {platform}: expected a section [dma], found none")]
    NoDma {
        /// Its name.
        platform: String,
    },
    /// The RTL breaks a rule of its buses, or one of its assertions.
    #[error("clock {clock}: {what}")]
    Card {
        /// When.
        clock: u64,
        /// What.
        what: String,
    },
    /// A register refuses an access.
    #[error(transparent)]
    Register(#[from] DeviceError),
    /// The RTL refuses to be switched on.
    #[error("the RTL finds setting {setting} wrong (SETTINGS_ERROR), expected 0")]
    Refused {
        /// Its number.
        setting: u32,
    },
    /// RTL and machine do not do the same.
    #[error("clock {clock}: the RTL has {what}: {rtl}, expected {machine} by the machine")]
    Differs {
        /// When.
        clock: u64,
        /// In what.
        what: &'static str,
        /// The RTL's.
        rtl: String,
        /// The machine's.
        machine: String,
    },
    /// A request ended otherwise than it can.
    #[error("clock {clock}: {what} of key {key} ended as {status:?}, expected {expected}")]
    Status {
        /// When.
        clock: u64,
        /// What was asked for.
        what: &'static str,
        /// Of which key.
        key: u64,
        /// How it ended.
        status: Status,
        /// How it could have.
        expected: &'static str,
    },
    /// Nothing moves any more.
    #[error("clock {clock}: {open} requests are not answered for {waited} clocks")]
    Stuck {
        /// When.
        clock: u64,
        /// Requests under way.
        open: usize,
        /// For how long nothing was answered.
        waited: u64,
    },
    /// A look-up was answered with what the key never had meanwhile.
    #[error(transparent)]
    Wrong(#[from] WrongAnswer),
    /// The machine has counted otherwise.
    #[error("{name}: the RTL counts {rtl}, the machine {machine} on the same look-ups")]
    Counters {
        /// Which.
        name: &'static str,
        /// Of the RTL.
        rtl: u64,
        /// Of the machine.
        machine: u64,
    },
    /// A thread of the host has ended before its time.
    #[error("thread {thread} of the host: {what}")]
    Thread {
        /// Which.
        thread: u32,
        /// How.
        what: String,
    },
}

impl RunError {
    pub(crate) fn bus(clock: u64) -> impl Fn(BusModelError) -> Self {
        move |fault| RunError::Card { clock, what: fault.to_string() }
    }

    /// Whether what was asked for is to blame, and nothing was run.
    pub fn is_of_input(&self) -> bool {
        matches!(
            self,
            Self::Setting { .. }
                | Self::TooFewKeys { .. }
                | Self::Shape(_)
                | Self::Geometry(_)
                | Self::NoDma { .. }
        )
    }
}
