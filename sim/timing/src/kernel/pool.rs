// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of all buckets: chunks of a few events each, linked by number.
//!
//! A bucket is a list of chunks, the last one first. Emptied chunks are used again, the latest first, so
//! that few lines of the cache see all the traffic, and nothing is allocated once there were as many
//! chunks as a run needs.

use std::hint::select_unpredictable;

/// Events of a chunk. A bucket seldom has more; one with so few is sorted without a branch. With 4 or 8, bursts
/// of 25,000 events were a fifth to a half slower.
pub(super) const CHUNK: usize = 16;

/// No chunk: the one before that of place 0.
const NONE: u32 = u32::MAX / CHUNK as u32;

/// A bucket: the place behind its last event, or 0 when it is empty.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bucket(u32);

impl Bucket {
    pub const EMPTY: Bucket = Bucket(0);

    pub fn is_empty(self) -> bool {
        self == Self::EMPTY
    }

    /// Whether no chunk has room.
    fn is_full(self) -> bool {
        self.0.is_multiple_of(CHUNK as u32)
    }

    /// The last chunk, or `NONE`.
    pub fn last(self) -> u32 {
        self.0.wrapping_sub(1) / CHUNK as u32
    }

    /// Events of the last chunk of a bucket that is not empty.
    pub fn len_of_last(self) -> usize {
        (self.0 as usize - 1) % CHUNK + 1
    }
}

struct Item<E> {
    key: u32,
    event: Option<E>,
}

pub(super) struct Pool<E> {
    /// Of all chunks.
    items: Vec<Item<E>>,
    /// The chunk before each one in its bucket, or behind it among the emptied ones.
    links: Vec<u32>,
    /// The first of the emptied chunks. There is always one.
    free: u32,
}

impl<E> Pool<E> {
    pub fn with_capacity(chunks: usize) -> Self {
        let (items, links) = (Vec::with_capacity(chunks * CHUNK), Vec::with_capacity(chunks));
        let mut pool = Pool { items, links, free: NONE };
        pool.grow();
        pool
    }

    /// Puts an event at the end of a bucket.
    ///
    /// No branch asks whether the last chunk has room: with delays of many lengths it would go either way.
    #[inline]
    pub fn push(&mut self, bucket: &mut Bucket, key: u32, event: E) {
        let (new, full) = (self.free, bucket.is_full());
        let link = &mut self.links[new as usize];
        let behind = *link;
        *link = select_unpredictable(full, bucket.last(), behind);
        self.free = select_unpredictable(full, behind, new);
        let place = select_unpredictable(full, Self::place(new), bucket.0);
        self.items[place as usize] = Item { key, event: Some(event) };
        *bucket = Bucket(place + 1);
        if self.free == NONE {
            self.grow();
        }
    }

    /// One more emptied chunk, when there is none.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.free = self.links.len() as u32;
        assert!(self.free < NONE, "2^28 chunks of events are pending");
        self.links.push(NONE);
        self.items.extend((0..CHUNK).map(|_| Item { key: 0, event: None }));
    }

    /// The chunks of a bucket, the last one first.
    pub fn chunks(&self, bucket: Bucket) -> impl Iterator<Item = u32> {
        let some = |chunk: u32| (chunk != NONE).then_some(chunk);
        std::iter::successors(some(bucket.last()), move |&chunk| some(self.before(chunk)))
    }

    /// The chunk before this one of a bucket, or `NONE`.
    fn before(&self, chunk: u32) -> u32 {
        self.links[chunk as usize]
    }

    /// Whether a bucket that is not empty is one chunk.
    #[inline]
    pub fn is_one_chunk(&self, bucket: Bucket) -> bool {
        self.before(bucket.last()) == NONE
    }

    /// Whether a bucket that is not empty has one event.
    #[inline]
    pub fn is_single(&self, bucket: Bucket) -> bool {
        bucket.len_of_last() == 1 && self.is_one_chunk(bucket)
    }

    /// The keys of a chunk by place, also of places without an event.
    #[inline]
    pub fn keys(&self, chunk: u32) -> [u32; CHUNK] {
        let first = Self::place(chunk) as usize;
        let items = &self.items[first..first + CHUNK];
        std::array::from_fn(|index| items[index].key)
    }

    /// The key and the event at a place, which has one.
    #[inline]
    pub fn take(&mut self, place: u32) -> (u32, E) {
        let Item { key, event } = &mut self.items[place as usize];
        (*key, event.take().expect("an event is taken once"))
    }

    /// The first event of the last chunk of a bucket that is not empty, if it was not taken.
    #[inline]
    pub fn some_of(&self, bucket: Bucket) -> Option<&E> {
        self.items[Self::place(bucket.last()) as usize].event.as_ref()
    }

    /// The first place of a chunk.
    pub fn place(chunk: u32) -> u32 {
        chunk * CHUNK as u32
    }

    /// A chunk whose events were all taken may be used again.
    #[inline]
    pub fn free(&mut self, chunk: u32) {
        self.links[chunk as usize] = std::mem::replace(&mut self.free, chunk);
    }

    /// The least key of a bucket that is not empty, of the bits of a mask.
    pub fn least(&self, bucket: Bucket, mask: u32) -> u32 {
        let lens = std::iter::once(bucket.len_of_last()).chain(std::iter::repeat(CHUNK));
        let chunks = self.chunks(bucket).zip(lens);
        let keys = chunks.flat_map(|(chunk, len)| self.keys(chunk).into_iter().take(len));
        keys.map(|key| key & mask).min().expect("a bucket with events")
    }
}
