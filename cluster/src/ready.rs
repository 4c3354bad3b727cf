// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workers of a thread that are to be entered, by number.

/// Adds a worker, unless it is there.
pub(crate) fn make_ready(ready: &mut Vec<u8>, worker: u8) {
    if !ready.contains(&worker) {
        ready.push(worker);
    }
}

/// Tells a worker something, and adds it if it says that it has to be entered. A number that no worker has changes
/// nothing.
pub(crate) fn told<W>(
    workers: &mut [W],
    ready: &mut Vec<u8>,
    worker: u8,
    tell: impl FnOnce(&mut W) -> bool,
) {
    if workers.get_mut(usize::from(worker)).is_some_and(tell) {
        make_ready(ready, worker);
    }
}
