// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machines of a world, by the platform's entries.

use std::sync::Arc;

use cluster::engine::NodeId;
use timing::Time;
use timing::platform::{Bandwidth, Measure};

use crate::fabric::FabricTiming;
use crate::nic::{Card, Connections, RdmaNic};
use crate::platform::Hardware;
use crate::world::{self, CpuCosts};

/// The machines of `hardware`, whose cards have `posted` receive descriptors in all queues together.
pub fn machines(hardware: &Hardware, posted: u64) -> world::Hardware {
    let (rate, ports) = hardware.ports();
    let bytes_per_second = rate.bytes_per_second() * u64::from(ports);
    let rate = Bandwidth::convert(bytes_per_second as f64 / 1e6, "MB/s").unwrap_or(rate);
    let costs = hardware.nic_costs();
    let card = move |_: NodeId| -> Box<dyn Card> {
        Box::new(RdmaNic::new(costs, Connections::OWN, posted))
    };
    world::Hardware {
        // What a poll takes is part of what a message takes: only their sum was published.
        host: CpuCosts { poll: Time::ZERO, work: hardware.work_costs(), loaded: 1000 },
        nic_cores: None,
        fabric: FabricTiming {
            rate,
            latency: hardware.wire_latency(true),
            framing: hardware.framing(),
        },
        local: Time::ZERO,
        card: Arc::new(card),
    }
}

/// Descriptors of all receive queues of a machine: each thread has one for each message that can be on
/// its way to it, in a queue whose length is a power of two (FaSST, section 4.4).
pub fn posted(nodes: u16, threads: u8, workers: u8) -> u64 {
    u64::from(threads) * (u64::from(nodes) * u64::from(workers)).next_power_of_two()
}
