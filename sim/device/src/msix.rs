// SPDX-License-Identifier: MIT OR Apache-2.0
//! MSI-X: the table and the pending bits of BAR0, and the delivery of a vector to its listener.
//!
//! On a board a message is a write to the address that the table names. Here it is an event for
//! the listener that the host has connected to the vector, an event descriptor or an event of this
//! process, as the host's kernel does it behind VFIO; address and data of the table are kept and
//! not used. What the tables' mask bits mean is as on a board: an interrupt of a vector that is
//! masked, by whatever means, is remembered in its pending bit and delivered when nothing masks it
//! any more. Source: PCI Express Base Specification 4.0, section 6.1.4.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use driver::pci_regs;
use parking_lot::{Condvar, Mutex};

use crate::configuration::VECTORS;
use crate::signaller::Signaller;

/// Bytes of an entry of the table: address low and high, data, control.
const ENTRY_BYTES: usize = pci_regs::MSIX_ENTRY_SIZE;

/// The word of an entry that holds its mask bit.
const CONTROL: usize = pci_regs::MSIX_ENTRY_VECTOR_CTRL / 4;
const MASKED: u32 = pci_regs::MSIX_ENTRY_CTRL_MASKBIT;

/// An event of this process: how many interrupts have come that nobody has taken yet.
#[derive(Debug, Default)]
pub(crate) struct LocalEvent {
    count: Mutex<u64>,
    came: Condvar,
}

impl LocalEvent {
    fn signal(&self) {
        *self.count.lock() += 1;
        self.came.notify_all();
    }

    /// The interrupts since the last call, without waiting.
    pub fn take(&self) -> u64 {
        std::mem::take(&mut *self.count.lock())
    }

    /// Waits for at least one; `None` when none came within `bound`.
    pub fn wait(&self, bound: Duration) -> Option<u64> {
        let deadline = Instant::now().checked_add(bound);
        let mut count = self.count.lock();
        while *count == 0 {
            match deadline {
                Some(deadline) if self.came.wait_until(&mut count, deadline).timed_out() => break,
                Some(_) => {}
                // Longer than the clock goes: forever.
                None => self.came.wait(&mut count),
            }
        }
        Some(std::mem::take(&mut *count)).filter(|&came| came > 0)
    }
}

/// The listener of a vector's interrupts.
#[derive(Debug)]
pub(crate) enum Listener {
    /// An event descriptor of a client, and what signals it without waiting.
    Descriptor(OwnedFd, Arc<Signaller>),
    /// An event of this process.
    Local(Arc<LocalEvent>),
}

impl Listener {
    fn signal(&self) {
        match self {
            Listener::Local(event) => event.signal(),
            Listener::Descriptor(file, signaller) => signaller.signal(file.as_fd()),
        }
    }
}

#[derive(Debug)]
struct Vector {
    entry: [u32; ENTRY_BYTES / 4],
    /// Masked through the host's kernel (VFIO's `SET_IRQS`), beside the table.
    masked: bool,
    pending: bool,
    listener: Option<Listener>,
}

impl Vector {
    const RESET: [u32; ENTRY_BYTES / 4] = [0, 0, 0, MASKED];

    fn may_signal(&self) -> bool {
        self.entry[CONTROL] & MASKED == 0 && !self.masked && self.listener.is_some()
    }
}

/// The table, the pending bits and the listeners.
///
/// Invariant: a vector is pending only while it, or the function as a whole, is masked.
#[derive(Debug)]
pub(crate) struct Msix {
    vectors: [Vector; VECTORS],
    /// Whether the function as a whole may send messages.
    enabled: bool,
}

impl Msix {
    /// As after power-up: all masked, no listener exists.
    pub fn new() -> Self {
        let vector =
            || Vector { entry: Vector::RESET, masked: false, pending: false, listener: None };
        Self { vectors: std::array::from_fn(|_| vector()), enabled: false }
    }

