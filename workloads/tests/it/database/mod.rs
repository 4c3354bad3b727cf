// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workloads over tables, on the reference store.

mod agents;
mod concurrent;
mod effects;
mod hesitant;
mod lockdb_store;
mod mixes;
mod soundness;
mod violations;

use std::ops::ControlFlow;

use lockstep_workloads::database::smallbank::SmallBank;
use lockstep_workloads::database::tatp::Tatp;
use lockstep_workloads::database::tpcc::{Scale, Tpcc};
use lockstep_workloads::database::ycsb::{Mix, Ycsb};
use lockstep_workloads::database::{
    Access, Body, Mode, Order, Outcome, Reference, Row, Session, TableId, Workload,
};
use lockstep_workloads::scenario::{
    Distribution, SmallBankAccess, SmallBankSettings, YcsbSettings,
};

fn bank(access: SmallBankAccess, seed: u64) -> SmallBank {
    SmallBank::new(&SmallBankSettings { accounts: 1_000, hot_accounts: 40, access }, seed)
}

/// A bank in which many cannot pay.
fn poor_bank(seed: u64) -> SmallBank {
    bank(SmallBankAccess::Hot90, seed).with_initial_balance(250)
}

fn ycsb(mix: Mix, seed: u64) -> Ycsb {
    let distribution = Distribution::Zipf { exponent: 0.99, scrambled: true };
    Ycsb::new(mix, &YcsbSettings { rows: 500, distribution }, seed)
}

fn tatp(seed: u64) -> Tatp {
    Tatp::new(300, seed)
}

/// Two warehouses of 100 items, and 30 customers a district.
fn tpcc(seed: u64) -> Tpcc {
    Tpcc::new(Scale { warehouses: 2, items: 100, customers: 30 }, seed)
}

fn populated(workload: &impl Workload) -> Reference {
    let mut store = Reference::default();
    workload.populate(&mut store).expect("the population fits its tables");
    store
}

/// The rows of a table, each through a closure.
fn read_all<T>(store: &mut Reference, table: TableId, read: impl FnMut(&dyn Row) -> T) -> Vec<T> {
    struct All<F>(TableId, F);
    impl<T, F: FnMut(&dyn Row) -> T> Body for All<F> {
        type Output = Vec<T>;

        fn mode(&self) -> Mode {
            Mode::ReadOnly
        }

        fn run<A: Access>(&mut self, access: &mut A) -> Result<Outcome<Vec<T>>, A::Error> {
            let mut rows = Vec::new();
            access.scan(self.0, &[], &[], Order::Ascending, |row| {
                rows.push((self.1)(row));
                ControlFlow::Continue(())
            })?;
            Ok(Outcome::Committed(rows))
        }
    }
    match store.transact(&mut All(table, read)).expect("any scan is taken") {
        Outcome::Committed(rows) | Outcome::RolledBack(rows) => rows,
    }
}
