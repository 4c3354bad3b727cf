// SPDX-License-Identifier: MIT OR Apache-2.0
//! The commits of others while a transaction validates its reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::layout::RecordId;
use parking_lot::Mutex;

/// A row that a commit has changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changed {
    pub(crate) commit: u64,
    pub(crate) table: u32,
    pub(crate) vid: u32,
    /// The version before; none when the row is new.
    pub(crate) before: RecordId,
    pub(crate) now: RecordId,
}

/// All watches there are.
///
/// Every commit whose place was given after the beginning of a watch notes its changes down before it
/// is finished: places are given under a mutex, so it sees `count` as it was before.
#[derive(Debug, Default)]
pub(crate) struct Watches {
    /// How many: a commit beside none looks at nothing else.
    count: AtomicUsize,
    all: Mutex<Vec<Arc<Notes>>>,
}

#[derive(Debug)]
struct Notes {
    /// Sorted.
    tables: Vec<u32>,
    changes: Mutex<Vec<Changed>>,
}

/// Changes of some tables; ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Watch<'w> {
    watches: &'w Watches,
    notes: Arc<Notes>,
}

impl Watches {
    /// Notes down what is changed of these tables from now on. It is certain of the commits whose
    /// places are given after a thread has asked the log for its tail.
    pub(crate) fn watch(&self, mut tables: Vec<u32>) -> Watch<'_> {
        tables.sort_unstable();
        let notes = Arc::new(Notes { tables, changes: Mutex::default() });
        self.all.lock().push(notes.clone());
        self.count.fetch_add(1, Ordering::Relaxed);
        Watch { watches: self, notes }
    }

    /// Whether there are any. To be called by a commit with a place in the order of commits.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// Tells all whom they concern of changes, which stand in pages and maps.
    #[cold]
    pub(crate) fn tell(&self, changes: &[Changed]) {
        for notes in self.all.lock().iter() {
            let concern = |change: &&Changed| notes.tables.binary_search(&change.table).is_ok();
            notes.changes.lock().extend(changes.iter().filter(concern));
        }
    }
}

impl Watch<'_> {
    /// The changes recorded since the last call.
    pub(crate) fn take(&self) -> Vec<Changed> {
        std::mem::take(&mut self.notes.changes.lock())
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.watches.count.fetch_sub(1, Ordering::Relaxed);
        self.watches.all.lock().retain(|notes| !Arc::ptr_eq(notes, &self.notes));
    }
}
