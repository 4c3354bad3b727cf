// SPDX-License-Identifier: MIT OR Apache-2.0
//! The manager against a subordinate with stalls of its own, sound or broken.

use super::*;
use driver::{DeviceError, LockUnit, Registers};

/// The error of the subordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Flaw {
    None,
    NeverAnswers,
    NeverReady,
    AnswersBeforeData,
    AnswersReadUnasked,
    ChangesReadData,
    DropsResponse,
    ExclusiveResponse,
}

/// A register file of 64 words; 0x100 to 0x1FF answer SLVERR, above that DECERR.
struct RegisterFile {
    words: [u32; 64],
    flaw: Flaw,
    stalls: [Stall; 3],
    response_stalls: Stall,
    pins: AxiLiteSubordinatePins,
    address: Option<u16>,
    data: Option<(u32, u8)>,
    read: Option<u16>,
    /// Which of AW and W came first: AW first, together, W first.
    orders: [u32; 3],
}

impl RegisterFile {
    fn new(flaw: Flaw, pattern: StallPattern, seed: u64) -> Self {
        let stall = |name| Stall::new(pattern, seed, name);
        RegisterFile {
            words: [0; 64],
            flaw,
            stalls: [stall("file AW"), stall("file W"), stall("file AR")],
            response_stalls: stall("file responses"),
            pins: AxiLiteSubordinatePins::default(),
            address: None,
            data: None,
            read: None,
            orders: [0; 3],
        }
    }

    fn response(address: u16) -> u8 {
        match address {
            0x000..0x100 => 0,
            0x100..0x200 => 2,
            _ => 3,
        }
    }

    /// One cycle: the outputs during it, then its clock edge.
    fn clock(&mut self, manager: &AxiLiteManagerPins) -> AxiLiteSubordinatePins {
        let [aw, w, ar] = &mut self.stalls;
        let ready = self.flaw != Flaw::NeverReady;
        self.pins.awready = ready && self.address.is_none() && !aw.stalled();
        self.pins.wready = ready && self.data.is_none() && !w.stalled();
        self.pins.arready = ready && self.read.is_none() && !ar.stalled();
        let driven = self.pins;
        self.edge(manager);
        driven
    }

    fn edge(&mut self, manager: &AxiLiteManagerPins) {
        if self.pins.bvalid && (manager.bready || self.flaw == Flaw::DropsResponse) {
            self.pins.bvalid = false;
            (self.address, self.data) = (None, None);
        }
        if self.pins.rvalid && manager.rready {
            self.pins.rvalid = false;
            self.read = None;
        } else if self.pins.rvalid && self.flaw == Flaw::ChangesReadData {
            self.pins.rdata += 1;
        }
        let address = manager.awvalid && self.pins.awready;
        let data = manager.wvalid && self.pins.wready;
        match (address, data) {
            (true, true) => self.orders[1] += 1,
            (true, false) if self.data.is_none() => self.orders[0] += 1,
            (false, true) if self.address.is_none() => self.orders[2] += 1,
            _ => {}
        }
        if address {
            self.address = Some(manager.awaddr);
        }
        if data {
            self.data = Some((manager.wdata, manager.wstrb));
        }
        if manager.arvalid && self.pins.arready {
            self.read = Some(manager.araddr);
        }
        if self.flaw != Flaw::NeverAnswers && !self.response_stalls.stalled() {
            self.respond();
        }
    }

    fn respond(&mut self) {
        if self.flaw == Flaw::AnswersBeforeData && self.address.is_some() {
            self.pins.bvalid = true;
        }
        if self.flaw == Flaw::AnswersReadUnasked {
            self.pins.rvalid = true;
        }
        if let (Some(address), Some((value, strobe)), false) =
            (self.address, self.data, self.pins.bvalid)
        {
            self.pins.bvalid = true;
            self.pins.bresp = Self::response(address);
            if self.flaw == Flaw::ExclusiveResponse {
                self.pins.bresp = 1;
            }
            if let Some(word) = self.words.get_mut(usize::from(address / 4)) {
                let mut bytes = word.to_le_bytes();
                for byte in (0..4).filter(|byte| strobe >> byte & 1 == 1) {
                    bytes[byte] = value.to_le_bytes()[byte];
                }
                *word = u32::from_le_bytes(bytes);
            }
        }
        if let (Some(address), false) = (self.read, self.pins.rvalid) {
            self.pins.rvalid = true;
            self.pins.rresp = Self::response(address);
            self.pins.rdata = self.words.get(usize::from(address / 4)).copied().unwrap_or(0);
        }
    }
}

fn stalled(probability: f64) -> StallPattern {
    StallPattern::Random { probability }
}

#[test]
fn reads_find_what_was_written_under_all_stalls() {
    seeds::each!(100, |seed| {
        let stalls = LiteStalls::all(stalled((seed % 8) as f64 / 9.0));
        let manager = AxiLiteManager::new("s_axil", stalls, seed, 1000);
        let mut file = RegisterFile::new(Flaw::None, stalled((seed / 8 % 8) as f64 / 9.0), seed);
        let mut port = AxiLiteRegisters::new(manager, |pins: &_| file.clock(pins));
        let value = |index: u32| index.wrapping_mul(0x9E37_79B9) ^ seed as u32;
        for index in 0..64 {
            port.write32(4 * index, value(index)).unwrap();
        }
        for index in (0..64).rev() {
            assert_eq!(port.read32(4 * index), Ok(value(index)));
        }
        let halved = LiteRequest::Write { address: 0, value: 0xAABB_CCDD, strobe: 0b0110 };
        assert_eq!(port.access(halved), Ok(Ok(0)));
        assert_eq!(port.read32(0), Ok(value(0) & 0xFF00_00FF | 0x00BB_CC00));
        port.idle(3).unwrap();
    });
}

