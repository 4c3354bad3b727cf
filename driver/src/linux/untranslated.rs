// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of a device behind no address translation, by physical address.
//!
//! Accesses of the device to unmapped memory cannot be stopped. So such memory is kept until the
//! device is idle, was reset, or may not access memory any more.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::{Roots, physical};
use crate::map::device::{
    COPY_QUEUE, JOB_QUEUE, LOCK_QUEUE, LOCK_UNIT, LOOK_UP_QUEUE, LOOK_UP_UNIT, SHELL,
};
use crate::map::{lock_unit, nic_lookup, queue, shell};
use crate::{DeviceError, HostMemory};

/// What the device may know of.
#[derive(Default)]
pub struct Untranslated(Mutex<Memories>);

#[derive(Default)]
struct Memories {
    /// By device address.
    mapped: BTreeMap<u64, Arc<HostMemory>>,
    /// Taken away while the device was at work: it may still write there.
    retired: Vec<Arc<HostMemory>>,
}

impl Untranslated {
    fn memories(&self) -> MutexGuard<'_, Memories> {
        self.0.lock()
    }

    /// Pins memory, and gives its physical address.
    ///
    /// # Errors
    /// The memory cannot be locked, is not contiguous, or may move; or it is mapped already.
    pub fn map(&self, roots: &Roots, memory: &Arc<HostMemory>) -> Result<u64, DeviceError> {
        memory.lock().map_err(|error| {
            DeviceError::system("lock memory (see `ulimit -l`, or run as root)", error)
        })?;
        let address = physical::address(roots, memory)?;
        match self.memories().mapped.entry(address) {
            Entry::Occupied(_) => Err(DeviceError::Refused {
                attempted: format!("map memory at physical address 0x{address:X}"),
                reason: "it is mapped already".into(),
            }),
            Entry::Vacant(entry) => {
                entry.insert(memory.clone());
                Ok(address)
            }
        }
    }

    /// Takes memory away, and gives back to the system what nobody can write any more, if `is_idle`
    /// says that the device is idle.
    ///
    /// # Errors
    /// No mapping begins at this address.
    pub fn unmap(&self, address: u64, is_idle: impl FnOnce() -> bool) -> Result<(), DeviceError> {
        let mut memories = self.memories();
        let memory = memories.mapped.remove(&address).ok_or(DeviceError::OutOfRange {
            field: "device address",
            value: address,
            expected: "the first of a mapping".into(),
        })?;
        if is_idle() {
            memories.retired.clear();
        } else {
            memories.retired.push(memory);
        }
        Ok(())
    }

    /// The device was reset: nothing that was under way is any more.
    pub fn forget_retired(&self) {
        self.memories().retired.clear();
    }

    /// Memory at an address that no kernel gave, for tests.
    #[cfg(test)]
    pub fn insert(&self, address: u64, memory: Arc<HostMemory>) {
        self.memories().mapped.insert(address, memory);
    }
}

/// Whether a device has nothing under way: neither copies, lock requests, jobs nor look-ups.
/// `read` reads a register of BAR0. A device that answers all-ones is not known to rest.
pub fn is_idle(read: impl Fn(u32) -> u32) -> bool {
    let capabilities = shell::Capabilities::from_bits(read(SHELL + shell::CAPABILITIES.offset()));
    // Devices of version 1.0 have two queues, and no job queue; those of version 1.1 no look-ups.
    let queues = [COPY_QUEUE, LOCK_QUEUE, JOB_QUEUE, LOOK_UP_QUEUE];
    let queues = &queues[..usize::from(capabilities.queues()).clamp(2, queues.len())];
    // In the order of the work, so that none is missed as it passes on: from a ring into a queue, from
    // the queue into what is behind it. What is behind the lock queue is the lock unit.
    queues.iter().all(|block| has_fetched(&read, *block))
        && queues
            .iter()
            .filter(|block| **block != LOCK_QUEUE)
            .all(|block| read(block + queue::RETURN.offset()) == 0)
        && read(LOCK_UNIT + lock_unit::RETURN.offset()) == 0
        && (!queues.contains(&LOOK_UP_QUEUE)
            || read(LOOK_UP_UNIT + nic_lookup::RETURN.offset()) == 0)
}

/// Whether a queue has fetched all that it was told of. One that is off fetches nothing, and its
/// RETURN counts what it has under way with its rings.
fn has_fetched(read: impl Fn(u32) -> u32, block: u32) -> bool {
    let register = |offset| read(block + offset);
    if register(queue::CONTROL.offset()) == 0 {
        return register(queue::RETURN.offset()) == 0;
    }
    register(queue::SUBMISSION_TAIL.offset()) == register(queue::SUBMISSION_HEAD.offset())
}
