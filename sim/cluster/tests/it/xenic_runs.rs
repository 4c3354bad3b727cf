// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs of Xenic by settings.

use cluster_sim::run::{
    Draft, Extras, ProtocolName, Report, RunError, Settings, Switch, Watch, Workload,
    XenicSettings, run,
};
use workloads::scenario::SmallBankAccess;

fn settings(workload: Workload, without: &[Switch]) -> Settings {
    Settings {
        protocol: ProtocolName::Xenic,
        platform: "liquidio3".into(),
        nodes: 4,
        threads: 2,
        workers: 2,
        warm_up_us: 20.0,
        duration_us: 120.0,
        workload,
        xenic: Some(XenicSettings {
            nic_cores: 4,
            log_workers: 2,
            without: without.to_vec(),
            ..XenicSettings::for_workload(workload)
        }),
        ..Settings::default()
    }
}

fn report(settings: &Settings) -> Result<Report, RunError> {
    let watch = &mut Watch { is_interrupted: &|| false, progress: &mut |_| () };
    Ok(run(settings, Extras::default(), watch)?.report)
}

const SMALL_BANK: Workload = Workload::SmallBankXenic {
    accounts_per_node: 1_000_000,
    hot_percent: 90.0,
    access: SmallBankAccess::Hot90,
};
const RETWIS: Workload = Workload::Retwis { keys_per_node: 1_000_000, exponent: 0.1 };

/// With so many rows that next to no attempt is aborted, messages and bytes of each phase are those that are counted from
/// the description.
#[test]
fn messages_and_bytes_are_those_counted_by_hand() {
    let all_on: &[Switch] = &[];
    let hosted: &[Switch] = &[Switch::Ships, Switch::MultiHop];
    let alone: &[Switch] = &[Switch::Combined, Switch::Ships, Switch::MultiHop];
    let orders = Workload::TpccNewOrder { warehouses_per_node: 5000 };
    let tpcc = Workload::Tpcc { warehouses_per_node: 5000 };
    for workload in [SMALL_BANK, RETWIS, orders, tpcc] {
        for without in [all_on, hosted, alone] {
            // A new-order is longer.
            let longer = match workload {
                Workload::TpccNewOrder { .. } => 4.0,
                // Kinds that are rare and far larger than others.
                Workload::Tpcc { .. } => 16.0,
                _ => 1.0,
            };
            let settings = settings(workload, without);
            let settings = Settings {
                warm_up_us: longer * settings.warm_up_us,
                duration_us: longer * settings.duration_us,
                ..settings
            };
            let report = report(&settings).expect("it passes");
            for of in &report.traffic {
                let (Some(messages), Some(bytes)) = (of.by_hand, of.bytes_by_hand) else {
                    continue;
                };
                let at = format!("{} without {without:?}, {}", workload.name(), of.stage);
                // Of few transactions, drawn otherwise than those of the count. Slots that idle say so by messages of
                // the log's stage, which the count leaves out.
                let idles = of.stage == "log";
                let near = |one: f64, other: f64, least: f64| {
                    let apart = (0.2 * other).max(least);
                    one >= other - apart && (idles || one <= other + apart)
                };
                assert!(near(of.messages, messages, 0.15), "{at}: {} and {messages}", of.messages);
                assert!(near(of.bytes, bytes, 12.0), "{at}: {} B and {bytes} B", of.bytes);
            }
        }
    }
}

#[test]
fn one_seed_gives_the_same_bytes_also_with_a_cold_index() {
    for warm_index in [true, false] {
        let mut settings = settings(RETWIS, &[]);
        settings.xenic = settings.xenic.map(|own| XenicSettings { warm_index, ..own });
        let bytes = || serde_json::to_vec(&report(&settings).expect("it passes")).expect("JSON");
        let (one, again) = (bytes(), bytes());
        assert!(one == again, "warm: {warm_index}");
    }
}

/// Reads of host memory take time.
#[test]
fn a_cold_index_makes_transactions_longer() {
    let median = |warm_index| {
        let mut settings = settings(RETWIS, &[]);
        settings.xenic = settings.xenic.map(|own| XenicSettings { warm_index, ..own });
        report(&settings).expect("it passes").latency.p50_ns
    };
    assert!(median(true) + 1000.0 < median(false));
}

#[test]
fn what_only_xenic_has_is_checked() {
    let told = |text: &str| {
        let draft = Draft::parse("run.toml", text).expect("a scenario");
        let settings = Settings::check(&draft);
        settings.map(drop).expect_err(text).to_string()
    };
    let of = |line: &str| told(&format!("protocol = \"xenic\"\n[xenic]\n{line}\n"));
    assert_eq!(
        of("nic_cores = 0"),
        "run.toml:3: field `xenic.nic_cores` = 0: expected a whole number from 1 to 64"
    );
    assert_eq!(
        of("index_entries = 8"),
        "run.toml:3: field `xenic.index_entries` = 8: expected a whole number from 8192 to 1073741824"
    );
    assert!(of("without = [\"combined\"]").contains("multi-hop in the list, too"));
    assert!(of("without = [\"speed\"]").contains("names of combined, aggregation"));
    let foreign = told("protocol = \"fasst\"\n[xenic]\nnic_cores = 2\n");
    assert!(
        foreign.contains("xenic.nic_cores") && foreign.contains("with protocol xenic only"),
        "{foreign}"
    );
    let crowd = told("protocol = \"xenic\"\nnodes = 1024\nworkers = 64\n");
    assert!(crowd.starts_with("run.toml:3: field `workers` = 64: expected 1 to "), "{crowd}");
    let on_platform = |text: &str| {
        let draft = Draft::parse("run.toml", text).expect("a scenario");
        let settings = Settings::check(&draft).expect(text);
        settings.check_whole(&draft).expect_err(text).to_string()
    };
    let threads = on_platform("protocol = \"xenic\"\nthreads = 30\n[xenic]\nlog_workers = 3\n");
    assert!(threads.contains("`xenic.log_workers` = 3: expected at most 2"), "{threads}");
    let cores = on_platform("protocol = \"xenic\"\n[xenic]\nnic_cores = 25\n");
    assert!(cores.contains("`xenic.nic_cores` = 25: expected 1 to 24"), "{cores}");
    // A kind that the workload has not is found when the cluster is made.
    let mut unknown = settings(RETWIS, &[]);
    unknown.xenic = unknown.xenic.map(|own| XenicSettings { on_host: vec!["buy".into()], ..own });
    let error = report(&unknown).expect_err("no such kind");
    assert!(error.is_of_input() && error.to_string().contains("\"buy\""), "{error}");
}
