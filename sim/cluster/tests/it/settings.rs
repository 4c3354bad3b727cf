// SPDX-License-Identifier: MIT OR Apache-2.0
//! Settings that a caller has put together by hand: what cannot be run is an error, and never a panic or a
//! run without end.

use cluster_sim::platform::Hardware;
use cluster_sim::run::{
    ProtocolName, Report, RunError, Settings, Slice, Switch, Workload, XenicSettings, measure_on,
    slices_on,
};
use timing::Time;
use timing::platform::End;

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

/// What is asked of settings before a run is told at once, so that a sweep runs nothing in vain.
#[test]
fn what_a_protocol_cannot_do_is_told_before_a_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("faults.toml");
    std::fs::write(&file, all_crash()).expect("written");
    let rival = Settings {
        protocol: ProtocolName::DrtmH,
        platform: "xenic-cx5".into(),
        faults: Some(file),
        ..small()
    };
    let error = rival.hardware().map(drop).expect_err("it has no recovery");
    assert!(error.is_of_input(), "{error}");
    assert_eq!(error.to_string(), "protocol drtm-h has no recovery here: faults are refused");
    // Fields that no draft would let through.
    let xenic = Some(XenicSettings { nic_cores: 0, ..XenicSettings::default() });
    let cores =
        Settings { protocol: ProtocolName::Xenic, platform: "liquidio3".into(), xenic, ..small() };
    let error = cores.hardware().map(drop).expect_err("no core");
    assert!(error.is_of_input() && error.to_string().contains("nic_cores 0"), "{error}");
}

/// A card cannot divide a message that is longer than a packet, so a protocol has to know how long that is.
#[test]
fn messages_fit_the_packets_of_the_platform() {
    let hardware = Hardware::named("xenic-cx5").expect("a platform of ours");
    let short = hardware.with("link.mtu", End::Least).expect("an assumption");
    assert_eq!(short.framing().mtu, 1024);
    for protocol in [ProtocolName::Fasst, ProtocolName::DrtmH] {
        let workload = Workload::TpccNewOrder { warehouses_per_node: 4 };
        let settings = Settings { protocol, workload, duration_us: 200.0, ..small() };
        let report = measure_on(&settings, &short).expect("no message is lost");
        assert!(report.checks.at_rest && report.checks.transactions > 0, "{report:?}");
    }
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

/// Runs the small cluster with these faults.
fn with_faults(settings: Settings, faults: &str) -> Result<Report, RunError> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("faults.toml");
    std::fs::write(&file, faults).expect("written");
    measure_on(&Settings { faults: Some(file), lease_us: 20.0, ..settings }, &hardware())
}

fn all_crash() -> String {
    let crash = |node: u16| format!("[[fault]]\nkind = \"crash\"\nnode = {node}\nat_ns = 3_000\n");
    (0..3).map(crash).collect()
}

#[test]
fn a_cluster_that_is_wholly_down_does_not_pass() {
    let error = with_faults(small(), &all_crash()).expect_err("nothing can be checked");
    assert_eq!(error.to_string(), "at rest: no node is up, so nothing could be checked");
    assert!(!error.is_of_input());
}

#[test]
fn crashes_without_a_frame_after_them_are_reported() {
    let report =
        with_faults(Settings { checks: false, ..small() }, &all_crash()).expect("unchecked");
    let crashes = report.faults.iter().filter(|of| of.name.starts_with("crash"));
    assert_eq!(crashes.map(|of| of.count).sum::<u64>(), 3, "{:?}", report.faults);
}

#[test]
fn faults_after_the_end_of_a_run_are_errors_of_the_input() {
    let late =
        "[[fault]]\nkind = \"cut\"\nnodes = [1]\nfrom_ns = 1_000\nuntil_ns = 60_000_000_000\n";
    let error = with_faults(small(), late).expect_err("it lasts for a minute");
    assert!(error.is_of_input(), "{error}");
    let text = error.to_string();
    assert!(
        text.contains(
            "fault 1: until_ns: 60000000000; expected a time up to 5000 ns, the end of the run"
        ),
        "{text}"
    );
}

