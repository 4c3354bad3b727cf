// SPDX-License-Identifier: MIT OR Apache-2.0
//! Insertions and deletions in a Robin Hood table, as copy lists.

use super::RobinHood;
use crate::error::TableError;
use crate::job::Job;
use crate::link::Link;
use crate::memory::HostMemory;
use crate::mutant::{Mutant, planted};
use crate::object::Image;
use crate::table::{Place, Placement};
use crate::walk::Walk;

impl Placement for RobinHood {
    fn positions(&self) -> u32 {
        self.all_slots()
    }

    /// An object lies within the limit of its home, and a shift begins there and takes as many slots again. The
    /// homes of a segment share its overflow bucket.
    fn reach(&self) -> u32 {
        if self.limited {
            (2 * self.reach + 1).max(1 << self.segment_shift)
        } else {
            self.all_slots()
        }
    }

    fn position(&self, key: u64) -> u32 {
        self.home(key)
    }

    fn slots(&self) -> u64 {
        self.slots as u64
    }

    fn overflow_units(&self) -> u32 {
        self.overflow_slots
    }

    /// The free slot nearest behind the home decides: when it is farther than the limit, the new object goes to
    /// the overflow bucket. This reading of "displacement reaches D_m" (Xenic, section 4.1.2) is the one that
    /// brings the round trips of its Table 2.
    fn place<M: HostMemory>(
        &self,
        job: &mut Job<'_, M>,
        image: &Image<'_>,
    ) -> Result<i32, TableError> {
        let home = self.home(image.key);
        let last = (home + self.reach).min(self.all_slots() - 1);
        let free = (home..=last).find(|&slot| !job.is_used(self.slot_word(slot)));
        match free {
            Some(free) => {
                self.place_before(job, image, home, free);
                Ok(0)
            }
            None if self.limited => self.place_in_overflow(job, image),
            None => {
                let (key, wanted) = (image.key, 1);
                Err(TableError::Full { key, what: "slots", wanted, capacity: self.all_slots() })
            }
        }
    }

    fn remove<M: HostMemory>(&self, job: &mut Job<'_, M>, key: u64, place: Place) -> i32 {
        let link = self.limited.then(|| self.directory_word(self.segment(self.home(key))));
        match link {
            Some(link) if place.node > 0 => {
                self.leave_overflow(job, link, place.word);
                -1
            }
            Some(link) => {
                let hole = (place.word / self.ground.layout.words()) as u32;
                self.fill_hole(job, link, hole)
            }
            None => {
                self.shift_back(job, (place.word / self.ground.layout.words()) as u32);
                0
            }
        }
    }
}

impl RobinHood {
    /// Puts the object at its place between home and free slot. Each object that is in the way moves to the
    /// place of the next one, from the free end on: so it is at two places for a while, and never at none.
    fn place_before<M: HostMemory>(
        &self,
        job: &mut Job<'_, M>,
        image: &Image<'_>,
        home: u32,
        free: u32,
    ) {
        // An object gives way to one that is farther from its home.
        let (mut moved, mut carried) = (Vec::with_capacity(16), home);
        for slot in home..free {
            let its_home = self.home(job.key(self.slot_word(slot)));
            if its_home > carried {
                moved.push(slot);
                carried = its_home;
            }
        }
        let targets = moved.iter().skip(1).chain([&free]).copied();
        let moves: Vec<_> = moved.iter().copied().zip(targets).collect();
        let mut copy = |(from, to)| job.copy(self.slot_word(from), self.slot_word(to));
        if planted(Mutant::MovesFromHome) {
            moves.into_iter().for_each(&mut copy);
        } else {
            moves.into_iter().rev().for_each(&mut copy);
        }
        job.write(self.slot_word(moved.first().copied().unwrap_or(free)), image);
    }

    /// Puts the object into the overflow bucket of its segment. A full bucket is copied to one of twice the
    /// size first; only then the directory changes, and last the old slots are emptied.
    fn place_in_overflow<M: HostMemory>(
        &self,
        job: &mut Job<'_, M>,
        image: &Image<'_>,
    ) -> Result<i32, TableError> {
        let word = self.directory_word(self.segment(self.home(image.key)));
        let link = Link(job.load(word));
        let Some((old, order)) = link.bucket() else {
            let place = job.take_overflow(image.key, 1)?;
            job.write(self.overflow_word(place), image);
            job.store(word, link.changed_to(Some((place, 0))).0);
            return Ok(1);
        };
        if let Some(free) = self.bucket(link).find(|&slot| !job.is_used(slot)) {
            job.write(free, image);
            return Ok(1);
        }
        let place = job.take_overflow(image.key, 2 << order)?;
        let new = link.changed_to(Some((place, order + 1)));
        if planted(Mutant::DirectoryBeforeCopy) {
            job.store(word, new.0);
        }
        let mut free = self.bucket(new);
        for from in self.bucket(link) {
            job.copy(from, free.next().expect("the new bucket is larger"));
        }
        job.write(free.next().expect("the new bucket is larger"), image);
        if planted(Mutant::EmptyBeforeDirectory) {
            self.bucket(link).for_each(|slot| job.clear(slot));
            job.store(word, new.0);
        } else {
            job.store(word, new.0);
            self.bucket(link).for_each(|slot| job.clear(slot));
        }
        job.free_overflow(old, 1 << order);
        Ok(1)
    }

