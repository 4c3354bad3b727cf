// SPDX-License-Identifier: MIT OR Apache-2.0
//! The lock unit, as the jobs of an engine share it: tags, and the place of the table.

use std::collections::BTreeSet;

use super::card::Card;
use super::queue::Engine;
use super::rows::TAGS;
use crate::job::LockTable;

/// The users of the tags.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    owners: [Option<u32>; TAGS as usize],
    /// The table that was set at the unit.
    table: Option<LockTable>,
    /// Jobs that use it.
    users: usize,
}

impl Default for Tags {
    fn default() -> Self {
        Self { owners: [None; TAGS as usize], table: None, users: 0 }
    }
}

impl Tags {
    /// A free tag becomes a job's; `None` when there is none for it.
    ///
    /// Each job that there may be has at least one: else jobs that hold locks could wait for tags of
    /// rows that wait for these locks, a circle of which the lock table shows nothing.
    pub(super) fn take(&mut self, job: u32) -> Option<u8> {
        let owners: BTreeSet<u32> = self.owners.iter().flatten().copied().collect();
        if owners.contains(&job) {
            let free = self.owners.iter().filter(|owner| owner.is_none()).count();
            if free <= Engine::JOBS.saturating_sub(owners.len()) {
                return None;
            }
        }
        let tag = self.owners.iter().position(Option::is_none)?;
        self.owners[tag] = Some(job);
        Some(tag as u8)
    }

    /// A tag is free again.
    pub(super) fn give_back(&mut self, tag: u8) {
        self.owners[usize::from(tag)] = None;
    }

    /// Whose request a response is to.
    pub(super) fn owner(&self, tag: u8) -> Option<u32> {
        self.owners[usize::from(tag % TAGS)]
    }

    /// A job begins that uses the lock table. False when others use a table somewhere else.
    pub(super) fn enter(&mut self, table: LockTable, card: &mut dyn Card) -> bool {
        if self.users > 0 && self.table != Some(table) {
            return false;
        }
        if self.table != Some(table) {
            card.place_lock_table(table);
            self.table = Some(table);
        }
        self.users += 1;
        true
    }

    /// A job ends that used the lock table; all its requests have ended.
    pub(super) fn leave(&mut self) {
        self.users -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_job_takes_the_tags_that_others_need_to_go_on() {
        let mut tags = Tags::default();
        let most = std::iter::from_fn(|| tags.take(1)).count();
        assert_eq!(most, usize::from(TAGS) - (Engine::JOBS - 1));
        for job in 2..=Engine::JOBS as u32 {
            assert!(tags.take(job).is_some(), "job {job}");
            assert_eq!(tags.take(1), None, "beside {job} jobs");
        }
        tags.give_back(0);
        assert_eq!(tags.take(2), Some(0), "what all can do without is anybody's");
        assert_eq!(tags.take(1), None);
    }
}
