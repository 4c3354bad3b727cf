// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every run of two owners and two keys on one entry, with a host that applies updates late and reads of host
//! memory that are under way meanwhile: no lock is lost, and no old version ever shows.

use std::collections::{HashSet, VecDeque};

use super::*;

const MOST_UPDATES: u32 = 2;
const MOST_EVICTIONS: u16 = 1;

/// A read of host memory that was asked for, and what it has seen.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Read {
    epoch: u16,
    version: Option<u32>,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct World<const OBJECTS: usize> {
    entry: Entry<OBJECTS, 1>,
    /// By key: the newest version, the one in host memory, the one that the host has told of.
    newest: [u32; 2],
    host: [u32; 2],
    told: [u32; 2],
    reads: [Option<Read>; 2],
    /// By key: who has been told that it has the lock.
    holder: [Option<u16>; 2],
    evictions: u16,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask(Operation, u16, usize),
    ReadsHost(usize),
    Fills(usize),
    HostApplies(usize),
}

fn steps() -> Vec<Step> {
    let mut steps = Vec::new();
    for key in 0..2 {
        steps.extend([Step::ReadsHost(key), Step::Fills(key), Step::HostApplies(key)]);
        for operation in Operation::ALL {
            if !operation.has_hint() {
                steps.extend([0, 1].map(|owner| Step::Ask(operation, owner, key)));
            }
        }
    }
    steps
}

impl<const OBJECTS: usize> World<OBJECTS> {
    fn new() -> Self {
        let (entry, none) = (Entry::default(), [0; 2]);
        let (reads, holder) = ([None; 2], [None; 2]);
        World { entry, newest: none, host: none, told: none, reads, holder, evictions: 0 }
    }

    fn apply(&mut self, request: &Request<1>) -> Answer<1> {
        let table = Table::new(0, 2, 32, 4, 1, 1).expect("a table that an index can serve");
        self.entry.apply(request, &table, MOST_UPDATES as u8)
    }

    /// The world after a step, or nothing when the step is not possible or one too many.
    fn after(&self, step: Step, honest: bool) -> Option<Result<Self, String>> {
        let mut world = self.clone();
        let outcome = match step {
            Step::Ask(operation, owner, key) => world.ask(operation, owner, key)?,
            Step::ReadsHost(key) => {
                let read = world.reads[key].as_mut().filter(|read| read.version.is_none())?;
                read.version = Some(world.host[key]);
                Ok(())
            }
            Step::Fills(key) => {
                let read = world.reads[key].take()?;
                let mut fill = Request::new(Operation::Fill, key as u64, 0, 0);
                fill.version = read.version?;
                fill.value = [u64::from(fill.version)];
                fill.epoch = if honest { read.epoch } else { world.entry.epoch() };
                world.apply(&fill);
                Ok(())
            }
            Step::HostApplies(key) => {
                (world.host[key] < world.newest[key]).then_some(())?;
                world.host[key] += 1;
                Ok(())
            }
        };
        Some(outcome.and_then(|()| world.check()).map(|()| world))
    }

