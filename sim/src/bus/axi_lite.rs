// SPDX-License-Identifier: MIT OR Apache-2.0
//! AXI4-Lite manager for a block's `s_axil_*` port (32-bit data, addresses of 12 to 16 bits).
//!
//! One access at a time. Address and data of a write come in any order, by their own
//! stalls. [`AxiLiteRegisters`] wraps a manager and a closure that clocks the model into
//! the [`driver::Registers`] of software.

mod registers;
#[cfg(test)]
mod tests;

pub use registers::AxiLiteRegisters;
pub(crate) use registers::device_access;

use super::BusError;
use super::error::{BusModelError, ProtocolError, TimeoutError};
use super::handshake::HandshakeChecker;
use super::pins::{
    AxiLiteManagerPins, AxiLiteSubordinatePins, LiteReadAddress, LiteReadData, LiteWriteAddress,
    LiteWriteData, LiteWriteResponse,
};
use super::stall::{Stall, StallPattern};

/// Where the addresses of one block end, as those of every port do that
/// [`AxiLiteManager::with_address_bits`] does not make wider.
pub const ADDRESS_END: u32 = 1 << 12;

/// Holds up a channel on the other side.
const BLOCK: &str = "the block behind the port";

/// Holds up a channel on our side.
const OWN_STALLS: &str = "the manager's stalls";

/// An access to one register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiteRequest {
    /// Read of the register at `address`.
    Read {
        /// Byte address, a multiple of 4 below the port's end.
        address: u16,
    },
    /// Write of the bytes of `value` whose bit in `strobe` is set.
    Write {
        /// Byte address, a multiple of 4 below the port's end.
        address: u16,
        /// The value, little-endian.
        value: u32,
        /// Bit n set: byte n is written; 0xF for all.
        strobe: u8,
    },
}

/// The end of an access: what a read found (0 for a write), or the error response.
pub type LiteOutcome = Result<u32, BusError>;

/// Stalls of the five channels: of valid on AW, W and AR, of ready on B and R.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LiteStalls {
    /// Of `awvalid`.
    pub write_address: StallPattern,
    /// Of `wvalid`.
    pub write_data: StallPattern,
    /// Of `bready`.
    pub write_response: StallPattern,
    /// Of `arvalid`.
    pub read_address: StallPattern,
    /// Of `rready`.
    pub read_data: StallPattern,
}

impl LiteStalls {
    /// The same pattern on all channels, drawn for each by itself.
    pub const fn all(pattern: StallPattern) -> Self {
        LiteStalls {
            write_address: pattern,
            write_data: pattern,
            write_response: pattern,
            read_address: pattern,
            read_data: pattern,
        }
    }
}

/// Issues reads and writes on the pins, one at a time.
#[derive(Debug, Clone)]
pub struct AxiLiteManager {
    port: String,
    timeout: u64,
    address_end: u32,
    pins: AxiLiteManagerPins,
    stalls: Stalls,
    checkers: Checkers,
    active: Option<Active>,
}

#[derive(Debug, Clone)]
struct Stalls {
    write_address: Stall,
    write_data: Stall,
    write_response: Stall,
    read_address: Stall,
    read_data: Stall,
}

#[derive(Debug, Clone)]
struct Checkers {
    write_address: HandshakeChecker<LiteWriteAddress>,
    write_data: HandshakeChecker<LiteWriteData>,
    write_response: HandshakeChecker<LiteWriteResponse>,
    read_address: HandshakeChecker<LiteReadAddress>,
    read_data: HandshakeChecker<LiteReadData>,
}

/// The access under way. A phase is sent when its handshake is over.
#[derive(Debug, Clone, Copy)]
struct Active {
    request: LiteRequest,
    since: u64,
    address_sent: bool,
    /// For a read: true from the start.
    data_sent: bool,
}

impl Active {
    fn describe(&self) -> String {
        match self.request {
            LiteRequest::Read { address } => format!("read of 0x{address:03X}"),
            LiteRequest::Write { address, value, .. } => {
                format!("write of 0x{value:08X} to 0x{address:03X}")
            }
        }
    }

    fn reads(&self) -> bool {
        matches!(self.request, LiteRequest::Read { .. })
    }

