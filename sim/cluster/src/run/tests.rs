// SPDX-License-Identifier: MIT OR Apache-2.0
//! What settings are refused, and how.

use workloads::scenario::SmallBankAccess;

use super::*;
use crate::nic::smart_timing::SmartTiming;

const WHOLE: &str = "\
name = \"store\"
protocol = \"fasst\"
platform = \"connectx3\"
nodes = 6
threads = 8
workers = 19
replicas = 3
seed = 7

[workload.object-store]
reads = 4
writes = 2
keys_per_thread = 1_000_000
";

fn checked(text: &str, flags: Flags) -> Result<Settings, SettingsError> {
    Settings::check(&Draft::parse("run.toml", text)?.with_flags(flags)?)
}

fn refused(text: &str, flags: Flags) -> String {
    checked(text, flags).expect_err("refused").to_string()
}

#[test]
fn a_scenario_is_read_whole() {
    let settings = checked(WHOLE, Flags::default()).expect("possible");
    assert_eq!((settings.nodes, settings.threads, settings.workers), (6, 8, 19));
    let expected =
        Workload::ObjectStore { reads: 4, writes: 2, keys_per_thread: 1_000_000, value_bytes: 40 };
    assert_eq!(settings.workload, expected);
    assert_eq!(settings.platform, "connectx3");
}

#[test]
fn a_flag_replaces_the_value_of_the_file() {
    let flags = Flags { workers: Some(3), writes: Some(1), ..Flags::default() };
    let settings = checked(WHOLE, flags).expect("possible");
    assert_eq!((settings.workers, settings.seed), (3, 7));
    assert!(matches!(settings.workload, Workload::ObjectStore { reads: 4, writes: 1, .. }));
    let flags = Flags { workload: Some("smallbank".into()), ..Flags::default() };
    let settings = checked(WHOLE, flags).expect("possible");
    assert!(matches!(settings.workload, Workload::SmallBank { accounts_per_thread: 100_000, .. }));
}

#[test]
fn the_workloads_of_xenic_begin_with_its_numbers() {
    let named = |name: &str, keys: Option<u64>| {
        let flags = Flags { workload: Some(name.into()), keys, ..Flags::default() };
        Draft::default().with_flags(flags).and_then(|draft| Settings::check(&draft))
    };
    let workload = |name: &str, keys| named(name, keys).expect("possible").workload;
    let access = SmallBankAccess::Hot90;
    for (name, expected) in [
        (
            "smallbank-xenic",
            Workload::SmallBankXenic { accounts_per_node: 2_400_000, hot_percent: 4.0, access },
        ),
        ("retwis", Workload::Retwis { keys_per_node: 1_000_000, exponent: 0.5 }),
        ("tpcc-new-order", Workload::TpccNewOrder { warehouses_per_node: 72 }),
    ] {
        assert_eq!((workload(name, None), expected.name()), (expected, name));
        let error = named(name, Some(0)).expect_err("nothing").to_string();
        assert!(error.starts_with("--keys 0: expected "), "{error}");
    }
    assert_eq!(workload("retwis", Some(7)), Workload::Retwis { keys_per_node: 7, exponent: 0.5 });
    let error = refused("[workload.retwis]\nexponent = -1.0\n", Flags::default());
    assert_eq!(
        error,
        "run.toml:2: field `workload.retwis.exponent` = -1.0: expected an exponent from 0 to 10"
    );
}

#[test]
fn an_impossible_value_of_the_file_is_named_with_its_line() {
    let with = |from: &str, to: &str| refused(&WHOLE.replace(from, to), Flags::default());
    assert_eq!(
        with("replicas = 3", "replicas = 9"),
        "run.toml:7: field `replicas` = 9: expected 1 to 6 copies of each row, as there are 6 nodes"
    );
    assert_eq!(
        with("reads = 4", "reads = 7"),
        "run.toml:11: field `workload.object-store.reads` = 7: expected 1 to 6: the primaries of a \
         transaction's keys are on different nodes"
    );
    assert_eq!(
        with("protocol = \"fasst\"", "protocol = \"paxos\""),
        "run.toml:2: field `protocol` = \"paxos\": expected a protocol: fasst, xenic, drtm-h, \
         drtm-h-nc, drtm-r"
    );
    let message = with("keys_per_thread = 1_000_000", "value_bytes = 4080");
    assert!(message.contains("`workload.object-store.value_bytes` = 4080"), "{message}");
    let message = with("workers = 19", "wokers = 19");
    assert!(
        message.starts_with("run.toml:6: field `wokers` is unknown: expected one of"),
        "{message}"
    );
    let message = with("nodes = 6", "nodes = \"six\"");
    assert!(message.starts_with("run.toml:4: field `nodes` = \"six\": expected"), "{message}");
    let message = with("object-store", "tpcd");
    assert!(message.contains("tpcd") && message.contains("`tatp`"), "{message}");
}

