// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which partition a row belongs to, which header within it, and which nodes replicate a partition at
//! the start.
//!
//! Rows are spread by a hash of their key alone, not of their table, so that the rows of several tables
//! with one key are on one node, and requests for them coalesce. A table may say otherwise
//! ([`Placement`]): TPC-C's rows go with their warehouse.

use thiserror::Error;

use crate::engine::{Key, NodeId, TableNumber};
use crate::mix::{mix, scale};
use crate::transact::TableShape;

/// How many rows a bucket has room for (FaSST, section 5: 7 to 15; its published code: 7). More go to overflow
/// buckets.
pub const SLOTS: u32 = 7;

/// What decides on which partition a table's rows are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Placement {
    /// A hash of the key.
    #[default]
    Hashed,
    /// The number above the key's lowest `shift` bits, modulo the number of partitions: rows with one such
    /// number are together, in all tables that are placed so.
    Grouped {
        /// Bits of the key that do not count, at most 63.
        shift: u8,
    },
}

/// A part of all rows, the unit of replication. Counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId(pub u16);

impl PartitionId {
    /// The partition as an index into a list of partitions.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What has a header, and with it a version and a lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Headers {
    /// Each bucket, for all of its rows (FaSST, section 5).
    #[default]
    Buckets,
    /// Each row for itself, also one that is not there (Xenic, section 4.1).
    Rows,
}

/// A header: that of a bucket, or of a row; see [`Headers`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeaderId {
    /// The partition of its rows.
    pub partition: PartitionId,
    /// The table of its rows.
    pub table: TableNumber,
    /// The bucket in the table's part; where rows have headers, the row.
    pub bucket: u64,
}

/// Why a cluster cannot be laid out as asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlacementError {
    /// There has to be a node.
    #[error("nodes is {found}, expected 1 to {most}", most = u16::MAX - 1)]
    Nodes {
        /// How many there are.
        found: u16,
    },
    /// Each replica is on a node of its own.
    #[error("backups is {found}, expected 0 to {most}: fewer than the {nodes} nodes", most = nodes - 1)]
    Backups {
        /// How many backups a partition is to have.
        found: u16,
        /// How many nodes there are.
        nodes: u16,
    },
    /// There has to be a table, and its number has to fit.
    #[error("tables is a list of {found}, expected 1 to 256")]
    Tables {
        /// How many there are.
        found: usize,
    },
}

/// The layout of all rows: the same for all nodes, and for the whole run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partitioning {
    /// As many as nodes at the start.
    partitions: u16,
    backups: u16,
    headers: Headers,
    tables: Vec<TableLayout>,
}

/// A table's part in one partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TableLayout {
    value_bytes: u16,
    placement: Placement,
    /// About how many rows there are at the start.
    rows: u64,
    buckets: u32,
    /// About how many rows a bucket has at the start, for the model of overflow.
    rows_of_bucket: u32,
}

impl Partitioning {
    /// Lays `tables` out over `nodes`, each partition with `backups` replicas beside its primary. Buckets
    /// are half full at the start.
    ///
    /// # Errors
    /// When the numbers do not fit each other.
    pub fn new(nodes: u16, backups: u16, tables: &[TableShape]) -> Result<Self, PlacementError> {
        if nodes == 0 || nodes == u16::MAX {
            return Err(PlacementError::Nodes { found: nodes });
        }
        if backups >= nodes {
            return Err(PlacementError::Backups { found: backups, nodes });
        }
        if tables.is_empty() || tables.len() > 256 {
            return Err(PlacementError::Tables { found: tables.len() });
        }
        let tables = tables.iter().map(|table| TableLayout::new(table, nodes)).collect();
        Ok(Self { partitions: nodes, backups, headers: Headers::default(), tables })
    }

    /// The same, where these have the headers. (Without, buckets have them.)
    #[must_use]
    pub fn with_headers(self, headers: Headers) -> Self {
        Self { headers, ..self }
    }

    /// The same, with this number of buckets for each table in each partition, at least one. Tests make
    /// several keys share a header with it.
    #[must_use]
    pub fn with_buckets(mut self, buckets: u32) -> Self {
        for table in &mut self.tables {
            *table = table.with_buckets(buckets.max(1));
        }
        self
    }

