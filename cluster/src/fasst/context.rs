// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the steps of a burst have in hand.

use std::sync::Arc;

use super::mutant::Mutant;
use super::settings::Settings;
use super::shared::Shared;
use crate::engine::{Effects, Instant, Key};
use crate::placement::{HeaderId, Partitioning};
use crate::rpc::Rpc;
use crate::transact::{Intent, Transactions};

/// What never changes in a run.
#[derive(Clone, Debug)]
pub(super) struct Fixed<T> {
    pub settings: Settings,
    pub workload: T,
    pub layout: Arc<Partitioning>,
    /// The numbers that each process has for the attempts of a worker.
    pub attempts: u32,
}

/// Buffers that are used again, with nothing in them between bursts that counts.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub wanted: Vec<(Key, Intent)>,
    pub headers: Vec<HeaderId>,
    pub value: Vec<u8>,
    pub response: Vec<u8>,
    /// Workers that go on in the next poll.
    pub soon: Vec<u8>,
    /// When a worker wants to be looked at again.
    pub wake: Option<Instant>,
}

/// What a step of a thread may use.
pub(super) struct Context<'a, T> {
    pub fixed: &'a Fixed<T>,
    pub shared: &'a mut Shared<T>,
    pub rpc: &'a mut Rpc,
    pub scratch: &'a mut Scratch,
    pub now: Instant,
    pub out: &'a mut Effects,
}

impl<T: Transactions> Context<'_, T> {
    /// Whether this bug is planted.
    #[inline]
    pub fn has(&self, mutant: Mutant) -> bool {
        self.fixed.settings.planted.is(mutant)
    }

    /// Asks for a look at the workers at `at`, or before.
    #[inline]
    pub fn wake(&mut self, at: Instant) {
        self.scratch.wake = Some(self.scratch.wake.map_or(at, |earlier| earlier.min(at)));
    }
}
