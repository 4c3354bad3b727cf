// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registers: settings before a run, counters after it, and what is refused. Offsets and values are
//! written out here on purpose, as a check of the map.

use driver::map::dma_vectorizer as map;
use nic::vector::{Config, Direction, Element, PAGE, Window};
use sim::bus::BusError;
use sim::bus::axi_lite::{AxiLiteManager, LiteOutcome, LiteRequest, LiteStalls};
use sim::bus::stall::StallPattern;
use suites::registers::{self, Block};

use crate::dut::{self, Model};

pub const CONTROL: u16 = 0x000;
pub const RETURN: u16 = 0x010;
const HOST_FIRST: u16 = 0x020;
const HOST_LAST: u16 = 0x030;
const NIC_FIRST: u16 = 0x040;
const NIC_LAST: u16 = 0x050;
pub const IDLE_TIME: u16 = 0x060;
pub const FLUSH_TIME: u16 = 0x070;
const COUNTERS: u16 = 0x200;

/// What the counters say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub elements: u64,
    /// Full, flushed, idle.
    pub vectors: [u64; 3],
    /// Of reads, of writes.
    pub bytes: [u64; 2],
    pub errors: u64,
    pub refused: u64,
}

/// Software, whose accesses take their time.
pub struct Software(AxiLiteManager);

impl Software {
    pub fn new(seed: u64) -> Self {
        let stalls = LiteStalls::all(StallPattern::Random { probability: 0.3 });
        Self(AxiLiteManager::new("s_axil", stalls, seed, 1000).with_address_bits(12))
    }

    /// An access, during which nothing else moves at the pins.
    pub fn access(&mut self, model: &mut Model, request: LiteRequest) -> LiteOutcome {
        self.0.start(0, request);
        loop {
            let pins = *self.0.drive(0);
            dut::set_registers(model.inputs_mut(), &pins);
            let outcome = self.0.sample(0, &dut::registers(model.outputs())).unwrap();
            model.clock();
            if let Some(outcome) = outcome {
                dut::set_registers(model.inputs_mut(), &Default::default());
                return outcome;
            }
        }
    }

    pub fn read(&mut self, model: &mut Model, address: u16) -> LiteOutcome {
        self.access(model, LiteRequest::Read { address })
    }

    pub fn write(&mut self, model: &mut Model, address: u16, value: u32) -> LiteOutcome {
        self.access(model, LiteRequest::Write { address, value, strobe: 0xF })
    }

    /// Sets everything and switches the queues on.
    pub fn configure(&mut self, model: &mut Model, config: &Config) {
        let Config { idle_time, flush_time, host, nic } = *config;
        let pages = [
            (HOST_FIRST, host.first),
            (HOST_LAST, host.last),
            (NIC_FIRST, nic.first),
            (NIC_LAST, nic.last),
        ];
        let mut write = |address, value| {
            self.write(model, address, value).unwrap();
        };
        for (address, page) in pages {
            let value = page * PAGE;
            write(address, value as u32);
            write(address + 4, (value >> 32) as u32);
        }
        write(IDLE_TIME, idle_time.into());
        write(FLUSH_TIME, flush_time.into());
        write(CONTROL, 1);
    }

    pub fn counters(&mut self, model: &mut Model) -> Counters {
        let mut next = COUNTERS;
        let mut counter = || {
            let [low, high] = [0, 4].map(|half| self.read(model, next + half).unwrap());
            next += 8;
            u64::from(low) | u64::from(high) << 32
        };
        Counters {
            elements: counter(),
            vectors: std::array::from_fn(|_| counter()),
            bytes: std::array::from_fn(|_| counter()),
            errors: counter(),
            refused: counter(),
        }
    }
}

const CONFIG: Config =
    Config { idle_time: 16, flush_time: 64, host: Window::ALL, nic: Window::ALL };

#[test]
fn registers_say_what_is_set() {
    after_a_reset();
}

#[test]
fn a_vector_that_waits_long_is_sent_at_once() {
    a_vector_waits_long();
}

#[test]
fn registers_are_those_of_the_map() {
    those_of_the_map();
}

