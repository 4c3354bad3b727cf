// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory that a table lies in: words of 8 bytes in lines of 64.
//!
//! | memory | host | remote reader |
//! |---|---|---|
//! | [`AtomicMemory`] | real atomics, shared by threads | eight loads, repeated until two agree |
//! | [`PlainMemory`] | plain words of one thread, for virtual time | a snapshot |
//! | [`LoggedMemory`] | plain words | sees only those stores that were let through |

mod atomic;

pub use atomic::AtomicMemory;

use crate::slot::LINE_WORDS;
use crate::stores::Store;
use std::cell::{Cell, RefCell};

/// What a reader gets in place of a line that it could not read at one instant. Each stamp in it is odd, each
/// ticket too, and each link is unreadable.
pub const UNREADABLE: [u64; LINE_WORDS] = [u64::MAX; LINE_WORDS];

/// The memory as the host's threads use it. Words are numbered from 0.
pub trait HostMemory {
    /// Number of words, a multiple of [`LINE_WORDS`].
    fn words(&self) -> usize;

    /// Reads a word. What was stored before the word's value was stored is seen by all later loads (acquire).
    ///
    /// # Panics
    /// When there is no such word.
    fn load(&self, word: usize) -> u64;

    /// Writes a word, after all that was loaded and stored before (release).
    ///
    /// # Panics
    /// When there is no such word.
    fn store(&self, word: usize, value: u64);

    /// Says that the word will be loaded soon.
    fn prefetch(&self, _word: usize) {}
}

/// The memory as a remote reader sees it.
pub trait RemoteMemory {
    /// Reads a line as it was at one instant, or [`UNREADABLE`] when it was written all the time.
    ///
    /// # Panics
    /// When there is no such line.
    fn read_line(&self, line: usize) -> [u64; LINE_WORDS];
}

/// Words of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlainMemory {
    words: Vec<Cell<u64>>,
}

impl PlainMemory {
    /// At least `words` words of 0, in whole lines.
    pub fn new(words: usize) -> Self {
        PlainMemory { words: vec![Cell::new(0); words.next_multiple_of(LINE_WORDS)] }
    }

    /// All words.
    pub fn to_vec(&self) -> Vec<u64> {
        self.words.iter().map(Cell::get).collect()
    }
}

impl HostMemory for PlainMemory {
    fn words(&self) -> usize {
        self.words.len()
    }

    #[inline]
    fn load(&self, word: usize) -> u64 {
        self.words[word].get()
    }

    #[inline]
    fn store(&self, word: usize, value: u64) {
        self.words[word].set(value);
    }
}

impl RemoteMemory for PlainMemory {
    fn read_line(&self, line: usize) -> [u64; LINE_WORDS] {
        std::array::from_fn(|word| self.words[line * LINE_WORDS + word].get())
    }
}

/// Plain words with a list of all stores in their order, which a simulation or a checker shows to remote
/// readers one by one ([`LoggedMemory::let_through`]), while the host is already done.
#[derive(Clone, Debug)]
pub struct LoggedMemory {
    host: PlainMemory,
    remote: PlainMemory,
    log: RefCell<Vec<Store>>,
    shown: Cell<usize>,
}

impl LoggedMemory {
    /// At least `words` words of 0, in whole lines.
    pub fn new(words: usize) -> Self {
        LoggedMemory {
            host: PlainMemory::new(words),
            remote: PlainMemory::new(words),
            log: RefCell::default(),
            shown: Cell::new(0),
        }
    }

    /// Number of stores since the memory was made.
    pub fn stores(&self) -> usize {
        self.log.borrow().len()
    }

    /// Shows the next store to remote readers, and says which; `None` when they have seen all.
    pub fn let_through(&self) -> Option<Store> {
        let store = *self.log.borrow().get(self.shown.get())?;
        self.remote.store(store.word, store.value);
        self.shown.set(self.shown.get() + 1);
        Some(store)
    }
}

impl HostMemory for LoggedMemory {
    fn words(&self) -> usize {
        self.host.words()
    }

    fn load(&self, word: usize) -> u64 {
        self.host.load(word)
    }

    fn store(&self, word: usize, value: u64) {
        self.host.store(word, value);
        self.log.borrow_mut().push(Store { word, value });
    }
}

impl RemoteMemory for LoggedMemory {
    fn read_line(&self, line: usize) -> [u64; LINE_WORDS] {
        self.remote.read_line(line)
    }
}
