// SPDX-License-Identifier: MIT OR Apache-2.0
//! The model's ports as the pins of the bus models.

use lockstep_device_model::{Inputs, Outputs};
use sim::bus::pins::{Axi4ManagerPins, Axi4SubordinatePins};

sim::axi_lite_port!(pub(super) register_pins, set_register_pins of Inputs, Outputs);
sim::axi4_port!(queue_pins, set_queue_pins: m_axi_queue of Inputs, Outputs);
sim::axi4_port!(lock_pins, set_lock_pins: m_axi_lock of Inputs, Outputs);
sim::axi4_read_port!(key_pins, set_key_pins: m_axi_nichost of Inputs, Outputs);
sim::axi4_burst_port!(index_pins, set_index_pins: m_axi_nic of Inputs, Outputs,
    with awcache arcache);

/// One of the memory ports.
pub(super) trait MemoryPins {
    /// The outputs of the RTL.
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

/// The port for tables that keys are looked up in.
pub(super) struct Keys;

/// The port for the index of such a table, in the card's memory.
pub(super) struct Index;

impl MemoryPins for Queue {
    #[inline]
    fn block(outputs: &Outputs) -> Axi4ManagerPins {
        queue_pins(outputs)
    }

    #[inline]
    fn is_active(outputs: &Outputs) -> bool {
        outputs.m_axi_queue_awvalid | outputs.m_axi_queue_wvalid | outputs.m_axi_queue_arvalid
    }

    #[inline]
    fn drive(inputs: &mut Inputs, pins: &Axi4SubordinatePins) {
        set_queue_pins(inputs, pins);
    }
}

impl MemoryPins for Lock {
    #[inline]
    fn block(outputs: &Outputs) -> Axi4ManagerPins {
        lock_pins(outputs)
    }

    #[inline]
    fn is_active(outputs: &Outputs) -> bool {
        outputs.m_axi_lock_awvalid | outputs.m_axi_lock_wvalid | outputs.m_axi_lock_arvalid
    }

    #[inline]
    fn drive(inputs: &mut Inputs, pins: &Axi4SubordinatePins) {
        set_lock_pins(inputs, pins);
    }
}

impl MemoryPins for Keys {
    #[inline]
    fn block(outputs: &Outputs) -> Axi4ManagerPins {
        key_pins(outputs)
    }

    #[inline]
    fn is_active(outputs: &Outputs) -> bool {
        outputs.m_axi_nichost_arvalid
    }

    #[inline]
    fn drive(inputs: &mut Inputs, pins: &Axi4SubordinatePins) {
        set_key_pins(inputs, pins);
    }
}

impl MemoryPins for Index {
    #[inline]
    fn block(outputs: &Outputs) -> Axi4ManagerPins {
        index_pins(outputs)
    }

    #[inline]
    fn is_active(outputs: &Outputs) -> bool {
        outputs.m_axi_nic_awvalid | outputs.m_axi_nic_wvalid | outputs.m_axi_nic_arvalid
    }

    #[inline]
    fn drive(inputs: &mut Inputs, pins: &Axi4SubordinatePins) {
        set_index_pins(inputs, pins);
    }
}
