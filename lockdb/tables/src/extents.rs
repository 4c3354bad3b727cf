// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which pieces of an area are free.

use std::collections::{BTreeMap, BTreeSet};

/// The free pieces of an area of `capacity` units. Neighbours are joined.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    capacity: u32,
    taken: u32,
    /// Length of each free piece by its place.
    by_place: BTreeMap<u32, u32>,
    /// The same pieces as length and place.
    by_length: BTreeSet<(u32, u32)>,
}

impl Extents {
    pub(crate) fn new(capacity: u32) -> Self {
        let mut extents =
            Extents { capacity, taken: 0, by_place: BTreeMap::new(), by_length: BTreeSet::new() };
        extents.add(0, capacity);
        extents
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Units that are not free.
    pub(crate) fn taken(&self) -> u32 {
        self.taken
    }

    /// Takes `length` units in a row: the first of the shortest piece that is long enough.
    pub(crate) fn take(&mut self, length: u32) -> Option<u32> {
        let &(found, place) = self.by_length.range((length, 0)..).next()?;
        self.drop_piece(place, found);
        self.add(place + length, found - length);
        self.taken += length;
        Some(place)
    }

    /// Gives them back.
    pub(crate) fn give(&mut self, place: u32, length: u32) {
        self.taken -= length;
        let (mut from, mut to) = (place, place + length);
        if let Some((&before, &its)) = self.by_place.range(..place).next_back()
            && before + its == place
        {
            self.drop_piece(before, its);
            from = before;
        }
        if let Some(&its) = self.by_place.get(&to) {
            self.drop_piece(to, its);
            to += its;
        }
        self.add(from, to - from);
    }

    fn add(&mut self, place: u32, length: u32) {
        if length > 0 {
            self.by_place.insert(place, length);
            self.by_length.insert((length, place));
        }
    }

    fn drop_piece(&mut self, place: u32, length: u32) {
        self.by_place.remove(&place);
        self.by_length.remove(&(length, place));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_split_and_joined() {
        let mut extents = Extents::new(8);
        let [a, b, c] = [1, 2, 4].map(|length| extents.take(length).unwrap());
        assert_eq!((extents.taken(), extents.take(2)), (7, None));
        extents.give(a, 1);
        extents.give(c, 4);
        extents.give(b, 2);
        assert_eq!((extents.taken(), extents.take(8)), (0, Some(0)));
    }
}
