// SPDX-License-Identifier: MIT OR Apache-2.0
//! The device's memory, timed: channels with a rate each, behind a latency.

use timing::Time;
use timing::platform::DeviceMemoryTiming;

/// Bytes of a line.
pub(crate) const LINE: u64 = 64;

/// The channels and how long each is taken.
#[derive(Debug)]
pub(crate) struct DeviceMemory {
    latency: Time,
    line_time: Time,
    free: Vec<Time>,
    lines: u64,
}

impl DeviceMemory {
    pub fn new(timing: &DeviceMemoryTiming) -> Self {
        Self {
            latency: timing.latency.get(),
            line_time: timing.bandwidth.get().time_for(LINE),
            free: vec![Time::ZERO; timing.channels.get().0 as usize],
            lines: 0,
        }
    }

    /// From a request to the first line, when no channel is busy.
    pub fn latency(&self) -> Time {
        self.latency
    }

    /// Reads or writes so many lines from `address` on; the time of the last one. Consecutive lines
    /// are in consecutive channels.
    pub fn access(&mut self, now: Time, address: u64, lines: u64) -> Time {
        self.lines += lines;
        let channels = self.free.len() as u64;
        let mut last = now;
        for channel in 0..channels.min(lines) {
            let first = address / LINE + channel;
            let here = (lines - channel).div_ceil(channels);
            let free = &mut self.free[(first % channels) as usize];
            *free = now.max(*free) + self.line_time * here;
            last = last.max(*free);
        }
        last + self.latency
    }

    /// Bytes read and written so far.
    pub fn bytes(&self) -> u64 {
        self.lines * LINE
    }
}

/// How many lines `bytes` bytes from `address` on touch.
pub(crate) fn lines_of(address: u64, bytes: u64) -> u64 {
    (address + bytes).div_ceil(LINE) - address / LINE
}

#[cfg(test)]
mod tests {
    use super::*;
    use timing::platform::Platform;

    #[test]
    fn channels_share_a_transfer_and_queue_what_comes_together() {
        let platform = Platform::named("n1sdp-u280-ccix").expect("valid");
        let timing = platform.near_data.expect("has one").device_memory;
        let line = timing.bandwidth.get().time_for(64).as_ps();
        let mut memory = DeviceMemory::new(&timing);
        let latency = memory.latency().as_ps();
        // 128 lines over two channels; a line that comes with them waits behind its channel's half.
        assert_eq!(memory.access(Time::ZERO, 0, 128).as_ps(), 64 * line + latency);
        assert_eq!(memory.access(Time::ZERO, 64, 1).as_ps(), 65 * line + latency);
        assert_eq!(memory.access(Time::from_us(9), 64, 1).as_ps(), 9_000_000 + line + latency);
        assert_eq!(memory.bytes(), 130 * 64);
        assert_eq!((lines_of(0, 64), lines_of(56, 16), lines_of(8, 32)), (1, 2, 1));
    }
}
