// SPDX-License-Identifier: MIT OR Apache-2.0
//! What answers at the port of host memory: memory at once, or memory behind the link of Xenic's NIC.

use std::cell::Cell;
use std::rc::Rc;

use sim::bus::axi4::Axi4Subordinate;
use sim::bus::test_memory::TestMemory;
use sim::host_link::{HostLink, Traffic};
use timing::Time;
use timing::platform::Platform;

/// Of the NIC's clock, 250 MHz.
pub const PERIOD: Time = Time::from_ns(4);

/// What answers at the port of host memory.
pub trait Host {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate);
}

impl Host for TestMemory {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate) {
        TestMemory::step(self, cycle, port);
    }
}

/// Lines of memory behind the link of a platform.
pub struct Linked {
    link: HostLink,
    base: u64,
    lines: Vec<[u64; 8]>,
    traffic: Rc<Cell<Traffic>>,
}

impl Linked {
    /// The lines from `base` on, and what goes over the link.
    pub fn new(platform: &Platform, base: u64, lines: Vec<[u64; 8]>) -> (Self, Rc<Cell<Traffic>>) {
        let link = HostLink::new(platform, PERIOD, 0).expect("the platform has DMA");
        let traffic = Rc::default();
        (Linked { link, base, lines, traffic: Rc::clone(&traffic) }, traffic)
    }
}

impl Host for Linked {
    fn step(&mut self, cycle: u64, port: &mut Axi4Subordinate) {
        let Linked { link, base, lines, traffic } = self;
        link.step(cycle, port, |address| Ok(lines[((address - *base) / 64) as usize]));
        traffic.set(link.traffic());
    }
}
