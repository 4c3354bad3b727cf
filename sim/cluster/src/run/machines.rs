// SPDX-License-Identifier: MIT OR Apache-2.0
//! What the cards of a run are made with.

/// Descriptors of all receive queues of a machine: each thread has one for each message that can be on
/// its way to it, in a queue whose length is a power of two (FaSST, section 4.4).
pub fn posted(nodes: u16, threads: u8, workers: u8) -> u64 {
    u64::from(threads) * (u64::from(nodes) * u64::from(workers)).next_power_of_two()
}
