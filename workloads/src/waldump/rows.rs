// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which row, and which version of it, lies at an address.

use std::collections::BTreeMap;

use super::line::TupleAddress;

/// Rows by number, and where their versions lie.
///
/// A row has the same VID wherever its versions move. VIDs count up from 1 in the order in
/// which rows are first seen, so no two rows share one, even when a line pointer is used again.
#[derive(Debug, Default)]
pub(super) struct Rows {
    by_address: BTreeMap<TupleAddress, u64>,
    /// Row v at place v - 1.
    histories: Vec<History>,
}

/// The versions of one row that committed.
#[derive(Debug, Default)]
struct History {
    /// Committed updates of the row.
    version: u32,
    /// Position in the log and version before it, for the commits that an open transaction
    /// may still look behind; ascending.
    commits: Vec<(u64, u32)>,
}

impl Rows {
    /// The VID of the row with a version at this address.
    pub(super) fn vid(&mut self, address: TupleAddress) -> u64 {
        *self.by_address.entry(address).or_insert_with(|| {
            self.histories.push(History::default());
            self.histories.len() as u64
        })
    }

    /// How many rows have been seen.
    pub(super) fn count(&self) -> u64 {
        self.histories.len() as u64
    }

    /// The latest committed version of a row.
    pub(super) fn version(&self, vid: u64) -> u32 {
        self.histories[place(vid)].version
    }

    /// The version of a row that had committed last at a position of the log.
    pub(super) fn version_at(&self, vid: u64, lsn: u64) -> u32 {
        let history = &self.histories[place(vid)];
        let behind = history.commits.partition_point(|(commit, _)| *commit <= lsn);
        history.commits.get(behind).map_or(history.version, |(_, before)| *before)
    }

    /// A new version of the row lies at `address`, though not committed yet.
    pub(super) fn placed(&mut self, vid: u64, address: TupleAddress) {
        self.by_address.insert(address, vid);
    }

    /// No version of the row lies at `address` any more that could be updated.
    pub(super) fn vacated(&mut self, vid: u64, address: TupleAddress) {
        if self.by_address.get(&address) == Some(&vid) {
            self.by_address.remove(&address);
        }
    }

    /// `updates` new versions of a row committed at `lsn`; nobody will ask for a version
    /// before `oldest` any more.
    pub(super) fn committed(&mut self, vid: u64, updates: u32, lsn: u64, oldest: u64) {
        let history = &mut self.histories[place(vid)];
        let done = history.commits.partition_point(|(commit, _)| *commit <= oldest);
        history.commits.drain(..done);
        history.commits.push((lsn, history.version));
        history.version = history.version.wrapping_add(updates);
    }
}

fn place(vid: u64) -> usize {
    usize::try_from(vid - 1).expect("VIDs are places of a vector")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_keeps_its_number_and_a_used_again_address_gets_a_new_one() {
        let address = |offset| TupleAddress { relation: [1, 2, 3], block: 0, offset };
        let mut rows = Rows::default();
        let row = rows.vid(address(1));
        rows.placed(row, address(2));
        rows.vacated(row, address(1));
        assert_eq!(rows.vid(address(2)), row);
        assert_ne!(rows.vid(address(1)), row);
    }

    #[test]
    fn versions_are_as_of_a_position() {
        let mut rows = Rows::default();
        let row = rows.vid(TupleAddress { relation: [1, 2, 3], block: 0, offset: 1 });
        rows.committed(row, 1, 100, 0);
        rows.committed(row, 2, 200, 0);
        let seen = [99, 100, 199, 200, 999].map(|lsn| rows.version_at(row, lsn));
        assert_eq!(seen, [0, 1, 1, 3, 3]);
        rows.committed(row, 1, 300, 150);
        let seen = [150, 199, 200, 299, 300].map(|lsn| rows.version_at(row, lsn));
        assert_eq!(seen, [1, 1, 3, 3, 4]);
    }
}