    /// How many partitions there are: as many as nodes at the start.
    pub fn partitions(&self) -> u16 {
        self.partitions
    }

    /// How many backups a partition shall have: FaSST's f.
    pub fn backups(&self) -> u16 {
        self.backups
    }

    /// What has the headers.
    pub fn headers(&self) -> Headers {
        self.headers
    }

    /// How many tables there are.
    pub fn tables(&self) -> usize {
        self.tables.len()
    }

    /// The bytes of a value in this table, or `None` if there is no such table.
    pub fn value_bytes(&self, table: TableNumber) -> Option<u16> {
        self.tables.get(usize::from(table.0)).map(|table| table.value_bytes)
    }

    /// About how many rows a bucket of this table has at the start.
    pub(crate) fn rows_of_bucket(&self, table: TableNumber) -> u32 {
        self.tables.get(usize::from(table.0)).map_or(0, |table| table.rows_of_bucket)
    }

    /// About how many bytes the initial rows of a partition have, with `beside` more for each.
    pub fn initial_bytes(&self, beside: usize) -> u64 {
        let bytes =
            |table: &TableLayout| (u64::from(table.value_bytes) + beside as u64) * table.rows;
        self.tables.iter().map(bytes).sum()
    }

    /// The partition of a row.
    pub fn partition_of(&self, key: Key) -> PartitionId {
        match self.tables.get(usize::from(key.table.0)).map(|table| table.placement) {
            Some(Placement::Grouped { shift }) => {
                let group = key.row.checked_shr(shift.into()).unwrap_or(0);
                PartitionId((group % u64::from(self.partitions)) as u16)
            }
            Some(Placement::Hashed) | None => partition_of(key.row, self.partitions),
        }
    }

    /// The header of a row. For a table that does not exist, one that does not exist either.
    pub fn header_of(&self, key: Key) -> HeaderId {
        let bucket = match self.headers {
            Headers::Buckets => self.bucket_of(key),
            Headers::Rows => key.row,
        };
        HeaderId { partition: self.partition_of(key), table: key.table, bucket }
    }

    /// The bucket of a row in its table's part.
    fn bucket_of(&self, key: Key) -> u64 {
        let buckets = self.tables.get(usize::from(key.table.0)).map_or(1, |table| table.buckets);
        let hash = mix(key.row ^ (u64::from(key.table.0) << 56) ^ 0x9e37_79b9_7f4a_7c15);
        scale(hash, u64::from(buckets))
    }

    /// A header in words.
    pub fn name_of(&self, header: HeaderId) -> String {
        let HeaderId { partition: PartitionId(partition), table: TableNumber(table), bucket } =
            header;
        match self.headers {
            Headers::Buckets => {
                format!("bucket {bucket} of table {table} in partition {partition}")
            }
            Headers::Rows => format!("row {bucket:#x} of table {table} in partition {partition}"),
        }
    }

    /// The nodes that replicate a partition at the start: as many after its own, the primary first.
    pub fn initial_replicas(&self, partition: PartitionId) -> Vec<NodeId> {
        let nodes = u32::from(self.partitions);
        let replicas = 0..=u32::from(self.backups);
        replicas.map(|by| NodeId(((u32::from(partition.0) + by) % nodes) as u16)).collect()
    }

    /// All partitions.
    pub fn all(&self) -> impl Iterator<Item = PartitionId> + use<> {
        (0..self.partitions).map(PartitionId)
    }
}

impl TableLayout {
    fn new(table: &TableShape, partitions: u16) -> Self {
        let &TableShape { value_bytes, placement, .. } = table;
        let rows = table.rows.div_ceil(u64::from(partitions));
        // Half of the slots: two rows for each of them, rounded up.
        let buckets = (rows * 2).div_ceil(u64::from(SLOTS)).clamp(1, u64::from(u32::MAX)) as u32;
        Self { value_bytes, placement, rows, buckets, rows_of_bucket: 0 }.with_buckets(buckets)
    }

    fn with_buckets(self, buckets: u32) -> Self {
        let rows_of_bucket = self.rows.div_ceil(u64::from(buckets)).min(u64::from(u32::MAX)) as u32;
        Self { buckets, rows_of_bucket, ..self }
    }
}

