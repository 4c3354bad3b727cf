// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading many rows: whole tables, and ranges of an index.

use std::ops::{Bound, ControlFlow, RangeBounds};

use super::super::error::Result;
use super::super::mutant::Mutant;
use super::super::options::Isolation;
use super::super::schema::{IndexKey, Key, RowRef};
use super::super::table::{Table, Which};
use super::Transaction;
use super::reads::RangeRead;

/// Which way a range is walked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// From the lowest key up.
    #[default]
    Ascending,
    /// From the highest key down.
    Descending,
}

/// Index entries that are fetched at once.
const BATCH: usize = 128;

impl Transaction<'_> {
    /// Visits all rows of a table, in no order that means anything, until `visit` breaks off.
    ///
    /// # Errors
    /// When a page cannot be read, or the transaction has ended.
    pub fn scan(
        &mut self,
        table: &Table,
        mut visit: impl FnMut(RowRef<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.operate_on(table)?;
        if self.isolation == Isolation::Serializable {
            self.session.reads.note_table(table);
        }
        for vid in 0..table.vids() {
            if let Some(row) = self.row(table, vid)?
                && visit(row).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    /// Visits the rows whose primary keys lie in `range`, in the order of their keys, until `visit`
    /// breaks off. The ends of the range may be keys, or values of their first columns.
    ///
    /// # Errors
    /// When the range does not fit the table, a page cannot be read, or the transaction has ended.
    pub fn range<K: Key>(
        &mut self,
        table: &Table,
        range: impl RangeBounds<K>,
        order: Order,
        visit: impl FnMut(RowRef<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.operate_on(table)?;
        let bounds = table.schema().primary().range(&range)?;
        self.visit_range(table, Which::Primary, bounds, order, visit)
    }

    /// As [`Transaction::range`], by the keys of a secondary index; rows of equal keys come in no
    /// order that means anything.
    ///
    /// # Errors
    /// As [`Transaction::range`], and when there is no such index.
    pub fn range_by<K: Key>(
        &mut self,
        table: &Table,
        index: &str,
        range: impl RangeBounds<K>,
        order: Order,
        visit: impl FnMut(RowRef<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        self.operate_on(table)?;
        let which = table.which(index)?;
        let number = table.schema().index(index).expect("it was found by name");
        let bounds = table.schema().secondary(number).range(&range)?;
        self.visit_range(table, which, bounds, order, visit)
    }

    fn visit_range(
        &mut self,
        table: &Table,
        which: Which,
        bounds: (Bound<IndexKey>, Bound<IndexKey>),
        order: Order,
        mut visit: impl FnMut(RowRef<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let descending = order == Order::Descending;
        let whole = bounds.clone();
        let mut rest = bounds;
        let mut seen = whole.clone();
        let (mut batch, mut entries) = (Vec::new(), 0);
        'batches: while !is_empty(&rest) {
            table.collect(which, rest.clone(), descending, BATCH, &mut batch);
            let more = batch.len() == BATCH;
            for (key, vid) in batch.drain(..) {
                entries += 1;
                let row = self
                    .row(table, vid)?
                    .filter(|&row| self.is_entry_of(which, &key, vid, row, table));
                let stop = row.is_some_and(|row| visit(row).is_break());
                let (beyond, up_to) = (Bound::Excluded(key.clone()), Bound::Included(key));
                match descending {
                    false => (rest.0, seen.1) = (beyond, up_to),
                    true => (rest.1, seen.0) = (beyond, up_to),
                }
                if stop {
                    // Only what was looked at was read.
                    self.note_range(table, which, seen, entries);
                    return Ok(());
                }
            }
            if !more {
                break 'batches;
            }
        }
        self.note_range(table, which, whole, entries);
        Ok(())
    }

    /// Whether an index entry is that of the version seen, and not of an older or newer one.
    fn is_entry_of(
        &self,
        which: Which,
        key: &IndexKey,
        vid: u32,
        row: RowRef<'_>,
        table: &Table,
    ) -> bool {
        which == Which::Primary
            || table.entry(which, vid, row) == *key
            || self.session.shared.mutants.has(Mutant::OldIndexEntryKept)
    }

    fn note_range(
        &mut self,
        table: &Table,
        which: Which,
        (low, high): (Bound<IndexKey>, Bound<IndexKey>),
        entries: usize,
    ) {
        if self.isolation == Isolation::Serializable {
            let range = RangeRead { table: table.id, which, low, high };
            self.session.reads.note_range(range, entries);
        }
    }
}

/// Whether no key lies between the bounds; an index would refuse bounds that cross.
pub(super) fn is_empty((low, high): &(Bound<IndexKey>, Bound<IndexKey>)) -> bool {
    match (low, high) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(low), Bound::Included(high)) => low > high,
        (
            Bound::Included(low) | Bound::Excluded(low),
            Bound::Included(high) | Bound::Excluded(high),
        ) => low >= high,
    }
}
