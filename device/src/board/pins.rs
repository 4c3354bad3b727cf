//! The model's ports as the pins of the bus models.

use lockstep_device_model::{Inputs, Outputs};
use sim::bus::pins::{
    Axi4ManagerPins, Axi4SubordinatePins, AxiLiteManagerPins, AxiLiteSubordinatePins,
};

/// One of the two memory ports.
pub(super) trait MemoryPins {
    /// What the RTL drives.
    fn block(outputs: &Outputs) -> Axi4ManagerPins;
    /// Whether it drives any valid.
    fn is_active(outputs: &Outputs) -> bool;
    /// Drives the other side.
    fn drive(inputs: &mut Inputs, pins: &Axi4SubordinatePins);
}

/// The port for rings.
pub(super) struct Queue;

/// The port for the lock table.
pub(super) struct Lock;

impl MemoryPins for Queue {
    #[inline]
    fn block(outputs: &Outputs) -> Axi4ManagerPins {
        Axi4ManagerPins {
            awvalid: outputs.m_axi_queue_awvalid,
            awid: outputs.m_axi_queue_awid,
            awaddr: outputs.m_axi_queue_awaddr,
            awlen: outputs.m_axi_queue_awlen,
            awsize: outputs.m_axi_queue_awsize,
            awburst: outputs.m_axi_queue_awburst,
            awcache: outputs.m_axi_queue_awcache,
            awatop: outputs.m_axi_queue_awatop,
            wvalid: outputs.m_axi_queue_wvalid,
            wdata: outputs.m_axi_queue_wdata,
            wstrb: outputs.m_axi_queue_wstrb,
            wlast: outputs.m_axi_queue_wlast,
            bready: outputs.m_axi_queue_bready,
            arvalid: outputs.m_axi_queue_arvalid,
            arid: outputs.m_axi_queue_arid,
            araddr: outputs.m_axi_queue_araddr,
            arlen: outputs.m_axi_queue_arlen,
            arsize: outputs.m_axi_queue_arsize,
            arburst: outputs.m_axi_queue_arburst,
            arcache: outputs.m_axi_queue_arcache,
            rready: outputs.m_axi_queue_rready,
        }
    }

    #[inline]
    fn is_active(outputs: &Outputs) -> bool {
        outputs.m_axi_queue_awvalid | outputs.m_axi_queue_wvalid | outputs.m_axi_queue_arvalid
    }

    #[inline]
    fn drive(inputs: &mut Inputs, pins: &Axi4SubordinatePins) {
        inputs.m_axi_queue_awready = pins.awready;
        inputs.m_axi_queue_wready = pins.wready;
        inputs.m_axi_queue_bvalid = pins.bvalid;
        inputs.m_axi_queue_bid = pins.bid;
        inputs.m_axi_queue_bresp = pins.bresp;
        inputs.m_axi_queue_arready = pins.arready;
        inputs.m_axi_queue_rvalid = pins.rvalid;
        inputs.m_axi_queue_rid = pins.rid;
        inputs.m_axi_queue_rdata = pins.rdata;
        inputs.m_axi_queue_rresp = pins.rresp;
        inputs.m_axi_queue_rlast = pins.rlast;
    }
}

impl MemoryPins for Lock {
    #[inline]
    fn block(outputs: &Outputs) -> Axi4ManagerPins {
        Axi4ManagerPins {
            awvalid: outputs.m_axi_lock_awvalid,
            awid: outputs.m_axi_lock_awid,
            awaddr: outputs.m_axi_lock_awaddr,
            awlen: outputs.m_axi_lock_awlen,
            awsize: outputs.m_axi_lock_awsize,
            awburst: outputs.m_axi_lock_awburst,
            awcache: outputs.m_axi_lock_awcache,
            awatop: outputs.m_axi_lock_awatop,
            wvalid: outputs.m_axi_lock_wvalid,
            wdata: outputs.m_axi_lock_wdata,
            wstrb: outputs.m_axi_lock_wstrb,
            wlast: outputs.m_axi_lock_wlast,
            bready: outputs.m_axi_lock_bready,
            arvalid: outputs.m_axi_lock_arvalid,
            arid: outputs.m_axi_lock_arid,
            araddr: outputs.m_axi_lock_araddr,
            arlen: outputs.m_axi_lock_arlen,
            arsize: outputs.m_axi_lock_arsize,
            arburst: outputs.m_axi_lock_arburst,
            arcache: outputs.m_axi_lock_arcache,
            rready: outputs.m_axi_lock_rready,
        }
    }

    #[inline]
    fn is_active(outputs: &Outputs) -> bool {
        outputs.m_axi_lock_awvalid | outputs.m_axi_lock_wvalid | outputs.m_axi_lock_arvalid
    }

    #[inline]
    fn drive(inputs: &mut Inputs, pins: &Axi4SubordinatePins) {
        inputs.m_axi_lock_awready = pins.awready;
        inputs.m_axi_lock_wready = pins.wready;
        inputs.m_axi_lock_bvalid = pins.bvalid;
        inputs.m_axi_lock_bid = pins.bid;
        inputs.m_axi_lock_bresp = pins.bresp;
        inputs.m_axi_lock_arready = pins.arready;
        inputs.m_axi_lock_rvalid = pins.rvalid;
        inputs.m_axi_lock_rid = pins.rid;
        inputs.m_axi_lock_rdata = pins.rdata;
        inputs.m_axi_lock_rresp = pins.rresp;
        inputs.m_axi_lock_rlast = pins.rlast;
    }
}

#[inline]
pub(super) fn drive_registers(inputs: &mut Inputs, pins: &AxiLiteManagerPins) {
    inputs.s_axil_awvalid = pins.awvalid;
    inputs.s_axil_awaddr = pins.awaddr;
    inputs.s_axil_awprot = pins.awprot;
    inputs.s_axil_wvalid = pins.wvalid;
    inputs.s_axil_wdata = pins.wdata;
    inputs.s_axil_wstrb = pins.wstrb;
    inputs.s_axil_bready = pins.bready;
    inputs.s_axil_arvalid = pins.arvalid;
    inputs.s_axil_araddr = pins.araddr;
    inputs.s_axil_arprot = pins.arprot;
    inputs.s_axil_rready = pins.rready;
}

#[inline]
pub(super) fn registers(outputs: &Outputs) -> AxiLiteSubordinatePins {
    AxiLiteSubordinatePins {
        awready: outputs.s_axil_awready,
        wready: outputs.s_axil_wready,
        bvalid: outputs.s_axil_bvalid,
        bresp: outputs.s_axil_bresp,
        arready: outputs.s_axil_arready,
        rvalid: outputs.s_axil_rvalid,
        rdata: outputs.s_axil_rdata,
        rresp: outputs.s_axil_rresp,
    }
}
