// SPDX-License-Identifier: MIT OR Apache-2.0
//! From the ports of a model to the pins of the bus models, whatever the prefix of the ports.

#[doc(hidden)]
pub use pastey::paste;

/// Defines the two functions between an AXI4 port of a model and the pins of
/// [`Axi4Subordinate`](super::axi4::Axi4Subordinate):
/// `fn get(&Outputs) -> Axi4ManagerPins` and `fn set(&mut Inputs, &Axi4SubordinatePins)`.
///
/// ```ignore
/// sim::axi4_port!(lock_pins, set_lock_pins: m_axi_lock of Inputs, Outputs);
/// ```
#[macro_export]
macro_rules! axi4_port {
    ($visibility:vis $get:ident, $set:ident: $prefix:ident of $inputs:ty, $outputs:ty) => {
        $crate::port_pins! {
            $visibility $get($outputs) -> $crate::bus::pins::Axi4ManagerPins, $prefix:
            awvalid awid awaddr awlen awsize awburst awcache awatop wvalid wdata wstrb wlast bready
            arvalid arid araddr arlen arsize arburst arcache rready
        }
        $crate::set_port_pins! {
            $visibility $set($inputs, $crate::bus::pins::Axi4SubordinatePins), $prefix:
            awready wready bvalid bid bresp arready rvalid rid rdata rresp rlast
        }
    };
}

/// The same for an AXI4 port with bursts and without atomics. Its ids have 1 to 16 bits; ports that it
/// may have beside these are listed behind `with`, as far as they are there.
///
/// ```ignore
/// sim::axi4_burst_port!(host_pins, set_host_pins: m_axi_host of Inputs, Outputs);
/// sim::axi4_burst_port!(nic_pins, set_nic_pins: m_axi_nic of Inputs, Outputs, with awcache arcache);
/// ```
#[macro_export]
macro_rules! axi4_burst_port {
    ($visibility:vis $get:ident, $set:ident: $prefix:ident of $inputs:ty, $outputs:ty
        $(, with $($more:ident)+)?) => {
        $crate::bus::ports::paste! {
            #[inline]
            $visibility fn $get(outputs: &$outputs) -> $crate::bus::pins::Axi4ManagerPins {
                use $crate::bus::ports::PortId;
                $crate::bus::pins::Axi4ManagerPins {
                    awvalid: outputs.[<$prefix _awvalid>],
                    awid: outputs.[<$prefix _awid>].widen(),
                    awaddr: outputs.[<$prefix _awaddr>],
                    awlen: outputs.[<$prefix _awlen>],
                    awsize: outputs.[<$prefix _awsize>],
                    awburst: outputs.[<$prefix _awburst>],
                    wvalid: outputs.[<$prefix _wvalid>],
                    wdata: outputs.[<$prefix _wdata>],
                    wstrb: outputs.[<$prefix _wstrb>],
                    wlast: outputs.[<$prefix _wlast>],
                    bready: outputs.[<$prefix _bready>],
                    arvalid: outputs.[<$prefix _arvalid>],
                    arid: outputs.[<$prefix _arid>].widen(),
                    araddr: outputs.[<$prefix _araddr>],
                    arlen: outputs.[<$prefix _arlen>],
                    arsize: outputs.[<$prefix _arsize>],
                    arburst: outputs.[<$prefix _arburst>],
                    rready: outputs.[<$prefix _rready>],
                    $($($more: outputs.[<$prefix _ $more>],)+)?
                    ..$crate::bus::pins::Axi4ManagerPins::idle()
                }
            }

            #[inline]
            $visibility fn $set(
                inputs: &mut $inputs,
                pins: &$crate::bus::pins::Axi4SubordinatePins,
            ) {
                use $crate::bus::ports::PortId;
                inputs.[<$prefix _awready>] = pins.awready;
                inputs.[<$prefix _wready>] = pins.wready;
                inputs.[<$prefix _bvalid>] = pins.bvalid;
                inputs.[<$prefix _bid>] = PortId::narrow(pins.bid);
                inputs.[<$prefix _bresp>] = pins.bresp;
                inputs.[<$prefix _arready>] = pins.arready;
                inputs.[<$prefix _rvalid>] = pins.rvalid;
                inputs.[<$prefix _rid>] = PortId::narrow(pins.rid);
                inputs.[<$prefix _rdata>] = pins.rdata;
                inputs.[<$prefix _rresp>] = pins.rresp;
                inputs.[<$prefix _rlast>] = pins.rlast;
            }
        }
    };
}

