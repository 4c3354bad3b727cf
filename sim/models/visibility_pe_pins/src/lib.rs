// SPDX-License-Identifier: MIT OR Apache-2.0
//! The pins of the visibility element (docs/visibility-element.md), shared by every model that
//! has them, so that one test bench drives all. The build of a model fails when a field is
//! not one of its ports, or the other way round.

#[cxx::bridge(namespace = "lockstep::visibility_pe_pins")]
mod ffi {
    /// What is driven into the element in one clock cycle.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Inputs {
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
        /// 1 bit.
        pub m_axi_0_arready: bool,
        /// 1 bit.
        pub m_axi_0_rvalid: bool,
        /// 8 bits.
        pub m_axi_0_rid: u8,
        /// 512 bits, word 0 carries bits 63 to 0.
        pub m_axi_0_rdata: [u64; 8],
        /// 2 bits.
        pub m_axi_0_rresp: u8,
        /// 1 bit.
        pub m_axi_0_rlast: bool,
        /// 1 bit.
        pub m_axi_1_arready: bool,
        /// 1 bit.
        pub m_axi_1_rvalid: bool,
        /// 8 bits.
        pub m_axi_1_rid: u8,
        /// 512 bits, word 0 carries bits 63 to 0.
        pub m_axi_1_rdata: [u64; 8],
        /// 2 bits.
        pub m_axi_1_rresp: u8,
        /// 1 bit.
        pub m_axi_1_rlast: bool,
        /// 1 bit.
        pub m_axis_row_tready: bool,
    }

    /// What is read from the element after the rising edge.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct Outputs {
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
        pub m_axi_0_arvalid: bool,
        /// 8 bits.
        pub m_axi_0_arid: u8,
        /// 64 bits.
        pub m_axi_0_araddr: u64,
        /// 8 bits.
        pub m_axi_0_arlen: u8,
        /// 3 bits.
        pub m_axi_0_arsize: u8,
        /// 2 bits.
        pub m_axi_0_arburst: u8,
        /// 4 bits.
        pub m_axi_0_arcache: u8,
        /// 3 bits.
        pub m_axi_0_arprot: u8,
        /// 1 bit.
        pub m_axi_0_rready: bool,
        /// 1 bit.
        pub m_axi_1_arvalid: bool,
        /// 8 bits.
        pub m_axi_1_arid: u8,
        /// 64 bits.
        pub m_axi_1_araddr: u64,
        /// 8 bits.
        pub m_axi_1_arlen: u8,
        /// 3 bits.
        pub m_axi_1_arsize: u8,
        /// 2 bits.
        pub m_axi_1_arburst: u8,
        /// 4 bits.
        pub m_axi_1_arcache: u8,
        /// 3 bits.
        pub m_axi_1_arprot: u8,
        /// 1 bit.
        pub m_axi_1_rready: bool,
        /// 1 bit.
        pub m_axis_row_tvalid: bool,
        /// 512 bits, word 0 carries bits 63 to 0.
        pub m_axis_row_tdata: [u64; 8],
        /// 1 bit.
        pub m_axis_row_tlast: bool,
        /// 1 bit.
        pub intr_o: bool,
        /// 1 bit.
        pub idle_o: bool,
    }
}

pub use ffi::{Inputs, Outputs};
