//! Corners where the store once went wrong.

use std::sync::Arc;

use lockdb::store::schema::{Schema, Type};
use lockdb::store::{Database, Error, Options, Session, Table, Transaction, TransactionOptions};

fn accounts(store: &Database) -> Arc<Table> {
    let schema = Schema::builder("account")
        .column("id", Type::Int64)
        .column("owner", Type::Int64)
        .column("balance", Type::Int64)
        .primary_key(&["id"])
        .index("owner", &["owner"]);
    store.create_table(schema.build().unwrap()).unwrap()
}

fn run<T>(session: &mut Session, work: impl FnMut(&mut Transaction<'_>) -> Result<T, Error>) -> T {
    session.transaction(TransactionOptions::default(), work).unwrap()
}

/// No version has the keys that a row had between two writes of one transaction; so nobody would
/// ever remove their entries.
#[test]
fn keys_of_overwritten_writes_leave_no_index_entries() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let mut session = store.session().unwrap();
    run(&mut session, |tx| tx.insert(&table, &[1.into(), 7.into(), 0.into()]));
    let mut owner = 100;
    for _ in 0..50 {
        run(&mut session, |tx| {
            for _ in 0..3 {
                owner += 1;
                tx.update(&table, &1, |row| Ok(row.set_int(1, owner)))?;
            }
            Ok(())
        });
    }
    // Those of its 51 versions.
    assert_eq!(table.entries(Some("owner")).unwrap(), 51);
}

/// A lock that is held elsewhere does not bring a row back that the transaction has deleted.
#[test]
fn a_deleted_row_is_not_updated() {
    let store = Database::in_memory(Options::small()).unwrap();
    let table = accounts(&store);
    let mut session = store.session().unwrap();
    run(&mut session, |tx| tx.insert(&table, &[1.into(), 7.into(), 0.into()]));
    let vid = table.vid_of(&1).unwrap().unwrap();
    let mut tx = session.begin(TransactionOptions::default());
    assert!(tx.delete(&table, &1).unwrap());
    let updated = tx.update_locked(&table, vid, 1, |row| Ok(row.set_int(2, 5)));
    assert!(matches!(updated, Err(Error::NotThatVersion { .. })), "{updated:?}");
    tx.commit().unwrap();
    drop(tx);
    assert!(session.begin(TransactionOptions::default()).get(&table, &1).unwrap().is_none());
}
