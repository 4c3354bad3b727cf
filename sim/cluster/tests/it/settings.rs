// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that a caller has put together by hand: what cannot be run is an error, and never a panic or a
//! run without end.

use cluster_sim::platform::Hardware;
use cluster_sim::run::{Settings, Workload, measure_on, slices_on};
use timing::Time;

fn small() -> Settings {
    Settings {
        nodes: 3,
        threads: 1,
        workers: 1,
        warm_up_us: 0.0,
        duration_us: 5.0,
        workload: Workload::Tatp { subscribers_per_node: 100 },
        ..Settings::default()
    }
}

fn hardware() -> Hardware {
    Hardware::named("connect-ib").expect("a platform of ours")
}

#[test]
fn absurd_settings_are_errors_of_the_input() {
    let sound = small;
    let objects = |reads, writes, keys_per_thread, value_bytes| Settings {
        workload: Workload::ObjectStore { reads, writes, keys_per_thread, value_bytes },
        ..sound()
    };
    let access = workloads::scenario::SmallBankAccess::Hot90;
    let bank = |accounts_per_thread, hot_percent| Settings {
        workload: Workload::SmallBank { accounts_per_thread, hot_percent, access },
        ..sound()
    };
    let retwis = |keys_per_node, exponent| Settings {
        workload: Workload::Retwis { keys_per_node, exponent },
        ..sound()
    };
    let orders = |warehouses_per_node| Settings {
        workload: Workload::TpccNewOrder { warehouses_per_node },
        ..sound()
    };
    let absurd = [
        Settings { nodes: 0, ..sound() },
        Settings { nodes: u16::MAX, ..sound() },
        Settings { threads: 0, ..sound() },
        Settings { threads: u8::MAX, ..sound() },
        Settings { workers: 0, ..sound() },
        Settings { workers: u8::MAX, ..sound() },
        Settings { replicas: 0, ..sound() },
        Settings { replicas: 4, ..sound() },
        Settings { replicas: u16::MAX, ..sound() },
        Settings { warm_up_us: f64::NAN, ..sound() },
        Settings { warm_up_us: f64::INFINITY, ..sound() },
        Settings { duration_us: f64::NAN, ..sound() },
        Settings { duration_us: -1.0, ..sound() },
        Settings { duration_us: f64::MAX, ..sound() },
        Settings { loss_timeout_us: f64::NAN, ..sound() },
        Settings { loss_timeout_us: 0.0, ..sound() },
        Settings { lease_us: f64::NAN, ..sound() },
        Settings { lease_us: f64::INFINITY, ..sound() },
        objects(0, 0, 100, 40),
        objects(2, 3, 100, 40),
        objects(255, 0, 100, 40),
        objects(2, 1, 0, 40),
        objects(2, 1, u64::MAX, 40),
        objects(2, 1, 100, 0),
        objects(2, 1, 100, u16::MAX),
        Settings { workload: Workload::Tatp { subscribers_per_node: 0 }, ..sound() },
        Settings { workload: Workload::Tatp { subscribers_per_node: u64::MAX }, ..sound() },
        bank(0, 4.0),
        bank(u64::MAX, 4.0),
        bank(100, f64::NAN),
        bank(100, 1e300),
        retwis(0, 0.5),
        retwis(u64::MAX, 0.5),
        retwis(100, f64::NAN),
        retwis(100, -0.1),
        orders(0),
        orders(u32::MAX),
    ];
    for settings in absurd {
        match measure_on(&settings, &hardware()) {
            Err(error) => assert!(error.is_of_input(), "{settings:?}: {error}"),
            Ok(_) => panic!("{settings:?} was run"),
        }
    }
    measure_on(&small(), &hardware()).expect("it can be run");
}

#[test]
fn slices_and_kills_that_cannot_be_are_errors_of_the_input() {
    let slice = Time::from_us(1);
    let run = |kill, slice| slices_on(&small(), &hardware(), kill, slice);
    for (kill, slice) in [
        (None, Time::ZERO),
        (Some((3, slice)), slice),
        (Some((u16::MAX, slice)), slice),
        (Some((0, Time::MAX)), slice),
    ] {
        let error = run(kill, slice).expect_err("that is no run");
        assert!(error.is_of_input(), "{kill:?}, {slice}: {error}");
    }
    assert_eq!(run(None, slice).expect("it can be run").len(), 5);
}

/// Every read is checked, and at the end the rows are compared with what was done to them.
#[test]
fn the_workloads_of_xenic_pass_the_checks() {
    let access = workloads::scenario::SmallBankAccess::Hot90;
    for workload in [
        Workload::Retwis { keys_per_node: 200, exponent: 0.9 },
        Workload::SmallBankXenic { accounts_per_node: 400, hot_percent: 4.0, access },
        Workload::TpccNewOrder { warehouses_per_node: 2 },
    ] {
        let settings = Settings { threads: 2, workers: 4, duration_us: 150.0, workload, ..small() };
        let run = || measure_on(&settings, &hardware()).expect("it passes");
        let (report, again) = (run(), run());
        assert!(report.checks.transactions > 30 && report.checks.at_rest, "{:?}", report.checks);
        assert_eq!(report.digest, again.digest);
    }
}
