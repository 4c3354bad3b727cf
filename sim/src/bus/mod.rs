// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bus-functional models for the pins of a Verilated block.
//!
//! Every model has two calls per clock cycle. `drive(cycle)` gives the pins that the
//! model drives in that cycle; `sample(cycle, pins)` takes what the block drove in the
//! same cycle, so that a handshake is valid and ready of one cycle. The block's outputs
//! are functions of its registers only, so the order in a loop is: `drive`, set the
//! block's inputs, read its outputs, `sample`, clock edge.
//!
//! All models check the handshake rules of AMBA ("valid held and payload stable until
//! ready"), draw their stalls from streams of their own ([`stall::Stall`]) and bound
//! every wait ([`error::TimeoutError`]). A [`error::BusModelError`] ends a run: after one, the
//! state of a model means nothing.

pub mod axi4;
pub mod axi_lite;
pub mod axi_stream;
pub mod error;
pub mod handshake;
pub mod pins;
pub mod ports;
pub mod stall;
pub mod test_memory;

/// An error response of an AXI bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BusError {
    /// SLVERR, `resp` 2: the access was understood and failed.
    SubordinateError,
    /// DECERR, `resp` 3: nothing answers at this address.
    DecodeError,
}

impl BusError {
    /// The encoding on `rresp` and `bresp`.
    pub const fn response(self) -> u8 {
        match self {
            BusError::SubordinateError => 2,
            BusError::DecodeError => 3,
        }
    }
}

impl std::fmt::Display for BusError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            BusError::SubordinateError => "SLVERR",
            BusError::DecodeError => "DECERR",
        })
    }
}

/// OKAY on `rresp` and `bresp`.
pub const RESPONSE_OKAY: u8 = 0;
