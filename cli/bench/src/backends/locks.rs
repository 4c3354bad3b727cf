// SPDX-License-Identifier: MIT OR Apache-2.0
//! The host's lock on a table that a device can see, beside the same on one that it cannot.

use std::sync::Arc;

use driver::QueueError;
use locks::{Backing, LockTable};
use system::LockMemory;

use super::OpenBackend;
use crate::host_lock::{dependent, lock, overlapping};
use crate::{Goal, Measurement, Size, stopwatch};

const PAIRS: u64 = 100_000;
/// 4 MiB, as the paper has it.
const BUCKETS: u64 = 1 << 16;

/// Both tables in pages of the same size. The device has its lock unit enabled on the table that it
/// was given, and nothing asks it for anything.
pub fn measure(size: Size, backend: &OpenBackend) -> Result<Vec<Measurement>, String> {
    let text = |error: QueueError| error.to_string();
    let shared =
        LockMemory::of_device(&backend.device, BUCKETS).map_err(|error| text(error.into()))?;
    let private = LockMemory::private(BUCKETS, shared.page_bytes());
    let private = private.map_err(|error| text(error.into()))?;
    let mut unit = backend.device.lock_unit();
    let base = shared.bus_address().ok_or("the table is not mapped for the device")?;
    backend.device.reset().map_err(|error| text(error.into()))?;
    unit.start(base, BUCKETS.trailing_zeros()).map_err(|error| text(error.into()))?;

    let table = |memory| LockTable::in_memory(BUCKETS as usize, Backing::Given(Arc::new(memory)));
    let (shared, private) = (table(shared), table(private));
    let (shared, private) = match (shared, private) {
        (Ok(shared), Ok(private)) => (shared, private),
        (Err(error), _) | (_, Err(error)) => return Err(error.to_string()),
    };
    // Every page is there, and as much of the tables as fits is in the caches.
    for table in [&shared, &private] {
        overlapping(4 * BUCKETS, &mut 3, |vid| lock(table, vid));
    }
    let count = size.of(PAIRS);
    let (mut at, mut at_private) = (1, 1);
    let (value, floor) = stopwatch::best_of_both(
        size,
        || stopwatch::each(count, || dependent(count, &mut at, &shared, lock)),
        || stopwatch::each(count, || dependent(count, &mut at_private, &private, lock)),
    );
    let chained =
        Measurement::new("host lock, dependent, table of a device", "ns", value).over(floor);
    let (value, floor) = stopwatch::best_of_both(
        size,
        || stopwatch::each(count, || overlapping(count, &mut at, |vid| lock(&shared, vid))),
        || {
            let lock = |vid| lock(&private, vid);
            stopwatch::each(count, || overlapping(count, &mut at_private, lock))
        },
    );
    let free =
        Measurement::new("host lock, overlapping, table of a device", "ns", value).over(floor);
    backend.device.reset().map_err(|error| text(error.into()))?;
    Ok([chained, free].map(|figure| figure.goal(Goal::RatioAtMost(1.1))).into())
}
