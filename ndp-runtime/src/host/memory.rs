// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of the store that a device can be given: the lock table and the VID maps.

use std::collections::BTreeMap;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;

use driver::{HostMemory, PAGE_BYTES};
use lockdb::Options;
use lockdb::memory::ArrayMemory;
use locks::{Bucket, SharedMemory};
use parking_lot::Mutex;

/// Makes the memory of a store's lock table and VID maps, and keeps it by names, for a device to be
/// given. One store uses it.
#[derive(Debug, Default)]
pub struct StoreMemory {
    arrays: Mutex<BTreeMap<String, Arc<HostMemory>>>,
}

/// Memory that only the store touches in this process.
#[derive(Debug)]
struct OfStore(Arc<HostMemory>);

// SAFETY: the mapping stays in its place, readable and writable, as long as `HostMemory` lives, and
// the system has zeroed it. This process reaches it through the store's atomics, and through copies of
// `HostMemory`, which are atomic as well.
unsafe impl SharedMemory for OfStore {
    fn start(&self) -> NonNull<u8> {
        self.0.start()
    }

    fn bytes(&self) -> usize {
        self.0.bytes()
    }
}

impl StoreMemory {
    /// The name of the lock table.
    pub const LOCKS: &str = "locks";

    /// Options with which a store puts its lock table and VID maps into memory that can be shared
    /// with a device, and that memory.
    ///
    /// # Errors
    /// When there is no memory for the lock table.
    pub fn for_store(options: Options) -> io::Result<(Options, Arc<Self>)> {
        let memory = Arc::new(Self::default());
        let locks = memory.make(Self::LOCKS, options.lock_buckets * size_of::<Bucket>())?;
        let array_memory: Arc<dyn ArrayMemory> = memory.clone();
        let lock_memory: Arc<dyn SharedMemory> = Arc::new(OfStore(locks));
        let options = Options {
            lock_file: None,
            lock_memory: Some(lock_memory),
            array_memory: Some(array_memory),
            ..options
        };
        Ok((options, memory))
    }

    /// The memory of a name, if it was made.
    pub fn named(&self, name: &str) -> Option<Arc<HostMemory>> {
        self.arrays.lock().get(name).cloned()
    }

    fn make(&self, name: &str, bytes: usize) -> io::Result<Arc<HostMemory>> {
        let mut arrays = self.arrays.lock();
        if arrays.contains_key(name) {
            let message = format!("{name:?} was made before: one store has this memory");
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        let memory = Arc::new(HostMemory::allocate(bytes, PAGE_BYTES)?);
        arrays.insert(name.into(), memory.clone());
        Ok(memory)
    }
}

impl ArrayMemory for StoreMemory {
    fn allocate(&self, name: &str, bytes: usize) -> io::Result<Arc<dyn SharedMemory>> {
        Ok(Arc::new(OfStore(self.make(name, bytes)?)))
    }
}
