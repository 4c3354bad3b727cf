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
