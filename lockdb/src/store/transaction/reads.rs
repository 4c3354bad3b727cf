//! What a SERIALIZABLE transaction has read, to be looked at again before it commits.

use std::ops::Bound;

use super::super::schema::IndexKey;
use super::super::table::Which;

/// The reads of one transaction.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    pub(crate) rows: Vec<RowRead>,
    pub(crate) ranges: Vec<RangeRead>,
    /// Tables that were read as a whole.
    pub(crate) tables: Vec<u32>,
}

/// A row that was there.
#[derive(Debug)]
pub(crate) struct RowRead {
    pub(crate) table: u32,
    pub(crate) vid: u32,
}

/// A range of an index; a key that was not there is one.
#[derive(Debug)]
pub(crate) struct RangeRead {
    pub(crate) table: u32,
    pub(crate) which: Which,
    pub(crate) low: Bound<IndexKey>,
    pub(crate) high: Bound<IndexKey>,
}

impl Reads {
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.ranges.clear();
        self.tables.clear();
    }
}
