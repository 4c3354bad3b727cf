// SPDX-License-Identifier: MIT OR Apache-2.0
//! The checks. Each is a function that creates a situation and checks the result.

mod atomics;
mod bad_commands;
mod contention;
mod copies;
mod driver_queues;
mod identity;
mod interrupts;
mod jobs;
mod locks;
mod lookups;
mod queues;
mod registers;
mod reset;
mod scratch;
mod second;
mod unmap;

pub(crate) use interrupts::enable_all;

use crate::context::{CheckError, Context};

/// A check by its name. It begins on a device that was just reset, and says what it has tried.
pub(crate) struct Check {
    pub name: &'static str,
    pub run: fn(&mut Context<'_>) -> Result<String, CheckError>,
}

/// All checks, in the order in which they are run: what later ones rest on comes first.
pub(crate) const ALL: &[Check] = &[
    Check { name: "identity", run: identity::check },
    Check { name: "scratch registers", run: scratch::check },
    Check { name: "register map", run: registers::check },
    Check { name: "copies", run: copies::check },
    Check { name: "bad commands", run: bad_commands::check },
    Check { name: "queue laps", run: queues::laps },
    Check { name: "full rings", run: queues::full_rings },
    Check { name: "halted queues", run: queues::halted },
    Check { name: "interrupts", run: interrupts::forced },
    Check { name: "queue interrupts", run: interrupts::of_queues },
    Check { name: "reset", run: reset::check },
    Check { name: "unmap", run: unmap::check },
    Check { name: "atomics", run: atomics::check },
    Check { name: "lock requests", run: locks::check },
    Check { name: "lock contention", run: contention::check },
    Check { name: "jobs", run: jobs::check },
    Check { name: "look-ups", run: lookups::check },
    Check { name: "driver queues", run: driver_queues::check },
    Check { name: "second opener", run: second::check },
];