#[test]
fn address_and_data_come_in_every_order() {
    let stalls = LiteStalls::all(stalled(0.5));
    let manager = AxiLiteManager::new("s_axil", stalls, 5, 1000);
    let mut file = RegisterFile::new(Flaw::None, stalled(0.3), 5);
    let mut port = AxiLiteRegisters::new(manager, |pins: &_| file.clock(pins));
    for _ in 0..200 {
        port.write32(8, 1).unwrap();
    }
    drop(port);
    assert!(file.orders.iter().all(|times| *times > 20), "{:?}", file.orders);
}

#[test]
fn error_responses_name_operation_and_register() {
    let manager = AxiLiteManager::new("s_axil", LiteStalls::default(), 0, 100);
    let mut file = RegisterFile::new(Flaw::None, StallPattern::None, 0);
    let mut port = AxiLiteRegisters::new(manager, |pins: &_| file.clock(pins));
    let text = |result: Result<u32, DeviceError>| result.unwrap_err().to_string();
    let expected = "read of register 0x104 answered SLVERR, expected OKAY";
    assert_eq!(text(port.read32(0x104)), expected);
    let expected = "write of register 0x200 answered DECERR, expected OKAY";
    assert_eq!(text(port.write32(0x200, 1).map(|()| 0)), expected);
    let expected = "register offset is 0x1000, expected a multiple of 4 below 0x1000";
    assert_eq!(text(port.read32(0x1000)), expected);
    assert_eq!(port.read32(0), Ok(0));
    assert!(LockUnit::new(&mut port).identify().is_err());
}

/// The message of the first fault in a read and a write against a flawed subordinate.
fn first_fault(flaw: Flaw, stalls: LiteStalls) -> String {
    let manager = AxiLiteManager::new("s_axil", stalls, 1, 40);
    let mut file = RegisterFile::new(flaw, StallPattern::None, 1);
    let mut port = AxiLiteRegisters::new(manager, |pins: &_| file.clock(pins));
    let write = LiteRequest::Write { address: 0x20, value: 7, strobe: 0xF };
    let mut access = || {
        port.access(write)?.unwrap();
        port.access(LiteRequest::Read { address: 0x20 })
    };
    let fault = access().expect_err("no fault");
    assert_eq!(access(), Err(fault.clone()), "a fault stays");
    fault.to_string()
}

#[test]
fn a_block_that_never_answers_is_named_after_the_bound() {
    assert_eq!(
        first_fault(Flaw::NeverAnswers, LiteStalls::default()),
        "s_axil B: write of 0x00000007 to 0x020 unanswered for 40 cycles since cycle 0; \
         held by the block behind the port"
    );
    assert_eq!(
        first_fault(Flaw::NeverReady, LiteStalls::default()),
        "s_axil AW: valid without ready for 40 cycles since cycle 0; \
         held by the block behind the port"
    );
}

#[test]
fn a_response_that_the_manager_stalls_is_not_blamed_on_the_block() {
    let stalls = LiteStalls { write_response: stalled(1.0), ..LiteStalls::default() };
    let text = first_fault(Flaw::None, stalls);
    assert!(text.ends_with("since cycle 0; held by the manager's stalls"), "{text}");
}

#[test]
fn the_driver_sees_a_timeout_from_a_silent_block() {
    let manager = AxiLiteManager::new("s_axil", LiteStalls::default(), 1, 40);
    let mut file = RegisterFile::new(Flaw::NeverAnswers, StallPattern::None, 1);
    let mut port = AxiLiteRegisters::new(manager, |pins: &_| file.clock(pins));
    let found = LockUnit::new(&mut port).identify().unwrap_err();
    assert!(matches!(found, DeviceError::Timeout { .. }), "{found}");
    let text = "waited for read of register 0x100 (s_axil R: read of 0x100 unanswered for 40 \
                cycles since cycle 0; held by the block behind the port): nothing within 40 cycles";
    assert_eq!(found.to_string(), text);
}

#[test]
fn broken_rules_are_named() {
    let no_stalls = LiteStalls::default();
    let slow_data = LiteStalls { write_data: stalled(1.0), ..no_stalls };
    assert!(first_fault(Flaw::AnswersBeforeData, slow_data).ends_with(
        "bvalid is 1 for write of 0x00000007 to 0x020 in cycle 1, \
             expected 0 before the handshakes of AW and W"
    ));
    assert_eq!(
        first_fault(Flaw::AnswersReadUnasked, no_stalls),
        "s_axil R: rvalid is 1 for write of 0x00000007 to 0x020 in cycle 1, \
         expected 0 before the handshake of AR"
    );
    let slow_read = LiteStalls { read_data: stalled(1.0), ..no_stalls };
    let text = first_fault(Flaw::ChangesReadData, slow_read);
    assert!(text.starts_with("s_axil R: rdata is 8 in cycle "), "{text}");
    let slow_response = LiteStalls { write_response: stalled(1.0), ..no_stalls };
    let text = first_fault(Flaw::DropsResponse, slow_response);
    assert!(text.starts_with("s_axil B: bvalid is 0 in cycle "), "{text}");
    let text = first_fault(Flaw::ExclusiveResponse, no_stalls);
    assert!(text.contains("bresp is 1") && text.contains("expected 0 (OKAY)"), "{text}");
}
