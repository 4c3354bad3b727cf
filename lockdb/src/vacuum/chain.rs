// SPDX-License-Identifier: MIT OR Apache-2.0
//! A sweep's knowledge of a row's version chain, so that it walks no part of a long chain twice.

use std::collections::BTreeMap;

use super::super::error::Result;
use super::super::layout::RecordId;
use super::super::pages::Pages;
use super::super::schema::{IndexKey, RowRef};
use super::super::table::{Table, Which};
use super::Effort;

/// The part of a row's chain that snapshots may see, as far as it was walked.
///
/// The walk goes down from the newest version to the horizon. Later ones go down to where the one
/// before began, so that each version is visited once, however often the chain is asked about. A walk
/// can be left off at any version, and gone on with in another step of the sweep: what has become
/// older than the horizon meanwhile is not looked at any more.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// All versions up to this commit were visited, down to the horizon of the time.
    walked: u64,
    /// The walk that was left off.
    walk: Option<Walk>,
    /// For each key of a secondary index the commit that superseded the newest version with it, the
    /// chain's newest version not counted.
    superseded: BTreeMap<(usize, IndexKey), u64>,
    visited: usize,
}

/// One walk down a chain.
#[derive(Debug)]
struct Walk {
    /// The commit of the version that it began at.
    from: u64,
    /// The commit of the version that it has come to.
    successor: u64,
    /// The version before that one, which is visited next.
    next: RecordId,
}

/// Chains of up to so many versions are walked again rather than remembered.
const SHORT: usize = 64;

impl Chain {
    /// Walks what has not been walked yet, and fills in which versions are superseded where that is
    /// not known. Gives the head down from which all is known; `None` when the effort is spent before
    /// (the first [`SHORT`] versions are visited all the same, so that each call gets on).
    pub(super) fn walk(
        &mut self,
        pages: &Pages,
        (table, vid): (&Table, u32),
        horizon: u64,
        effort: &mut Effort,
    ) -> Result<Option<RecordId>> {
        loop {
            if self.walk.is_none() {
                let head = table.head(vid);
                if head.is_none() {
                    return Ok(Some(head));
                }
                let newest = pages.version(head)?;
                let from = newest.created();
                if from <= self.walked {
                    return Ok(Some(head));
                }
                self.walk = Some(Walk { from, successor: from, next: newest.predecessor() });
            }
            if !self.walk_on(pages, (table, vid), horizon, effort)? {
                return Ok(None);
            }
        }
    }

    fn walk_on(
        &mut self,
        pages: &Pages,
        (table, vid): (&Table, u32),
        horizon: u64,
        effort: &mut Effort,
    ) -> Result<bool> {
        let Some(walk) = &mut self.walk else { return Ok(true) };
        let enough = self.visited + SHORT;
        // What a version leads to that all snapshots see, or see a newer one of, may be gone.
        while walk.successor > horizon.max(self.walked) && !walk.next.is_none() {
            if effort.is_spent() && self.visited >= enough {
                return Ok(false);
            }
            effort.visit();
            self.visited += 1;
            let version = pages.version(walk.next)?;
            debug_assert!(version.vid() == vid && version.created() < walk.successor);
            if version.invalidated() == 0 {
                version.invalidate(walk.successor);
            }
            let row = RowRef::new(table.schema(), version.payload());
            for index in 0..table.schema().indexes().len() {
                effort.spend(Effort::CHANGE);
                let key = table.entry(Which::Secondary(index), vid, row);
                let superseded = self.superseded.entry((index, key)).or_default();
                *superseded = walk.successor.max(*superseded);
            }
            (walk.successor, walk.next) = (version.created(), version.predecessor());
        }
        self.walked = walk.from;
        self.walk = None;
        Ok(true)
    }

    /// Whether a snapshot may see a version with this key, the chain's newest version not counted.
    pub(super) fn has_key(&self, index: usize, key: &IndexKey, horizon: u64) -> bool {
        // A look-up by reference would need a key type of its own.
        self.superseded.get(&(index, key.clone())).is_some_and(|&commit| commit > horizon)
    }

    /// Frees what it knows, as far as the effort goes. Says whether nothing is left.
    pub(super) fn forget(&mut self, effort: &mut Effort) -> bool {
        effort.spend(1);
        while !effort.is_spent() && self.superseded.pop_first().is_some() {
            effort.spend(1);
        }
        self.superseded.is_empty()
    }

    /// Whether it would take long to learn the same again.
    pub(super) fn is_worth_keeping(&self) -> bool {
        self.visited > SHORT || self.walk.is_some()
    }
}
