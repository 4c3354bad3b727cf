// SPDX-License-Identifier: MIT OR Apache-2.0
//! A world allocates nothing on the path of ordinary messages.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cluster_sim::world::recorder::Recorder;
use timing::Time;

use super::ping::{Ping, world};

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

#[test]
fn nothing_is_allocated_on_the_path() {
    let ping = Ping { nodes: 4, threads: 2, ..Ping::default() };
    let mut world = world(ping, 8).with_recorder(Recorder::with_capacity(200_000, 0));
    world.begin();
    world.run_until(Time::from_us(400));
    let (before, transactions) = (ALLOCATIONS.get(), world.ledger().transactions());
    world.run_until(Time::from_us(1_400));
    let allocations = ALLOCATIONS.get() - before;
    let transactions = world.ledger().transactions() - transactions;
    assert!(transactions > 10_000, "{transactions}");
    assert!(allocations <= 8, "{allocations} allocations in {transactions} transactions");
}
