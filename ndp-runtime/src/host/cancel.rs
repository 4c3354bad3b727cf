// SPDX-License-Identifier: MIT OR Apache-2.0
//! Stopping a job from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops jobs from another thread, or from a handler of Ctrl-C. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the jobs that have it to stop; they end with
    /// [`NearDataJobError::Cancelled`](super::NearDataJobError::Cancelled).
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether a cancel was requested.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
