// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's log, on its own device: records are appended while the host continues; a commit waits
//! until its own bytes are durable.

use timing::Time;
use timing::platform::{Bandwidth, HostStoreTiming};

/// Bytes of a record beside its changes, and of a change beside its payload
/// (`docs/store-layouts.md`).
const RECORD: u64 = 40;
const CHANGE: u64 = 14;

/// See the module.
pub(crate) struct Log {
    bandwidth: Bandwidth,
    latency: Time,
    /// Nothing is written to its device, and nobody waits for it.
    volatile: bool,
    /// When all that was handed over is written.
    written: Time,
}

impl Log {
    /// `durable`: commits wait for its device; otherwise it stays in memory.
    pub fn new(timing: &HostStoreTiming, durable: bool) -> Self {
        Self {
            bandwidth: timing.log_bandwidth.get(),
            latency: timing.log_latency.get(),
            volatile: !durable,
            written: Time::ZERO,
        }
    }

    /// A changed row, with its new payload.
    pub fn change(&mut self, now: Time, payload: u64) {
        self.append(now, CHANGE + payload);
    }

    /// What makes the changes before it a commit, with so many bytes beside them.
    pub fn commit(&mut self, now: Time, bytes: u64) {
        self.append(now, RECORD + bytes);
    }

    fn append(&mut self, now: Time, bytes: u64) {
        self.written = now.max(self.written) + self.bandwidth.time_for(bytes);
    }

    /// When all that was handed over is durable, if a commit asks now.
    pub fn durable(&self, now: Time) -> Time {
        match self.volatile {
            true => now,
            false => now.max(self.written) + self.latency,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timing::platform::Platform;

    #[test]
    fn what_was_written_meanwhile_is_not_waited_for() {
        let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
        let timing = platform.host_store.expect("has one");
        let (rate, latency) = (timing.log_bandwidth.get(), timing.log_latency.get());
        let mut log = Log::new(&timing, true);
        log.change(Time::ZERO, 3_000_000 - CHANGE);
        let written = rate.time_for(3_000_000);
        assert_eq!(log.durable(Time::ZERO), written + latency);
        // Long after, only the sync is left.
        let later = Time::from_us(10_000);
        log.commit(later, 100);
        let record = rate.time_for(RECORD + 100);
        assert_eq!(log.durable(later), later + record + latency);
        let mut log = Log::new(&timing, false);
        log.change(Time::ZERO, 1_000_000);
        assert_eq!(log.durable(Time::ZERO), Time::ZERO);
    }
}
