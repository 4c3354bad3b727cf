// SPDX-License-Identifier: MIT OR Apache-2.0
//! VID maps and lock table in external memory, shared with a device.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use lockdb::memory::ArrayMemory;
use lockdb::{Database, Error, Isolation, Options};
use locks::SharedMemory;

use crate::near_data::scene::{Scene, after, at, schema};

#[derive(Debug)]
struct Given {
    start: NonNull<u8>,
    layout: Layout,
    /// Freed with it; the bytes that it says it has are fewer in some tests.
    bytes: usize,
}

// SAFETY: plain memory, which nobody frees before it is dropped.
unsafe impl Send for Given {}
// SAFETY: it is touched by atomics alone, the store's and this test's.
unsafe impl Sync for Given {}

// SAFETY: the memory stays allocated, initialised and in its place until it is dropped.
unsafe impl SharedMemory for Given {
    fn start(&self) -> NonNull<u8> {
        self.start
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Given {
    fn new(bytes: usize) -> Arc<Self> {
        let layout = Layout::from_size_align(bytes, 64).unwrap();
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        Arc::new(Self { start: NonNull::new(start).expect("there is memory"), layout, bytes })
    }

    fn word(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.layout.size() / 8);
        // SAFETY: inside the allocation, aligned to 64, and initialised.
        unsafe { &*self.start.as_ptr().cast::<AtomicU64>().add(index) }
    }
}

impl Drop for Given {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

/// Gives memory, and remembers it; in some tests not what was asked for.
#[derive(Debug, Default)]
struct Memory {
    given: Mutex<Vec<(String, Arc<Given>)>>,
    flaw: Option<Flaw>,
}

#[derive(Clone, Copy, Debug)]
enum Flaw {
    None,
    Short,
    Used,
}

impl ArrayMemory for Memory {
    fn allocate(&self, name: &str, bytes: usize) -> io::Result<Arc<dyn SharedMemory>> {
        let given = match self.flaw {
            None | Some(Flaw::Used) => Given::new(bytes),
            Some(Flaw::Short) => Given::new(bytes - 8),
            Some(Flaw::None) => return Err(io::Error::other("there is no memory")),
        };
        if matches!(self.flaw, Some(Flaw::Used)) {
            given.word(3).store(9, Ordering::Relaxed);
        }
        self.given.lock().unwrap().push((name.into(), given.clone()));
        Ok(given)
    }
}

#[test]
fn vid_maps_stand_where_a_device_can_look() {
    let memory = Arc::new(Memory::default());
    let options = Options {
        tuples: 1 << 12,
        array_memory: Some(memory.clone()),
        ..crate::near_data::scene::options()
    };
    let scene = Scene::with(50, options);
    let given = memory.given.lock().unwrap();
    let names: Vec<&str> = given.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["vid-map-0", "vid-map-1"], "and nothing else");
    let words = |map: &Given| -> Vec<u64> {
        (0..50).map(|vid| map.word(vid).load(Ordering::Acquire)).collect()
    };
    let before = words(&given[0].1);
    scene.add(at(Isolation::Snapshot), 1, 5).unwrap();
    let heads = words(&given[0].1);
    let table: Vec<u64> = scene.table.vid_map().words()[..50]
        .iter()
        .map(|word| word.load(Ordering::Acquire))
        .collect();
    assert_eq!(heads, table);
    let changed = before.iter().zip(&heads).filter(|(before, now)| before != now).count();
    assert_eq!(changed, 17);
    assert_eq!(scene.rows(), after(50, 1, 5));
}

#[test]
fn memory_that_is_of_no_use_is_refused() {
    for (flaw, said) in [
        (Flaw::None, "there is no memory"),
        (Flaw::Short, "has 32760 bytes, expected 32768"),
        (Flaw::Used, "is in use at word 3, expected zeroes"),
    ] {
        let memory = Arc::new(Memory { flaw: Some(flaw), ..Memory::default() });
        let options = Options { tuples: 1 << 12, array_memory: Some(memory), ..Options::small() };
        let store = Database::in_memory(options).unwrap();
        match store.create_table(schema("t")) {
            Err(error @ Error::System { .. }) => {
                assert!(error.to_string().contains(said), "{error}, expected {said}");
            }
            other => panic!("{flaw:?}: {other:?}"),
        }
        assert!(store.tables().is_empty());
    }
}
