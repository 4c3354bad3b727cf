// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table: its schema, the VID map that leads to its version chains, and its indexes.

use std::ops::RangeBounds;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use foldhash::fast::RandomState;
use scc::{Guard, HashIndex, TreeIndex};

use super::error::{Error, Result};
use super::layout::{MAP_WORDS, PAGE_BYTES, RecordId};
use super::memory::SharedArray;
use super::options::Options;
use super::pins::Pins;
use super::retired::Retired;
use super::schema::{IndexKey, RowRef, Schema};
use locks::TupleKey;
use parking_lot::Mutex;

/// A table of a store. Obtained from the store; cheap to share as `Arc<Table>`.
#[derive(Debug)]
pub struct Table {
    /// Which store it belongs to.
    pub(crate) store: u64,
    pub(crate) id: u32,
    schema: Schema,
    /// The VID map: for each VID the RecordID of its newest version.
    heads: SharedArray,
    /// For each chunk of the VID map whether the next checkpoint has to write it. Where versions
    /// were added, their pages say so.
    changed: SharedArray,
    vids: Mutex<Vids>,
    /// How many transactions have a device at work on it.
    invocations: AtomicU32,
    primary: TreeIndex<IndexKey, u32>,
    /// The same entries for look-ups of the complete key, at a third of the cost. The tree decides
    /// what there is; an entry is here only while it is there, and may be missing.
    by_key: HashIndex<IndexKey, u32, RandomState>,
    secondary: Vec<TreeIndex<IndexKey, u32>>,
}

/// Which VIDs are in use.
#[derive(Debug, Default)]
struct Vids {
    /// All from here on have never been used.
    next: u32,
    free: Vec<u32>,
    /// VIDs without a tuple.
    retired: Retired<u32>,
}

/// Which index of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Which {
    Primary,
    Secondary(usize),
}

impl Table {
    pub(crate) fn new(store: u64, id: u32, schema: Schema, options: &Options) -> Result<Self> {
        let tuples = options.tuples;
        let name = format!("vid-map-{id}");
        let reserve = match &options.array_memory {
            Some(memory) => SharedArray::allocate_in(&**memory, &name, tuples as usize),
            None => SharedArray::reserve_in(&options.memory, &name, tuples as usize),
        };
        let what = || format!("cannot reserve the VID map of table {:?}", schema.name());
        let heads = reserve.map_err(Error::system(what()))?;
        let changed = SharedArray::reserve((tuples as usize).div_ceil(MAP_WORDS));
        let changed = changed.map_err(Error::system(what()))?;
        let secondary = schema.indexes().iter().map(|_| fenced_index()).collect();
        let (vids, invocations, primary) = (Mutex::default(), AtomicU32::new(0), fenced_index());
        let by_key = HashIndex::with_hasher(RandomState::default());
        Ok(Self {
            store,
            id,
            schema,
            heads,
            changed,
            vids,
            invocations,
            primary,
            by_key,
            secondary,
        })
    }

