// SPDX-License-Identifier: MIT OR Apache-2.0
//! Native storage: physical pages in a file, never overwritten while they may be read.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::{Error, Result};
use super::files::File;
use super::layout::{
    PAGE_BYTES, Page, PageBuffer, PageError, PageHeader, PageKind, Place, Superblock,
    SuperblockError,
};
use parking_lot::Mutex;

/// The file's name.
pub(crate) const PAGES_FILE: &str = "pages";

/// Physical pages 0 and 1 are the superblocks'.
const FIRST: u64 = 2;

/// Bytes that a store has read and written of native storage: superblocks, maps and pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageBytes {
    /// From storage to the host.
    pub read: u64,
    /// From the host to storage.
    pub written: u64,
}

impl StorageBytes {
    /// Those since some moment, at which these had been read and written.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self { read: self.read - before.read, written: self.written - before.written }
    }
}

/// The store's file of physical pages.
#[derive(Debug)]
pub(crate) struct NativeStorage {
    file: Arc<dyn File>,
    read: AtomicU64,
    written: AtomicU64,
    /// The store's identity, which stands in every page.
    store: AtomicU64,
    /// The newest checkpoint; no page that can be reached is newer.
    epoch: AtomicU64,
    space: Mutex<Space>,
}

#[derive(Debug, Default)]
struct Space {
    free: Vec<u64>,
    /// All from here on have never been used.
    end: u64,
    /// How many shared states devices have that are relative to a checkpoint.
    held: BTreeMap<u64, usize>,
    /// What was given back while devices may still read it, with the first checkpoint that does
    /// without it.
    waiting: Vec<(u64, Vec<u64>)>,
    /// Whether a device was ever to read the store.
    has_devices: bool,
}

impl NativeStorage {
    pub(crate) fn new(file: Arc<dyn File>) -> Self {
        let space = Space { free: Vec::new(), end: FIRST, ..Space::default() };
        let space = Mutex::new(space);
        let zero = || AtomicU64::new(0);
        Self { file, read: zero(), written: zero(), store: zero(), epoch: zero(), space }
    }

