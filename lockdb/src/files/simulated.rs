// SPDX-License-Identifier: MIT OR Apache-2.0
//! The power-loss model for tests: a folder that numbers every change and can lose power at any of
//! them.
//!
//! Every write, `set_len`, creation, removal and sync is a **step**, numbered from 0. Reads are not
//! steps. After a loss ([`Simulated::crash`]) the folder stands as follows:
//!
//! - What a file held at its last [`File::sync`] and the names at the last
//!   [`Files::sync_directory`] are there.
//! - Each later write is there, or lost, or torn: then each 512-byte sector of it, by itself, is
//!   old or new. A lost or torn write past the end may still have lengthened the file, by zeros.
//! - Each later `set_len`, creation and removal is there or undone. (Creating a file that exists
//!   is a `set_len` to 0.)
//! - All this in any combination, so in any order, except for one thing: of two writes to the same
//!   sector that both reached it, the later is seen.
//! - The step at which the power went counts as begun: a write may be there, a sync ensured nothing.
//! - What a sync that failed was to make durable may be lost for good ([`Loss`]), though it can still
//!   be read: no later sync writes it.
//!
//! A seed gives the combination. One recorded run gives the image after every step of it
//! ([`Simulated::crash_at`]): contents are shared, so an image costs about the unsynced steps.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::blocks::Blocks;
use super::random::Random;
use super::{File, Files, check_name, no_such_file};

/// What a disk writes in one piece.
const SECTOR: u64 = 512;

/// A folder with a power switch. Clones are the same folder.
#[derive(Clone, Debug, Default)]
pub struct Simulated {
    state: Arc<Mutex<State>>,
}

type Inode = usize;

/// What a sync that fails does to that which it was to make durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Nothing: a later sync makes it durable.
    Nothing,
    /// All of it is dropped and counts as clean, as Linux marks its pages (Rebello et al., "Can
    /// Applications Recover from fsync Failures?", USENIX ATC 2020): it can be read until the power
    /// goes, and no later sync writes it.
    All,
    /// All of it counts as clean. The seed says of each step whether it is on the disk, torn, or lost;
    /// and whether bytes that were lost can still be read.
    Drawn(u64),
}

#[derive(Debug, Default)]
struct State {
    /// As calls see them.
    names: BTreeMap<String, Inode>,
    contents: Vec<Blocks>,
    steps: Vec<Step>,
    /// What is durable; a new entry after each sync. Before the first: nothing.
    history: Vec<Durable>,
    lose_power_at: Option<u64>,
    fail_once_at: Option<(u64, Loss)>,
    /// Files of which calls may see what no sync will write; `None` is the directory.
    lossy: BTreeSet<Option<Inode>>,
    power_lost: bool,
    capacity: Option<u64>,
    fill_up_at: Option<u64>,
    read_only_from: Option<u64>,
    /// Where the room of a file ends, if it is beyond its end.
    reserved: BTreeMap<Inode, u64>,
    cannot_reserve: bool,
}

/// One recorded call.
#[derive(Debug)]
enum Step {
    Write {
        inode: Inode,
        offset: u64,
        bytes: Box<[u8]>,
    },
    SetLen {
        inode: Inode,
        len: u64,
    },
    Create {
        name: String,
        inode: Inode,
    },
    Remove {
        name: String,
    },
    Sync {
        inode: Inode,
    },
    SyncDirectory,
    Reserve,
    /// A call that failed without effect.
    Failed,
}

/// The data that certainly survives, and the steps that may.
#[derive(Clone, Debug, Default)]
struct Durable {
    /// Steps begun when this became true.
    steps: usize,
    names: BTreeMap<String, Inode>,
    contents: BTreeMap<Inode, Blocks>,
    pending: Vec<usize>,
}

impl Simulated {
    /// An empty folder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Steps so far: the number of the next.
    pub fn steps(&self) -> u64 {
        self.state().steps.len() as u64
    }

    /// The steps so far that are syncs.
    pub fn syncs(&self) -> Vec<u64> {
        let is_sync = |step: &Step| matches!(step, Step::Sync { .. } | Step::SyncDirectory);
        let state = self.state();
        let syncs = (0..).zip(&state.steps).filter(|(_, step)| is_sync(step));
        syncs.map(|(number, _)| number).collect()
    }

