// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory of all buckets: chunks of a few events each, linked by number.
//!
//! A bucket is a ring of chunks, known by its last one, whose link leads to the first. Emptied chunks
//! are used again, the latest first, so that few lines of the cache see all the traffic, and nothing
//! is allocated once there were as many chunks as a run needs.

/// Events of a chunk. A bucket seldom has more; one with so few is sorted without a branch. With 8, a
/// third of the rate was lost at 4000 pending, where many buckets have 9 to 16.
pub(super) const CHUNK: usize = 16;

/// No chunk.
const NONE: u32 = u32::MAX;

/// A bucket: its last chunk, or none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Bucket(u32);

impl Bucket {
    pub const EMPTY: Bucket = Bucket(NONE);

    pub fn is_empty(self) -> bool {
        self == Self::EMPTY
    }
}

pub(super) struct Chunk<E> {
    next: u32,
    len: u32,
    items: [Item<E>; CHUNK],
}

struct Item<E> {
    key: u32,
    event: Option<E>,
}

impl<E> Chunk<E> {
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// The keys, each with its place.
    pub fn keys(&self) -> impl Iterator<Item = u32> {
        self.items[..self.len()].iter().map(|item| item.key)
    }

    /// The first event, if it was not taken.
    pub fn first(&self) -> Option<&E> {
        self.items[0].event.as_ref()
    }

    /// The key and the event at a place, which has one.
    pub fn take(&mut self, place: usize) -> (u32, E) {
        let Item { key, event } = &mut self.items[place];
        (*key, event.take().expect("an event is taken once"))
    }

    fn put(&mut self, key: u32, event: E) {
        let place = self.len as usize;
        self.items[place] = Item { key, event: Some(event) };
        self.len += 1;
    }
}

pub(super) struct Pool<E> {
    chunks: Vec<Chunk<E>>,
    /// The first of the emptied chunks.
    free: u32,
}

impl<E> Pool<E> {
    pub fn with_capacity(chunks: usize) -> Self {
        Pool { chunks: Vec::with_capacity(chunks), free: NONE }
    }

    /// Puts an event at the end of a bucket.
    #[inline]
    pub fn push(&mut self, bucket: &mut Bucket, key: u32, event: E) {
        if !bucket.is_empty() {
            let chunk = &mut self.chunks[bucket.0 as usize];
            if chunk.len() < CHUNK {
                return chunk.put(key, event);
            }
        }
        self.append(bucket).put(key, event);
    }

    /// One more chunk at the end of a bucket.
    fn append(&mut self, bucket: &mut Bucket) -> &mut Chunk<E> {
        let new = match self.free {
            NONE => {
                let items = [const { Item { key: 0, event: None } }; CHUNK];
                self.chunks.push(Chunk { next: NONE, len: 0, items });
                u32::try_from(self.chunks.len() - 1).expect("fewer than 2^32 chunks of events")
            }
            free => {
                self.free = self.chunks[free as usize].next;
                free
            }
        };
        let first = match *bucket {
            Bucket::EMPTY => new,
            Bucket(last) => std::mem::replace(&mut self.chunks[last as usize].next, new),
        };
        *bucket = Bucket(new);
        let chunk = &mut self.chunks[new as usize];
        (chunk.next, chunk.len) = (first, 0);
        chunk
    }

    /// The first of the chunks of a bucket that is not empty.
    pub fn first(&self, bucket: Bucket) -> u32 {
        self.chunks[bucket.0 as usize].next
    }

    /// The chunk behind this one of a bucket.
    pub fn next(&self, bucket: Bucket, chunk: u32) -> Option<u32> {
        (chunk != bucket.0).then(|| self.chunks[chunk as usize].next)
    }

    pub fn chunk(&self, chunk: u32) -> &Chunk<E> {
        &self.chunks[chunk as usize]
    }

    pub fn chunk_mut(&mut self, chunk: u32) -> &mut Chunk<E> {
        &mut self.chunks[chunk as usize]
    }

    /// Whether a bucket that is not empty is one chunk.
    pub fn is_one_chunk(&self, bucket: Bucket) -> bool {
        self.first(bucket) == bucket.0
    }

    /// The least key of a bucket that is not empty.
    pub fn least(&self, bucket: Bucket) -> u32 {
        let mut least = u32::MAX;
        let mut next = Some(self.first(bucket));
        while let Some(number) = next {
            let chunk = self.chunk(number);
            least = chunk.keys().fold(least, u32::min);
            next = self.next(bucket, number);
        }
        least
    }

    /// A chunk whose events were all taken may be used again.
    pub fn free(&mut self, chunk: u32) {
        self.chunks[chunk as usize].next = std::mem::replace(&mut self.free, chunk);
    }
}