    fn ask(&mut self, operation: Operation, owner: u16, key: usize) -> Option<Result<(), String>> {
        let mut request = Request::new(operation, key as u64, 0, 0);
        (request.owner, request.version) = (owner, self.newest[key]);
        let holds = self.holder[key] == Some(owner);
        match operation {
            Operation::UpdateAndPin => {
                (self.newest[key] < MOST_UPDATES).then_some(())?;
                request.version += 1;
                request.value = [u64::from(request.version)];
            }
            // The host tells of what it has applied, once.
            Operation::Unpin => {
                (self.told[key] < self.host[key]).then_some(())?;
            }
            Operation::Evict => {
                (self.evictions < MOST_EVICTIONS).then_some(())?;
                self.evictions += 1;
            }
            _ => {}
        }
        let answer = self.apply(&request);
        let shown = answer.found.and_then(|found| found.content).map(|content| content.0);
        if shown.is_some_and(|version| version != self.newest[key]) {
            return Some(Err(format!("shows version {shown:?}, expected {}", self.newest[key])));
        }
        let right = match (operation, answer.status) {
            (Operation::LookUp | Operation::Validate, Status::Done) => self.is_free_for(owner, key),
            (Operation::LookUp | Operation::Validate, Status::Miss) => {
                self.reads[key].get_or_insert(Read { epoch: answer.epoch, version: None });
                self.is_free_for(owner, key)
            }
            (Operation::LockAndRead, Status::Done | Status::Miss) => {
                let was_free = self.is_free_for(owner, key);
                self.holder[key] = Some(owner);
                if answer.status == Status::Miss {
                    self.reads[key].get_or_insert(Read { epoch: answer.epoch, version: None });
                }
                was_free
            }
            (Operation::LockAndRead, Status::Full) => self.holder[key].is_none(),
            (Operation::UpdateAndPin, Status::Done) => {
                self.newest[key] += 1;
                holds
            }
            (Operation::Unlock, Status::Done) => {
                self.holder[key] = None;
                holds
            }
            (Operation::UpdateAndPin | Operation::Unlock, _) => !holds,
            (Operation::Unpin, Status::Done) => {
                self.told[key] += 1;
                true
            }
            (Operation::Evict, Status::Done | Status::Unknown) => {
                self.holder[key].is_none() && self.told[key] == self.newest[key]
            }
            (Operation::Evict, Status::Pinned) => self.told[key] < self.newest[key],
            (_, Status::Locked) => self.holder[key].is_some(),
            _ => false,
        };
        Some(if right { Ok(()) } else { Err(format!("{operation:?} answers {answer:?}")) })
    }

    fn is_free_for(&self, owner: u16, key: usize) -> bool {
        self.holder[key].is_none_or(|holder| holder == owner)
    }

    fn check(&self) -> Result<(), String> {
        for key in 0..2 {
            let object = self.entry.object(key as u64);
            let owner = object.and_then(|object| object.owner);
            if owner != self.holder[key] {
                return Err(format!("key {key}: owner {owner:?}, not {:?}", self.holder[key]));
            }
            let pins = object.map_or(0, |object| u32::from(object.pins));
            if pins != self.newest[key] - self.told[key] {
                return Err(format!("key {key}: {pins} pins"));
            }
            let content = object.and_then(|object| object.content);
            let newest = (self.newest[key], [u64::from(self.newest[key])]);
            if content.is_some_and(|content| content != newest) {
                return Err(format!("key {key}: {content:?}, expected {newest:?}"));
            }
        }
        Ok(())
    }
}

/// Number of worlds that can be reached, or the first in which something is wrong.
fn explore<const OBJECTS: usize>(honest: bool) -> Result<usize, String> {
    let (steps, first) = (steps(), World::<OBJECTS>::new());
    let (mut seen, mut waiting) = (HashSet::from([first.clone()]), VecDeque::from([first]));
    while let Some(world) = waiting.pop_front() {
        for &step in &steps {
            match world.after(step, honest) {
                Some(Err(what)) => return Err(format!("{step:?} in {world:?}: {what}")),
                Some(Ok(next)) if seen.insert(next.clone()) => waiting.push_back(next),
                Some(Ok(_)) | None => {}
            }
        }
    }
    Ok(seen.len())
}

#[test]
fn no_lock_is_lost_and_no_old_version_shows() {
    let worlds = [explore::<1>(true).unwrap(), explore::<2>(true).unwrap()];
    println!("{worlds:?} worlds with entries of one and of two objects");
    assert!(worlds.iter().all(|&worlds| worlds > 1000), "{worlds:?}");
}

/// The check finds what the epochs are there for.
#[test]
fn without_epochs_an_old_version_shows() {
    let found = explore::<1>(false).unwrap_err();
    assert!(found.contains("Fills"), "{found}");
}
