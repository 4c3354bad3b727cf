// SPDX-License-Identifier: MIT OR Apache-2.0
//! Look-ups by the host's own threads, word by word and without locks: the same slots, the same confirmation.

use crate::link::Link;
use crate::memory::HostMemory;
use crate::object::{Look, Pointer, fits, look, value_in_slot, value_out_of_line};
use crate::slot::{LINE_WORDS, MOST_INLINE_BYTES, Meta, SlotLayout};
use crate::walk::{Node, Walk};

/// The largest slot.
const MOST_WORDS: usize = SlotLayout::for_values_of(MOST_INLINE_BYTES).words();

/// More rows of slots than any chain has: a walk that takes as many went in circles, over links that changed.
const MOST_NODES: u32 = 1 << 20;

/// What a reading of all places has shown.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Reading {
    /// Sum of the slots' stamps, modulo 2³², and a mix of the links, which have stamps of their own.
    stamps: u32,
    links: u64,
    disturbed: bool,
}

/// What look-ups without a lock have come to.
pub(crate) enum Seen {
    /// The object's version, or its bucket's.
    Version(u64),
    Absent,
    /// Each reading met with a write.
    Disturbed,
}

/// How many readings to take before a lock. A writer that has been interrupted does not go on meanwhile.
const MOST_READINGS: u32 = if cfg!(loom) { 2 } else { 100 };

/// Looks a key up without a lock, and copies its value.
#[inline]
pub(crate) fn get<W: Walk, M: HostMemory>(
    walk: &W,
    memory: &M,
    key: u64,
    value: &mut Vec<u8>,
) -> Seen {
    // Most keys that are asked for are there: the first reading looks at keys alone.
    match find::<_, _, false, false>(walk, memory, key, value).0 {
        Some(version) => Seen::Version(version),
        None => confirm(walk, memory, key, value),
    }
}

#[inline(never)]
fn confirm<W: Walk, M: HostMemory>(walk: &W, memory: &M, key: u64, value: &mut Vec<u8>) -> Seen {
    let mut before = None;
    for _ in 0..MOST_READINGS {
        match find::<_, _, true, false>(walk, memory, key, value) {
            (Some(version), _) => return Seen::Version(version),
            (None, now) if before == Some(now) && !now.disturbed => return Seen::Absent,
            (None, now) => before = Some(now),
        }
    }
    Seen::Disturbed
}

/// Looks a key up in memory at rest.
#[cold]
pub(crate) fn get_at_rest<W: Walk, M: HostMemory>(
    walk: &W,
    memory: &M,
    key: u64,
    value: &mut Vec<u8>,
) -> Option<u64> {
    find::<_, _, false, true>(walk, memory, key, value).0
}

/// One reading; with its stamps when `COUNTED`. `AT_REST`: nobody writes.
#[inline]
fn find<W: Walk, M: HostMemory, const COUNTED: bool, const AT_REST: bool>(
    walk: &W,
    memory: &M,
    key: u64,
    value: &mut Vec<u8>,
) -> (Option<u64>, Reading) {
    let mut reading = Reading { stamps: 0, links: 0, disturbed: false };
    let size = walk.ground().layout.words();
    let mut node = walk.first(key);
    for _ in 0..MOST_NODES {
        for at in (0..node.count).map(|slot| node.slots + slot * size) {
            let meta = if COUNTED { Meta(memory.load(at)) } else { Meta::default() };
            reading.stamps = reading.stamps.wrapping_add(meta.stamp());
            reading.disturbed |= meta.is_being_written();
            let other = memory.load(at + 1);
            if other == key {
                match read_object::<_, _, AT_REST>(walk, memory, key, at, value) {
                    Some(version) => return (Some(version), reading),
                    None => reading.disturbed |= COUNTED && Meta(memory.load(at)).is_used(),
                }
            }
            if walk.has_ends() {
                let used = Meta(memory.load(at)).is_used();
                if walk.ends_at(key, used.then_some(other)) {
                    return (None, reading);
                }
            }
        }
        match next_node(walk, memory, &node, &mut reading.links) {
            Some(next) => node = next,
            None => return (None, reading),
        }
    }
    reading.disturbed = true;
    (None, reading)
}

#[inline]
fn next_node<W: Walk, M: HostMemory>(
    walk: &W,
    memory: &M,
    node: &Node,
    links: &mut u64,
) -> Option<Node> {
    let Some(link) = node.link else { return walk.adjacent(node) };
    let link = memory.load(link);
    // Links only matter when they differ, and each change of one is a growth of its stamp.
    *links = links.rotate_left(1).wrapping_add(link);
    walk.behind(Link(link))
}

/// The object in the slot at word `at`, if it is there and not being written; its version. Of a bucket whose header is
/// locked only who has come to rest can say it: a writer may have put a new value beside the old version.
#[inline]
fn read_object<W: Walk, M: HostMemory, const AT_REST: bool>(
    walk: &W,
    memory: &M,
    key: u64,
    at: usize,
    value: &mut Vec<u8>,
) -> Option<u64> {
    let header = walk.header(key).map(|word| (word, memory.load(word)));
    if header.is_some_and(|(_, header)| header & 1 == 1) && !AT_REST {
        return None;
    }
    let ground = walk.ground();
    let mut words = [0; MOST_WORDS];
    let slot = &mut words[..ground.layout.words()];
    copy_lines(memory, at, slot)?;
    let Look::Match(meta) = look(slot, key) else { return None };
    if !fits(ground.layout, meta) {
        return None;
    }
    if meta.is_pointer() {
        read_value(walk, memory, key, meta, Pointer::of_word(slot[2]), value)?;
    } else {
        value_in_slot(slot, value);
    }
    match header {
        None => Some(meta.version() as u64),
        Some((word, header)) => (memory.load(word) == header).then_some(header >> 1),
    }
}

fn read_value<W: Walk, M: HostMemory>(
    walk: &W,
    memory: &M,
    key: u64,
    meta: Meta,
    pointer: Pointer,
    value: &mut Vec<u8>,
) -> Option<()> {
    let ground = walk.ground();
    if pointer.line as u64 + pointer.lines() as u64 > ground.heap_lines as u64 {
        return None;
    }
    let mut lines = vec![0; pointer.lines() as usize * LINE_WORDS];
    copy_lines(memory, ground.heap + pointer.line as usize * LINE_WORDS, &mut lines)?;
    value_out_of_line(&lines, key, meta.version(), pointer, value).then_some(())
}

/// Copies words, and says nothing if one of the parts was written meanwhile.
#[inline]
fn copy_lines<M: HostMemory>(memory: &M, at: usize, words: &mut [u64]) -> Option<()> {
    for (part, words) in words.chunks_mut(LINE_WORDS).enumerate() {
        let start = at + part * LINE_WORDS;
        for (word, value) in words.iter_mut().enumerate() {
            *value = memory.load(start + word);
        }
        // The loads above acquire, so this one is the last.
        if memory.load(start) != words[0] {
            return None;
        }
    }
    Some(())
}