#[test]
fn an_impossible_flag_is_named_as_a_flag() {
    let of = |flags: Flags| refused(WHOLE, flags);
    assert_eq!(
        of(Flags { replicas: Some(7), ..Flags::default() }),
        "--replicas 7: expected 1 to 6 copies of each row, as there are 6 nodes"
    );
    // The file's copies do not go with the flag's nodes: the file's line is named.
    assert_eq!(
        of(Flags { nodes: Some(2), ..Flags::default() }),
        "run.toml:7: field `replicas` = 3: expected 1 to 2 copies of each row, as there are 2 nodes"
    );
    assert_eq!(
        of(Flags { workload: Some("tpcd".into()), ..Flags::default() }),
        "--workload tpcd: expected one of object-store, tatp, smallbank, smallbank-xenic, retwis, \
         tpcc-new-order, tpcc"
    );
    let flags = Flags { workload: Some("tatp".into()), reads: Some(2), ..Flags::default() };
    assert_eq!(of(flags), "--reads 2: expected no such flag with the workload tatp");
    let flags = Flags { duration_us: Some(f64::NAN), ..Flags::default() };
    assert!(of(flags).starts_with("--duration-us NaN: expected microseconds"));
}

#[test]
fn the_defaults_go_together() {
    let settings = Settings::default();
    assert_eq!((settings.protocol, settings.replicas), (ProtocolName::Fasst, 3));
    let alone = Flags { nodes: Some(1), ..Flags::default() };
    let alone = Settings::check(&Draft::default().with_flags(alone).expect("read"));
    assert_eq!(alone.expect("possible").replicas, 1);
}

#[test]
fn a_run_that_needs_too_much_memory_is_refused_with_an_estimate() {
    let longest = |workload: &str, checks: bool| {
        let flags = Flags {
            duration_us: Some(60e6),
            workload: Some(workload.into()),
            checks: Some(checks),
            ..Flags::default()
        };
        let draft = Draft::default().with_flags(flags).expect("read");
        let settings = Settings::check(&draft).expect("possible by themselves");
        settings.check_whole(&draft).map_err(|error| error.to_string())
    };
    let message = longest("tatp", true).expect_err("a record of a minute");
    assert!(
        message.starts_with("--duration-us 60000000: expected a run that needs at most"),
        "{message}"
    );
    assert!(message.contains("for the record that the check reads"), "{message}");
    assert_eq!(longest("smallbank", false), Ok(()), "no more rows than it has can be written");

    let flags =
        Flags { nodes: Some(1024), threads: Some(14), workers: Some(64), ..Flags::default() };
    let draft = Draft::default().with_flags(flags).expect("read");
    let settings = Settings::check(&draft).expect("possible by themselves");
    let message = settings.check_whole(&draft).expect_err("too many machines").to_string();
    assert!(message.starts_with("--nodes 1024: expected a run"), "{message}");
}

#[test]
fn the_platform_is_named_as_it_was_given() {
    let whole = |text: &str| {
        let draft = Draft::parse("run.toml", text).expect("read");
        let settings = Settings::check(&draft).expect("possible by themselves");
        settings.check_whole(&draft).expect_err("refused").to_string()
    };
    let message = whole(&WHOLE.replace("threads = 8", "threads = 60"));
    assert!(message.starts_with("run.toml:5: field `threads` = 60: expected 1 to "), "{message}");
    let message = whole(&WHOLE.replace("connectx3", "connectx9"));
    assert!(
        message.starts_with("run.toml:3: field `platform` = \"connectx9\": expected connect-ib"),
        "{message}"
    );
    assert!(message.ends_with("or a file"), "{message}");
}

