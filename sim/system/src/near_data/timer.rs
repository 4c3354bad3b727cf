// SPDX-License-Identifier: MIT OR Apache-2.0
//! What timers of a run are for, as the numbers that the simulated system keeps.

use super::element::ElementEvent;

/// A timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// A host agent's core has done what it was given, or its pause is over.
    Agent(u32),
    /// The device.
    Device(DeviceTimer),
    /// The transaction of the near-data job: a number of its own.
    Long(u64),
}

/// A timer of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceTimer {
    /// In an element.
    Element(ElementEvent),
    /// Of the row in a slot.
    Row { slot: u8, generation: u32 },
    /// The elements have come to their end.
    Finish,
}

const KIND: u32 = 56;

impl Timer {
    pub fn encode(self) -> u64 {
        let (kind, bits) = match self {
            Timer::Agent(agent) => (0u64, u64::from(agent)),
            Timer::Device(DeviceTimer::Element(event)) => (1, event.encode()),
            Timer::Device(DeviceTimer::Row { slot, generation }) => {
                (2, u64::from(slot) << 32 | u64::from(generation))
            }
            Timer::Device(DeviceTimer::Finish) => (3, 0),
            Timer::Long(number) => (4, number),
        };
        debug_assert!(bits < 1 << KIND, "{self:?} has more than 56 bits");
        kind << KIND | bits
    }

    pub fn decode(timer: u64) -> Self {
        let bits = timer & ((1 << KIND) - 1);
        match timer >> KIND {
            0 => Timer::Agent(bits as u32),
            1 => Timer::Device(DeviceTimer::Element(ElementEvent::decode(bits))),
            2 => Timer::Device(DeviceTimer::Row {
                slot: (bits >> 32) as u8,
                generation: bits as u32,
            }),
            3 => Timer::Device(DeviceTimer::Finish),
            _ => Timer::Long(bits),
        }
    }
}
