// SPDX-License-Identifier: MIT OR Apache-2.0
//! A set-associative array with least-recently-used replacement.

/// No line: the tag of an empty way.
const EMPTY: u32 = u32::MAX;

/// Lines by number, each with a `T`.
///
/// Deterministic: the least recently touched line of a full set goes first.
pub(super) struct SetAssociative<T> {
    ways: usize,
    set_mask: usize,
    tags: Vec<u32>,
    touched: Vec<u64>,
    contents: Vec<T>,
    clock: u64,
}

/// What [`SetAssociative::insert`] had to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Inserted<T> {
    /// A way was free.
    Free,
    /// This line had to go.
    Replaced(u32, T),
    /// No line of the set may go; nothing was inserted.
    NoRoom,
}

impl<T: Copy + Default> SetAssociative<T> {
    /// An empty array for `bytes` of 64-byte lines. The platform has checked that they
    /// make a power of two of sets.
    pub(super) fn new(bytes: u64, ways: u32) -> Self {
        let lines = (bytes / 64) as usize;
        let sets = lines / ways as usize;
        assert!(sets.is_power_of_two(), "{sets} sets, expected a power of two");
        SetAssociative {
            ways: ways as usize,
            set_mask: sets - 1,
            tags: vec![EMPTY; lines],
            touched: vec![0; lines],
            contents: vec![T::default(); lines],
            clock: 0,
        }
    }

    fn first_way(&self, line: u32) -> usize {
        (line as usize & self.set_mask) * self.ways
    }

    fn position(&self, line: u32) -> Option<usize> {
        let first = self.first_way(line);
        let set = &self.tags[first..first + self.ways];
        set.iter().position(|tag| *tag == line).map(|way| first + way)
    }

    /// Looks without counting as a use.
    pub(super) fn peek(&self, line: u32) -> Option<&T> {
        self.position(line).map(|position| &self.contents[position])
    }

    /// Looks, counting as a use.
    pub(super) fn touch(&mut self, line: u32) -> Option<&mut T> {
        let position = self.position(line)?;
        self.clock += 1;
        self.touched[position] = self.clock;
        Some(&mut self.contents[position])
    }

    /// Takes `line` out.
    pub(super) fn remove(&mut self, line: u32) -> Option<T> {
        let position = self.position(line)?;
        self.tags[position] = EMPTY;
        Some(self.contents[position])
    }

    /// Puts `line` in, which is not there yet; no line that is `pinned` goes for it.
    pub(super) fn insert(
        &mut self,
        line: u32,
        content: T,
        pinned: impl Fn(u32) -> bool,
    ) -> Inserted<T> {
        debug_assert!(self.peek(line).is_none(), "line {line} is in the cache already");
        let first = self.first_way(line);
        let set = first..first + self.ways;
        let free = set.clone().find(|way| self.tags[*way] == EMPTY);
        let chosen = free.or_else(|| {
            set.filter(|way| !pinned(self.tags[*way])).min_by_key(|way| self.touched[*way])
        });
        let Some(way) = chosen else {
            return Inserted::NoRoom;
        };
        let (old_tag, old) = (self.tags[way], self.contents[way]);
        self.clock += 1;
        self.tags[way] = line;
        self.touched[way] = self.clock;
        self.contents[way] = content;
        if old_tag == EMPTY { Inserted::Free } else { Inserted::Replaced(old_tag, old) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_unless_pinned() {
        // Two sets of two ways; even lines share set 0.
        let mut cache = SetAssociative::new(256, 2);
        assert_eq!(cache.insert(0, 'a', |_| false), Inserted::Free);
        assert_eq!(cache.insert(2, 'b', |_| false), Inserted::Free);
        assert_eq!(cache.insert(1, 'c', |_| false), Inserted::Free);
        cache.touch(0);
        assert_eq!(cache.insert(4, 'd', |_| false), Inserted::Replaced(2, 'b'));
        assert_eq!(cache.insert(6, 'e', |line| line == 0), Inserted::Replaced(4, 'd'));
        assert_eq!(cache.insert(8, 'f', |_| true), Inserted::NoRoom);
        assert_eq!(cache.remove(0), Some('a'));
        assert_eq!(cache.insert(8, 'f', |_| true), Inserted::Free);
        assert_eq!(cache.peek(1), Some(&'c'));
    }
}
