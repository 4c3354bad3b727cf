// SPDX-License-Identifier: MIT OR Apache-2.0
//! Words that threads share as real atomics.

use super::{HostMemory, RemoteMemory, UNREADABLE};
use crate::primitive::{AtomicU64, Ordering, prefetch};
use crate::slot::LINE_WORDS;
use std::fmt::Debug;
use std::ptr::NonNull;

/// A cache line of words.
#[derive(Debug)]
#[repr(align(64))]
struct Line([AtomicU64; LINE_WORDS]);

/// How often a reader tries to catch a line at rest.
const MOST_TRIES: usize = if cfg!(loom) { 2 } else { 64 };

/// Logarithm of the bytes of a huge page.
#[cfg(not(any(loom, miri)))]
const LOG_HUGE_PAGE: u8 = 21;

/// Words of this process, or of a file that several processes map.
#[derive(Debug)]
pub struct AtomicMemory {
    /// The first of `count` lines. Invariant: they lie in the memory of `_owner`, which keeps it in its place.
    lines: NonNull<Line>,
    count: usize,
    huge_pages: bool,
    _owner: Box<dyn Debug + Send + Sync>,
}

// SAFETY: the lines are reached through `lines()` alone, as shared references to atomics, which are `Sync`;
// their owner is `Send`.
unsafe impl Send for AtomicMemory {}
// SAFETY: as above; the owner is `Sync`, too.
unsafe impl Sync for AtomicMemory {}

impl AtomicMemory {
    /// At least `words` words of 0 on the heap, in whole lines.
    pub fn allocated(words: usize) -> Self {
        let count = words.div_ceil(LINE_WORDS);
        let line = || Line(std::array::from_fn(|_| AtomicU64::new(0)));
        let owner: std::sync::Arc<[Line]> = (0..count).map(|_| line()).collect();
        let lines = NonNull::from(&*owner).cast();
        AtomicMemory { lines, count, huge_pages: false, _owner: Box::new(owner) }
    }

    /// At least `words` words of 0 in a mapping of their own, in huge pages when the system has any reserved;
    /// else the system is asked to make some of its own accord.
    ///
    /// # Errors
    /// When the system refuses the mapping; when no address space has so many words.
    #[cfg(not(any(loom, miri)))]
    pub fn mapped(words: usize) -> std::io::Result<Self> {
        let lines = words.div_ceil(LINE_WORDS).max(1);
        let bytes =
            lines.checked_mul(size_of::<Line>()).filter(|&bytes| bytes <= isize::MAX as usize);
        let bytes = bytes.ok_or_else(|| {
            let message = format!("{words} words, expected at most 2^60 - 1");
            std::io::Error::new(std::io::ErrorKind::InvalidInput, message)
        })?;
        let mut options = memmap2::MmapOptions::new();
        // A mapping of huge pages is only given back when its length is theirs.
        let huge = bytes.next_multiple_of(1 << LOG_HUGE_PAGE);
        let (map, huge_pages) = match options.huge(Some(LOG_HUGE_PAGE)).len(huge).map_anon() {
            Ok(map) => (map, true),
            Err(_) => {
                let map = memmap2::MmapOptions::new().len(bytes).map_anon()?;
                let asked = map.advise(memmap2::Advice::HugePage).is_ok();
                (map, asked)
            }
        };
        Ok(Self::over(map.into(), huge_pages))
    }

    /// The words of a file, in whole lines, shared with every process that maps it. No process may shorten the
    /// file while it is mapped: the system ends a process that touches what is no longer there.
    ///
    /// # Errors
    /// When the system refuses the mapping; when the file is shorter than a line.
    #[cfg(not(any(loom, miri)))]
    pub fn of_file(file: &std::fs::File) -> std::io::Result<Self> {
        let bytes = file.metadata()?.len();
        if bytes < size_of::<Line>() as u64 {
            let message = format!("the file has {bytes} bytes, expected at least a line of 64");
            return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, message));
        }
        Ok(Self::over(memmap2::MmapOptions::new().map_raw(file)?, false))
    }

    #[cfg(not(any(loom, miri)))]
    fn over(map: memmap2::MmapRaw, huge_pages: bool) -> Self {
        let count = map.len() / size_of::<Line>();
        let lines = NonNull::new(map.as_mut_ptr().cast()).expect("a mapping is not at address 0");
        AtomicMemory { lines, count, huge_pages, _owner: Box::new(map) }
    }

    /// Whether the memory is in huge pages, or the system was asked for them and agreed.
    pub fn has_huge_pages(&self) -> bool {
        self.huge_pages
    }

    /// Writes `new` if the word is `current`, and says what it was: `Err` when it was another.
    ///
    /// # Errors
    /// The word's value, when it was another.
    ///
    /// # Panics
    /// When there is no such word.
    #[inline]
    pub fn compare_exchange(&self, word: usize, current: u64, new: u64) -> Result<u64, u64> {
        let word = &self.lines()[word / LINE_WORDS].0[word % LINE_WORDS];
        word.compare_exchange(current, new, Ordering::AcqRel, Ordering::Acquire)
    }

    #[inline(always)]
    fn lines(&self) -> &[Line] {
        // SAFETY: by the invariant of `lines` there are so many, which live as long as `self`. They are aligned
        // (an array of lines, or pages) and initialised (by their maker, or by the system), and are only ever
        // touched as atomics, for which every bit pattern is valid; so others may change them.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr(), self.count) }
    }
}

