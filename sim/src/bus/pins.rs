// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pins of each interface as plain structs; fields are named as the ports without
//! their prefix.

use super::handshake::Payload;

/// Words of 8 bytes on the 512-bit data bus.
pub const DATA_WORDS: usize = 8;

/// What the manager of the 512-bit AXI4 port drives (`m_axi_*` outputs of the block).
/// Left out, as they are constants: `lock`, `prot` and `qos` of AW and AR.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the AMBA specification")]
pub struct Axi4ManagerPins {
    pub awvalid: bool,
    pub awid: u16,
    pub awaddr: u64,
    pub awlen: u8,
    pub awsize: u8,
    pub awburst: u8,
    pub awcache: u8,
    pub awatop: u8,
    pub wvalid: bool,
    /// Word n holds bits 64n+63:64n.
    pub wdata: [u64; DATA_WORDS],
    pub wstrb: u64,
    pub wlast: bool,
    pub bready: bool,
    pub arvalid: bool,
    pub arid: u16,
    pub araddr: u64,
    pub arlen: u8,
    pub arsize: u8,
    pub arburst: u8,
    pub arcache: u8,
    pub rready: bool,
}

impl Axi4ManagerPins {
    /// Nothing is offered, every response is taken, and what a port may leave out is as it is when it
    /// is not there: `awcache` and `arcache` 0011 (normal memory, not cached), `awatop` 0.
    pub fn idle() -> Self {
        Axi4ManagerPins {
            awcache: 0b0011,
            arcache: 0b0011,
            bready: true,
            rready: true,
            ..Default::default()
        }
    }
}

/// What the subordinate of the 512-bit AXI4 port drives (`m_axi_*` inputs of the block).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the AMBA specification")]
pub struct Axi4SubordinatePins {
    pub awready: bool,
    pub wready: bool,
    pub bvalid: bool,
    pub bid: u16,
    pub bresp: u8,
    pub arready: bool,
    pub rvalid: bool,
    pub rid: u16,
    /// Word n holds bits 64n+63:64n.
    pub rdata: [u64; DATA_WORDS],
    pub rresp: u8,
    pub rlast: bool,
}

/// What the manager of an AXI4-Lite port drives (`s_axil_*` inputs of the block).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the AMBA specification")]
pub struct AxiLiteManagerPins {
    pub awvalid: bool,
    pub awaddr: u16,
    pub awprot: u8,
    pub wvalid: bool,
    pub wdata: u32,
    pub wstrb: u8,
    pub bready: bool,
    pub arvalid: bool,
    pub araddr: u16,
    pub arprot: u8,
    pub rready: bool,
}

/// What the subordinate of an AXI4-Lite port drives (`s_axil_*` outputs of the block).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the AMBA specification")]
pub struct AxiLiteSubordinatePins {
    pub awready: bool,
    pub wready: bool,
    pub bvalid: bool,
    pub bresp: u8,
    pub arready: bool,
    pub rvalid: bool,
    pub rdata: u32,
    pub rresp: u8,
}

/// What the source of a stream drives; the sink drives `tready` alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the AMBA specification")]
pub struct StreamPins<T> {
    pub tvalid: bool,
    pub tdata: T,
}

/// The payload of one channel, cut out of the pins of its interface.
macro_rules! payload {
    ($(#[$attribute:meta])* $name:ident of $pins:ident, id $id:expr;
     $($field:ident: $type:ty),+) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names are those of the AMBA specification")]
        pub struct $name { $(pub $field: $type),+ }

        impl From<&$pins> for $name {
            #[inline]
            fn from(pins: &$pins) -> Self {
                $name { $($field: pins.$field),+ }
            }
        }

        impl Payload for $name {
            fn first_change(&self, later: &Self) -> Option<(&'static str, String, String)> {
                $(if self.$field != later.$field {
                    let text = |payload: &Self| format!("{:X?}", payload.$field);
                    return Some((stringify!($field), text(self), text(later)));
                })+
                None
            }

            fn id(&self) -> Option<u16> {
                let id: fn(&Self) -> Option<u16> = $id;
                id(self)
            }
        }
    };
}

payload! {
    /// The AW channel of the AXI4 port.
    WriteAddress of Axi4ManagerPins, id |aw| Some(aw.awid);
    awid: u16, awaddr: u64, awlen: u8, awsize: u8, awburst: u8, awcache: u8, awatop: u8
}

payload! {
    /// The W channel of the AXI4 port.
    WriteData of Axi4ManagerPins, id |_| None;
    wdata: [u64; DATA_WORDS], wstrb: u64, wlast: bool
}

payload! {
    /// The AR channel of the AXI4 port.
    ReadAddress of Axi4ManagerPins, id |ar| Some(ar.arid);
    arid: u16, araddr: u64, arlen: u8, arsize: u8, arburst: u8, arcache: u8
}

payload! {
    /// The R channel of the AXI4 port.
    ReadData of Axi4SubordinatePins, id |r| Some(r.rid);
    rid: u16, rdata: [u64; DATA_WORDS], rresp: u8, rlast: bool
}

payload! {
    /// The B channel of the AXI4 port.
    WriteResponse of Axi4SubordinatePins, id |b| Some(b.bid);
    bid: u16, bresp: u8
}

payload! {
    /// The B channel of an AXI4-Lite port.
    LiteWriteResponse of AxiLiteSubordinatePins, id |_| None;
    bresp: u8
}

payload! {
    /// The R channel of an AXI4-Lite port.
    LiteReadData of AxiLiteSubordinatePins, id |_| None;
    rdata: u32, rresp: u8
}

payload! {
    /// The AW channel of an AXI4-Lite port.
    LiteWriteAddress of AxiLiteManagerPins, id |_| None;
    awaddr: u16
}

payload! {
    /// The W channel of an AXI4-Lite port.
    LiteWriteData of AxiLiteManagerPins, id |_| None;
    wdata: u32, wstrb: u8
}

payload! {
    /// The AR channel of an AXI4-Lite port.
    LiteReadAddress of AxiLiteManagerPins, id |_| None;
    araddr: u16
}