    /// Its schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.schema.name()
    }

    /// Its number in the store: 0, 1, … in the order of creation.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The VID map as the plain array that devices read: entry *v* is the RecordID of the newest
    /// version of VID *v*, 0 when there is none.
    pub fn vid_map(&self) -> &SharedArray {
        &self.heads
    }

    /// VIDs below this one have been used at some time.
    pub fn vids(&self) -> u32 {
        self.vids.lock().next
    }

    /// How many entries an index has (`None`: the primary one), those included that only old
    /// snapshots need, or nobody any more. Of a store that was just opened, those that are there yet.
    ///
    /// # Errors
    /// When there is no such index.
    pub fn entries(&self, index: Option<&str>) -> Result<usize> {
        let which = index.map_or(Ok(Which::Primary), |name| self.which(name))?;
        Ok(self.index(which).len() - 2) // without the fences
    }

    /// The newest version of a tuple.
    #[inline]
    pub(crate) fn head(&self, vid: u32) -> RecordId {
        RecordId::from_word(self.heads.word(vid as usize).load(Ordering::Acquire))
    }

    /// Publishes the newest version of a tuple. The caller holds the row's lock.
    #[inline]
    pub(crate) fn set_head(&self, vid: u32, record: RecordId) {
        // No version tells the next checkpoint of it. Marked before, so that a shared state which is
        // collected meanwhile does not miss it; and behind, as a checkpoint may have taken that mark.
        if record.is_none() {
            self.mark_changed(vid as usize / MAP_WORDS);
        }
        self.heads.word(vid as usize).store(record.word(), Ordering::Release);
        if record.is_none() {
            self.mark_changed(vid as usize / MAP_WORDS);
        }
    }

    /// A chunk of the VID map is for the next checkpoint to write.
    #[inline]
    pub(crate) fn mark_changed(&self, chunk: usize) {
        self.changed.word(chunk).store(1, Ordering::Release);
    }

    /// Whether a chunk of the VID map is for the next checkpoint to write, as far as is known: of
    /// new versions their pages tell.
    pub(crate) fn is_changed(&self, chunk: usize) -> bool {
        self.changed.word(chunk).load(Ordering::Acquire) != 0
    }

    /// Whether a chunk of the VID map has changed since this was asked last.
    pub(crate) fn take_changed(&self, chunk: usize) -> bool {
        self.changed.word(chunk).swap(0, Ordering::AcqRel) != 0
    }

    /// What is locked of a tuple whose newest version has this number (0: it has none).
    #[inline]
    pub fn lock_key(&self, vid: u32, number: u32) -> TupleKey {
        TupleKey::new(u64::from(self.id) << 32 | u64::from(vid), number)
    }

    /// A VID without a tuple.
    pub(crate) fn allocate_vid(&self, pins: &Pins) -> Result<u32> {
        let vids = &mut *self.vids.lock();
        if vids.free.is_empty() {
            vids.retired.reclaim_into(&mut vids.free, pins);
        }
        if let Some(vid) = vids.free.pop() {
            return Ok(vid);
        }
        if vids.next as usize == self.heads.len() {
            return Err(Error::Full {
                what: "tuples",
                limit: self.heads.len() as u64,
                kept_by: vids.retired.keeper(pins),
            });
        }
        vids.next += 1;
        Ok(vids.next - 1)
    }

    /// A VID whose tuple is gone, or never came: reused when all transactions have ended that may
    /// have found it before `stamp`.
    pub(crate) fn retire_vid(&self, vid: u32, stamp: u64) {
        let gone = self.head(vid).is_none();
        // A transaction that rolls back while its thread unwinds comes here, too: a second panic would end the process.
        debug_assert!(gone || thread::panicking());
        // Another tuple in its place would make a chain of both.
        if gone {
            self.vids.lock().retired.push(stamp, vid);
        }
    }

    /// Whether VIDs without a tuple cannot be reused yet by transactions that begin now, after
    /// commit `published`.
    pub(crate) fn await_commit(&self, published: u64) -> bool {
        self.vids.lock().retired.await_commit(published)
    }

    /// Recovery has met this VID.
    pub(crate) fn use_vid(&self, vid: u32) -> Result<()> {
        if vid as usize >= self.heads.len() {
            return Err(Error::full("tuples", self.heads.len() as u64));
        }
        let mut vids = self.vids.lock();
        vids.next = vids.next.max(vid + 1);
        Ok(())
    }

    /// Takes over which VIDs are in use.
    pub(crate) fn adopt_vids(&self, used: u32, free: impl IntoIterator<Item = u32>) {
        let mut vids = self.vids.lock();
        vids.next = used;
        vids.free = free.into_iter().collect();
    }

    /// A device is to work on it. The caller holds the mutex of maintenance: from now on vacuum leaves
    /// its pages as they are, as long as it can.
    pub(crate) fn begin_invocation(&self) {
        self.invocations.fetch_add(1, Ordering::Relaxed);
    }

    /// A transaction has ended that had a device at work on it.
    pub(crate) fn end_invocation(&self) {
        let before = self.invocations.fetch_sub(1, Ordering::Release);
        debug_assert!(before > 0, "each invocation ends once");
    }

    /// Whether a device may be at work on it.
    pub(crate) fn is_invoked(&self) -> bool {
        self.invocations.load(Ordering::Acquire) != 0
    }

    fn index(&self, which: Which) -> &TreeIndex<IndexKey, u32> {
        match which {
            Which::Primary => &self.primary,
            Which::Secondary(index) => &self.secondary[index],
        }
    }

    /// Makes an entry; returns whether it is new. The caller of one in the primary index holds the
    /// lock of the tuple, or is alone.
    pub(crate) fn enter(&self, which: Which, key: IndexKey, vid: u32) -> bool {
        if which != Which::Primary {
            return self.index(which).insert_sync(key, vid).is_ok();
        }
        let new = self.primary.insert_sync(key.clone(), vid).is_ok();
        if new {
            let entered = self.by_key.insert_sync(key, vid);
            debug_assert!(entered.is_ok(), "an entry goes from here before it goes from the tree");
        }
        new
    }

    /// Removes a tuple's entry; says whether it was there. The caller holds the tuple's lock.
    pub(crate) fn remove_entry(&self, which: Which, key: &IndexKey, vid: u32) -> bool {
        if which == Which::Primary {
            self.by_key.remove_if_sync(key, |&of| of == vid);
        }
        self.index(which).remove_if_sync(key, |&of| of == vid)
    }

    pub(crate) fn which(&self, index: &str) -> Result<Which> {
        self.schema.index(index).map(Which::Secondary).ok_or_else(|| Error::NoSuchIndex {
            table: self.name().into(),
            index: index.into(),
            indexes: self.schema.indexes().iter().map(|index| index.name.clone()).collect(),
        })
    }

    /// The tuple of a primary key; its chain may still be empty, or end in a tombstone.
    #[inline]
    pub(crate) fn find(&self, key: &IndexKey) -> Option<u32> {
        let found = self.by_key.peek_with(key, |_, &vid| vid);
        found.or_else(|| self.primary.peek_with(key, |_, &vid| vid))
    }

    /// The entry that leads to a row in an index.
    pub(crate) fn entry(&self, which: Which, vid: u32, row: RowRef<'_>) -> IndexKey {
        match which {
            Which::Primary => self.schema.primary().of_row(row),
            Which::Secondary(index) => self.schema.secondary(index).of_row(row).with_vid(vid),
        }
    }

    /// Entries of a range, at most `limit`, into `found`. Collected first, so that no guard of the
    /// index is held while rows are checked.
    pub(crate) fn collect(
        &self,
        which: Which,
        range: impl RangeBounds<IndexKey>,
        descending: bool,
        limit: usize,
        found: &mut Vec<(IndexKey, u32)>,
    ) {
        let guard = Guard::new();
        let mut entries = self.index(which).range::<IndexKey, _>(range, &guard);
        let next = || if descending { entries.next_back() } else { entries.next() };
        let rows = std::iter::from_fn(next).filter(|&(_, &vid)| vid != FENCE);
        found.extend(rows.take(limit).map(|(key, &vid)| (key.clone(), vid)));
    }

    /// The VIDs of a range alone, at most `limit`, in the order of their keys. Gives the last one's key
    /// when there are so many.
    pub(crate) fn collect_vids(
        &self,
        which: Which,
        range: impl RangeBounds<IndexKey>,
        limit: usize,
        found: &mut Vec<u32>,
    ) -> Option<IndexKey> {
        let guard = Guard::new();
        let entries = self.index(which).range::<IndexKey, _>(range, &guard);
        let rows = entries.filter(|&(_, &vid)| vid != FENCE).take(limit);
        let last = rows.inspect(|&(_, &vid)| found.push(vid)).last();
        last.filter(|_| found.len() == limit).map(|(key, _)| key.clone())
    }
}

