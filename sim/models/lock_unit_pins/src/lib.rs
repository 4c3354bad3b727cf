// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pins of the tuple-locking unit (docs/lock-unit.md), shared by every model that has
//! them, so that one test bench drives all. The build of a model fails when a field is
//! not one of its ports, or the other way round.

#[cxx::bridge(namespace = "lockstep::lock_unit_pins")]
mod ffi {
    /// What is driven into the unit in one clock cycle.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Inputs {
        /// 1 bit.
        pub s_axis_req_tvalid: bool,
        /// 192 bits, word 0 carries bits 63 to 0.
        pub s_axis_req_tdata: [u64; 3],
        /// 1 bit.
        pub m_axis_rsp_tready: bool,
        /// 1 bit.
        pub s_axis_inv_tvalid: bool,
        /// 64 bits.
        pub s_axis_inv_tdata: u64,
        /// 1 bit.
        pub m_axi_awready: bool,
        /// 1 bit.
        pub m_axi_wready: bool,
        /// 1 bit.
        pub m_axi_bvalid: bool,
        /// 11 bits.
        pub m_axi_bid: u16,
        /// 2 bits.
        pub m_axi_bresp: u8,
        /// 1 bit.
        pub m_axi_arready: bool,
        /// 1 bit.
        pub m_axi_rvalid: bool,
        /// 512 bits, word 0 carries bits 63 to 0.
        pub m_axi_rdata: [u64; 8],
        /// 11 bits.
        pub m_axi_rid: u16,
        /// 1 bit.
        pub m_axi_rlast: bool,
        /// 2 bits.
        pub m_axi_rresp: u8,
        /// 1 bit.
        pub s_axil_awvalid: bool,
        /// 12 bits.
        pub s_axil_awaddr: u16,
        /// 3 bits.
        pub s_axil_awprot: u8,
        /// 1 bit.
        pub s_axil_wvalid: bool,
        /// 32 bits.
        pub s_axil_wdata: u32,
        /// 4 bits.
        pub s_axil_wstrb: u8,
        /// 1 bit.
        pub s_axil_bready: bool,
        /// 1 bit.
        pub s_axil_arvalid: bool,
        /// 12 bits.
        pub s_axil_araddr: u16,
        /// 3 bits.
        pub s_axil_arprot: u8,
        /// 1 bit.
        pub s_axil_rready: bool,
    }

    /// What is read from the unit after the rising edge.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Outputs {
        /// 1 bit.
        pub s_axis_req_tready: bool,
        /// 1 bit.
        pub m_axis_rsp_tvalid: bool,
        /// 64 bits.
        pub m_axis_rsp_tdata: u64,
        /// 1 bit.
        pub s_axis_inv_tready: bool,
        /// 1 bit.
        pub m_axi_awvalid: bool,
        /// 64 bits.
        pub m_axi_awaddr: u64,
        /// 6 bits.
        pub m_axi_awatop: u8,
        /// 2 bits.
        pub m_axi_awburst: u8,
        /// 4 bits.
        pub m_axi_awcache: u8,
        /// 11 bits.
        pub m_axi_awid: u16,
        /// 8 bits.
        pub m_axi_awlen: u8,
        /// 1 bit.
        pub m_axi_awlock: bool,
        /// 3 bits.
        pub m_axi_awprot: u8,
        /// 4 bits.
        pub m_axi_awqos: u8,
        /// 3 bits.
        pub m_axi_awsize: u8,
        /// 1 bit.
        pub m_axi_wvalid: bool,
        /// 512 bits, word 0 carries bits 63 to 0.
        pub m_axi_wdata: [u64; 8],
        /// 1 bit.
        pub m_axi_wlast: bool,
        /// 64 bits.
        pub m_axi_wstrb: u64,
        /// 1 bit.
        pub m_axi_bready: bool,
        /// 1 bit.
        pub m_axi_arvalid: bool,
        /// 64 bits.
        pub m_axi_araddr: u64,
        /// 2 bits.
        pub m_axi_arburst: u8,
        /// 4 bits.
        pub m_axi_arcache: u8,
        /// 11 bits.
        pub m_axi_arid: u16,
        /// 8 bits.
        pub m_axi_arlen: u8,
        /// 1 bit.
        pub m_axi_arlock: bool,
        /// 3 bits.
        pub m_axi_arprot: u8,
        /// 4 bits.
        pub m_axi_arqos: u8,
        /// 3 bits.
        pub m_axi_arsize: u8,
        /// 1 bit.
        pub m_axi_rready: bool,
        /// 1 bit.
        pub s_axil_awready: bool,
        /// 1 bit.
        pub s_axil_wready: bool,
        /// 1 bit.
        pub s_axil_bvalid: bool,
        /// 2 bits.
        pub s_axil_bresp: u8,
        /// 1 bit.
        pub s_axil_arready: bool,
        /// 1 bit.
        pub s_axil_rvalid: bool,
        /// 32 bits.
        pub s_axil_rdata: u32,
        /// 2 bits.
        pub s_axil_rresp: u8,
        /// 1 bit.
        pub intr_o: bool,
    }
}

pub use ffi::{Inputs, Outputs};
