// SPDX-License-Identifier: MIT OR Apache-2.0
//! How fast inputs are drawn, and the reference executes them, on one thread:
//! `cargo bench -p lockstep-workloads --bench rates`.

use std::hint::black_box;
use std::time::Instant;

use lockstep_workloads::database::smallbank::SmallBank;
use lockstep_workloads::database::tatp::Tatp;
use lockstep_workloads::database::tpcc::{Scale, Tpcc};
use lockstep_workloads::database::ycsb::{Mix, Ycsb};
use lockstep_workloads::database::{Load, Reference, TableDefinition, TableId, Value};
use lockstep_workloads::database::{ReferenceError, Workload, check, execute, total};
use lockstep_workloads::scenario::{
    Distribution, SmallBankAccess, SmallBankSettings, YcsbSettings,
};

fn main() -> Result<(), ReferenceError> {
    let accounts = 100_000;
    for (name, access) in [("hot90", SmallBankAccess::Hot90), ("hot10", SmallBankAccess::Hot10)] {
        let settings = SmallBankSettings { accounts, hot_accounts: 4_000, access };
        measure(&format!("SmallBank {name}"), &SmallBank::new(&settings, 1))?;
    }
    measure("TATP", &Tatp::new(100_000, 1))?;
    let distribution = Distribution::Zipf { exponent: 0.99, scrambled: true };
    for mix in [Mix::A, Mix::B, Mix::F] {
        let settings = YcsbSettings { rows: 100_000, distribution };
        measure(&format!("YCSB {mix:?}"), &Ycsb::new(mix, &settings, 1))?;
    }
    measure("TPC-C", &Tpcc::new(Scale::standard(1), 1))
}

fn measure<W: Workload>(name: &str, workload: &W) -> Result<(), ReferenceError> {
    const INPUTS: usize = 1_000_000;
    let begin = Instant::now();
    workload.inputs(0).take(INPUTS).for_each(|input| drop(black_box(input)));
    let inputs = INPUTS as f64 / begin.elapsed().as_secs_f64();

    let begin = Instant::now();
    let mut counter = Counter(0);
    workload.populate(&mut counter).unwrap_or_else(|never| match never {});
    let rows = counter.0 as f64 / begin.elapsed().as_secs_f64();

    const TRANSACTIONS: usize = 50_000;
    let mut store = Reference::default();
    workload.populate(&mut store)?;
    let mut expected = total(&mut store, workload)?;
    let begin = Instant::now();
    for input in workload.inputs(0).take(TRANSACTIONS) {
        let outcome = execute(&mut store, workload, &input)?;
        if outcome.is_committed() {
            expected += workload.change(&input, outcome.value());
        }
    }
    let transactions = TRANSACTIONS as f64 / begin.elapsed().as_secs_f64();
    check(&mut store, workload, expected)?;
    println!(
        "{name:16} {inputs:11.0} inputs/s {rows:10.0} rows/s of {:8} {transactions:9.0} \
         transactions/s on the reference",
        counter.0
    );
    Ok(())
}

/// Counts rows and drops them.
struct Counter(u64);

impl Load for Counter {
    type Error = std::convert::Infallible;

    fn create(&mut self, _: &'static [TableDefinition]) -> Result<(), Self::Error> {
        Ok(())
    }

    fn row(&mut self, _: TableId, row: &[Value<'_>]) -> Result<(), Self::Error> {
        black_box(row);
        self.0 += 1;
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}