/// The VID of an index's first and last entry, which lead to no row.
const FENCE: u32 = u32::MAX;

/// An index without rows. Its first and last entry always stay: scc (3.8) may find nothing of a
/// range while a leaf at one of the index's ends is empty and not yet unlinked.
fn fenced_index() -> TreeIndex<IndexKey, u32> {
    let index = TreeIndex::new();
    // No key has so many bytes of 255: they come from the values of one row.
    for key in [&[][..], &[u8::MAX; PAGE_BYTES]] {
        let new = index.insert_sync(IndexKey::from_bytes(key), FENCE);
        assert!(new.is_ok(), "one lies before all keys, the other behind them");
    }
    index
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::ops::Bound;
    use std::sync::atomic::AtomicBool;

    use super::super::schema::{Schema, Type};
    use super::*;

    /// Whole leaves are emptied, also the last one.
    #[test]
    fn ranges_are_whole_from_both_ends_while_entries_go() {
        let schema = Schema::builder("t").column("id", Type::Int64).primary_key(&["id"]);
        let table = Table::new(0, 0, schema.build().unwrap(), &Options::small()).unwrap();
        let key = |id: u64| table.schema().primary().key(&(id as i64)).unwrap();
        let (mut plain, mut state) = (BTreeMap::new(), 1_u64);
        let mut draw = |limit: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % limit
        };
        for step in 0..20_000 {
            let first = draw(300);
            if draw(2) == 0 {
                let _ = table.index(Which::Primary).insert_sync(key(first), first as u32);
                plain.entry(first).or_insert(first as u32);
            } else {
                for id in first..first + draw(50) {
                    table.index(Which::Primary).remove_sync(&key(id));
                    plain.remove(&id);
                }
            }
            let (low, above, limit) = (draw(300), 1 + draw(100), 1 + draw(20) as usize);
            let bounds = (Bound::Excluded(low), Bound::Included(low + above));
            for descending in [false, true] {
                let mut found = Vec::new();
                let range = (Bound::Excluded(key(low)), Bound::Included(key(low + above)));
                table.collect(Which::Primary, range, descending, limit, &mut found);
                let mut expected: Vec<u32> = plain.range(bounds).map(|(_, &vid)| vid).collect();
                if descending {
                    expected.reverse();
                }
                expected.truncate(limit);
                assert!(
                    found.iter().map(|entry| entry.1).eq(expected),
                    "step {step}, {descending}"
                );
            }
        }
    }
    /// Entries before and behind it come and go, whole leaves at a time; the one that stays is
    /// found from both ends.
    #[test]
    fn a_range_finds_what_stays_while_others_come_and_go() {
        let schema = Schema::builder("t").column("id", Type::Int64).primary_key(&["id"]);
        let table = Table::new(0, 0, schema.build().unwrap(), &Options::small()).unwrap();
        let key = |id: i64| table.schema().primary().key(&id).unwrap();
        let index = table.index(Which::Primary);
        index.insert_sync(key(0), 7).unwrap();
        let come_and_go = &|first: i64| {
            (first..first + 50).for_each(|id| drop(index.insert_sync(key(id), 8)));
            (first..first + 50).for_each(|id| assert!(index.remove_sync(&key(id))));
        };
        let looking = AtomicBool::new(true);
        let missed = std::thread::scope(|scope| {
            for first in [-50, 1] {
                let looking = &looking;
                scope.spawn(move || {
                    while looking.load(Ordering::Relaxed) {
                        come_and_go(first);
                    }
                });
            }
            let missed = (0..200_000).find(|round| {
                let (all, mut found) = (IndexKey::from_bytes(&[]).., Vec::new());
                table.collect(Which::Primary, all, round % 2 == 1, 200, &mut found);
                !found.contains(&(key(0), 7))
            });
            looking.store(false, Ordering::Relaxed);
            missed
        });
        assert_eq!(missed, None, "the round in which it was not found");
    }
}