/// The partition of the rows with this key among so many, in a table whose rows are
/// [hashed](Placement::Hashed).
pub fn partition_of(row: u64, partitions: u16) -> PartitionId {
    PartitionId(scale(mix(row), u64::from(partitions)) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rows: u64) -> TableShape {
        TableShape::hashed("objects", 40, rows)
    }

    #[test]
    fn rows_spread_evenly_over_partitions_and_buckets() {
        let rows = 60_000;
        let layout = Partitioning::new(6, 2, &[shape(rows)]).unwrap();
        let mut of_partition = [0_u64; 6];
        let mut of_bucket = vec![0_u32; layout.tables[0].buckets as usize * 6];
        for row in 0..rows {
            let header = layout.header_of(Key { table: TableNumber(0), row });
            of_partition[header.partition.index()] += 1;
            let bucket = header.bucket as usize * 6 + header.partition.index();
            of_bucket[bucket] += 1;
        }
        assert!(of_partition.iter().all(|rows| (9_500..10_500).contains(rows)), "{of_partition:?}");
        // Half full on average; few overflow.
        let full = of_bucket.iter().filter(|rows| **rows > SLOTS).count();
        assert!(full * 30 < of_bucket.len(), "{full} of {}", of_bucket.len());
    }

    #[test]
    fn groups_of_rows_are_together_in_all_tables() {
        let grouped = |shift| TableShape {
            placement: Placement::Grouped { shift },
            ..TableShape::hashed("lines", 8, 6_000)
        };
        let layout = Partitioning::new(6, 2, &[grouped(0), grouped(8), shape(60)]).unwrap();
        let partition = |table, row| layout.partition_of(Key { table: TableNumber(table), row });
        for group in 0..18 {
            let expected = PartitionId((group % 6) as u16);
            assert_eq!(partition(0, group), expected);
            assert!((0..256).all(|row| partition(1, group << 8 | row) == expected));
            assert_eq!(partition(2, group), partition_of(group, 6));
        }
        // No key is anywhere else.
        assert_eq!(partition(1, u64::MAX), PartitionId((u64::MAX >> 8) as u16 % 6));
        // The rows of a group are spread over the buckets.
        let header = |row| layout.header_of(Key { table: TableNumber(1), row: 0x500 | row });
        let mut buckets: Vec<u64> = (0..256_u64).map(|row| header(row).bucket).collect();
        buckets.sort_unstable();
        buckets.dedup();
        assert!(buckets.len() > 150, "{} buckets", buckets.len());
    }

    #[test]
    fn each_row_has_a_header_of_its_own_where_rows_have_them() {
        let layout = Partitioning::new(4, 2, &[shape(8), shape(8)]).unwrap().with_buckets(1);
        let key = |table, row| Key { table: TableNumber(table), row };
        let (one, other) = (key(1, 5), key(1, u64::MAX));
        let bucket = layout.header_of(one);
        assert_eq!((bucket.bucket, layout.header_of(other).bucket), (0, 0));
        let layout = layout.with_headers(Headers::Rows);
        let row = layout.header_of(one);
        assert_eq!(row, HeaderId { bucket: 5, ..bucket });
        assert_eq!(layout.header_of(other).bucket, u64::MAX);
        let partition = row.partition.0;
        assert_eq!(layout.name_of(row), format!("row 0x5 of table 1 in partition {partition}"));
    }

    #[test]
    fn replicas_are_the_nodes_after_the_primary() {
        let layout = Partitioning::new(4, 2, &[shape(8)]).unwrap();
        let nodes = layout.initial_replicas(PartitionId(3));
        assert_eq!(nodes, [NodeId(3), NodeId(0), NodeId(1)]);
        assert_eq!(layout.all().count(), 4);
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let error = Partitioning::new(3, 3, &[shape(8)]).unwrap_err();
        assert_eq!(error.to_string(), "backups is 3, expected 0 to 2: fewer than the 3 nodes");
        assert!(Partitioning::new(0, 0, &[shape(8)]).is_err());
        assert!(Partitioning::new(3, 2, &[]).is_err());
    }
}