    /// The response may come, and not before.
    fn sent(&self) -> bool {
        self.address_sent && self.data_sent
    }
}

impl AxiLiteManager {
    /// A manager on `port` (e.g. "s_axil") that gives up an access, or a handshake of
    /// it, after `timeout` cycles.
    pub fn new(port: &str, stalls: LiteStalls, seed: u64, timeout: u64) -> Self {
        let name = |letters: &str| format!("{port} {letters}");
        let stall = |pattern, letters| Stall::new(pattern, seed, &name(letters));
        let no_id = |_| unreachable!("AXI4-Lite carries no id");
        AxiLiteManager {
            port: port.into(),
            timeout,
            address_end: ADDRESS_END,
            pins: AxiLiteManagerPins::default(),
            stalls: Stalls {
                write_address: stall(stalls.write_address, "AW"),
                write_data: stall(stalls.write_data, "W"),
                write_response: stall(stalls.write_response, "B"),
                read_address: stall(stalls.read_address, "AR"),
                read_data: stall(stalls.read_data, "R"),
            },
            checkers: Checkers {
                write_address: HandshakeChecker::new(name("AW"), "awvalid", BLOCK, timeout, no_id),
                write_data: HandshakeChecker::new(name("W"), "wvalid", BLOCK, timeout, no_id),
                write_response: HandshakeChecker::new(
                    name("B"),
                    "bvalid",
                    OWN_STALLS,
                    timeout,
                    no_id,
                ),
                read_address: HandshakeChecker::new(name("AR"), "arvalid", BLOCK, timeout, no_id),
                read_data: HandshakeChecker::new(name("R"), "rvalid", OWN_STALLS, timeout, no_id),
            },
            active: None,
        }
    }

    /// The same manager on a port whose addresses have so many bits.
    ///
    /// # Panics
    /// When they are not 2 to 16.
    pub fn with_address_bits(mut self, bits: u32) -> Self {
        assert!((2..=16).contains(&bits), "{}: {bits} address bits, expected 2 to 16", self.port);
        self.address_end = 1 << bits;
        self
    }

    /// Whether an access is under way.
    pub fn busy(&self) -> bool {
        self.active.is_some()
    }

    /// Begins an access in `cycle`, before its `drive`.
    ///
    /// # Panics
    /// When one is under way, or the address is not a register's.
    pub fn start(&mut self, cycle: u64, request: LiteRequest) {
        assert!(!self.busy(), "{}: an access is under way", self.port);
        let (LiteRequest::Read { address } | LiteRequest::Write { address, .. }) = request;
        assert!(
            u32::from(address) < self.address_end && address.is_multiple_of(4),
            "{}: address is 0x{address:X}, expected a multiple of 4 below 0x{:X}",
            self.port,
            self.address_end
        );
        let data_sent = matches!(request, LiteRequest::Read { .. });
        self.active = Some(Active { request, since: cycle, address_sent: false, data_sent });
    }

    /// The pins of this cycle. Once raised, a valid stays until its handshake.
    #[inline]
    pub fn drive(&mut self, _cycle: u64) -> &AxiLiteManagerPins {
        self.pins.bready = !self.stalls.write_response.stalled();
        self.pins.rready = !self.stalls.read_data.stalled();
        let Some(active) = self.active else {
            return &self.pins;
        };
        let (pins, stalls) = (&mut self.pins, &mut self.stalls);
        match active.request {
            LiteRequest::Read { address } => {
                if !active.address_sent && !pins.arvalid && !stalls.read_address.stalled() {
                    pins.arvalid = true;
                    pins.araddr = address;
                }
            }
            LiteRequest::Write { address, value, strobe } => {
                if !active.address_sent && !pins.awvalid && !stalls.write_address.stalled() {
                    pins.awvalid = true;
                    pins.awaddr = address;
                }
                if !active.data_sent && !pins.wvalid && !stalls.write_data.stalled() {
                    pins.wvalid = true;
                    pins.wdata = value;
                    pins.wstrb = strobe;
                }
            }
        }
        &self.pins
    }

