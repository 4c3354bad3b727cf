// SPDX-License-Identifier: MIT OR Apache-2.0
use super::*;
use crate::engine::TableNumber;
use crate::transact::TableShape;

/// A row that leaves its entry for another one has to be read again from then on, and no row of the others.
#[test]
fn an_entry_that_has_replaced_an_object_is_not_warm() {
    let displacements = Arc::new(Displacements::new(16, 90).expect("a table"));
    let shape = TableShape::hashed("rows", 8, 8);
    let place = displacements.place(&shape, 1, 0).expect("a place");
    let key = |row| Key { table: TableNumber(0), row };
    let segment = |row| place.home(key(row)).segment;
    let rows: Vec<u64> =
        (0..).filter(|row| segment(*row) == segment(0)).take(OBJECTS + 1).collect();
    let other = (0..).find(|row| segment(*row) != segment(0)).expect("a segment more");
    let mut index = Index::new(displacements, [place].into(), [8].into(), 64, false).warm(true);
    let partition = PartitionId(0);
    let mut bring = |row| {
        let Look::Miss { epoch, .. } = index.look(partition, key(row), 1) else {
            panic!("nobody has brought row {row}")
        };
        index.begin_read(partition, key(row));
        let cached = Cached { version: 0, value: Some(&[1; 8]) };
        assert_eq!(index.end_read(partition, key(row), epoch, cached), Fill::Cached);
        index.was_cached(partition, key(0))
    };
    for row in &rows[..OBJECTS] {
        assert!(bring(*row));
    }
    assert!(!bring(rows[OBJECTS]));
    index.look(partition, key(other), 1);
    assert!(index.was_cached(partition, key(other)), "its entry has lost nothing");
    assert_eq!(index.cached(partition, key(0)), None, "the first one has left");
}