#[test]
fn settings_hold_while_the_queues_are_on() {
    settings_hold();
}

pub fn after_a_reset() {
    let mut model = dut::model(0);
    model.reset(2);
    let mut software = Software::new(0);
    assert_eq!(dut::command_readies(model.outputs()), [false; 8]);
    for (address, expected) in [
        (CONTROL, 0),
        (RETURN, 0),
        (HOST_FIRST, 4096),
        (HOST_LAST, 0),
        (NIC_FIRST, 4096),
        (NIC_LAST, 0),
        (IDLE_TIME, 16),
        (FLUSH_TIME, 64),
        (0x100, 0x4C53_4456),
        (0x104, 0x0001_0000),
        (0x108, 0x0008_0F08),
    ] {
        assert_eq!(software.read(&mut model, address), Ok(expected), "register 0x{address:X}");
    }
    assert_eq!(software.counters(&mut model), Counters::default());
    assert_eq!(software.read(&mut model, 0x18), Err(BusError::DecodeError));
}

pub fn those_of_the_map() {
    let mut model = dut::model(3);
    model.reset(2);
    let mut software = Software::new(3);
    let mut access = |request| software.access(&mut model, request);
    registers::check(&mut Block(&mut access), &map::WORDS, &[]);
}

pub fn settings_hold() {
    let mut model = dut::model(1);
    model.reset(2);
    let mut software = Software::new(1);
    software.configure(&mut model, &CONFIG);
    assert_eq!(dut::command_readies(model.outputs()), [true; 8]);
    let mut access = |request| software.access(&mut model, request);
    registers::check_holds(&mut Block(&mut access), &map::WORDS);
    let refused = Err(BusError::SubordinateError);
    // With an element under way, off is not yet empty.
    dut::set_command(model.inputs_mut(), 0, true, [64 << 16, 0, 0]);
    model.clock();
    dut::set_command(model.inputs_mut(), 0, false, [0; 3]);
    assert_eq!(software.write(&mut model, CONTROL, 0), Ok(0));
    assert_eq!(dut::command_readies(model.outputs()), [false; 8]);
    assert_eq!(software.read(&mut model, RETURN), Ok(1));
    assert_eq!(software.write(&mut model, IDLE_TIME, 5), refused);
    // Not a page, and not a number of 16 bits.
    model.reset(2);
    assert_eq!(software.write(&mut model, HOST_LAST, 0x1800), refused);
    assert_eq!(software.write(&mut model, IDLE_TIME, 0x1_0000), refused);
    assert_eq!(software.write(&mut model, IDLE_TIME, 0xFFFF), Ok(0));
    let bytes = LiteRequest::Write { address: IDLE_TIME, value: 1, strobe: 0b0111 };
    assert_eq!(software.access(&mut model, bytes), refused);
    assert_eq!(software.read(&mut model, IDLE_TIME), Ok(0xFFFF));
}

/// Two vectors and a half, of which memory takes nothing for more clocks than a counter of 16 bits has.
pub fn a_vector_waits_long() {
    let mut model = dut::model(2);
    model.reset(2);
    Software::new(2).configure(&mut model, &CONFIG);
    let element = |token| Element { token, direction: Direction::Read, host: 0, nic: 0, bytes: 64 };
    for token in 0..35 {
        assert!(dut::command_readies(model.outputs())[0], "element {token}");
        dut::set_command(model.inputs_mut(), 0, true, dut::command(&element(token)));
        model.clock();
    }
    dut::set_command(model.inputs_mut(), 0, false, [0; 3]);
    for _ in 0..0x1_0000 + u32::from(CONFIG.idle_time) {
        model.clock();
        assert_ne!(model.outputs().sent_o & 3, 2, "sent before the one that waits");
    }
    model.inputs_mut().m_axi_host_arready = true;
    let sent = (0..40).find_map(|_| {
        model.clock();
        Some(model.outputs().sent_o & 3).filter(|why| *why > 0)
    });
    assert_eq!(sent, Some(2), "sent for the flush time as soon as its turn comes");
}