    /// Takes what the block drove in the cycle of the last [`drive`](Self::drive); the
    /// outcome when the access ended in this cycle.
    ///
    /// # Errors
    /// [`BusModelError::Protocol`] when the block broke a rule, [`BusModelError::Timeout`] when
    /// the access or a handshake of it is overdue.
    #[inline]
    pub fn sample(
        &mut self,
        cycle: u64,
        block: &AxiLiteSubordinatePins,
    ) -> Result<Option<LiteOutcome>, BusModelError> {
        // Nothing is under way most of the time, so nothing of it can be held or overdue.
        if self.active.is_none() && !block.rvalid && !block.bvalid {
            return Ok(None);
        }
        self.sample_active(cycle, block)
    }

    fn sample_active(
        &mut self,
        cycle: u64,
        block: &AxiLiteSubordinatePins,
    ) -> Result<Option<LiteOutcome>, BusModelError> {
        self.check(cycle, block)?;
        let Some(active) = &mut self.active else {
            return Ok(None);
        };
        // A response belongs to handshakes of earlier cycles, so it is checked first.
        let response = if block.rvalid && self.pins.rready {
            Some((block.rresp, block.rdata))
        } else if block.bvalid && self.pins.bready {
            Some((block.bresp, 0))
        } else {
            None
        };
        if self.pins.arvalid && block.arready || self.pins.awvalid && block.awready {
            (self.pins.arvalid, self.pins.awvalid) = (false, false);
            active.address_sent = true;
        }
        if self.pins.wvalid && block.wready {
            self.pins.wvalid = false;
            active.data_sent = true;
        }
        let Some((code, data)) = response else {
            let waited = cycle - active.since;
            return if waited >= self.timeout { Err(self.overdue(block)) } else { Ok(None) };
        };
        let reads = active.reads();
        self.active = None;
        match code {
            0 => Ok(Some(Ok(data))),
            2 => Ok(Some(Err(BusError::SubordinateError))),
            3 => Ok(Some(Err(BusError::DecodeError))),
            _ => {
                let (letter, field) = if reads { ("R", "rresp") } else { ("B", "bresp") };
                let expected = "0 (OKAY), 2 (SLVERR) or 3 (DECERR)";
                Err(self.violation(cycle, letter, field, code, expected))
            }
        }
    }

    fn check(&mut self, cycle: u64, block: &AxiLiteSubordinatePins) -> Result<(), BusModelError> {
        let (pins, checkers) = (&self.pins, &mut self.checkers);
        let aw = &mut checkers.write_address;
        aw.observe(cycle, pins.awvalid, block.awready, || pins.into())?;
        checkers.write_data.observe(cycle, pins.wvalid, block.wready, || pins.into())?;
        checkers.read_address.observe(cycle, pins.arvalid, block.arready, || pins.into())?;
        checkers.write_response.observe(cycle, block.bvalid, pins.bready, || block.into())?;
        checkers.read_data.observe(cycle, block.rvalid, pins.rready, || block.into())?;
        let expects = |reads| self.active.is_some_and(|one| one.sent() && one.reads() == reads);
        if block.bvalid && !expects(false) {
            let expected = "0 before the handshakes of AW and W";
            return Err(self.violation(cycle, "B", "bvalid", 1, expected));
        }
        if block.rvalid && !expects(true) {
            let expected = "0 before the handshake of AR";
            return Err(self.violation(cycle, "R", "rvalid", 1, expected));
        }
        Ok(())
    }

    fn overdue(&self, block: &AxiLiteSubordinatePins) -> BusModelError {
        let active = self.active.expect("nothing under way to be overdue");
        let letter = if active.reads() { "R" } else { "B" };
        TimeoutError {
            channel: format!("{} {letter}", self.port),
            waiting: format!("{} unanswered", active.describe()),
            cycles: self.timeout,
            since: active.since,
            holder: if block.bvalid || block.rvalid { OWN_STALLS } else { BLOCK },
            outstanding: Vec::new(),
        }
        .into()
    }

    fn violation(
        &self,
        cycle: u64,
        letter: &str,
        field: &'static str,
        value: u8,
        expected: &str,
    ) -> BusModelError {
        ProtocolError {
            channel: format!("{} {letter}", self.port),
            field,
            value: value.to_string(),
            identifier: self.active.map(|active| active.describe()),
            cycle,
            expected: expected.into(),
        }
        .into()
    }
}
