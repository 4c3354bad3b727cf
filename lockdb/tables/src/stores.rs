// SPDX-License-Identifier: MIT OR Apache-2.0
//! The copy list: what an operation of the host is going to store, word by word.

use crate::memory::HostMemory;
use crate::mutant::{Mutant, planted};
use crate::slot::{LINE_WORDS, Meta, SlotLayout};

/// A store of one word.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Store {
    /// Number of the word.
    pub word: usize,
    /// Its new value.
    pub value: u64,
}

/// Stores in the order in which they are carried out. The list is made while the memory is at rest, under the
/// locks of the operation, and writes each slot at most once.
///
/// Source: Xenic, section 4.1.2, "DMA-consistent swapping".
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Stores {
    list: Vec<Store>,
}

impl Stores {
    /// The stores.
    pub fn list(&self) -> &[Store] {
        &self.list
    }

    /// Carries them out.
    pub fn carry_out(&self, memory: &impl HostMemory) {
        for store in &self.list {
            memory.store(store.word, store.value);
        }
    }

    /// An empty list with room for the stores of most operations.
    pub(crate) fn with_room() -> Self {
        Stores { list: Vec::with_capacity(64) }
    }

    #[inline]
    pub(crate) fn push(&mut self, word: usize, value: u64) {
        self.list.push(Store { word, value });
    }

    /// Writes the slot at word `to` with the words of `image`, whose meta word has any stamp: part after part
    /// an odd stamp, the other words, the even stamp.
    #[inline]
    pub(crate) fn write_slot(
        &mut self,
        memory: &impl HostMemory,
        layout: SlotLayout,
        to: usize,
        image: impl Fn(usize) -> u64,
    ) {
        let old = Meta(memory.load(to));
        let meta = Meta(image(0)).with_stamp(old.stamp() + 2);
        for part in (0..layout.words()).step_by(LINE_WORDS) {
            let end = (part + LINE_WORDS).min(layout.words());
            self.push(to + part, meta.with_stamp(old.stamp() + 1).0);
            if planted(Mutant::EvenStampFirst) {
                self.push(to + part, meta.0);
            }
            for word in part + 1..end {
                self.push(to + word, image(word));
            }
            self.push(to + part, meta.0);
        }
    }

    /// Empties the slot at word `at`. One store does it: the other words of an empty slot say nothing.
    pub(crate) fn clear_slot(&mut self, memory: &impl HostMemory, at: usize) {
        let stamp = Meta(memory.load(at)).stamp() + 2;
        let stamp = if planted(Mutant::StampResetOnEmpty) { 0 } else { stamp };
        self.push(at, Meta::default().with_stamp(stamp).0);
    }
}