    /// What was read and written through it.
    pub(crate) fn bytes(&self) -> StorageBytes {
        let [read, written] =
            [&self.read, &self.written].map(|count| count.load(Ordering::Relaxed));
        StorageBytes { read, written }
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.read.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.file.read_at(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.file.write_at(offset, bytes)
    }

    /// Length of the file.
    pub(crate) fn length(&self) -> Result<u64> {
        self.file.len().map_err(Error::system("cannot measure the file of pages"))
    }

    /// The two superblocks, as far as they are readable.
    pub(crate) fn superblocks(&self) -> Result<[Result<Superblock, SuperblockError>; 2]> {
        let length = self.length()?;
        // Before a superblock is written, the pages behind them are.
        if length > 0 && length < FIRST * PAGE_BYTES as u64 {
            let what = format!("the file has {length} bytes, fewer than its superblocks");
            return Err(Error::Corrupt { file: PAGES_FILE.into(), offset: length, what });
        }
        let read = |slot: u64| -> Result<_> {
            let mut bytes = [0; Superblock::BYTES];
            let offset = slot * PAGE_BYTES as u64;
            if offset + bytes.len() as u64 > length {
                return Ok(Err(SuperblockError::Empty));
            }
            let result = self.read_at(offset, &mut bytes);
            result.map_err(Error::system(format!("cannot read superblock {slot}")))?;
            Ok(Superblock::decode(&bytes))
        };
        Ok([read(0)?, read(1)?])
    }

    /// Writes a superblock into its place, and syncs. Also one that was read from there: a process that
    /// died may have left it unsynced, or its sync has failed. Until it is durable nothing may be
    /// written where the checkpoint before it stands.
    pub(crate) fn write_superblock(&self, superblock: &Superblock) -> Result<()> {
        let slot = superblock.epoch % 2;
        let written = self.write_at(slot * PAGE_BYTES as u64, &superblock.encode());
        let synced = written.and_then(|()| self.file.sync());
        let what = format!("cannot write superblock {slot}");
        synced.map_err(Error::writing(PAGES_FILE, Superblock::BYTES as u64, what))?;
        self.epoch.store(superblock.epoch, Ordering::Release);
        Ok(())
    }

    /// The newest checkpoint that is whole.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Whose pages these are, and which checkpoint is the newest.
    pub(crate) fn identify(&self, store: u64, epoch: u64) {
        self.store.store(store, Ordering::Release);
        self.epoch.store(epoch, Ordering::Release);
    }

    /// Reads a page from its place, and checks that it is the page that it should be.
    pub(crate) fn read(&self, kind: PageKind, page: u64, place: u64) -> Result<Box<PageBuffer>> {
        let place = Place::from_word(place);
        let physical = place.physical();
        let mut buffer = Box::new(PageBuffer::ZERO);
        let corrupt =
            |fault| Err(Error::CorruptPage { file: PAGES_FILE.into(), physical, page, fault });
        match self.read_at(physical * PAGE_BYTES as u64, &mut buffer.0) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return corrupt(PageError::BeyondEnd);
            }
            read => read.map_err(Error::system(format!("cannot read physical page {physical}")))?,
        }
        let header = match Page::verified(&buffer.0, kind, page) {
            Ok(verified) => verified.header(),
            Err(fault) => return corrupt(fault),
        };
        let (found, expected) = (header.store, self.store.load(Ordering::Acquire));
        if found != expected {
            return corrupt(PageError::Stranger { field: "store", found, expected });
        }
        // Of a later checkpoint than the superblock's: that superblock is not the newest. Of another
        // than the place says: a write was lost, and this is an older page.
        let (found, expected) = (header.epoch, self.epoch());
        if found > expected || !place.is_of(found) {
            return corrupt(PageError::Stranger { field: "epoch", found, expected });
        }
        Ok(buffer)
    }

    /// Seals a page as one of the checkpoint of `epoch`, and writes it to a place of that.
    pub(crate) fn write(&self, place: u64, epoch: u64, page: &mut PageBuffer) -> Result<()> {
        debug_assert!(Place::from_word(place).is_of(epoch));
        let physical = Place::from_word(place).physical();
        let store = self.store.load(Ordering::Acquire);
        page.finalize(PageHeader { store, epoch, ..Page::new(&page.0).header() });
        let written = self.write_at(physical * PAGE_BYTES as u64, &page.0);
        let what = format!("cannot write physical page {physical}");
        written.map_err(Error::writing(PAGES_FILE, PAGE_BYTES as u64, what))
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync().map_err(Error::system("cannot sync the file of pages"))
    }

    /// A place that nobody uses, for the checkpoint of `epoch`.
    pub(crate) fn allocate(&self, epoch: u64) -> u64 {
        let mut space = self.space.lock();
        let physical = space.free.pop().unwrap_or_else(|| {
            space.end += 1;
            space.end - 1
        });
        Place::new(physical, epoch).word()
    }

    /// Whose pages these are.
    pub(crate) fn store(&self) -> u64 {
        self.store.load(Ordering::Acquire)
    }

    /// Gives places back that no checkpoint has ever named.
    pub(crate) fn give_back(&self, places: impl IntoIterator<Item = u64>) {
        let physical = places.into_iter().map(|place| Place::from_word(place).physical());
        self.space.lock().free.extend(physical);
    }

    /// A page stands at this place that the log names. Says whether nobody else uses it. For recovery,
    /// which neither allocates nor releases: the free places are in order.
    pub(crate) fn claim(&self, place: u64) -> bool {
        let (physical, space) = (Place::from_word(place).physical(), &mut *self.space.lock());
        debug_assert!(space.free.is_sorted_by(|high, low| high > low));
        if let Ok(at) = space.free.binary_search_by(|free| physical.cmp(free)) {
            space.free.remove(at);
            return true;
        }
        let new = physical >= space.end;
        if new {
            // High pages last, as in `adopt`.
            let skipped = (space.end..physical).rev();
            space.free.splice(0..0, skipped);
            space.end = physical + 1;
        }
        new
    }

    /// Gives places back that the newest checkpoint does without. They are used again when no device
    /// has an older one.
    pub(crate) fn release(&self, places: impl IntoIterator<Item = u64>) {
        let physical = places.into_iter().map(|place| Place::from_word(place).physical());
        let (epoch, mut space) = (self.epoch(), self.space.lock());
        if space.is_held_before(epoch) {
            space.waiting.push((epoch, physical.collect()));
        } else {
            space.free.extend(physical);
        }
    }

    /// A device is to read the checkpoint of `epoch`, the newest: its pages stay until it is
    /// [let go](Self::let_go).
    pub(crate) fn hold(&self, epoch: u64) {
        let mut space = self.space.lock();
        space.has_devices = true;
        *space.held.entry(epoch).or_default() += 1;
    }

    /// Whether a device was ever to read the store.
    pub(crate) fn has_devices(&self) -> bool {
        self.space.lock().has_devices
    }

    /// A device is done with the checkpoint of `epoch`.
    pub(crate) fn let_go(&self, epoch: u64) {
        let space = &mut *self.space.lock();
        let left = space.held.get_mut(&epoch).expect("only a holder releases");
        *left -= 1;
        if *left == 0 {
            space.held.remove(&epoch);
        }
        for (epoch, pages) in std::mem::take(&mut space.waiting) {
            match space.is_held_before(epoch) {
                true => space.waiting.push((epoch, pages)),
                false => space.free.extend(pages),
            }
        }
    }

    /// Takes over which places a checkpoint uses; all other physical pages are free.
    pub(crate) fn adopt(&self, places: &[u64]) -> Result<()> {
        let physical = |&place: &u64| Place::from_word(place).physical();
        let mut used: Vec<u64> = places.iter().map(physical).collect();
        used.sort_unstable();
        let length = self.length()?;
        if let Some(&last) = used.last().filter(|&&last| (last + 1) * PAGE_BYTES as u64 > length) {
            let what = format!("physical page {last} is in use, but the file ends before");
            return Err(Error::Corrupt { file: PAGES_FILE.into(), offset: length, what });
        }
        if let Some(&first) = used.first().filter(|&&first| first < FIRST) {
            let what = format!("physical page {first}, a superblock's, is used for another page");
            return Err(Error::Corrupt { file: PAGES_FILE.into(), offset: 0, what });
        }
        if let Some(twice) = used.windows(2).find(|pair| pair[0] == pair[1]) {
            let what = format!("physical page {} is used twice", twice[0]);
            let offset = twice[0] * PAGE_BYTES as u64;
            return Err(Error::Corrupt { file: PAGES_FILE.into(), offset, what });
        }
        let mut space = self.space.lock();
        space.end = used.last().map_or(FIRST, |last| last + 1);
        let mut used = used.into_iter().peekable();
        space.free = (FIRST..space.end).filter(|page| used.next_if_eq(page).is_none()).collect();
        // Low pages first.
        space.free.reverse();
        Ok(())
    }
}

impl Space {
    /// Whether a device has an older checkpoint than this one.
    fn is_held_before(&self, epoch: u64) -> bool {
        self.held.keys().next().is_some_and(|&oldest| oldest < epoch)
    }
}