/// The two functions between an AXI4 port of a model that is the subordinate and the pins of
/// [`Axi4Manager`](super::axi4::Axi4Manager):
/// `fn get(&Outputs) -> Axi4SubordinatePins` and `fn set(&mut Inputs, &Axi4ManagerPins)`. As
/// `axi4_burst_port!` otherwise.
///
/// ```ignore
/// sim::axi4_subordinate_port!(landing_pins, set_landing_pins: s_axi of Inputs, Outputs);
/// ```
#[macro_export]
macro_rules! axi4_subordinate_port {
    ($visibility:vis $get:ident, $set:ident: $prefix:ident of $inputs:ty, $outputs:ty
        $(, with $($more:ident)+)?) => {
        $crate::bus::ports::paste! {
            #[inline]
            $visibility fn $get(outputs: &$outputs) -> $crate::bus::pins::Axi4SubordinatePins {
                use $crate::bus::ports::PortId;
                $crate::bus::pins::Axi4SubordinatePins {
                    awready: outputs.[<$prefix _awready>],
                    wready: outputs.[<$prefix _wready>],
                    bvalid: outputs.[<$prefix _bvalid>],
                    bid: outputs.[<$prefix _bid>].widen(),
                    bresp: outputs.[<$prefix _bresp>],
                    arready: outputs.[<$prefix _arready>],
                    rvalid: outputs.[<$prefix _rvalid>],
                    rid: outputs.[<$prefix _rid>].widen(),
                    rdata: outputs.[<$prefix _rdata>],
                    rresp: outputs.[<$prefix _rresp>],
                    rlast: outputs.[<$prefix _rlast>],
                }
            }

            #[inline]
            $visibility fn $set(inputs: &mut $inputs, pins: &$crate::bus::pins::Axi4ManagerPins) {
                use $crate::bus::ports::PortId;
                inputs.[<$prefix _awvalid>] = pins.awvalid;
                inputs.[<$prefix _awid>] = PortId::narrow(pins.awid);
                inputs.[<$prefix _awaddr>] = pins.awaddr;
                inputs.[<$prefix _awlen>] = pins.awlen;
                inputs.[<$prefix _awsize>] = pins.awsize;
                inputs.[<$prefix _awburst>] = pins.awburst;
                inputs.[<$prefix _wvalid>] = pins.wvalid;
                inputs.[<$prefix _wdata>] = pins.wdata;
                inputs.[<$prefix _wstrb>] = pins.wstrb;
                inputs.[<$prefix _wlast>] = pins.wlast;
                inputs.[<$prefix _bready>] = pins.bready;
                inputs.[<$prefix _arvalid>] = pins.arvalid;
                inputs.[<$prefix _arid>] = PortId::narrow(pins.arid);
                inputs.[<$prefix _araddr>] = pins.araddr;
                inputs.[<$prefix _arlen>] = pins.arlen;
                inputs.[<$prefix _arsize>] = pins.arsize;
                inputs.[<$prefix _arburst>] = pins.arburst;
                inputs.[<$prefix _rready>] = pins.rready;
                $($(inputs.[<$prefix _ $more>] = pins.$more;)+)?
            }
        }
    };
}

/// An id as the port of a model has it.
#[doc(hidden)]
pub trait PortId: Copy {
    /// As the bus models have it.
    fn widen(self) -> u16;
    /// Back. An id that comes back has no more bits than it had when it was sent.
    fn narrow(id: u16) -> Self;
}

impl PortId for bool {
    fn widen(self) -> u16 {
        self.into()
    }

    fn narrow(id: u16) -> Self {
        id & 1 == 1
    }
}

impl PortId for u8 {
    fn widen(self) -> u16 {
        self.into()
    }

    fn narrow(id: u16) -> Self {
        id as u8
    }
}

impl PortId for u16 {
    fn widen(self) -> u16 {
        self
    }

    fn narrow(id: u16) -> Self {
        id
    }
}

/// The same between an AXI4 port that only reads, of ids of at most 16 bits, and these pins: what is
/// not there is never valid.
///
/// ```ignore
/// sim::axi4_read_port!(port_0, set_port_0: m_axi_0 of Inputs, Outputs);
/// ```
#[macro_export]
macro_rules! axi4_read_port {
    ($visibility:vis $get:ident, $set:ident: $prefix:ident of $inputs:ty, $outputs:ty) => {
        $crate::bus::ports::paste! {
            #[inline]
            $visibility fn $get(outputs: &$outputs) -> $crate::bus::pins::Axi4ManagerPins {
                $crate::bus::pins::Axi4ManagerPins {
                    arvalid: outputs.[<$prefix _arvalid>],
                    arid: outputs.[<$prefix _arid>].into(),
                    araddr: outputs.[<$prefix _araddr>],
                    arlen: outputs.[<$prefix _arlen>],
                    arsize: outputs.[<$prefix _arsize>],
                    arburst: outputs.[<$prefix _arburst>],
                    arcache: outputs.[<$prefix _arcache>],
                    rready: outputs.[<$prefix _rready>],
                    // Responses to writes never come.
                    bready: true,
                    ..Default::default()
                }
            }

            #[inline]
            $visibility fn $set(
                inputs: &mut $inputs,
                pins: &$crate::bus::pins::Axi4SubordinatePins,
            ) {
                inputs.[<$prefix _arready>] = pins.arready;
                inputs.[<$prefix _rvalid>] = pins.rvalid;
                // An id that comes back has no more bits than it had when it was sent.
                inputs.[<$prefix _rid>] = pins.rid as _;
                inputs.[<$prefix _rdata>] = pins.rdata;
                inputs.[<$prefix _rresp>] = pins.rresp;
                inputs.[<$prefix _rlast>] = pins.rlast;
            }
        }
    };
}

