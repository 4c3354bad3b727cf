// SPDX-License-Identifier: MIT OR Apache-2.0
//! An operation of the host while its list is made.

use crate::error::TableError;
use crate::extents::Extents;
use crate::memory::HostMemory;

use crate::object::{Image, Pointer, write_out_of_line};
use crate::primitive::{Mutex, lock};
use crate::slot::{LINE_WORDS, Meta};
use crate::stores::Stores;
use crate::walk::Ground;

/// What is free of the overflow area and of the heap.
#[derive(Debug)]
pub(crate) struct Spare {
    overflow: Extents,
    heap: Extents,
    /// The last ticket of a write to the heap.
    ticket: u64,
}

impl Spare {
    pub(crate) fn new(overflow: u32, heap_lines: u32) -> Self {
        Spare { overflow: Extents::new(overflow), heap: Extents::new(heap_lines), ticket: 0 }
    }

    /// Units of the overflow area and lines of the heap that are taken.
    pub(crate) fn taken(&self) -> (u64, u64) {
        (self.overflow.taken() as u64, self.heap.taken() as u64)
    }

    fn area(&mut self, area: Area) -> &mut Extents {
        match area {
            Area::Overflow => &mut self.overflow,
            Area::Heap => &mut self.heap,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Area {
    Overflow,
    Heap,
}

/// A copy list in the making, and what it takes and gives back.
///
/// What it took comes back when the operation fails. What it frees is free only after the stores: until then
/// it is read, and still written.
#[derive(Debug)]
pub struct Job<'a, M> {
    ground: Ground,
    memory: &'a M,
    spare: &'a Mutex<Spare>,
    stores: Stores,
    taken: Vec<(Area, u32, u32)>,
    freed: Vec<(Area, u32, u32)>,
}

impl<'a, M: HostMemory> Job<'a, M> {
    pub(crate) fn new(ground: Ground, memory: &'a M, spare: &'a Mutex<Spare>) -> Self {
        Job {
            ground,
            memory,
            spare,
            stores: Stores::with_room(),
            taken: Vec::new(),
            freed: Vec::new(),
        }
    }

    pub(crate) fn carry_out(mut self) {
        self.stores.carry_out(self.memory);
        self.taken = std::mem::take(&mut self.freed);
    }

    /// A word as it is before the operation.
    pub(crate) fn load(&self, word: usize) -> u64 {
        self.memory.load(word)
    }

    pub(crate) fn is_used(&self, slot: usize) -> bool {
        Meta(self.load(slot)).is_used()
    }

    /// The key in a slot that is used.
    pub(crate) fn key(&self, slot: usize) -> u64 {
        self.load(slot + 1)
    }

    pub(crate) fn store(&mut self, word: usize, value: u64) {
        self.stores.push(word, value);
    }

    pub(crate) fn write(&mut self, slot: usize, image: &Image<'_>) {
        self.stores.write_slot(self.memory, self.ground.layout, slot, |word| image.word(word));
    }

    /// Copies the object of a slot that has not been written yet.
    pub(crate) fn copy(&mut self, from: usize, to: usize) {
        let memory = self.memory;
        self.stores.write_slot(memory, self.ground.layout, to, |word| memory.load(from + word));
    }

    pub(crate) fn clear(&mut self, slot: usize) {
        self.stores.clear_slot(self.memory, slot);
    }

    /// A new content for a slot; a value that does not fit into it is written out of line.
    pub(crate) fn image<'v>(
        &mut self,
        key: u64,
        version: u32,
        value: &'v [u8],
    ) -> Result<Image<'v>, TableError> {
        if value.len() <= self.ground.layout.value_bytes() {
            return Ok(Image { key, version, value, pointer: None });
        }
        let mut pointer = Pointer { line: 0, length: value.len() as u32 };
        pointer.line = self.take(Area::Heap, key, pointer.lines())?;
        let ticket = {
            let mut spare = lock(self.spare);
            spare.ticket += 2;
            spare.ticket
        };
        let image = Image { key, version, value, pointer: Some(pointer) };
        let to = self.ground.heap + pointer.line as usize * LINE_WORDS;
        write_out_of_line(&mut self.stores, to, ticket, &image);
        Ok(image)
    }

    /// Frees the value of the object in a slot, if it lies out of line.
    pub(crate) fn free_value(&mut self, slot: usize) {
        if Meta(self.load(slot)).is_pointer() {
            let pointer = Pointer::of_word(self.load(slot + 2));
            self.freed.push((Area::Heap, pointer.line, pointer.lines()));
        }
    }

    /// Takes units of the overflow area.
    pub(crate) fn take_overflow(&mut self, key: u64, units: u32) -> Result<u32, TableError> {
        self.take(Area::Overflow, key, units)
    }

    pub(crate) fn free_overflow(&mut self, place: u32, units: u32) {
        self.freed.push((Area::Overflow, place, units));
    }

    fn take(&mut self, area: Area, key: u64, wanted: u32) -> Result<u32, TableError> {
        let mut spare = lock(self.spare);
        let extents = spare.area(area);
        let what = match area {
            Area::Overflow => "overflow slots",
            Area::Heap => "lines of the heap",
        };
        let full = TableError::Full { key, what, wanted, capacity: extents.capacity() };
        let place = extents.take(wanted).ok_or(full)?;
        self.taken.push((area, place, wanted));
        Ok(place)
    }
}

impl<M> Drop for Job<'_, M> {
    fn drop(&mut self) {
        if !self.taken.is_empty() {
            let mut spare = lock(self.spare);
            for (area, place, units) in self.taken.drain(..) {
                spare.area(area).give(place, units);
            }
        }
    }
}
