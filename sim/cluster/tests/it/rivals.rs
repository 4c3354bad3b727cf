// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of the rivals of Xenic: they pass all checks, send what was counted by hand, and refuse faults.

use cluster::engine::{Key, Stage, TableNumber};
use cluster::placement::partition_of;
use cluster::transact::Intent;
use cluster::workload::{ObjectStore, ObjectStoreSettings, ObjectTransaction, Scripted};
use cluster_sim::platform::Hardware;
use cluster_sim::protocols::{DrtmHNc, Runs};
use cluster_sim::run::{ProtocolName, Report, RunError, Settings, Workload, measure_on};
use workloads::scenario::SmallBankAccess::{Hot10, Hot90};

const RIVALS: [ProtocolName; 3] = [ProtocolName::DrtmH, ProtocolName::DrtmHNc, ProtocolName::DrtmR];

fn hardware() -> Hardware {
    Hardware::named("xenic-cx5").expect("a platform of ours")
}

fn small(protocol: ProtocolName, workload: Workload) -> Settings {
    Settings {
        protocol,
        nodes: 4,
        threads: 2,
        workers: 3,
        warm_up_us: 0.0,
        duration_us: 60.0,
        workload,
        ..Settings::default()
    }
}

fn run(settings: &Settings) -> Result<Report, RunError> {
    measure_on(settings, &hardware())
}

/// Few rows, so that transactions meet.
fn crowded() -> [Workload; 6] {
    [
        Workload::ObjectStore { reads: 4, writes: 2, keys_per_thread: 40, value_bytes: 40 },
        Workload::Tatp { subscribers_per_node: 100 },
        Workload::SmallBank { accounts_per_thread: 100, hot_percent: 4.0, access: Hot10 },
        Workload::SmallBankXenic { accounts_per_node: 400, hot_percent: 4.0, access: Hot90 },
        Workload::Retwis { keys_per_node: 200, exponent: 0.9 },
        Workload::TpccNewOrder { warehouses_per_node: 2 },
    ]
}

/// Each read is checked against a linear time, and at rest replicas, locks and logs are looked at.
#[test]
fn all_workloads_pass_the_checks() {
    seeds::each!(1, |seed| {
        for protocol in RIVALS {
            for workload in crowded() {
                let settings = Settings { seed, ..small(protocol, workload) };
                let report = run(&settings)
                    .unwrap_or_else(|error| panic!("{}: {error}\n{settings:?}", protocol.name()));
                let checks = &report.checks;
                assert!(checks.transactions > 20 && checks.at_rest, "{settings:?}: {checks:?}");
            }
        }
    });
}

#[test]
fn one_seed_gives_the_same_bytes() {
    for protocol in RIVALS {
        let settings = small(protocol, crowded()[3]);
        let bytes = || serde_json::to_vec(&run(&settings).expect("it passes")).expect("JSON");
        let (one, again) = (bytes(), bytes());
        assert!(one == again, "{}", protocol.name());
        let other = Settings { seed: 2, ..settings };
        assert_ne!(run(&other).expect("it passes").digest, {
            let report: serde_json::Value = serde_json::from_slice(&one).expect("JSON");
            report["digest"].as_str().expect("a digest").to_owned()
        });
    }
}

/// So many rows that next to no attempt is aborted: what a transaction sends is what was counted from the description
/// of the protocol over other draws.
#[test]
fn messages_and_verbs_are_as_many_as_by_hand() {
    for protocol in RIVALS {
        for workload in [
            Workload::ObjectStore {
                reads: 4,
                writes: 2,
                keys_per_thread: 1_000_000,
                value_bytes: 40,
            },
            Workload::SmallBankXenic {
                accounts_per_node: 2_400_000,
                hot_percent: 4.0,
                access: Hot90,
            },
            Workload::Retwis { keys_per_node: 1_000_000, exponent: 0.5 },
            Workload::TpccNewOrder { warehouses_per_node: 72 },
        ] {
            let settings = Settings { duration_us: 1200.0, ..small(protocol, workload) };
            let report = run(&settings).expect("it passes");
            for of in &report.traffic {
                let name = format!("{}, {}, {}", protocol.name(), workload.name(), of.stage);
                let near = |run: f64, by_hand: f64| (run - by_hand).abs() < 0.02 + 0.06 * by_hand;
                let by_hand = of.by_hand.unwrap_or(0.0);
                assert!(near(of.messages, by_hand), "{name}: {} and {by_hand}", of.messages);
                let by_hand = of.verbs_by_hand.unwrap_or(0.0);
                assert!(near(of.verbs, by_hand), "{name}: {} and {by_hand} verbs", of.verbs);
            }
            assert!(report.verbs() > 1.0 && report.wire_bytes() > report.bytes());
        }
    }
}

#[test]
fn faults_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("faults.toml");
    let crash = "[[fault]]\nkind = \"crash\"\nnode = 1\nat_ns = 3_000\n";
    std::fs::write(&file, crash).expect("written");
    for protocol in RIVALS {
        let settings = Settings { faults: Some(file.clone()), ..small(protocol, crowded()[1]) };
        let error = run(&settings).expect_err("there is no recovery");
        assert!(error.is_of_input());
        let expected =
            format!("protocol {} has no recovery here: faults are refused", protocol.name());
        assert_eq!(error.to_string(), expected);
    }
}

/// A worker reads a key once, however often its transaction wants it.
#[test]
fn a_key_that_is_wanted_twice_is_counted_once() {
    let key = |row| Key { table: TableNumber(0), row };
    let row = (0..).find(|row| partition_of(*row, 4).0 == 3).expect("a row of node 3");
    let objects = ObjectStoreSettings { objects: 100, ..ObjectStoreSettings::o(2, 0, 4, 2) };
    let objects = ObjectStore::new(objects).expect("sound settings");
    let verbs = |rows: &[(u64, Intent)]| {
        let transaction = ObjectTransaction::new(1, rows);
        let scripted = Scripted::new(objects.clone(), [vec![transaction]]);
        let access = Workload::Retwis { keys_per_node: 100, exponent: 0.5 };
        let settings = small(ProtocolName::DrtmHNc, access);
        let cluster = DrtmHNc::cluster(&settings, false, scripted).expect("it can be run");
        let by_hand = DrtmHNc::by_hand(&settings, &cluster, 1);
        (by_hand.verbs_of(Stage::Execute), f64::from(cluster.reads_of(key(row), true)))
    };
    let (once, reads) = verbs(&[(row, Intent::Read)]);
    assert_eq!(once, reads);
    assert_eq!(verbs(&[(row, Intent::Read), (row, Intent::Read)]), (reads, reads));
}
