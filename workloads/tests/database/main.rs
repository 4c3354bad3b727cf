//! The workloads over tables, on the reference store.

mod mixes;
mod soundness;
mod violations;

use lockstep_workloads::database::smallbank::SmallBank;
use lockstep_workloads::database::tatp::Tatp;
use lockstep_workloads::database::tpcc::{Scale, Tpcc};
use lockstep_workloads::database::ycsb::{Mix, Ycsb};
use lockstep_workloads::database::{Reference, Workload};
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
