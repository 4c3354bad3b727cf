// SPDX-License-Identifier: MIT OR Apache-2.0
//! The workloads on `lockdb`'s store by several threads at once: the conditions hold at every
//! snapshot, and what is SERIALIZABLE goes as it goes serially, in the order of commits.
//!
//! A case is a workload drawn from a seed, in each setting. The seed draws what each agent does; how
//! they meet is the machine's.

use lockdb::Isolation;
use lockdb::mutant::Mutant;
use lockstep_workloads::database::Workload;
use lockstep_workloads::database::smallbank::SmallBank;
use lockstep_workloads::database::tatp::Tatp;
use lockstep_workloads::database::tpcc::{Scale, Tpcc};
use lockstep_workloads::database::ycsb::{Mix, Ycsb};
use lockstep_workloads::scenario::{
    Distribution, SmallBankAccess, SmallBankSettings, YcsbSettings,
};

use super::agents::{Setting, run};

// Few rows, so that agents meet.

fn bank(access: SmallBankAccess, seed: u64) -> SmallBank {
    SmallBank::new(&SmallBankSettings { accounts: 100, hot_accounts: 4, access }, seed)
}

/// Many cannot pay, and the penalty of a check depends on both rows.
fn poor_bank(seed: u64) -> SmallBank {
    bank(SmallBankAccess::Hot90, seed).with_initial_balance(1_000)
}

fn tatp(seed: u64) -> Tatp {
    Tatp::new(10, seed)
}

fn ycsb(mix: Mix, seed: u64) -> Ycsb {
    let distribution = Distribution::Zipf { exponent: 0.99, scrambled: true };
    Ycsb::new(mix, &YcsbSettings { rows: 20, distribution }, seed)
}

/// Two warehouses, for four agents, of 20 items, and 6 customers a district.
fn tpcc(seed: u64) -> Tpcc {
    Tpcc::new(Scale { warehouses: 2, items: 20, customers: 6 }, seed)
}

fn goes_as_serially<W: Workload>(name: &str, transactions: usize, workload: impl Fn(u64) -> W) {
    for seed in seeds::of!(1) {
        let workload = workload(seed);
        for isolation in [Isolation::Serializable, Isolation::Snapshot] {
            for on_files in [false, true] {
                let setting = Setting { isolation, on_files, transactions, seed, mutant: None };
                let committed = run(&workload, setting).unwrap_or_else(|error| {
                    panic!("{name}: {setting:?}: {error}");
                });
                assert!(committed > transactions, "{name}: {setting:?}: {committed} committed");
            }
        }
    }
}

#[test]
fn smallbank_goes_as_serially() {
    goes_as_serially("hot90", 300, |seed| bank(SmallBankAccess::Hot90, seed));
    goes_as_serially("hot10", 300, |seed| bank(SmallBankAccess::Hot10, seed));
    goes_as_serially("of little money", 300, poor_bank);
}

#[test]
fn tatp_goes_as_serially() {
    goes_as_serially("TATP", 500, tatp);
}

#[test]
fn ycsb_goes_as_serially() {
    for mix in [Mix::A, Mix::B, Mix::F] {
        goes_as_serially("YCSB", 300, |seed| ycsb(mix, seed));
    }
}

#[test]
fn tpcc_goes_as_serially() {
    goes_as_serially("TPC-C", 80, tpcc);
}

/// Breaks the store, and runs until that is noticed.
fn is_noticed<W: Workload>(
    mutant: Mutant,
    on_files: bool,
    transactions: usize,
    workload: impl Fn(u64) -> W,
) {
    const TRIES: u64 = 40;
    let isolation = Isolation::Serializable;
    let noticed = |seed: &u64| {
        let mutant = Some(mutant);
        let setting = Setting { isolation, on_files, transactions, seed: *seed, mutant };
        run(&workload(*seed), setting).inspect_err(|how| println!("{setting:?}: {how}")).is_err()
    };
    assert!((0..TRIES).any(|seed| noticed(&seed)), "{mutant:?} is not noticed in {TRIES} runs");
}

#[test]
fn faults_of_locks_and_snapshots_are_noticed() {
    is_noticed(Mutant::LockSkipped, false, 300, poor_bank);
    is_noticed(Mutant::LockReleasedBeforeInstall, false, 300, poor_bank);
    is_noticed(Mutant::WriteConflictIgnored, false, 80, tpcc);
    is_noticed(Mutant::SnapshotTakenLate, false, 300, poor_bank);
    is_noticed(Mutant::PublishedBeforeInstall, false, 80, tpcc);
    is_noticed(Mutant::NewerVersionVisible, false, 80, tpcc);
    is_noticed(Mutant::TombstoneIgnored, false, 300, tatp);
}

#[test]
fn faults_of_validation_are_noticed() {
    is_noticed(Mutant::ReadsNotValidated, false, 300, poor_bank);
    is_noticed(Mutant::RangesNotValidated, false, 80, tpcc);
}

#[test]
fn faults_of_log_and_vacuum_are_noticed() {
    is_noticed(Mutant::LogOmitsAChange, true, 300, poor_bank);
    is_noticed(Mutant::VacuumIgnoresSnapshots, false, 300, poor_bank);
    is_noticed(Mutant::VacuumWithoutLock, false, 300, poor_bank);
    is_noticed(Mutant::CheckpointLosesPageMapEntry, true, 300, tatp);
}
