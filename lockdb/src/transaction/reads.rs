// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reads of a SERIALIZABLE transaction, which are validated before it commits.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::Bound;

use super::super::schema::IndexKey;
use super::super::table::{Table, Which};

/// The reads of one transaction.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    pub(super) rows: Vec<RowRead>,
    pub(super) ranges: Vec<RangeRead>,
    /// Tables that were read as a whole.
    pub(super) tables: Vec<u32>,
    looked_at: usize,
}

/// A row that was there.
#[derive(Debug)]
pub(super) struct RowRead {
    pub(super) table: u32,
    pub(super) vid: u32,
}

/// A range of an index; a key that was not there is one.
#[derive(Debug)]
pub(super) struct RangeRead {
    pub(super) table: u32,
    pub(super) which: Which,
    pub(super) low: Bound<IndexKey>,
    pub(super) high: Bound<IndexKey>,
}

impl Reads {
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.ranges.clear();
        self.tables.clear();
        self.looked_at = 0;
    }

    pub(super) fn note_row(&mut self, table: &Table, vid: u32) {
        self.rows.push(RowRead { table: table.id, vid });
        self.looked_at += 1;
    }

    /// `entries` were found in it.
    pub(super) fn note_range(&mut self, range: RangeRead, entries: usize) {
        self.ranges.push(range);
        self.looked_at += 1 + entries;
    }

    pub(crate) fn note_table(&mut self, table: &Table) {
        self.tables.push(table.id);
        self.looked_at += table.vids() as usize;
    }

    /// About how many rows and index entries there are to look at again.
    pub(super) fn looked_at(&self) -> usize {
        self.looked_at
    }

    /// The tables of which anything was read, each once.
    pub(super) fn tables_read(&self) -> Vec<u32> {
        let rows = self.rows.iter().map(|row| row.table);
        let ranges = self.ranges.iter().map(|range| range.table);
        let mut tables = self.tables.clone();
        for table in rows.chain(ranges) {
            if tables.last() != Some(&table) && !tables.contains(&table) {
                tables.push(table);
            }
        }
        tables
    }

    /// The same reads, to find out whether a row is among them.
    pub(super) fn index(&self) -> ReadIndex<'_> {
        let mut rows: Vec<(u32, u32)> = self.rows.iter().map(|row| (row.table, row.vid)).collect();
        rows.sort_unstable();
        let mut ranges: BTreeMap<(u32, Which), Vec<_>> = BTreeMap::new();
        for RangeRead { table, which, low, high } in &self.ranges {
            ranges.entry((*table, *which)).or_default().push((low, high));
        }
        let ranges = ranges.into_iter().map(|(of, ranges)| (of, Ranges::new(ranges))).collect();
        ReadIndex { rows, ranges, tables: &self.tables }
    }
}

/// What a transaction has read, by what may be changed of it.
#[derive(Debug)]
pub(super) struct ReadIndex<'r> {
    /// Tables and VIDs, sorted.
    rows: Vec<(u32, u32)>,
    ranges: BTreeMap<(u32, Which), Ranges<'r>>,
    tables: &'r [u32],
}

impl<'r> ReadIndex<'r> {
    pub(super) fn has_row(&self, table: u32, vid: u32) -> bool {
        self.rows.binary_search(&(table, vid)).is_ok()
    }

    pub(super) fn has_table(&self, table: u32) -> bool {
        self.tables.contains(&table)
    }

    /// The ranges of each index of a table.
    pub(super) fn ranges_of(&self, table: u32) -> impl Iterator<Item = (Which, &Ranges<'r>)> {
        let from = (table, Which::Primary);
        let of = self.ranges.range(from..).take_while(move |((of, _), _)| *of == table);
        of.map(|(&(_, which), ranges)| (which, ranges))
    }
}

/// Ranges of one index.
#[derive(Debug)]
pub(super) struct Ranges<'r> {
    /// By their lower ends.
    lows: Vec<&'r Bound<IndexKey>>,
    /// For each the highest upper end that one up to it has.
    highs: Vec<&'r Bound<IndexKey>>,
}

impl<'r> Ranges<'r> {
    fn new(mut ranges: Vec<(&'r Bound<IndexKey>, &'r Bound<IndexKey>)>) -> Self {
        ranges.sort_unstable_by(|(a, _), (b, _)| compare_lows(a, b));
        let (lows, mut highs): (Vec<_>, Vec<_>) = ranges.into_iter().unzip();
        for at in 1..highs.len() {
            if compare_highs(highs[at - 1], highs[at]).is_gt() {
                highs[at] = highs[at - 1];
            }
        }
        Self { lows, highs }
    }

    /// Whether a key lies in one of them.
    pub(super) fn contain(&self, key: &IndexKey) -> bool {
        let below = self.lows.partition_point(|low| match low {
            Bound::Unbounded => true,
            Bound::Included(low) => low <= key,
            Bound::Excluded(low) => low < key,
        });
        below > 0
            && match self.highs[below - 1] {
                Bound::Unbounded => true,
                Bound::Included(high) => key <= high,
                Bound::Excluded(high) => key < high,
            }
    }
}

fn compare_lows(a: &Bound<IndexKey>, b: &Bound<IndexKey>) -> Ordering {
    compare_ends(a, b, Ordering::Less)
}

fn compare_highs(a: &Bound<IndexKey>, b: &Bound<IndexKey>) -> Ordering {
    compare_ends(a, b, Ordering::Greater)
}

/// Compares two lower or two upper ends; `open` is how no end compares to any, and the inclusion of a
/// key to its exclusion.
fn compare_ends(a: &Bound<IndexKey>, b: &Bound<IndexKey>, open: Ordering) -> Ordering {
    use Bound::{Excluded, Included, Unbounded};
    match (a, b) {
        (Unbounded, Unbounded) => Ordering::Equal,
        (Unbounded, _) => open,
        (_, Unbounded) => open.reverse(),
        (Included(a), Excluded(b)) => a.cmp(b).then(open),
        (Excluded(a), Included(b)) => a.cmp(b).then(open.reverse()),
        (Included(a), Included(b)) | (Excluded(a), Excluded(b)) => a.cmp(b),
    }
}

#[cfg(test)]
mod tests {
    use std::ops::RangeBounds;

    use super::*;

    /// Against each range by itself.
    #[test]
    fn a_key_lies_in_ranges_if_it_lies_in_one_of_them() {
        let mut state = 1_u64;
        let mut draw = |limit: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % limit
        };
        let key = |n: u64| IndexKey::from_bytes(&[n as u8]);
        let mut found = [0; 2];
        for _ in 0..2000 {
            let count = draw(6);
            let end = |kind: u64, at: u64| match kind {
                0 => Bound::Unbounded,
                1..4 => Bound::Included(key(at)),
                _ => Bound::Excluded(key(at)),
            };
            let ranges: Vec<_> =
                (0..count).map(|_| (end(draw(9), draw(20)), end(draw(9), draw(20)))).collect();
            let together = Ranges::new(ranges.iter().map(|(low, high)| (low, high)).collect());
            for at in 0..20 {
                // Ends that cross have nothing between them.
                let expected = ranges.iter().any(|range| range.contains(&key(at)));
                assert_eq!(together.contain(&key(at)), expected, "{at} in {ranges:?}");
                found[usize::from(expected)] += 1;
            }
        }
        assert!(found.iter().all(|&count| count > 1000), "{found:?}");
    }
}