    /// Takes the power away at step `step`: that call and all later ones fail with `BrokenPipe`,
    /// "power lost".
    pub fn lose_power_at(&self, step: u64) {
        self.state().lose_power_at = Some(step);
    }

    /// Lets step `step` alone fail, with `Other`, "input/output error". It has no effect; if it is a
    /// sync, it has that of `loss`.
    pub fn fail_once_at(&self, step: u64, loss: Loss) {
        self.state().fail_once_at = Some((step, loss));
    }

    /// Gives the folder room for `bytes` bytes, as the sum of its files' lengths and of what is reserved
    /// beyond: a call that needs more fails with `StorageFull` and has no effect (and is no step), and
    /// so does the creation of a file when nothing is left. `None` is no limit.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        let mut state = self.state();
        (state.capacity, state.fill_up_at) = (bytes, None);
    }

    /// From step `step` on there is no more room than is taken then, until a capacity is set.
    pub fn fill_up_at(&self, step: u64) {
        self.state().fill_up_at = Some(step);
    }

    /// Whether room can be reserved; as long as nothing is said, it can.
    pub fn set_reservable(&self, reservable: bool) {
        self.state().cannot_reserve = !reservable;
    }

    /// From step `step` on each call that would be a step fails with `ReadOnlyFilesystem`, and is none.
    /// `None` is never.
    pub fn set_read_only_from(&self, step: Option<u64>) {
        self.state().read_only_from = step;
    }

    /// The folder as it may stand if the power is lost now: see the [module](self).
    ///
    /// The same steps and the same seed give the same folder.
    pub fn crash(&self, seed: u64) -> Simulated {
        let state = self.state();
        state.crash_at(state.steps.len(), seed)
    }

    /// The folder as it may stand if the power was lost after the first `steps` steps.
    ///
    /// # Panics
    /// When there were not so many.
    pub fn crash_at(&self, steps: u64, seed: u64) -> Simulated {
        let state = self.state();
        assert!(steps <= state.steps.len() as u64, "only {} steps, not {steps}", state.steps.len());
        state.crash_at(steps as usize, seed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn handle(&self, inode: Inode) -> Arc<dyn File> {
        Arc::new(SimulatedFile { folder: self.clone(), inode })
    }
}

impl State {
    fn powered(&self) -> io::Result<()> {
        if self.power_lost {
            return Err(io::Error::new(io::ErrorKind::BrokenPipe, "power lost"));
        }
        Ok(())
    }

    /// Records a step that is about to be done. An error is the failure asked for.
    fn begin(&mut self, step: Step) -> io::Result<()> {
        self.powered()?;
        let number = self.steps.len() as u64;
        if self.read_only_from.is_some_and(|at| number >= at) {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        }
        if let Some((_, loss)) = self.fail_once_at.take_if(|(at, _)| *at == number) {
            self.steps.push(Step::Failed);
            match step {
                Step::Sync { inode } => self.lose(Some(inode), loss),
                Step::SyncDirectory => self.lose(None, loss),
                _ => {}
            }
            return Err(io::Error::other("input/output error"));
        }
        self.steps.push(step);
        self.power_lost = self.lose_power_at.is_some_and(|at| number >= at);
        self.powered()
    }

    /// Bytes that a file takes.
    fn taken(&self, inode: Inode) -> u64 {
        let reserved = self.reserved.get(&inode).copied().unwrap_or(0);
        self.contents[inode].len().max(reserved)
    }

    /// Refuses a file of so many bytes for which there is no room; a file yet to be created is `None`.
    fn check_room(&mut self, inode: Option<Inode>, len: u64) -> io::Result<()> {
        let used: u64 = self.names.values().map(|&inode| self.taken(inode)).sum();
        if self.fill_up_at.take_if(|at| self.steps.len() as u64 >= *at).is_some() {
            self.capacity = Some(used);
        }
        let old = inode.map_or(0, |inode| self.taken(inode));
        if len > old && self.capacity.is_some_and(|capacity| used - old + len > capacity) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    /// The newest entry of the history that held after `steps` steps, with all pending steps.
    fn durable_at(&self, steps: usize) -> Durable {
        let entries = self.history.partition_point(|entry| entry.steps <= steps);
        let mut durable =
            entries.checked_sub(1).map_or_else(Durable::default, |last| self.history[last].clone());
        let news = (durable.steps..steps).filter(|&step| self.steps[step].changes());
        durable.pending.extend(news);
        durable.steps = steps;
        durable
    }

    /// A file, or the directory, is synced.
    fn synced(&mut self, of: Option<Inode>) {
        let mut durable = self.durable_at(self.steps.len());
        let done = self.take_pending(&mut durable, of);
        match of {
            _ if self.lossy.contains(&of) => self.reach(&mut durable, done, &mut Chance::certain()),
            Some(inode) => {
                durable.contents.insert(inode, self.contents[inode].clone());
            }
            None => durable.names = self.names.clone(),
        }
        self.history.push(durable);
    }

    /// The sync of a file, or of the directory, has failed.
    fn lose(&mut self, of: Option<Inode>, loss: Loss) {
        let mut chance = match loss {
            Loss::Nothing => return,
            Loss::All => None,
            Loss::Drawn(seed) => Some(Chance::new(seed)),
        };
        let mut durable = self.durable_at(self.steps.len());
        let clean = self.take_pending(&mut durable, of);
        if let Some(chance) = &mut chance {
            self.reach(&mut durable, clean, chance);
        }
        self.lossy.insert(of);
        let forgotten = chance.is_some_and(|mut chance| chance.random.below(4) == 0);
        if let Some(inode) = of.filter(|_| forgotten) {
            // The system has thrown the pages out; it knows the length by heart.
            let len = self.contents[inode].len();
            self.contents[inode] = durable.contents.get(&inode).cloned().unwrap_or_default();
            self.contents[inode].set_len(len);
        }
        self.history.push(durable);
    }

    /// The pending steps of a file, or of the directory.
    fn take_pending(&self, durable: &mut Durable, of: Option<Inode>) -> Vec<usize> {
        let of_it = |step: &mut usize| self.steps[*step].inode() == of;
        durable.pending.extract_if(.., of_it).collect()
    }

    /// These steps come to the disk, as far as chance will have it.
    fn reach(&self, durable: &mut Durable, steps: Vec<usize>, chance: &mut Chance) {
        let Durable { names, contents, .. } = durable;
        for step in steps {
            match &self.steps[step] {
                Step::Write { inode, offset, bytes } => {
                    let file = contents.entry(*inode).or_default();
                    chance.write(file, *offset, bytes);
                }
                Step::SetLen { inode, len } if chance.keeps() => {
                    contents.entry(*inode).or_default().set_len(*len);
                }
                Step::Create { name, inode } if chance.keeps() => {
                    names.insert(name.clone(), *inode);
                }
                Step::Remove { name } if chance.keeps() => {
                    names.remove(name);
                }
                _ => {} // undone
            }
        }
    }

    fn crash_at(&self, steps: usize, seed: u64) -> Simulated {
        let mut durable = self.durable_at(steps);
        let pending = std::mem::take(&mut durable.pending);
        self.reach(&mut durable, pending, &mut Chance::new(seed));
        Simulated::standing(durable.names, durable.contents)
    }
}

impl Simulated {
    /// A folder in which all is durable.
    fn standing(names: BTreeMap<String, Inode>, mut contents: BTreeMap<Inode, Blocks>) -> Self {
        let mut state = State::default();
        let mut durable = Durable::default();
        for (inode, (name, old)) in names.into_iter().enumerate() {
            let blocks = contents.remove(&old).unwrap_or_default();
            state.contents.push(blocks.clone());
            durable.contents.insert(inode, blocks);
            durable.names.insert(name, inode);
        }
        state.names = durable.names.clone();
        state.history.push(durable);
        Simulated { state: Arc::new(Mutex::new(state)) }
    }
}

impl Step {
    /// The file whose sync makes the step durable; `None` for steps of the directory.
    fn inode(&self) -> Option<Inode> {
        match self {
            Step::Write { inode, .. } | Step::SetLen { inode, .. } | Step::Sync { inode } => {
                Some(*inode)
            }
            _ => None,
        }
    }

    /// Whether it changes anything, so that it can be lost.
    fn changes(&self) -> bool {
        !matches!(self, Step::Sync { .. } | Step::SyncDirectory | Step::Reserve | Step::Failed)
    }
}

/// Draws what survives.
struct Chance {
    random: Random,
    /// Of 256 unsynced steps, how many are kept whole, on average; all or none in half the images.
    kept: u64,
}

impl Chance {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let kept = match random.below(4) {
            0 => 0,
            1 => 256,
            _ => random.below(257),
        };
        Self { random, kept }
    }

    /// All is kept.
    fn certain() -> Self {
        Self { random: Random::new(0), kept: 256 }
    }

    fn keeps(&mut self) -> bool {
        self.random.below(256) < self.kept
    }

    fn write(&mut self, file: &mut Blocks, offset: u64, bytes: &[u8]) {
        let end = offset + bytes.len() as u64;
        if self.keeps() {
            return put(file, offset, bytes);
        }
        // Half of those that are not whole are torn, unless nothing at all is to survive.
        if self.kept > 0 && self.random.below(2) == 0 {
            let mut from = offset;
            while from < end {
                let to = end.min((from / SECTOR + 1) * SECTOR);
                if self.random.below(2) == 0 {
                    put(file, from, &bytes[(from - offset) as usize..(to - offset) as usize]);
                }
                from = to;
            }
        }
        if end > file.len() && self.random.below(4) == 0 {
            file.set_len(end);
        }
    }
}

fn put(file: &mut Blocks, offset: u64, bytes: &[u8]) {
    file.write(offset, bytes).expect("the first call succeeded with the same input");
}

impl Files for Simulated {
    fn open(&self, name: &str) -> io::Result<Arc<dyn File>> {
        check_name(name)?;
        let state = self.state();
        state.powered()?;
        let inode = *state.names.get(name).ok_or_else(|| no_such_file(name))?;
        Ok(self.handle(inode))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn File>> {
        check_name(name)?;
        let mut state = self.state();
        if let Some(&inode) = state.names.get(name) {
            state.begin(Step::SetLen { inode, len: 0 })?;
            state.contents[inode].set_len(0);
            state.reserved.remove(&inode);
            return Ok(self.handle(inode));
        }
        state.check_room(None, 1)?;
        let inode = state.contents.len();
        state.begin(Step::Create { name: name.to_string(), inode })?;
        state.contents.push(Blocks::default());
        state.names.insert(name.to_string(), inode);
        Ok(self.handle(inode))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        check_name(name)?;
        let mut state = self.state();
        if !state.names.contains_key(name) {
            return Err(no_such_file(name));
        }
        state.begin(Step::Remove { name: name.to_string() })?;
        state.names.remove(name);
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let state = self.state();
        state.powered()?;
        Ok(state.names.keys().cloned().collect())
    }

    fn sync_directory(&self) -> io::Result<()> {
        let mut state = self.state();
        state.begin(Step::SyncDirectory)?;
        state.synced(None);
        Ok(())
    }
}

#[derive(Debug)]
struct SimulatedFile {
    folder: Simulated,
    inode: Inode,
}

impl File for SimulatedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let state = self.folder.state();
        state.powered()?;
        state.contents[self.inode].read(offset, buffer)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.folder.state();
        let end = super::end_of(offset, bytes.len())?;
        state.check_room(Some(self.inode), end)?;
        state.begin(Step::Write { inode: self.inode, offset, bytes: bytes.into() })?;
        state.contents[self.inode].write(offset, bytes)
    }

    fn reserve(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let mut state = self.folder.state();
        if state.cannot_reserve {
            return state.powered();
        }
        let end = super::end_of(offset, bytes as usize)?;
        state.check_room(Some(self.inode), end)?;
        state.begin(Step::Reserve)?;
        let end = end.max(state.taken(self.inode));
        state.reserved.insert(self.inode, end);
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.folder.state();
        state.begin(Step::Sync { inode: self.inode })?;
        state.synced(Some(self.inode));
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        let state = self.folder.state();
        state.powered()?;
        Ok(state.contents[self.inode].len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.folder.state();
        state.check_room(Some(self.inode), len)?;
        state.begin(Step::SetLen { inode: self.inode, len })?;
        state.contents[self.inode].set_len(len);
        state.reserved.remove(&self.inode);
        Ok(())
    }
}