#[test]
fn faults_without_an_end_stop_with_the_run() {
    let drops = "[[fault]]\nkind = \"drop\"\nframes = { stage = \"membership\" }\n";
    let report = with_faults(small(), drops).expect("leases are renewed when it is over");
    // Leases are renewed each 4 us by three nodes: twice in the run, and for 60 us more until all rest.
    let drops = report.faults.iter().find(|of| of.name == "drop, membership");
    assert!((1..20).contains(&drops.map_or(0, |of| of.count)), "{:?}", report.faults);
    let late = "[[fault]]\nkind = \"delay\"\nby_ns = 5_000\nframes = { from = 1 }\n";
    with_faults(small(), late).expect("what is late comes at last");
}

#[test]
fn initial_rows_are_copied_if_that_is_wanted() {
    let crash = "[[fault]]\nkind = \"crash\"\nnode = 2\nat_ns = 3_000\n";
    let copied = |copies_initial_rows| {
        let settings = Settings { replicas: 2, duration_us: 400.0, copies_initial_rows, ..small() };
        let report = with_faults(settings, crash).expect("two of three nodes go on");
        let copies = report.traffic.iter().filter(|of| of.stage == "copy");
        copies.map(|of| of.bytes).sum::<f64>() * report.ended_per_second()
    };
    let (few, all) = (copied(false), copied(true));
    assert!(all > 2.0 * few, "{few} and {all} bytes a second");
}

/// A node is killed: the others fill new replicas of what it had.
#[test]
fn slices_tell_when_replicas_are_filled() {
    let (kill, slice) = (Time::from_us(30), Time::from_us(10));
    let copied = |copies_initial_rows| {
        let settings = Settings { replicas: 2, duration_us: 400.0, copies_initial_rows, ..small() };
        let settings = Settings { lease_us: 20.0, ..settings };
        let slices = slices_on(&settings, &hardware(), Some((2, kill)), slice).expect("a run");
        let (before, after): (Vec<Slice>, Vec<Slice>) =
            slices.into_iter().partition(|it| it.until <= kill);
        assert!(before.iter().all(|slice| slice.copied == 0), "{before:?}");
        assert_eq!(after.last().expect("a slice").copied, 0, "filled before the end");
        after.iter().map(|slice| slice.copied).sum::<u64>()
    };
    let (few, all) = (copied(false), copied(true));
    assert!(few > 0 && all > 2 * few, "{few} and {all} bytes");
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

#[test]
fn a_node_without_a_data_path_for_hardware_is_refused() {
    let bank = |accounts_per_node| Workload::SmallBankXenic {
        accounts_per_node,
        hot_percent: 4.0,
        access: workloads::scenario::SmallBankAccess::Hot90,
    };
    let sound = Settings {
        protocol: ProtocolName::Xenic,
        platform: "liquidio3".into(),
        workload: bank(1000),
        xenic: Some(XenicSettings::default()),
        ..small()
    };
    assert_eq!(sound.node_in_loop("--rtl", "node2").expect("the last node"), 2);
    let refused = |settings: &Settings, name: &str| {
        settings.node_in_loop("--rtl", name).expect_err(name).to_string()
    };
    for name in ["node3", "node-1", "node+1", "node", "0", "Node0", "node65536"] {
        assert_eq!(refused(&sound, name), format!("--rtl {name}: expected node0 to node2"));
    }
    let xenic = |without: &[Switch], on_host: &[&str]| XenicSettings {
        without: without.to_vec(),
        on_host: on_host.iter().map(|kind| (*kind).into()).collect(),
        ..XenicSettings::default()
    };
    let host = |xenic| Settings { xenic: Some(xenic), ..sound.clone() };
    for (settings, expected) in [
        (small(), "protocol xenic, as fasst has no data path"),
        (Settings { workload: bank(600_000), ..sound.clone() }, "at most 524288 accounts a node"),
        (Settings { workload: small().workload, ..sound.clone() }, "rows of tatp come and go"),
        (Settings { faults: Some("faults.toml".into()), ..sound.clone() }, "no faults"),
        (host(xenic(&[Switch::Ships, Switch::MultiHop], &[])), "logic on the NICs"),
        (host(xenic(&[], &["balance"])), "logic on the NICs"),
    ] {
        let message = refused(&settings, "node0");
        assert!(message.starts_with("--rtl node0: expected "), "{message}");
        assert!(message.contains(expected), "{expected:?} in {message:?}");
    }
}