/// Defines the two functions between the ports `s_axil_*` of a model and the pins of
/// [`AxiLiteManager`](super::axi_lite::AxiLiteManager):
/// `fn get(&Outputs) -> AxiLiteSubordinatePins` and `fn set(&mut Inputs, &AxiLiteManagerPins)`.
#[macro_export]
macro_rules! axi_lite_port {
    ($visibility:vis $get:ident, $set:ident of $inputs:ty, $outputs:ty) => {
        $crate::port_pins! {
            $visibility $get($outputs) -> $crate::bus::pins::AxiLiteSubordinatePins, s_axil:
            awready wready bvalid bresp arready rvalid rdata rresp
        }
        $crate::set_port_pins! {
            $visibility $set($inputs, $crate::bus::pins::AxiLiteManagerPins), s_axil:
            awvalid awaddr awprot wvalid wdata wstrb bready arvalid araddr arprot rready
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! port_pins {
    ($visibility:vis $get:ident($outputs:ty) -> $pins:ty, $prefix:ident: $($field:ident)+) => {
        $crate::bus::ports::paste! {
            #[inline]
            $visibility fn $get(outputs: &$outputs) -> $pins {
                type Pins = $pins;
                Pins { $($field: outputs.[<$prefix _ $field>]),+ }
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! set_port_pins {
    ($visibility:vis $set:ident($inputs:ty, $pins:ty), $prefix:ident: $($field:ident)+) => {
        $crate::bus::ports::paste! {
            #[inline]
            $visibility fn $set(inputs: &mut $inputs, pins: &$pins) {
                $(inputs.[<$prefix _ $field>] = pins.$field;)+
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::super::pins::{Axi4ManagerPins, Axi4SubordinatePins};

    /// The outputs of a block with a manager port `m_axi`, or the inputs of one with a subordinate
    /// port: ids of one bit on writes and of 3 bits on reads.
    #[derive(Default)]
    struct Manager {
        axi_awvalid: bool,
        axi_awid: bool,
        axi_awaddr: u64,
        axi_awlen: u8,
        axi_awsize: u8,
        axi_awburst: u8,
        axi_awcache: u8,
        axi_wvalid: bool,
        axi_wdata: [u64; 8],
        axi_wstrb: u64,
        axi_wlast: bool,
        axi_bready: bool,
        axi_arvalid: bool,
        axi_arid: u8,
        axi_araddr: u64,
        axi_arlen: u8,
        axi_arsize: u8,
        axi_arburst: u8,
        axi_rready: bool,
    }

    /// The other side.
    #[derive(Default)]
    struct Subordinate {
        axi_awready: bool,
        axi_wready: bool,
        axi_bvalid: bool,
        axi_bid: bool,
        axi_bresp: u8,
        axi_arready: bool,
        axi_rvalid: bool,
        axi_rid: u8,
        axi_rdata: [u64; 8],
        axi_rresp: u8,
        axi_rlast: bool,
    }

    crate::axi4_burst_port!(manager, set_subordinate: axi of Subordinate, Manager, with awcache);
    crate::axi4_subordinate_port!(subordinate, set_manager: axi of Manager, Subordinate, with awcache);

    #[test]
    fn pins_come_through_ports_with_ids_of_all_widths() {
        let pins = Axi4ManagerPins {
            awvalid: true,
            awid: 1,
            awaddr: 1 << 63,
            awcache: 0b1111,
            wstrb: u64::MAX,
            arid: 5,
            arlen: 255,
            rready: true,
            ..Axi4ManagerPins::idle()
        };
        let mut ports = Manager::default();
        set_manager(&mut ports, &pins);
        assert_eq!(manager(&ports), pins, "arcache is as it is when it is not there");
        let pins = Axi4SubordinatePins {
            bvalid: true,
            bid: 1,
            rid: 5,
            rdata: [7; 8],
            rlast: true,
            ..Default::default()
        };
        let mut ports = Subordinate::default();
        set_subordinate(&mut ports, &pins);
        assert_eq!(subordinate(&ports), pins);
    }
}