impl HostMemory for AtomicMemory {
    fn words(&self) -> usize {
        self.count * LINE_WORDS
    }

    #[inline(always)]
    fn load(&self, word: usize) -> u64 {
        self.lines()[word / LINE_WORDS].0[word % LINE_WORDS].load(Ordering::Acquire)
    }

    #[inline(always)]
    fn store(&self, word: usize, value: u64) {
        self.lines()[word / LINE_WORDS].0[word % LINE_WORDS].store(value, Ordering::Release);
    }

    #[inline(always)]
    fn prefetch(&self, word: usize) {
        self.lines().get(word / LINE_WORDS).into_iter().for_each(prefetch);
    }
}

impl RemoteMemory for AtomicMemory {
    /// A line in which no word has changed between two readings was so at the instant between them: a slot or a
    /// link that is written changes its stamp, a line of the heap its ticket.
    ///
    /// The words are written from the first to the last and read so, so a second reading is needed. Its loads
    /// come after those of the first, which acquire.
    fn read_line(&self, line: usize) -> [u64; LINE_WORDS] {
        let read = || {
            let line = &self.lines()[line];
            std::array::from_fn(|word| line.0[word].load(Ordering::Acquire))
        };
        let mut last = read();
        for _ in 0..MOST_TRIES {
            let next = read();
            if next == last {
                return next;
            }
            last = next;
        }
        UNREADABLE
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::robin_hood::{RobinHood, Shape};
    use crate::{Hint, MOST_READINGS, RemoteTable, Search, Step, Table, Values, Walk, look_up};

    const SHAPE: Shape = Shape {
        slots: 30,
        limit: Some(4),
        segment: 4,
        overflow_slots: 40,
        values: Values { inline_bytes: 48, longest: 300, heap_lines: 200 },
    };

    #[test]
    fn all_ways_to_memory_give_words_of_0_that_keep_what_is_stored() {
        let memories = [AtomicMemory::allocated(9), AtomicMemory::mapped(9).unwrap()];
        for memory in memories {
            assert!(memory.words() >= 16 && memory.load(8) == 0);
            memory.store(8, 5);
            assert_eq!(memory.read_line(1), [5, 0, 0, 0, 0, 0, 0, 0]);
        }
    }

    /// As two processes have it: one writes a table, the other one reads it.
    #[test]
    fn a_file_is_shared_and_keeps_what_is_stored() {
        let file = tempfile::tempfile().unwrap();
        let error = AtomicMemory::of_file(&file).unwrap_err().to_string();
        assert_eq!(error, "the file has 0 bytes, expected at least a line of 64");
        let geometry = RobinHood::new(SHAPE).unwrap();
        let bytes = geometry.ground().words() as u64 * 8;
        // A line that is not whole is not used.
        file.set_len(bytes + 63).unwrap();
        let [host, reader] = [(); 2].map(|()| AtomicMemory::of_file(&file).unwrap());
        assert_eq!((host.words() as u64 * 8, host.has_huge_pages()), (bytes, false));
        let table = Table::new(geometry, host).unwrap();
        let look = |key| {
            let plan = Search::new(geometry, key, Hint::default(), MOST_READINGS);
            match look_up(&reader, plan).0 {
                Step::Found(found) => Some(found.value),
                Step::Absent => None,
                step => panic!("{step:?} without a writer"),
            }
        };
        (0..40).for_each(|key| table.insert(key, &[key as u8; 300][..key as usize * 7]).unwrap());
        (0..40).for_each(|key| assert_eq!(look(key), Some(vec![key as u8; key as usize * 7])));
        table.delete(7).unwrap();
        assert_eq!(look(7), None);
        drop(table);
        assert_eq!(look(8), Some(vec![8; 56]));
        // Whoever opens the file again can read it. Where it could be written on is not in it.
        let error = Table::new(geometry, AtomicMemory::of_file(&file).unwrap()).unwrap_err();
        assert_eq!(error.field, "first word that is not 0");
        assert_eq!(look(9), Some(vec![9; 63]));
    }

    #[test]
    fn a_file_that_may_not_be_written_is_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(64).unwrap();
        let reading = std::fs::File::open(file.path()).unwrap();
        assert!(AtomicMemory::of_file(&reading).is_err());
    }

    #[test]
    fn a_mapping_that_no_address_space_holds_is_refused() {
        for words in [usize::MAX, usize::MAX / 8, 1 << 61, 1 << 58] {
            assert!(AtomicMemory::mapped(words).is_err(), "{words} words");
        }
    }
}