#[test]
fn a_platform_that_the_protocol_is_not_made_for_is_refused() {
    let whole = |platform: &str| {
        let text = WHOLE.replace("connectx3", platform);
        let draft = Draft::parse("run.toml", &text).expect("read");
        let settings = Settings::check(&draft).expect("possible by themselves");
        settings.check_whole(&draft).expect_err("refused").to_string()
    };
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../platforms");
    for platform in ["liquidio3".to_owned(), format!("{folder}/liquidio3.toml")] {
        let message = whole(&platform);
        let expected = "connect-ib, connectx3, connectx4, connectx5, drtm-cx3, xenic-cx5, or a file: protocol \
            fasst needs RDMA cards";
        assert_eq!(
            message,
            format!("run.toml:3: field `platform` = \"{platform}\": expected {expected}")
        );
    }
    // What is no platform at all is named by what it lacks.
    let message = whole(&format!("{folder}/n1sdp-u280-ccix.toml"));
    assert!(message.contains("n1sdp-u280-ccix.toml"), "{message}");
    assert!(!message.contains("protocol fasst"), "{message}");
    let timing = SmartTiming::usual().expect("a platform of ours");
    let error = measure_on(&Settings::default(), &timing).expect_err("refused");
    assert!(error.is_of_input());
    assert_eq!(
        error.to_string(),
        "platform on-path SmartNICs: expected RDMA cards, which protocol fasst needs"
    );
}

#[test]
fn a_name_that_leaves_the_folder_of_its_files_is_refused() {
    for name in ["", "../store", "a/b", ".hidden"] {
        let text = WHOLE.replace("\"store\"", &format!("\"{name}\""));
        let error = refused(&text, Flags::default());
        assert!(error.contains("`name`") && error.contains("no slash"), "{error}");
    }
}

#[test]
fn a_history_needs_the_memory_of_the_record() {
    let flags = Flags { checks: Some(false), duration_us: Some(60e6), ..Flags::default() };
    let few = WHOLE.replace("1_000_000", "1_000");
    let settings = checked(&few, flags).expect("possible");
    assert!(settings.hardware().is_ok());
    let mut history = Vec::new();
    let extras = Extras { history: Some(&mut history), ..Extras::default() };
    let watch = &mut Watch { is_interrupted: &|| true, progress: &mut |_| () };
    let error = run(&settings, extras, watch).expect_err("refused").to_string();
    assert!(error.contains("duration_us") && error.contains("memory"), "{error}");
    assert!(history.is_empty());
}

/// How far a run comes that is interrupted when it is asked for the `asked`th time. It may then go on for one more
/// slice at most.
fn interrupted_at(asked: u32, settings: &Settings) -> Outcome {
    let count = std::cell::Cell::new(0);
    let is_interrupted = || {
        count.set(count.get() + 1);
        count.get() >= asked
    };
    let mut slices = 0;
    let progress = &mut |_: Progress| {
        slices += 1;
        assert!(slices <= asked, "the run goes on though it was interrupted");
    };
    let watch = &mut Watch { is_interrupted: &is_interrupted, progress };
    run(settings, Extras::default(), watch).expect("it is cut off, not wrong")
}

#[test]
fn a_warm_up_is_cut_off_as_well() {
    // A minute of virtual time would take an hour.
    let flags = Flags { warm_up_us: Some(60e6), checks: Some(false), ..Flags::default() };
    let settings = checked(&WHOLE.replace("1_000_000", "1_000"), flags).expect("possible");
    let outcome = interrupted_at(2, &settings);
    assert!(outcome.report.is_interrupted && outcome.report.committed == 0);
}

/// With faults, a cluster is quiet for three leases before it rests, here for 3 ms.
#[test]
fn the_way_to_rest_is_cut_off_as_well() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("faults.toml");
    let fault = "[[fault]]\nkind = \"pause\"\nnode = 1\nat_ns = 5_000\nfor_ns = 1_000\n";
    std::fs::write(&file, fault).expect("written");
    let flags = Flags { duration_us: Some(50.0), warm_up_us: Some(0.0), ..Flags::default() };
    let settings = checked(&WHOLE.replace("1_000_000", "1_000"), flags).expect("possible");
    let settings =
        Settings { threads: 1, workers: 1, lease_us: 1_000.0, faults: Some(file), ..settings };
    let (asked, at_end) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let is_interrupted = || {
        asked.set(asked.get() + 1);
        false
    };
    let progress = &mut |_: Progress| at_end.set(asked.get());
    let watch = &mut Watch { is_interrupted: &is_interrupted, progress };
    let outcome = run(&settings, Extras::default(), watch).expect("it passes");
    assert!(!outcome.report.is_interrupted && outcome.report.checks.at_rest);
    // Once whether it is cut off before, and then on the way.
    assert!(asked.get() > at_end.get() + 2, "{asked:?}, {at_end:?}");
    let outcome = interrupted_at(asked.get(), &settings);
    assert!(outcome.report.is_interrupted && outcome.report.committed > 0);
}
