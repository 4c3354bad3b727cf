// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buckets of a fixed size in a chain: insertions and deletions, for all tables that have such.
//!
//! A slot that is free anywhere in the chain is taken; only a full chain grows. A bucket of the overflow area
//! leaves the chain with its last object. A reader that stands in it goes on from its link, which stays; that
//! the chain has changed, it sees by the links' stamps.

use crate::error::TableError;
use crate::job::Job;
use crate::link::Link;
use crate::memory::HostMemory;
use crate::object::Image;
use crate::table::Place;
use crate::walk::{Node, Walk};

/// Puts an object into the first free slot of its chain, or into a new bucket at the end. Says how many
/// objects more lie in overflow buckets.
pub(crate) fn place<W: Walk, M: HostMemory>(
    walk: &W,
    job: &mut Job<'_, M>,
    image: &Image<'_>,
) -> Result<i32, TableError> {
    let mut node = walk.first(image.key);
    for index in 0.. {
        if let Some(free) = slots(walk, &node).find(|&slot| !job.is_used(slot)) {
            job.write(free, image);
            return Ok((index > 0) as i32);
        }
        match walk.behind(link_of(job, &node).1) {
            Some(next) => node = next,
            None => break,
        }
    }
    let (word, link) = link_of(job, &node);
    let link = link.changed_to(Some((job.take_overflow(image.key, 1)?, 0)));
    let new = walk.behind(link).expect("it is in the overflow area");
    // The link is from an earlier life of the bucket.
    let (its_word, its_link) = link_of(job, &new);
    if its_link.bucket().is_some() {
        job.store(its_word, its_link.changed_to(None).0);
    }
    job.write(new.slots, image);
    job.store(word, link.0);
    Ok(1)
}

/// Takes an object out. Says how many objects more lie in overflow buckets.
pub(crate) fn remove<W: Walk, M: HostMemory>(
    walk: &W,
    job: &mut Job<'_, M>,
    key: u64,
    place: Place,
) -> i32 {
    job.clear(place.word);
    if place.node == 0 {
        return 0;
    }
    let mut before = walk.first(key);
    for _ in 1..place.node {
        before = walk.behind(link_of(job, &before).1).expect("the chain goes to the object");
    }
    let (word, link) = link_of(job, &before);
    let node = walk.behind(link).expect("the chain goes to the object");
    if slots(walk, &node).filter(|&slot| job.is_used(slot)).count() == 1 {
        let (bucket, _) = link.bucket().expect("the object lies behind it");
        job.store(word, link.changed_to(link_of(job, &node).1.bucket()).0);
        job.free_overflow(bucket, 1);
    }
    -1
}

/// The first words of the slots of a node.
pub(crate) fn slots<W: Walk>(walk: &W, node: &Node) -> impl Iterator<Item = usize> + use<W> {
    let (first, size) = (node.slots, walk.ground().layout.words());
    (0..node.count).map(move |slot| first + slot * size)
}

fn link_of<M: HostMemory>(job: &Job<'_, M>, node: &Node) -> (usize, Link) {
    let word = node.link.expect("each bucket of a chain has a link");
    (word, Link(job.load(word)))
}

/// Words before the slots of a bucket: the header, if any, and the link. Slots stay within their lines.
pub(crate) fn lead_words(slot_words: usize) -> usize {
    slot_words.min(crate::slot::LINE_WORDS)
}
