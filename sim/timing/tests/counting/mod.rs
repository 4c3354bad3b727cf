// SPDX-License-Identifier: MIT OR Apache-2.0
//! An allocator that counts, for tests of what allocates nothing. Those of `sim/cluster` use it, too.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: each call is passed on to `System` as it came; counting neither allocates nor unwinds, as
// the cell is initialised by a constant and has no destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above; the block comes from `System`.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How often this thread has allocated so far.
pub fn allocations() -> u64 {
    ALLOCATIONS.get()
}