    /// The first words of the slots of an overflow bucket.
    fn bucket(&self, link: Link) -> impl Iterator<Item = usize> + use<> {
        let (first, count) = self.behind(link).map_or((0, 0), |node| (node.slots, node.count));
        let size = self.ground.layout.words();
        (0..count).map(move |slot| first + slot * size)
    }

    /// An object of the overflow bucket that may lie in the hole comes there; else those behind the hole are
    /// shifted back. (Xenic, section 4.1.2.)
    fn fill_hole<M: HostMemory>(&self, job: &mut Job<'_, M>, link: usize, hole: u32) -> i32 {
        let may_lie_here = |&slot: &usize| {
            let home = self.home(job.key(slot));
            job.is_used(slot) && (home..=home + self.reach).contains(&hole)
        };
        let Some(from) = self.bucket(Link(job.load(link))).find(may_lie_here) else {
            self.shift_back(job, hole);
            return 0;
        };
        if planted(Mutant::OverflowLeavesFirst) {
            self.leave_overflow(job, link, from);
            job.copy(from, self.slot_word(hole));
        } else {
            job.copy(from, self.slot_word(hole));
            self.leave_overflow(job, link, from);
        }
        -1
    }

    /// Takes an object out of an overflow bucket, and the bucket away with its last object.
    fn leave_overflow<M: HostMemory>(&self, job: &mut Job<'_, M>, word: usize, slot: usize) {
        let link = Link(job.load(word));
        let (place, order) = link.bucket().expect("the object lies in the bucket");
        if self.bucket(link).filter(|&slot| job.is_used(slot)).count() == 1 {
            job.store(word, link.changed_to(None).0);
            job.free_overflow(place, 1 << order);
        }
        job.clear(slot);
    }

    /// Closes a hole with the objects behind it that are not at home. With a limit there are at most so many:
    /// the hole that stays behind them harms nobody, since a look-up does not stop at free slots.
    fn shift_back<M: HostMemory>(&self, job: &mut Job<'_, M>, hole: u32) {
        let end = self.all_slots() - 1;
        let end = if self.limited { end.min(hole + self.reach) } else { end };
        let stays = |&slot: &u32| {
            let word = self.slot_word(slot);
            !job.is_used(word) || self.home(job.key(word)) == slot
        };
        let last = (hole + 1..=end).find(stays).map_or(end, |slot| slot - 1);
        if planted(Mutant::ShiftsFromFarEnd) {
            job.clear(self.slot_word(last));
            (hole..last).rev().for_each(|to| job.copy(self.slot_word(to + 1), self.slot_word(to)));
            return;
        }
        (hole..last).for_each(|to| job.copy(self.slot_word(to + 1), self.slot_word(to)));
        job.clear(self.slot_word(last));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::memory::LoggedMemory;
    use crate::robin_hood::Shape;
    use crate::table::{RemoteTable, Table};
    use crate::walk::Values;

    /// What an operation stores in slots lies in the positions that it has locked.
    #[test]
    fn operations_stay_within_their_reach() {
        for limit in [1, 3, 15] {
            let values = Values::inline(0);
            let shape =
                Shape { slots: 60, limit: Some(limit), segment: 1, overflow_slots: 30, values };
            let geometry = RobinHood::new(shape).unwrap();
            let table = Table::new(geometry, LoggedMemory::new(geometry.ground().words())).unwrap();
            let mut farthest = 0;
            for number in 0..20_000_u64 {
                let drawn = crate::hash::scatter(number);
                let key = drawn % 90;
                // What is refused stores nothing.
                let _ = if drawn >> 62 == 0 { table.delete(key) } else { table.insert(key, &[]) };
                let first = geometry.position(key);
                while let Some(store) = table.memory().let_through() {
                    let slot = (store.word / geometry.ground().layout.words()) as u32;
                    if slot < geometry.all_slots() {
                        assert!((first..first + geometry.reach()).contains(&slot), "{slot}, {key}");
                        farthest = farthest.max(slot - first);
                    }
                }
            }
            assert!(farthest > limit, "no shift went farther than {farthest} slots");
        }
    }
}
