// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failures of the device that are injected into a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

/// The fault injected into a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceFault {
    /// It does nothing any more, and says so.
    Dies,
    /// It is reset: its jobs are lost, it takes new ones.
    Resets,
    /// It does nothing any more, and says nothing, until it is reset.
    Hangs,
    /// Nothing reaches the host any more; it continues with its current data for this many steps,
    /// until it is reset.
    LinkBreaks {
        /// The maximum number of steps for which it continues.
        steps: u64,
    },
}

/// Lets a device fail, from outside, and counts its steps.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Controlled>);

#[derive(Debug, Default)]
struct Controlled {
    steps: AtomicU64,
    /// Whether it cannot be reset.
    stubborn: AtomicBool,
    planned: Mutex<Option<(u64, DeviceFault)>>,
}

impl Control {
    /// Steps that the engine has done.
    pub fn steps(&self) -> u64 {
        self.0.steps.load(Ordering::Relaxed)
    }

    /// After so many steps, counted from the device's beginning, this happens once.
    pub fn plan(&self, at_step: u64, fault: DeviceFault) {
        *self.0.planned.lock() = Some((at_step, fault));
    }

    /// From now on it can be reset or not.
    pub fn resist_resets(&self, resist: bool) {
        self.0.stubborn.store(resist, Ordering::Relaxed);
    }

    pub(crate) fn resists_resets(&self) -> bool {
        self.0.stubborn.load(Ordering::Relaxed)
    }

    pub(crate) fn count_step(&self) {
        self.0.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// The event planned for this moment, if any.
    pub(crate) fn due(&self) -> Option<DeviceFault> {
        let mut planned = self.0.planned.lock();
        let due = planned.filter(|(at_step, _)| self.steps() >= *at_step)?;
        *planned = None;
        Some(due.1)
    }
}
