//! What only the inside of a store can bring about.

use super::super::database::Database;
use super::super::error::Error;
use super::super::options::{Isolation, Options, TransactionOptions};
use super::super::schema::{RowBuffer, Schema, Type};
use super::super::transaction::Transaction;
use crate::store::Sync;

/// A session that is about to pin its snapshot counts as older than all. Vacuum must not follow
/// predecessors then that an earlier one has left to lead nowhere.
#[test]
fn the_horizon_never_goes_back() {
    let store = Database::in_memory(Options::small()).unwrap();
    let hot = Schema::builder("hot").column("id", Type::Int64).column("value", Type::Int64);
    let hot = store.create_table(hot.primary_key(&["id"]).build().unwrap()).unwrap();
    let large = Schema::builder("large").column("id", Type::Int64).column("bytes", Type::Bytes);
    let large = store.create_table(large.primary_key(&["id"]).build().unwrap()).unwrap();
    let mut session = store.session().unwrap();
    let quick = TransactionOptions { isolation: Isolation::Snapshot, sync: Sync::None };
    let mut update = |id: i64, value: i64| {
        let change = |row: &mut RowBuffer| {
            row.set_int(1, value);
            Ok(())
        };
        let work = |transaction: &mut Transaction<'_>| {
            let found = transaction.update(&hot, &id, change)?;
            found.map_or_else(|| transaction.insert(&hot, &[id.into(), value.into()]), Ok)
        };
        session.transaction::<_, Error>(quick, work).unwrap();
    };
    // A page of rows, which stays; its first one has many versions after that.
    (0..200).for_each(|id| update(id, 0));
    (0..1000).for_each(|value| update(0, value));
    assert!(store.vacuum().unwrap().pages_freed > 4);
    // Their pages are used again, for rows whose bytes are no version headers.
    let mut other = store.session().unwrap();
    for id in 0..40 {
        let row = [id.into(), vec![0xFF; 4000].into()];
        let work = |transaction: &mut Transaction<'_>| transaction.insert(&large, &row);
        other.transaction::<_, Error>(quick, work).unwrap();
    }
    // Now nobody needs the first page: but to see that, no chain must be walked to its end.
    (1..200).for_each(|id| update(id, 1));
    let pins = &store.shared.pins;
    let slot = pins.claim().unwrap();
    pins.pin(slot, || {
        store.vacuum().unwrap();
        store.published()
    });
    pins.give_back(slot);
    assert!(store.vacuum().unwrap().pages_freed > 0);
}
