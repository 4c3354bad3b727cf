// SPDX-License-Identifier: MIT OR Apache-2.0
//! Typed driver of the visibility element (`docs/visibility-element.md`), and the bytes that go
//! into a run and come out of it.

mod job_block;
mod packet;
#[cfg(test)]
mod tests;

pub use job_block::JobBlock;
pub use packet::{BEAT_WORDS, End, MAX_VALUES, Packet, PacketError, RefusalError};

pub use crate::map::visibility_pe::Counters;

use crate::map::Present;
use crate::map::visibility_pe::{
    CAPABILITIES, CONTROL, Control, GIE, Gie, IER, ISR, Ier, Isr, JOB, JOB_MULTIPLE, RETURN,
    SIGNATURE,
};
use crate::{DeviceError, Registers};

/// What an element says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identification {
    /// Major version; the register map is the same within one.
    pub version_major: u16,
    /// Minor version.
    pub version_minor: u16,
    /// Walks at once.
    pub chains: u32,
    /// Lanes that execute programs.
    pub lanes: u32,
    /// Ports to memory.
    pub ports: u32,
    /// Pages whose check is remembered.
    pub pages: u64,
}

/// An element behind some [`Registers`].
#[derive(Debug)]
pub struct VisibilityElement<R> {
    registers: Present<R>,
}

impl<R: Registers> VisibilityElement<R> {
    /// Wraps `registers` without touching the element; call [`VisibilityElement::identify`] first.
    pub fn new(registers: R) -> Self {
        VisibilityElement { registers: Present(registers) }
    }

    /// Gives the registers back.
    pub fn into_registers(self) -> R {
        self.registers.0
    }

    /// Checks that an element of a known version is there, and reads what it has.
    ///
    /// # Errors
    /// [`DeviceError::Gone`] when everything reads all-ones, [`DeviceError::Mismatch`] when
    /// IDENTITY, VERSION or CAPABILITIES are not a known element's, or what the registers report.
    pub fn identify(&mut self) -> Result<Identification, DeviceError> {
        let version = SIGNATURE.check(&mut self.registers)?;
        let has = CAPABILITIES.read(&mut self.registers)?;
        if has.log2_chains() > 16 || has.log2_pages() > 40 || has.lanes() == 0 || has.ports() == 0 {
            return Err(DeviceError::Mismatch {
                register: CAPABILITIES.name().into(),
                found: has.bits().into(),
                expected: "at most 16 in bits 7:0, 40 in bits 31:24, and no 0 between".into(),
            });
        }
        Ok(Identification {
            version_major: version.major(),
            version_minor: version.minor(),
            chains: 1 << has.log2_chains(),
            lanes: has.lanes().into(),
            ports: has.ports().into(),
            pages: 1 << has.log2_pages(),
        })
    }

    /// Starts a run: the element reads its [`JobBlock`] at address `job` of device memory.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] before anything is written when `job` is no multiple of 64;
    /// [`DeviceError::Mismatch`] when a run is under way; or what the registers report.
    pub fn start(&mut self, job: u64) -> Result<(), DeviceError> {
        if !job.is_multiple_of(JOB_MULTIPLE) {
            let expected = format!("a multiple of {JOB_MULTIPLE}");
            return Err(DeviceError::OutOfRange { field: "job", value: job, expected });
        }
        let control = CONTROL.read(&mut self.registers)?;
        if control.start() {
            return Err(DeviceError::Mismatch {
                register: CONTROL.name().into(),
                found: control.bits().into(),
                expected: "0 in bit 0, as no run is under way".into(),
            });
        }
        JOB.write(&mut self.registers, job)?;
        CONTROL.write(&mut self.registers, Control::default().with_start(true))
    }

    /// Lets the run end with what is under way. It still ends with its last packet.
    ///
    /// # Errors
    /// What the registers report.
    pub fn stop(&mut self) -> Result<(), DeviceError> {
        CONTROL.write(&mut self.registers, Control::default().with_stop(true))
    }

    /// Whether a run is under way: until its last packet has been taken.
    ///
    /// # Errors
    /// What the registers report.
    pub fn is_running(&mut self) -> Result<bool, DeviceError> {
        Ok(CONTROL.read(&mut self.registers)?.start())
    }

    /// Asks up to `polls` times whether the run is over.
    ///
    /// # Errors
    /// [`DeviceError::Timeout`] when it never was, or what the registers report.
    pub fn wait(&mut self, polls: u64) -> Result<(), DeviceError> {
        for _ in 0..polls {
            if !self.is_running()? {
                return Ok(());
            }
        }
        Err(DeviceError::Timeout {
            waited_for: "the end of a run of the visibility element".into(),
            bound: format!("{polls} polls of CONTROL"),
        })
    }

    /// Rows that the snapshot sees, of the run under way or of the last.
    ///
    /// # Errors
    /// What the registers report.
    pub fn visible(&mut self) -> Result<u32, DeviceError> {
        RETURN.read(&mut self.registers)
    }

    /// Switches the interrupt at the end of runs on or off.
    ///
    /// # Errors
    /// What the registers report.
    pub fn set_interrupt(&mut self, on: bool) -> Result<(), DeviceError> {
        IER.write(&mut self.registers, Ier::default().with_done(on))?;
        GIE.write(&mut self.registers, Gie::default().with_enable(on))
    }

    /// Whether a run has ended since this was last asked; clears what it reports.
    ///
    /// # Errors
    /// What the registers report.
    pub fn take_done(&mut self) -> Result<bool, DeviceError> {
        let status = ISR.read(&mut self.registers)?;
        if status.done() {
            ISR.clear(&mut self.registers, Isr::default().with_done(true))?;
        }
        Ok(status.done())
    }

    /// The counters of the run under way or of the last, read one after the other.
    ///
    /// # Errors
    /// As [`Counters::read`].
    pub fn counters(&mut self) -> Result<Counters, DeviceError> {
        Counters::read(&mut self.registers)
    }
}
