//! The workloads on `lockdb`'s store, judged by the reference.

use lockdb::store::{Database, Isolation, Options, Sync, TransactionOptions};
use lockstep_workloads::database::ycsb::Mix;
use lockstep_workloads::database::{
    Outcome, StoreLoader, StoreSession, Workload, check, execute, replay, same_tables, total,
};
use lockstep_workloads::scenario::SmallBankAccess;

use super::{bank, poor_bank, populated, tatp, tpcc, ycsb};

fn loaded(workload: &impl Workload) -> Database {
    let database = Database::in_memory(Options::small()).expect("a store");
    workload.populate(&mut StoreLoader::new(&database)).expect("the population fits its tables");
    database
}

fn session(database: &Database, workload: &impl Workload, isolation: Isolation) -> StoreSession {
    let options = TransactionOptions { isolation, sync: Sync::None };
    StoreSession::new(database, workload.tables(), options).expect("a session")
}

/// One thread: outputs, rows and indexes are those of the reference.
fn agrees<W: Workload>(workload: &W, transactions: usize) {
    let database = loaded(workload);
    for isolation in [Isolation::ReadCommitted, Isolation::Snapshot, Isolation::Serializable] {
        let database =
            if isolation == Isolation::ReadCommitted { &database } else { &loaded(workload) };
        let mut store = session(database, workload, isolation);
        let mut expected = total(&mut store, workload).expect("a total");
        let mut history = Vec::new();
        for input in workload.inputs(0).take(transactions) {
            if let Outcome::Committed(output) =
                execute(&mut store, workload, &input).expect("sound")
            {
                expected += workload.change(&input, &output);
                history.push((input, output));
            }
        }
        let mut reference = populated(workload);
        replay(&mut reference, workload, history).expect("the same outputs");
        same_tables(&mut store, &mut reference).expect("the same rows");
        check(&mut store, workload, expected).expect("a sound database");
    }
}

#[test]
fn a_single_session_does_what_the_reference_does() {
    agrees(&bank(SmallBankAccess::Hot10, 1), 1_000);
    agrees(&poor_bank(1), 1_000);
    agrees(&tatp(1), 1_500);
    agrees(&ycsb(Mix::F, 1), 1_000);
    agrees(&tpcc(1), 300);
}