    /// The RTL raises a vector. One that there is not is the RTL's fault, and nobody's interrupt.
    pub fn raise(&mut self, vector: u8) {
        if let Some(vector) = self.vectors.get_mut(usize::from(vector)) {
            vector.pending = true;
            self.deliver();
        }
    }

    /// Says whether the function as a whole may send messages: MSI-X is enabled and not masked, the
    /// function is awake and a bus master.
    pub fn enable(&mut self, enabled: bool) {
        self.enabled = enabled;
        self.deliver();
    }

    /// Connects a listener to a vector, or disconnects it. A vector that is connected is unmasked
    /// in the table, one that is disconnected is masked there: this is how the host's kernel sets
    /// up what a driver asks for. Its pending interrupt goes to the new listener.
    ///
    /// # Panics
    /// When there is no such vector.
    pub fn connect(&mut self, vector: usize, listener: Option<Listener>) {
        let vector = &mut self.vectors[vector];
        vector.entry[CONTROL] = if listener.is_some() { 0 } else { MASKED };
        vector.listener = listener;
        self.deliver();
    }

    /// Whether a vector has a listener.
    pub fn is_connected(&self, vector: usize) -> bool {
        self.vectors[vector].listener.is_some()
    }

    /// Whether any vector has a listener.
    pub fn is_any_connected(&self) -> bool {
        self.vectors.iter().any(|vector| vector.listener.is_some())
    }

    /// Masks or unmasks a vector beside the table.
    ///
    /// # Panics
    /// When there is no such vector.
    pub fn mask(&mut self, vector: usize, masked: bool) {
        self.vectors[vector].masked = masked;
        self.deliver();
    }

    /// What a function-level reset does: nothing is pending, nothing is enabled, and entries are as
    /// after power-up, but that those with a listener stay unmasked: no other code would set them
    /// up again.
    pub fn reset(&mut self) {
        self.enabled = false;
        for vector in &mut self.vectors {
            vector.entry = Vector::RESET;
            if vector.listener.is_some() {
                vector.entry[CONTROL] = 0;
            }
            (vector.pending, vector.masked) = (false, false);
        }
    }

    /// Reads 4 bytes of the table at a multiple of 4; 0 past its end.
    pub fn read_table(&self, offset: usize) -> u32 {
        let vector = self.vectors.get(offset / ENTRY_BYTES);
        vector.map_or(0, |vector| vector.entry[offset % ENTRY_BYTES / 4])
    }

    /// Writes those bits of 4 bytes of the table, at a multiple of 4, that are set in `mask`. Past
    /// its end nothing happens.
    pub fn write_table(&mut self, offset: usize, value: u32, mask: u32) {
        let Some(vector) = self.vectors.get_mut(offset / ENTRY_BYTES) else { return };
        let writable = match offset % ENTRY_BYTES / 4 {
            0 => !3,
            CONTROL => MASKED,
            _ => u32::MAX,
        };
        let word = &mut vector.entry[offset % ENTRY_BYTES / 4];
        *word = *word & !(mask & writable) | value & mask & writable;
        self.deliver();
    }

    /// Reads 4 bytes of the pending bits at a multiple of 4; 0 past their end.
    pub fn read_pending(&self, offset: usize) -> u32 {
        if offset != 0 {
            return 0;
        }
        let bit = |(number, vector): (usize, &Vector)| u32::from(vector.pending) << number;
        self.vectors.iter().enumerate().map(bit).sum()
    }

    /// Keeps the invariant: signals what is pending and not masked.
    fn deliver(&mut self) {
        if !self.enabled {
            return;
        }
        for vector in self.vectors.iter_mut().filter(|vector| vector.pending) {
            if let (true, Some(listener)) = (vector.may_signal(), &vector.listener) {
                vector.pending = false;
                listener.signal();
            }
        }
    }
}

#[cfg(test)]
mod tests;
